/** A table of a graph's packets for screen readers, with counts for the visible time. */

import { LATER } from "../chart/panel";
import { fresh, h } from "../dom";

export interface Listing {
  /** The counts. */
  readonly sentence: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The table is filled when the window has not moved for this long, ms. */
const PAUSE = 250;

export class ListingTable {
  private readonly element = h("div", { class: "ak-listing" });
  private readonly sentence = h("p", { id: fresh("ak-seen") });
  private readonly head = h("tr");
  private readonly body = h("tbody");
  private readonly table = h(
    "table",
    { id: fresh("ak-packets") },
    h("caption", {}, "Packets in the graph"),
    h("thead", {}, this.head),
    this.body,
  );
  private list: () => Listing | undefined = () => undefined;
  private timer = 0;

  /** An empty table at the end of `view`. */
  constructor(view: HTMLElement) {
    this.element.append(this.sentence, this.table);
    view.append(this.element);
  }

  /** From now on the table of `panel`, to which `list` gives the packets. It is filled a while after the panel is drawn. */
  show(panel: HTMLElement, list: () => Listing | undefined): void {
    this.list = list;
    panel.setAttribute("aria-describedby", this.sentence.id);
    panel.setAttribute("aria-details", this.table.id);
    this.element.setAttribute("aria-busy", "true");
    this.update();
  }

  /** Fills the table again when the window stops moving. */
  update(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.fill(), this.element.hasAttribute("aria-busy") ? LATER : PAUSE);
  }

  clear(): void {
    window.clearTimeout(this.timer);
    this.element.remove();
  }

  /** Writes only what has changed: a new table's thousand cells would have to be made, laid out, and collected later. */
  private fill(): void {
    const listing = this.list();
    if (!listing) return;
    const { sentence, columns, rows } = listing;
    this.sentence.textContent = sentence;
    write(this.head, columns, (cell) => h("th", { scope: "col" }, cell));
    resize(this.body, rows.length, () => h("tr"));
    rows.forEach((cells, i) => {
      write(this.body.rows[i], cells, (cell, k) => (k === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell)));
    });
    this.element.removeAttribute("aria-busy");
  }
}

/** Gives an element this number of children; `one` makes the missing ones. */
function resize(parent: Element, count: number, one: (nth: number) => Element): void {
  while (parent.childElementCount > count) parent.lastElementChild?.remove();
  for (let nth = parent.childElementCount; nth < count; nth++) parent.append(one(nth));
}

/** Writes the texts of the cells of a row; `one` makes the missing ones. */
function write(row: HTMLTableRowElement, texts: readonly string[], one: (text: string, nth: number) => Element): void {
  resize(row, texts.length, (nth) => one(texts[nth], nth));
  texts.forEach((text, nth) => {
    const cell = row.cells[nth];
    if (cell.textContent !== text) cell.textContent = text;
  });
}
