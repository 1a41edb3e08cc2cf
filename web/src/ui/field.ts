/** One value: an exact field, a slider if values have an order, and a place for a refusal. */

import { fill, fresh, h, prose } from "../dom";
import type { Refusal } from "../engine/engine";
import type { Editing } from "./editing";
import { words } from "./names";
import { isTable, type Json, keyOf, type Path } from "./path";
import { type Scale, scaleOf } from "./scale";
import type { Field, Shape } from "./schema";

type Of<T extends Shape["type"]> = Extract<Shape, { type: T }>;

/** A value's place: its shape, and its path. */
export interface Place {
  editing: Editing;
  path: Path;
  field: Field;
  read: () => Json | undefined;
  write: (value: Json | undefined) => void;
}

export function place(editing: Editing, path: Path, field: Field): Place {
  return { editing, path, field, read: () => editing.read(path), write: (value) => editing.write(path, value) };
}

/** The control of a simple value; undefined for any other shape. */
export function simple(at: Place): HTMLElement | undefined {
  const { shape } = at.field;
  switch (shape.type) {
    case "quantity":
      return shape.table ? limited(at, shape, shape.table) : ordered(at, shape);
    case "number":
      return ordered(at, shape);
    case "boolean":
      return truth(at);
    case "choice":
      return choice(at, shape);
    case "text":
      return text(at);
    case "list":
      return ["number", "quantity"].includes(shape.item.type) ? list(at, shape.item) : undefined;
    default:
      return undefined;
  }
}

/** Label, sentence and refusal around a control. */
function frame(at: Place, control: HTMLElement, ...below: (HTMLElement | false)[]): HTMLElement {
  const id = fresh("field");
  const refusal = h("p", { class: "refusal", id: `${id}-refusal`, role: "alert", hidden: true });
  const sentence = h("p", { class: "sentence", id: `${id}-about` }, prose(about(at.field)));
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-refusal ${id}-about`);
  const label = h("label", { for: id, title: at.field.sentence.replaceAll("`", "") }, words(at.field.key));
  const line = h("div", { class: "line" }, label, control);
  const element = h("div", { class: "field", "data-key": keyOf(at.path) }, line, ...below, refusal, sentence);
  at.editing.register(at.path, (why) => {
    refusal.hidden = why === undefined;
    control.setAttribute("aria-invalid", why ? "true" : "false");
    element.classList.toggle("refused", why !== undefined);
    if (why) {
      fill(refusal, sentenceOf(why));
      unfold(element);
      element.scrollIntoView({ block: "nearest" });
    }
  });
  return element;
}

export function sentenceOf(why: Refusal): string {
  const hint = why.hint ? `; did you mean ${why.hint}?` : "";
  return why.allowed === "" ? why.message : `Found ${why.found}. Allowed: ${why.allowed}${hint}`;
}

/** A refusal inside a folded section would not be visible. */
function unfold(element: HTMLElement): void {
  for (let at = element.parentElement; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
}

/** The sentence, with the default unless the sentence states it. */
function about(field: Field): string {
  const standard = field.standard as Json | undefined;
  const silent =
    /default/i.test(field.sentence) || standard === undefined || isTable(standard) || Array.isArray(standard);
  return silent ? field.sentence : `${field.sentence} Default ${shown(standard)}.`;
}

function shown(value: Json | undefined): string {
  if (value === undefined || value === null || isTable(value)) return "";
  if (Array.isArray(value)) return value.map(shown).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value);
}

/** A quantity or a number: an exact field, and a slider over the most useful values. */
function ordered(at: Place, shape: Of<"quantity"> | Of<"number">): HTMLElement {
  const scale = scaleOf(shape, at.field.standard);
  const exact = h("input", { class: "exact", type: "text", spellcheck: "false", autocomplete: "off" });
  exact.inputMode = shape.type === "number" ? "decimal" : "text";
  exact.placeholder = at.field.required ? "" : (at.field.unset ?? "not set");
  exact.value = shown(at.read() ?? (at.field.standard as Json | undefined));
  const slider = h("input", { type: "range", min: 0, max: 1000, step: "any", "aria-label": words(at.field.key) });
  const follow = () => follows(slider, exact, scale);
  exact.addEventListener("change", () => {
    at.write(exact.value.trim() === "" ? undefined : scale.read(exact.value.trim()));
    follow();
  });
  slider.addEventListener("input", () => {
    exact.value = scale.write(Number(slider.value) / 1000, exact.value);
    at.write(scale.read(exact.value));
    follow();
  });
  follow();
  const unlimited = shape.type === "quantity" && shape.words.includes("unlimited");
  const element = frame(at, exact, slider);
  if (unlimited) exact.before(endless(exact, scale, (value) => at.write(value), follow));
  return element;
}

