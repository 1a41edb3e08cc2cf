/** The flows of a capture as a table to choose from. */
import { grouped } from "../chart/ticks";
import { fill, h } from "../dom";
import { type CapturedFlow, SHOWN } from "../engine/rows";

/** Number of rows shown; the search finds the others. */
const MOST = 100;
/** With more flows than this, there is a search. */
const MANY = 12;

type Column = (typeof SHOWN.CapturedFlow)[number];

/** The columns, described with the analysis; the first is the flow's name. */
const [NAME, ...COLUMNS] = SHOWN.CapturedFlow.filter(({ brief }) => brief) as [Column, ...Column[]];

/** The table, the flows with the most bytes first; `choose` is called with the flow that is clicked. */
export function captureTable(flows: readonly CapturedFlow[], choose: (flow: CapturedFlow) => void): HTMLElement {
  const sorted = flows.toSorted((a, b) => b.bytes - a.bytes);
  const titles = [NAME, ...COLUMNS].map(({ title, unit, meaning }) =>
    h("th", { scope: "col", title: meaning }, `${title} ${unit}`.trim()),
  );
  const head = h("tr", {}, ...titles);
  const body = h("tbody", {});
  const more = h("p", { class: "hint" });
  const show = (sought: string) => {
    const found = sorted.filter(({ flow }) => flow.includes(sought.trim()));
    fill(body, ...found.slice(0, MOST).map((flow) => row(flow, choose)));
    const rest = found.length - MOST;
    more.hidden = rest <= 0;
    more.textContent = `${grouped(rest)} flows with fewer bytes are not shown; the search finds them.`;
  };
  const search = h("input", { type: "search", placeholder: "Address or port", "aria-label": "Search flows" });
  search.addEventListener("input", () => show(search.value));
  search.hidden = flows.length <= MANY;
  show("");
  return h("div", { class: "flow-table" }, search, h("table", {}, h("thead", {}, head), body), more);
}

function row(flow: CapturedFlow, choose: (flow: CapturedFlow) => void): HTMLElement {
  const name = h("button", { type: "button", class: "bare", onclick: () => choose(flow) }, flow.flow);
  const cells = COLUMNS.map((column) =>
    h("td", column.name === "captured" ? { title: flow.captured_why } : {}, cell(flow[column.name], column)),
  );
  return h("tr", { "data-flow": keyOf(flow) }, h("th", { scope: "row" }, name), ...cells);
}

function cell(value: string | number | null, { scale, digits }: Column): string {
  return typeof value === "number" ? grouped(value * scale, digits) : (value ?? "–");
}

/** Marks the row of the flow that is drawn, if any. */
export function markFlow(table: Element, flow: CapturedFlow | undefined): void {
  for (const one of table.querySelectorAll<HTMLElement>("tbody tr"))
    one.ariaCurrent = flow && one.dataset.flow === keyOf(flow) ? "true" : null;
}

function keyOf({ connection, flow }: CapturedFlow): string {
  return `${connection} ${flow}`;
}
