/** What a graph shows, as a table for a screen reader: counts of what is seen, and its packets one by one. */

import { make } from "./dom";
import { fresh } from "./ids";

export interface Listing {
  /** What is counted. */
  readonly sentence: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** While the window moves, the table waits this long, ms. */
const PAUSE = 250;

export class ListingTable {
  readonly element = make("div", { class: "ak-listing" });
  private readonly sentence = make("p", { id: fresh("seen") });
  private readonly table = make("table", { id: fresh("packets") });
  private timer = 0;

  /** A table of what `list` lists, of which `panel` tells a screen reader. */
  constructor(
    panel: HTMLElement,
    private readonly list: () => Listing,
  ) {
    this.element.append(this.sentence, this.table);
    panel.setAttribute("aria-describedby", this.sentence.id);
    panel.setAttribute("aria-details", this.table.id);
    this.update();
  }

  /** Lists again once the window stands still. */
  update(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.fill(), PAUSE);
  }

  clear(): void {
    window.clearTimeout(this.timer);
    this.element.remove();
  }

  private fill(): void {
    const { sentence, columns, rows } = this.list();
    this.sentence.textContent = sentence;
    const head = make("tr", {}, ...columns.map((name) => make("th", { scope: "col" }, name)));
    const body = rows.map(([first = "", ...rest]) =>
      make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((cell) => make("td", {}, cell))),
    );
    this.table.replaceChildren(
      make("caption", {}, "Packets in the graph"),
      make("thead", {}, head),
      make("tbody", {}, ...body),
    );
  }
}
