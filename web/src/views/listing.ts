/** A table of a graph's packets for screen readers, with counts for the visible time. */

import { make } from "./dom";
import { fresh } from "./ids";

export interface Listing {
  /** The counts. */
  readonly sentence: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The table is filled when the window has not moved for this long, ms. */
const PAUSE = 250;

export class ListingTable {
  readonly element = make("div", { class: "ak-listing" });
  private readonly sentence = make("p", { id: fresh("seen") });
  private readonly table = make("table", { id: fresh("packets") });
  private timer = 0;

  /** A table that `list` fills; `panel` refers screen readers to it. */
  constructor(
    panel: HTMLElement,
    private readonly list: () => Listing,
  ) {
    this.element.append(this.sentence, this.table);
    panel.setAttribute("aria-describedby", this.sentence.id);
    panel.setAttribute("aria-details", this.table.id);
    this.update();
  }

  /** Fills the table again when the window stops moving. */
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
