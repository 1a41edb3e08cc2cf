/** View (e): the results, stack beside stack. */

import { FONT_SIZE, type Surface } from "../chart/surface";
import type { Theme } from "../chart/theme";
import { duration, grouped } from "../chart/ticks";
import { h } from "../dom";
import { type FlowMeans, MEASURES, type Measure, needlessRatio, type Repeated } from "../engine/repeat";
import { type Column, FlowMeasuresColumns, FlowSummaryColumns } from "../engine/results";
import { CapturedFlowColumns } from "../engine/rows";
import type { RunTrace } from "../engine/trace";

/** A number for each run, and its format. */
export interface Line {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly (number | undefined)[];
  readonly write: (value: number) => string;
  /** Whether a larger value is better. */
  readonly more: boolean;
  /** Half the width of each value's confidence interval, if the values are means. */
  readonly halves?: readonly (number | undefined)[];
}

/** A flow in the report of its run; only captures have `undecided_retransmissions`. */
type Counts = Readonly<Record<string, number | null>>;

function counts({ summary }: RunTrace, flow: number): Counts {
  const runs = summary.runs as readonly { readonly flows: readonly Counts[] }[] | undefined;
  return runs?.[0]?.flows[flow] ?? {};
}

/** Needless retransmissions as a share of the packets sent, if the report or the flow has their number. */
function share({ flows }: RunTrace, flow: number, counted: Counts): number | undefined {
  const one = flows[flow];
  const sent = counted.data_packets_sent ?? one?.captured?.row.data_packets ?? one?.sends.time.length ?? null;
  return needlessRatio({ ...counted, data_packets_sent: sent });
}

/** The longest stall of a flow, s. */
function longest({ flows }: RunTrace, flow: number): number | undefined {
  const one = flows[flow];
  return one?.captured ? (one.captured.row.longest_stall_s ?? undefined) : one?.longestPauseS;
}

type Key = Measure | "undecided_retransmissions";

function column(key: Key): Column {
  if (key === "undecided_retransmissions") return CapturedFlowColumns[key];
  return key === "needless_ratio" ? FlowMeasuresColumns[key] : FlowSummaryColumns[key];
}

/** The lines of the table for flow `flow` of each run; with `repeated`, also the means over its seeds. */
export function tableLines(runs: readonly RunTrace[], flow: number, repeated?: Repeated): Line[] {
  // A run with fewer flows shows its last flow.
  const flows = runs.map((run) => Math.min(flow, Math.max(run.flows.length - 1, 0)));
  const reported = runs.map((run, i) => counts(run, flows[i]));
  const value = (key: Key, run: number) =>
    key === "needless_ratio" ? share(runs[run], flows[run], reported[run]) : (reported[run][key] ?? undefined);
  const captured = reported.some((one) => one.undecided_retransmissions !== undefined);
  const simulated = reported.some((one) => one.timeouts !== undefined);
  const keys = MEASURES.filter((key) => key !== "timeouts" || simulated || !captured) as Key[];
  if (captured) keys.splice(keys.indexOf("needless_ratio") + 1, 0, "undecided_retransmissions");
  const lines = keys.map((key): Line => {
    const { label: name, unit, scale, digits, moreIsBetter: more } = column(key);
    const values = runs.map((_, run) => value(key, run));
    const write = (of: number) => grouped(of * scale, digits);
    // The mean of counts need not be a whole number.
    const mean = (of: number) => grouped(of * scale, digits || 1);
    return { name, unit, values, write, more, ...means(runs, flow, key, mean, repeated) };
  });
  const stalls = runs.map((run, i) => longest(run, flows[i]));
  const stall: Line = { name: "longest stall", unit: "", values: stalls, write: duration, more: false };
  return repeated ? lines : [...lines, stall];
}