function follows(slider: HTMLInputElement, exact: HTMLInputElement, scale: Scale): void {
  const share = scale.share(exact.value);
  slider.disabled = share === undefined;
  slider.value = String(1000 * (share ?? 1));
  slider.style.setProperty("--level", `${100 * (share ?? 1)}%`);
  slider.setAttribute("aria-valuetext", exact.value);
}

/** A button that switches between a limit and none. */
function endless(exact: HTMLInputElement, scale: Scale, put: (v: string) => void, follow: () => void): HTMLElement {
  let limit = exact.value === "unlimited" ? scale.write(0.5, "") : exact.value;
  const button = h("button", { type: "button", class: "endless", title: "Unlimited", "aria-label": "Unlimited" }, "∞");
  const mark = () => button.setAttribute("aria-pressed", String(exact.value === "unlimited"));
  button.addEventListener("click", () => {
    const on = exact.value !== "unlimited";
    if (on) limit = exact.value;
    exact.value = on ? "unlimited" : limit;
    put(exact.value);
    follow();
    mark();
  });
  exact.addEventListener("change", mark);
  mark();
  return button;
}

/** A limit that may be a plain value or a table with other keys: it becomes a table when one of these keys is set. */
function limited(at: Place, shape: Of<"quantity">, fields: Field[]): HTMLElement {
  const table = () => {
    const value = at.read();
    return isTable(value) ? value : undefined;
  };
  const limit: Place = {
    ...at,
    read: () => table()?.limit ?? at.read(),
    write: (value) => at.write(table() && value !== undefined ? { ...table(), limit: value } : value),
  };
  const others = fields.filter((f) => f.key !== "limit");
  const beside = others.flatMap((field) => {
    const path = [...at.path, field.key];
    const write = (value: Json | undefined) =>
      at.write({ limit: limit.read() ?? "unlimited", ...table(), [field.key]: value ?? null });
    return simple({ editing: at.editing, path, field, read: () => table()?.[field.key], write }) ?? [];
  });
  return h("div", {}, ordered(limit, shape), ...beside);
}

function truth(at: Place): HTMLElement {
  const box = h("input", { type: "checkbox", class: "switch" });
  box.checked = (at.read() ?? at.field.standard) === true;
  box.addEventListener("change", () => at.write(box.checked));
  return frame(at, box);
}

function choice(at: Place, shape: Of<"choice">): HTMLElement {
  const select = h("select", {});
  if (at.field.standard === undefined && !at.field.required)
    select.append(h("option", { value: "" }, at.field.unset ?? "not set"));
  for (const c of shape.choices) select.append(h("option", { value: c.value, title: c.sentence }, c.value));
  select.value = shown(at.read() ?? (at.field.standard as Json | undefined));
  const message = h("p", { class: "hint" });
  const say = () => fill(message, prose(shape.choices.find((c) => c.value === select.value)?.sentence ?? ""));
  select.addEventListener("change", () => {
    at.write(select.value === "" ? undefined : select.value);
    say();
  });
  say();
  return frame(at, select, message);
}

function text(at: Place): HTMLElement {
  const value = shown(at.read());
  const long = value.includes("\n") || at.field.key === "data";
  const input = long
    ? h("textarea", { rows: 5, spellcheck: "false" })
    : h("input", { type: "text", spellcheck: "false" });
  input.value = value;
  input.addEventListener("change", () => at.write(input.value === "" ? undefined : input.value));
  return frame(at, input);
}

/** Simple values, separated by commas. */
function list(at: Place, item: Shape): HTMLElement {
  const scale = item.type === "number" ? scaleOf(item, undefined) : undefined;
  const input = h("input", { type: "text", class: "exact wide", spellcheck: "false", placeholder: "none" });
  input.value = shown(at.read());
  input.addEventListener("change", () => {
    const parts = input.value.split(",").map((part) => part.trim());
    const values = parts.filter((part) => part !== "").map((part) => scale?.read(part) ?? part);
    at.write(values.length === 0 ? undefined : values);
  });
  return frame(at, input);
}
