/** The flows of a capture as a table to choose from. */
import { bytes, duration, grouped } from "../chart/ticks";
import type { FlowRow } from "../engine/capture";
import { fill, h } from "./dom";

/** Number of rows shown; the search finds the others. */
const SHOWN = 100;
/** With more flows than this, there is a search. */
const MANY = 12;

type Cell = readonly [title: string, of: (flow: FlowRow) => string];

const COLUMNS: readonly Cell[] = [
  ["bytes", ({ bytes: n }) => bytes(n)],
  ["kB/s", ({ goodput_bytes_per_s: rate }) => (rate === null ? "–" : grouped(rate / 1e3, 1))],
  ["RTT", ({ rtt_median_s: rtt }) => (rtt === null ? "–" : duration(rtt))],
  ["sent again", ({ retransmissions: r }) => grouped(r.total)],
  ["needed", ({ retransmissions: r }) => grouped(r.needed)],
  ["needless", ({ retransmissions: r }) => grouped(r.needless)],
  ["refused", ({ retransmissions: r }) => grouped(r.refused)],
  ["undecided", ({ retransmissions: r }) => grouped(r.undecided)],
  ["reordered", ({ reordering }) => (reordering ? `${(100 * reordering.ratio).toFixed(2)} %` : "–")],
  ["longest stall", ({ stalls: { longest } }) => (longest ? `${duration(longest.duration_s)}, ${longest.cause}` : "–")],
  ["captured", ({ captured }) => captured.at],
];

/** The table, the flows with the most bytes first; `choose` is called with the flow that is clicked. */
export function captureTable(flows: readonly FlowRow[], choose: (flow: FlowRow) => void): HTMLElement {
  const sorted = flows.toSorted((a, b) => b.bytes - a.bytes);
  const head = h("tr", {}, ...["flow", ...COLUMNS.map(([title]) => title)].map((t) => h("th", { scope: "col" }, t)));
  const body = h("tbody", {});
  const more = h("p", { class: "said" });
  const show = (sought: string) => {
    const found = sorted.filter(({ flow }) => flow.includes(sought.trim()));
    fill(body, ...found.slice(0, SHOWN).map((flow) => row(flow, choose)));
    const rest = found.length - SHOWN;
    more.hidden = rest <= 0;
    more.textContent = `${grouped(rest)} flows with fewer bytes are not shown; the search finds them.`;
  };
  const search = h("input", { type: "search", placeholder: "Address or port", "aria-label": "Search flows" });
  search.addEventListener("input", () => show(search.value));
  search.hidden = flows.length <= MANY;
  show("");
  return h("div", { class: "flow-table" }, search, h("table", {}, h("thead", {}, head), body), more);
}

function row(flow: FlowRow, choose: (flow: FlowRow) => void): HTMLElement {
  const name = h("button", { type: "button", class: "bare", onclick: () => choose(flow) }, flow.flow);
  const cells = COLUMNS.map(([title, of]) =>
    h("td", title === "captured" ? { title: flow.captured.why } : {}, of(flow)),
  );
  return h("tr", { "data-flow": keyOf(flow) }, h("th", { scope: "row" }, name), ...cells);
}

/** Marks the row of the flow that is drawn, if any. */
export function markFlow(table: Element, flow: FlowRow | undefined): void {
  for (const one of table.querySelectorAll<HTMLElement>("tbody tr"))
    one.ariaCurrent = flow && one.dataset.flow === keyOf(flow) ? "true" : null;
}

function keyOf({ connection, flow }: FlowRow): string {
  return `${connection} ${flow}`;
}
