/** The panel at the left: stacks, path, and changes made by hand; redrawn when its form changes. */

import { fill, h } from "../dom";
import { columns } from "./columns";
import { Editing } from "./editing";
import { handPanel } from "./handPanel";
import { flowsOf } from "./links";
import { get, type Json, type Path, put, type Table } from "./path";
import { pathPanel } from "./pathPanel";
import { MOST_WITH_TWO, PathSides } from "./pathSides";
import type { Schema } from "./schema";
import type { Refused, Session } from "./session";
import type { Known } from "./stack";
import { MOST_STACKS, type NamedStack, type StackPanel, stackPanel } from "./stackPanel";

export class SidePanel {
  readonly element: HTMLElement;
  private readonly opened = new Set<string>();
  private readonly editing: Editing;
  private readonly stackCards = h("div", { class: "cards" });
  private readonly pathCards = h("div", { class: "cards" });
  private readonly hand = h("div", {});
  private readonly sides: PathSides;
  private readonly handSection: HTMLElement;
  private stacks: StackPanel | undefined;

  constructor(
    private readonly session: Session,
    private readonly schema: Schema,
    private readonly known: Known,
  ) {
    const read = (path: Path) => get(this.scenario, path);
    const write = (path: Path, value: Json | undefined) => this.edit(put(this.scenario, path, value) as Table);
    this.sides = new PathSides(session, () => this.draw());
    this.editing = new Editing(read, write, () => this.drawPath());
    const section = (title: string, id: string, ...inside: HTMLElement[]) =>
      h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...inside);
    this.handSection = section("Done by hand", "hand-title", this.hand);
    this.element = h(
      "aside",
      { id: "panel", "aria-label": "Stacks and path", tabindex: -1 },
      section("Stacks", "stacks-title", this.stackCards),
      this.handSection,
      section("Path", "path-title", this.sides.element, this.pathCards),
    );
  }

  /** The scenario whose path is edited. */
  private get scenario(): Table {
    const { scenario, other } = this.session.lab;
    return this.sides.side === "other" && other ? other : scenario;
  }

  private edit(scenario: Table): void {
    this.session.change({ [this.sides.side]: scenario });
  }

  /** Draws everything for another scenario, with all sections folded. */
  renew(): void {
    this.opened.clear();
    this.draw();
  }

  /** Draws the whole panel. */
  draw(): void {
    this.drawStacks();
    this.drawPath();
    this.drawHand();
  }

  /** Draws the changes made by hand, which a run may have altered. */
  drawHand(): void {
    const change = (scenario: Table) => {
      this.edit(scenario);
      this.drawPath();
      this.drawHand();
    };
    const rows = handPanel(this.scenario, change);
    this.handSection.hidden = rows.length === 0;
    fill(this.hand, ...rows);
  }

  /** Shows the engine's refusal at the field that caused it. Returns whether there is such a field. */
  refuse(refused: Refused | undefined): boolean {
    const key = refused?.refusal.key ?? "";
    const column = refused && columns(this.session.lab)[refused.column];
    const inStack = /(^|\.)flow\[\d+\]\.(set|stack)\b|^--(set|stack)/.test(key);
    const many = this.session.lab.stacks.length;
    for (let i = 0; i < many; i++) {
      this.stacks?.refuse(i, refused && inStack && i === column?.at ? refused.refusal : undefined);
    }
    if (column && !inStack) this.sides.choose(column.side);
    return this.editing.refuse(inStack ? undefined : refused?.refusal) || inStack;
  }

  private drawPath(): void {
    this.sides.draw();
    this.editing.forget();
    refill(this.pathCards, pathPanel(this.editing, this.schema, this.opened));
  }

  private drawStacks(): void {
    this.stacks = stackPanel({
      named: this.known.named as NamedStack[],
      slots: this.known.slots,
      flow: flowsOf(this.session.lab.scenario)[0] ?? {},
      most: this.session.lab.other ? MOST_WITH_TWO : MOST_STACKS,
      stacks: () => this.session.lab.stacks,
      opened: this.opened,
      change: (stacks) => this.session.change({ stacks }),
      redraw: () => this.drawStacks(),
    });
    refill(this.stackCards, this.stacks.elements);
  }
}

const CONTROLS = "input, select, textarea, button, summary";

/** Replaces the children; the focus moves from an old child to its successor. */
function refill(container: HTMLElement, children: HTMLElement[]): void {
  const controls = () => [...container.querySelectorAll<HTMLElement>(CONTROLS)];
  const at = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  const index = at ? controls().indexOf(at) : -1;
  const field = at?.closest<HTMLElement>("[data-key]")?.dataset.key;
  const stack = at?.closest<HTMLElement>("[data-stack]")?.dataset.stack;
  fill(container, ...children);
  if (index < 0) return;
  const inside = (stack && container.querySelector(`[data-stack="${stack}"]`)) || container;
  const same = field && inside.querySelector<HTMLElement>(`[data-key="${CSS.escape(field)}"] :is(${CONTROLS})`);
  (same || controls()[index])?.focus({ preventScroll: true });
}
