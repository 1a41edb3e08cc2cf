/** The path: links in order, flows over them, and the duration of a run. */

import { h } from "../dom";
import { button } from "./buttons";
import type { Editing } from "./editing";
import { control, table } from "./form";
import { flowsOf, linksOf, withHopAfter, withoutHop } from "./links";
import { isTable, type Json, type Path, type Table } from "./path";
import type { Field, Schema, Shape } from "./schema";

/** The label in front of a link. */
const PLAIN = ["rate", "delay", "queue"];

/** Draws the panel for the scenario that `editing` reads. */
export function pathPanel(editing: Editing, schema: Schema, opened: Set<string>): HTMLElement[] {
  const scenario = editing.read([]) as Table;
  const fold = (id: string, open: boolean, summary: (Node | string)[], ...inside: HTMLElement[]) =>
    folded(opened, id, open, summary, inside);
  return [
    ...(isTable(scenario.dumbbell) ? dumbbell(editing, schema, fold) : chain(editing, schema, fold)),
    ...flows(editing, schema, fold),
    ...background(editing, schema, fold),
    fold(
      "run",
      false,
      [title("Run", String((scenario.run as Table | undefined)?.duration ?? ""))],
      ...run(editing, schema),
    ),
  ];
}

type Fold = (id: string, open: boolean, summary: (Node | string)[], ...inside: HTMLElement[]) => HTMLElement;

/** A card that stays open or closed when the panel is redrawn. */
function folded(
  opened: Set<string>,
  id: string,
  open: boolean,
  summary: (Node | string)[],
  inside: HTMLElement[],
): HTMLElement {
  const is = opened.has(id) || (open && !opened.has(`-${id}`));
  const remember = (event: Event) => {
    const now = (event.currentTarget as HTMLDetailsElement).open;
    opened.delete(now ? `-${id}` : id);
    opened.add(now ? id : `-${id}`);
  };
  return h(
    "details",
    { class: "card", open: is, ontoggle: remember },
    h("summary", {}, ...summary),
    h("div", { class: "body" }, ...inside),
  );
}

function title(name: string, brief: string, ...chips: string[]): HTMLElement {
  const marks = chips.map((chip) => h("span", { class: "chip" }, chip));
  return h("span", { class: "title" }, h("strong", {}, name), h("span", { class: "brief" }, brief), ...marks);
}

function fieldsOf(schema: Schema, definition: string): Field[] {
  const shape = schema.definition(definition);
  return shape.type === "table" ? shape.fields : [];
}

function chain(editing: Editing, schema: Schema, fold: Fold): HTMLElement[] {
  const links = linksOf(editing.read([]) as Table);
  const busiest = bottleneck(links);
  const reshape = (next: Table) => {
    editing.write(["link"], next.link);
    editing.redraw();
  };
  return links.map((link, i) => {
    const scenario = editing.read([]) as Table;
    const ends = fieldsOf(schema, "Link").filter((f) => f.key === "from" || f.key === "to");
    const tools = h(
      "div",
      { class: "row" },
      button("Add a hop after", () => reshape(withHopAfter(scenario, i)), "add"),
      links.length > 1 && button("Remove this hop", () => reshape(withoutHop(scenario, i)), "remove"),
    );
    const ending = h(
      "details",
      { class: "more" },
      h("summary", {}, "Ends"),
      ...ends.map((f) => control(editing, ["link", i, f.key], f)),
    );
    const inside = [...linkFields(editing, schema, ["link", i], "Link"), ending, tools];
    return fold(`link-${i}`, i === busiest, [linkTitle(schema, `${link.from} → ${link.to}`, link)], ...inside);
  });
}

function dumbbell(editing: Editing, schema: Schema, fold: Fold): HTMLElement[] {
  const one = (key: "bottleneck" | "access", name: string, open: boolean) => {
    const link = editing.read(["dumbbell", key]);
    return fold(
      key,
      open,
      [linkTitle(schema, name, isTable(link) ? link : {})],
      ...linkFields(editing, schema, ["dumbbell", key], "Both"),
    );
  };
  return [one("bottleneck", "Bottleneck", true), one("access", "Access links", false)];
}

function linkTitle(schema: Schema, name: string, link: Table): HTMLElement {
  const elements = Array.isArray(link.elements) ? link.elements.filter(isTable) : [];
  const brief = [link.rate, link.delay].map(String).join(" · ");
  const called = (kind: string) => schema.variant("Element", kind)?.title ?? kind;
  return title(name, brief, ...elements.map((e) => called(String(e.kind))));
}

/** The most interesting link: the first with elements, else the first with a limited queue. */
function bottleneck(links: Table[]): number {
  const acts = (element: Json) => isTable(element) && element.p !== 0;
  const busy = links.findIndex((link) => Array.isArray(link.elements) && link.elements.some(acts));
  const queued = links.findIndex((link) => link.queue !== undefined && link.queue !== "unlimited");
  return Math.max(0, busy >= 0 ? busy : queued);
}

