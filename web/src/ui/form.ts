/** Forms made from shapes: tables, one of several tables, and lists of them. */

import { h, prose } from "../dom";
import { button, iconButton } from "./buttons";
import type { Editing } from "./editing";
import { place, simple } from "./field";
import { words } from "./names";
import { isTable, type Json, type Path, type Table } from "./path";
import type { Field, Shape, Variant } from "./schema";

type Of<T extends Shape["type"]> = Extract<Shape, { type: T }>;

interface Which {
  /** Keys that are shown even without a value. */
  always?: readonly string[];
  /** Keys that other code shows. */
  skip?: readonly string[];
}

/** Controls for the keys of a table: required and set keys, with the others folded away. */
export function table(editing: Editing, path: Path, fields: readonly Field[], which: Which = {}): HTMLElement[] {
  // A page has no files beside it, so tables are in the scenario itself, under `data`.
  const mine = fields.filter((f) => f.key !== "file" && !which.skip?.includes(f.key));
  const seen = (f: Field) =>
    f.required || which.always?.includes(f.key) || editing.read([...path, f.key]) !== undefined;
  const made = (f: Field) => control(editing, [...path, f.key], f);
  const rest = mine.filter((f) => !seen(f)).map(made);
  const folded = h("details", { class: "more" }, h("summary", {}, "More"), ...rest);
  return [...mine.filter(seen).map(made), ...(rest.length > 0 ? [folded] : [])];
}

/** The control of any value. */
export function control(editing: Editing, path: Path, field: Field): HTMLElement {
  const { shape } = field;
  if (shape.type === "variants") return variants(editing, path, field, shape);
  if (shape.type === "table") return group(field, table(editing, path, shape.fields));
  if (shape.type === "list" && !["number", "quantity"].includes(shape.item.type)) {
    return list(editing, path, field, shape.item);
  }
  return simple(place(editing, path, field)) ?? h("p", { class: "hint" }, prose(field.sentence));
}

function group(field: Field, inside: HTMLElement[]): HTMLElement {
  const legend = h("legend", { title: field.sentence }, words(field.key));
  return h("fieldset", { class: "group" }, legend, ...inside);
}

/** The variant that a value has. */
export function variantOf(shape: Of<"variants">, value: Json | undefined): Variant | undefined {
  if (typeof value === "string") return shape.variants.find((v) => v.name === value);
  if (!isTable(value)) return undefined;
  const { tag } = shape;
  return shape.variants.find((v) => (tag ? value[tag] === v.name : v.name in value));
}

/** A choice of tables, and the keys of the chosen one. */
function variants(editing: Editing, path: Path, field: Field, shape: Of<"variants">): HTMLElement {
  const value = editing.read(path);
  const now = variantOf(shape, value);
  const choices = shape.variants.map((v) => ({ value: v.name, sentence: v.sentence }));
  const choose = (name: Json | undefined) => {
    editing.write(path, typeof name === "string" ? began(shape, name, value) : undefined);
    editing.redraw();
  };
  const select = simple({
    editing,
    path,
    field: { ...field, shape: { type: "choice", choices } },
    read: () => now?.name,
    write: choose,
  });
  const inside = now && isTable(value) ? table(editing, path, now.fields) : [];
  return h("div", { class: inside.length > 0 ? "group" : "" }, select, ...inside);
}

/** A table of that name, with the values of the previous one that it can take over. */
function began(shape: Of<"variants">, name: string, before: Json | undefined): Json {
  const variant = shape.variants.find((v) => v.name === name);
  if (!variant) return {};
  if (shape.tag === undefined) {
    const single = isTable(before) ? Object.values(before)[0] : undefined;
    const example = variant.starter[name];
    // A single time is not a list of two.
    const kept = Array.isArray(single) === Array.isArray(example) ? single : example;
    return { [name]: kept ?? example ?? "1 s" };
  }
  const kept = isTable(before) ? variant.fields.filter((f) => f.key in before).map((f) => [f.key, before[f.key]]) : [];
  return { [shape.tag]: name, ...variant.starter, ...Object.fromEntries(kept) } as Json;
}

/** A list of tables: a card for each; cards can be removed, moved and added. */
function list(editing: Editing, path: Path, field: Field, item: Shape): HTMLElement {
  const value = editing.read(path);
  const items = Array.isArray(value) ? value : [];
  const change = (next: Json[]) => {
    // If a missing value is taken from elsewhere, an empty list has a meaning of its own.
    editing.write(path, next.length > 0 || field.unset ? next : undefined);
    editing.redraw();
  };
  const cards = items.map((one, i) => {
    const at = [...path, i];
    const variant = item.type === "variants" ? variantOf(item, one) : undefined;
    const fields = item.type === "table" ? item.fields : (variant?.fields ?? []);
    const title = variant ? variant.title : `${singular(field.key)} ${i + 1}`;
    return card(title, variant?.sentence ?? "", table(editing, at, fields), {
      ...(i > 0 ? { up: () => change(items.with(i - 1, one).with(i, items[i - 1] as Json)) } : {}),
      remove: () => change(items.toSpliced(i, 1)),
    });
  });
  const flow = editing.read(["flow", 0]);
  const ends = isTable(flow) ? { from: flow.from ?? "", to: flow.to ?? "" } : {};
  const append = (made: Json) => change([...items, made]);
  const add = item.type === "variants" ? addOneOf(item, ends, append) : addLike(field, items, change);
  const title = h(
    "div",
    { class: "line head" },
    h("span", { class: "label", title: field.sentence }, words(field.key)),
    add,
  );
  const none = value === undefined && field.unset ? h("p", { class: "hint" }, field.unset) : null;
  return h("div", { class: "list" }, title, none, ...cards);
}

function singular(key: string): string {
  return words(key).replace(/s$/, "");
}

function addLike(field: Field, items: Json[], change: (next: Json[]) => void): HTMLElement {
  const made = items.at(-1) ?? { weight: 1 };
  const click = () => change([...items, structuredClone(made)]);
  return button(`Add ${singular(field.key).toLowerCase()}`, click, "add");
}

/** A menu of the tables that may be added; traffic begins between `ends`. */
function addOneOf(shape: Of<"variants">, ends: Table, add: (made: Json) => void): HTMLElement {
  const select = h("select", { class: "add", "aria-label": "Add" }, h("option", { value: "" }, "+ Add …"));
  for (const v of shape.variants) select.append(h("option", { value: v.name, title: v.sentence }, v.title));
  select.addEventListener("change", () => {
    if (select.value !== "") add(began(shape, select.value, ends));
  });
  return select;
}

interface Moves {
  up?: () => void;
  remove: () => void;
}

function card(title: string, sentence: string, inside: HTMLElement[], moves: Moves): HTMLElement {
  const tools = h(
    "span",
    { class: "tools" },
    moves.up && iconButton("up", `Earlier ${title}`, moves.up, { title: "Earlier" }),
    iconButton("remove", `Remove ${title}`, moves.remove, { title: "Remove" }),
  );
  const head = h("div", { class: "line head" }, h("strong", { title: sentence.replaceAll("`", "") }, title), tools);
  return h("div", { class: "card element" }, head, h("p", { class: "hint" }, prose(sentence)), ...inside);
}
