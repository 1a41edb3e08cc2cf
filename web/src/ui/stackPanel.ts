/** The compared stacks: up to four, each with its slots and their parameters. */

import { h, prose } from "../dom";
import type { Refusal } from "../engine/engine";
import type { StackChoice } from "../scenario/state";
import { button, iconButton } from "./buttons";
import { Editing } from "./editing";
import { sentenceOf } from "./field";
import { control } from "./form";
import { words } from "./names";
import { get, isTable, type Json, type Path, type Table } from "./path";
import type { Field } from "./schema";
import { changed, effective, fitting, flat } from "./stack";

export const MOST_STACKS = 4;

/** A stack as in `ackclock stacks --json`. */
export type NamedStack = Table & { name: string; summary: string };

interface Given {
  named: readonly NamedStack[];
  slots: readonly Field[];
  /** The scenario's first flow, whose stack and parameters apply unless a choice overrides them. */
  flow: Table;
  /** The largest number of stacks. */
  most: number;
  /** Those of now. */
  stacks: () => readonly StackChoice[];
  opened: Set<string>;
  change: (stacks: StackChoice[]) => void;
  redraw: () => void;
}

export interface StackPanel {
  elements: HTMLElement[];
  /** Shows the engine's refusal of the i-th stack. */
  refuse: (i: number, refusal: Refusal | undefined) => void;
}

export function stackPanel(given: Given): StackPanel {
  const stacks = given.stacks();
  const cards = stacks.map((_, i) => new Card(given, i));
  const full = stacks.length >= given.most;
  const another = () => reshape(given, [...given.stacks(), { name: suggestion(given), set: {} }]);
  const says = full ? `${given.most === MOST_STACKS ? "Four is" : "Two are"} the most` : "Compare with another";
  const add = button(says, another, "add", { disabled: full });
  return { elements: [...cards.map((c) => c.element), add], refuse: (i, refusal) => cards[i]?.refuse(refusal) };
}

function reshape(given: Given, stacks: StackChoice[]): void {
  given.change(stacks);
  given.redraw();
}

/** A stack to compare that is not in the list yet. */
function suggestion(given: Given): string {
  const taken = given.stacks().map((s) => s.name ?? given.flow.stack);
  const known = ["reno", "rfc-6675", "dsack-avg", "rack-tlp", "rfc-today"];
  return known.find((name) => !taken.includes(name)) ?? "reno";
}

/** `--set rto.min` and `flow[0].set."rto.min"` as `rto.min`. */
export function parameter(key: string | undefined): string | undefined {
  return key
    ?.replace(/^--set /, "")
    .replace(/^(dumbbell\.)?flow\[\d+\]\.set\./, "")
    .replaceAll('"', "");
}

class Card {
  readonly element: HTMLElement;
  private readonly base: Table;
  private readonly editing: Editing;
  private readonly refused = h("p", { class: "refusal", role: "alert", hidden: true });
  private readonly slots: HTMLElement[];
  private readonly summary = h("summary", {});
  private readonly reset: HTMLElement;

  constructor(
    private readonly given: Given,
    private readonly i: number,
  ) {
    const name = this.stack.name ?? String(given.flow.stack ?? "");
    const named = given.named.find((n) => n.name === name);
    const own = flat(given.flow.set);
    const { kept, left } = this.stack.name ? fitting(named ?? {}, own, given.slots) : { kept: own, left: [] };
    this.base = effective(named ?? {}, kept, given.slots);
    this.editing = new Editing(
      (path) => get(this.now, path),
      (path, value) => this.put(path, value),
      given.redraw,
    );
    this.slots = given.slots.map((slot) => this.slot(slot));
    this.reset = button("Reset what was changed", () => this.replace({ ...this.stack, set: {} }), "undo");
    const inside = h("details", { class: "slots", ...this.remembered(`slots-${i}`) }, this.summary, ...this.slots);
    const lacks =
      left.length > 0 ? `. Left out, as it has no such parameter: ${left.map((l) => `\`${l}\``).join(", ")}` : "";
    const about = h("p", { class: "hint" }, prose((named?.summary ?? "") + lacks));
    const what = { class: "card stack", "data-stack": i, "aria-label": `Stack ${i + 1}` };
    this.element = h("section", what, this.head(), about, this.refused, inside, this.reset);
    this.mark();
  }

  refuse(refusal: Refusal | undefined): void {
    const shown = this.editing.refuse(refusal && { ...refusal, key: parameter(refusal.key) });
    this.refused.hidden = refusal === undefined || shown;
    this.refused.textContent = refusal ? sentenceOf(refusal) : "";
  }

  private get stack(): StackChoice {
    return this.given.stacks()[this.i] ?? { name: null, set: {} };
  }

  private get now(): Table {
    return effective(this.base, this.stack.set, this.given.slots);
  }

  private put(path: Path, value: Json | undefined): void {
    const set = changed(this.base, this.stack.set, this.given.slots, path, value);
    this.given.change(this.given.stacks().with(this.i, { ...this.stack, set }));
    this.mark();
  }

  private replace(...next: StackChoice[]): void {
    reshape(this.given, this.given.stacks().toSpliced(this.i, 1, ...next));
  }

  /** Marks the slots that differ from the named stack. */
  private mark(): void {
    const keys = Object.keys(this.stack.set);
    for (const [n, slot] of this.given.slots.entries()) {
      const isChanged = keys.some((key) => key === slot.key || key.startsWith(`${slot.key}.`));
      this.slots[n]?.classList.toggle("changed", isChanged);
    }
    this.summary.textContent =
      keys.length > 0 ? `Slots and parameters, ${keys.length} changed` : "Slots and parameters";
    this.reset.hidden = keys.length === 0;
  }

  private remembered(id: string): { open: boolean; ontoggle: (event: Event) => void } {
    const { opened } = this.given;
    const ontoggle = (event: Event) => {
      if ((event.currentTarget as HTMLDetailsElement).open) opened.add(id);
      else opened.delete(id);
    };
    return { open: opened.has(id), ontoggle };
  }

  private head(): HTMLElement {
    const { given, i } = this;
    const select = h("select", { "aria-label": `Stack ${i + 1}` });
    select.append(h("option", { value: "" }, `${String(given.flow.stack ?? "")} (the scenario’s)`));
    for (const n of given.named) select.append(h("option", { value: n.name, title: n.summary }, n.name));
    select.value = this.stack.name ?? "";
    select.addEventListener("change", () => this.replace({ name: select.value || null, set: {} }));
    const count = given.stacks().length;
    const copy = () => this.replace(this.stack, structuredClone(this.stack));
    return h(
      "div",
      { class: "line head" },
      select,
      this.button("Duplicate", "copy", count >= given.most, copy),
      this.button("Remove", "remove", count < 2, () => this.replace()),
    );
  }

  private button(says: string, what: "copy" | "remove", disabled: boolean, onclick: () => void): HTMLElement {
    return iconButton(what, `${says} stack ${this.i + 1}`, onclick, { title: says, disabled });
  }

  private slot(slot: Field): HTMLElement {
    const value = this.now[slot.key];
    const kind = isTable(value) ? value.kind : value;
    const summary = h(
      "summary",
      { title: slot.sentence },
      h("span", { class: "label" }, words(slot.key)),
      h("span", { class: "kind" }, typeof kind === "string" ? kind : ""),
    );
    const attributes = { class: "slot", ...this.remembered(`slot-${this.i}-${slot.key}`) };
    // The summary has the slot's name already.
    const inside = slot.shape.type === "table" ? slot : { ...slot, key: "component" };
    return h("details", attributes, summary, control(this.editing, [slot.key], inside));
  }
}