/** Bandwidth, delay, queue, discipline, elements, and the back direction. */
function linkFields(editing: Editing, schema: Schema, path: Path, definition: string): HTMLElement[] {
  const fields = fieldsOf(schema, definition);
  const back = fields.find((f) => f.key === "back");
  const forward = oneWay(
    editing,
    schema,
    path,
    fields.filter((f) => f.key !== "back"),
  );
  return [...forward, ...(back ? [wayBack(editing, schema, [...path, "back"], back)] : [])];
}

function oneWay(editing: Editing, schema: Schema, path: Path, fields: Field[]): HTMLElement[] {
  const plain = table(editing, path, fields, { always: PLAIN, skip: ["from", "to", "elements", "form"] });
  const elements = fields.find((f) => f.key === "elements");
  return [
    ...plain,
    discipline(editing, schema, [...path, "elements"]),
    ...(elements ? [control(editing, [...path, "elements"], elements)] : []),
  ];
}

/** Drop tail, or one of the elements that drop before the queue is full. */
function discipline(editing: Editing, schema: Schema, path: Path): HTMLElement {
  const read = editing.read(path);
  const elements = Array.isArray(read) ? read : [];
  const early = (e: Json) => isTable(e) && e.kind === "red";
  const now = elements.some(early) ? "red" : "";
  const select = h(
    "select",
    { "aria-label": "Queue discipline" },
    h("option", { value: "" }, "drop tail"),
    h("option", { value: "red" }, "RED"),
  );
  select.value = now;
  select.addEventListener("change", () => {
    const rest = elements.filter((e) => !early(e));
    const red = { kind: "red", ...schema.variant("Element", "red")?.starter };
    editing.write(path, select.value === "red" ? [red, ...rest] : rest);
    editing.redraw();
  });
  return h(
    "div",
    { class: "field" },
    h("div", { class: "line" }, h("span", { class: "label" }, "Queue discipline"), select),
  );
}

function wayBack(editing: Editing, schema: Schema, path: Path, field: Field): HTMLElement {
  const own = editing.read(path) !== undefined;
  const box = h("input", { type: "checkbox", class: "switch", id: `own-${path.join("-")}` });
  box.checked = own;
  box.addEventListener("change", () => {
    editing.write(path, box.checked ? { elements: [] } : undefined);
    editing.redraw();
  });
  const line = h("div", { class: "line" }, h("label", { for: box.id, title: field.sentence }, "Way back differs"), box);
  const shape: Shape = field.shape;
  const fields =
    shape.type === "table" ? shape.fields.map((f) => ({ ...f, standard: undefined, unset: "as forward" })) : [];
  return h("div", { class: own ? "group back" : "back" }, line, ...(own ? oneWay(editing, schema, path, fields) : []));
}

function flows(editing: Editing, schema: Schema, fold: Fold): HTMLElement[] {
  const scenario = editing.read([]) as Table;
  const inDumbbell = isTable(scenario.dumbbell);
  const at: Path = inDumbbell ? ["dumbbell", "flow"] : ["flow"];
  const fields = fieldsOf(schema, inDumbbell ? "FlowKeys" : "Flow");
  const list = flowsOf(scenario);
  const change = (next: Json[]) => {
    editing.write(at, next);
    editing.redraw();
  };
  return list.map((flow, i) => {
    const many = Number(flow.count ?? 1) > 1 ? `${flow.count} flows` : "";
    const name = String(flow.name ?? (list.length > 1 ? `Flow ${i + 1}` : "Sender and receiver"));
    const inside = table(editing, [...at, i], fields, {
      always: ["window", "segment", "receiver"],
      skip: ["stack", "set"],
    });
    const tools = h(
      "div",
      { class: "row" },
      button("Add a flow like it", () => change(list.toSpliced(i + 1, 0, unnamed(flow))), "add"),
      list.length > 1 && button("Remove this flow", () => change(list.toSpliced(i, 1)), "remove"),
    );
    return fold(`flow-${i}`, false, [title(name, [many, flow.window].filter(Boolean).join(" · "))], ...inside, tools);
  });
}

function unnamed({ name: _, ...flow }: Table): Table {
  return flow;
}

function background(editing: Editing, schema: Schema, fold: Fold): HTMLElement[] {
  const value = editing.read(["background"]);
  const shape: Shape = { type: "list", item: schema.definition("Background") };
  const field: Field = { key: "sources", shape, sentence: "Traffic beside the flows.", standard: [], required: false };
  const count = Array.isArray(value) ? value.length : 0;
  return [
    fold(
      "background",
      false,
      [title("Background traffic", count > 0 ? `${count}` : "none")],
      control(editing, ["background"], field),
    ),
  ];
}

function run(editing: Editing, schema: Schema): HTMLElement[] {
  return table(editing, ["run"], fieldsOf(schema, "Run"), {
    always: ["duration", "reordering"],
    skip: ["seed", "seeds"],
  });
}
