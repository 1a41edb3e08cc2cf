/** The flows of a capture as a table to choose from. */
import { grouped } from "../chart/ticks";
import { fill, h } from "../dom";
import { type CapturedConnection, type CapturedFlow, SHOWN } from "../engine/rows";

/** Number of rows shown; the search finds the others. */
const MOST = 100;
/** With more flows than this, there is a search. */
const MANY = 12;

type Column = (typeof SHOWN.CapturedFlow)[number];

/** The columns, described with the analysis; the first is the flow's name. */
const [NAME, ...COLUMNS] = SHOWN.CapturedFlow.filter(({ brief }) => brief) as [Column, ...Column[]];

/** Which columns of a connection tell the time of its requests and answers. */
const ASKED = ["client", "server", "exchanges", "first_byte_s", "network_s", "server_s", "answers_s", "client_s"];

/** The table, the flows with the most bytes first; `choose` is called with the flow that is clicked. */
export function captureTable(flows: readonly CapturedFlow[], choose: (flow: CapturedFlow) => void): HTMLElement {
  const sorted = flows.toSorted((a, b) => b.bytes - a.bytes);
  const columns = COLUMNS.filter(({ name, seldom }) => !seldom || flows.some((flow) => flow[name] !== null));
  const head = heads([NAME, ...columns]);
  const body = h("tbody", {});
  const more = h("p", { class: "hint" });
  const show = (sought: string) => {
    const found = sorted.filter(({ flow }) => flow.includes(sought.trim()));
    fill(body, ...found.slice(0, MOST).map((flow) => row(flow, columns, choose)));
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

/** The connections with requests and answers, the longest total wait first. */
export function askedTable(asked: readonly CapturedConnection[]): HTMLElement {
  const columns = SHOWN.CapturedConnection.filter(({ name }) => ASKED.includes(name));
  const rows = asked.toSorted((a, b) => b.first_byte_s - a.first_byte_s).slice(0, MOST);
  const line = (one: CapturedConnection) => {
    const [first, ...others] = columns.map((column) => cell(one[column.name], column));
    return h("tr", {}, h("th", { scope: "row" }, first), ...others.map((text) => h("td", {}, text)));
  };
  const table = h("table", {}, h("thead", {}, heads(columns)), h("tbody", {}, ...rows.map(line)));
  return h(
    "div",
    { class: "flow-table asked", tabindex: 0, role: "region", "aria-label": "Requests and answers" },
    table,
  );
}

function heads(columns: readonly { title: string; unit: string; meaning: string }[]): HTMLElement {
  const titles = columns.map(({ title, unit, meaning }) =>
    h("th", { scope: "col", title: meaning }, `${title} ${unit}`.trim()),
  );
  return h("tr", {}, ...titles);
}

function row(flow: CapturedFlow, columns: readonly Column[], choose: (flow: CapturedFlow) => void): HTMLElement {
  const name = h("button", { type: "button", class: "bare", onclick: () => choose(flow) }, flow.flow);
  const cells = columns.map((column) =>
    h("td", column.name === "captured" ? { title: flow.captured_why } : {}, cell(flow[column.name], column)),
  );
  return h("tr", { "data-flow": keyOf(flow) }, h("th", { scope: "row" }, name), ...cells);
}

function cell(value: string | number | null, { scale, digits }: { scale: number; digits: number }): string {
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