/** The same values as means over seeds; runs that were not repeated have none. */
function means(
  runs: readonly RunTrace[],
  flow: number,
  key: Key,
  write: (value: number) => string,
  repeated: Repeated | undefined,
): Partial<Line> {
  if (!repeated || key === "undecided_retransmissions") return {};
  const of = (run: number): FlowMeans[Measure] => repeated.scenarios[run]?.[flow]?.[key];
  const values = runs.map((_, run) => of(run)?.mean);
  const halves = runs.map((_, run) => of(run)?.half_width_95 ?? undefined);
  return { values, halves, write };
}

/** A value's difference from the first run's, in per cent or as a factor if that is meaningful; empty if both print the same. */
export function difference({ values, write }: Line, run: number): string {
  const [first] = values;
  const value = values[run];
  if (first === undefined || value === undefined || write(value) === write(first)) return "";
  const sign = value > first ? "+" : "−";
  if (first === 0) return `${sign}${write(Math.abs(value))}`;
  const share = Math.abs(value / first - 1);
  if (share < 0.0005) return "≈";
  return share >= 9.995
    ? `× ${grouped(value / first, 1)}`
    : `${sign}${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

/** Whether the run has the best printed value of the line, and not all runs have it. */
export function best({ values, more, write }: Line, run: number): boolean {
  const known = values.filter((value) => value !== undefined);
  const value = values[run];
  if (value === undefined) return false;
  const top = write(more ? Math.max(...known) : Math.min(...known));
  return write(value) === top && known.some((other) => write(other) !== top);
}

export function tableElement(lines: readonly Line[], headings: readonly string[]): HTMLElement {
  const cell = (line: Line, run: number) => {
    const value = line.values[run];
    const text = value === undefined ? "–" : line.write(value);
    const mark = best(line, run) ? "best" : "";
    const change = h("span", { class: "ak-change" }, difference(line, run));
    const half = line.halves?.[run];
    const exact: Record<string, string> = value === undefined ? {} : { "data-value": String(value) };
    if (half !== undefined) exact["data-half"] = String(half);
    const around = half === undefined ? [] : [h("span", { class: "ak-half" }, ` ± ${line.write(half)}`)];
    const message = h("span", mark ? { title: "best" } : {}, text);
    return h("td", { class: mark, ...exact }, message, ...around, change);
  };
  const unit = ({ unit: name }: Line) => (name ? [h("span", { class: "ak-unit" }, ` (${name})`)] : []);
  return h(
    "table",
    { class: "ak-table" },
    h("thead", {}, h("tr", {}, h("td"), ...headings.map((name) => h("th", { scope: "col" }, name)))),
    h(
      "tbody",
      {},
      ...lines.map((line) =>
        h("tr", {}, h("th", { scope: "row" }, line.name, ...unit(line)), ...headings.map((_, run) => cell(line, run))),
      ),
    ),
  );
}

const NAME_PX = 190;
const COLUMN_PX = 150;
const LINE_PX = 26;

/** Size of the table as a picture. */
export function tableSize(lines: readonly Line[], runs: number): { width: number; height: number } {
  return { width: NAME_PX + runs * COLUMN_PX + 12, height: (lines.length + 1) * LINE_PX + 8 };
}

/** The table as a picture. */
export function drawTable(surface: Surface, lines: readonly Line[], headings: readonly string[], theme: Theme): void {
  const edge = (run: number) => NAME_PX + (run + 1) * COLUMN_PX - 52;
  const size = FONT_SIZE + 1;
  headings.forEach((name, run) => {
    surface.text(name, edge(run), LINE_PX - 8, { colour: theme.ink, bold: true, size, align: "right" });
  });
  lines.forEach((line, n) => {
    const y = (n + 2) * LINE_PX - 8;
    surface.text(line.unit ? `${line.name} (${line.unit})` : line.name, 8, y, { colour: theme.muted, size });
    headings.forEach((_, run) => {
      const value = line.values[run];
      const half = line.halves?.[run];
      const around = half === undefined ? "" : ` ± ${line.write(half)}`;
      const text = value === undefined ? "–" : line.write(value) + around;
      surface.text(text, edge(run), y, { colour: theme.ink, size, bold: best(line, run), align: "right" });
      surface.text(difference(line, run), edge(run) + 6, y, { colour: theme.muted });
    });
  });
}
