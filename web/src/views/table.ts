/** View (e): what came out, stack beside stack. */

import { FONT_SIZE, type Surface } from "../chart/surface";
import type { Theme } from "../chart/theme";
import { duration, grouped } from "../chart/ticks";
import type { RunTrace } from "../engine/trace";
import { longestPause } from "../stall/pauses";
import { make } from "./dom";

/** A number for each run, and how it is written. */
export interface Line {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly (number | undefined)[];
  readonly write: (value: number) => string;
  /** Whether more is better. */
  readonly more: boolean;
}

interface Counts {
  readonly goodput_bytes_per_s?: number | null;
  readonly needed_retransmissions?: number | null;
  readonly refused_retransmissions?: number | null;
  readonly needless_retransmissions?: number | null;
  /** Of a capture. */
  readonly undecided_retransmissions?: number | null;
  readonly timeouts?: number | null;
}

/** The counts of a flow in the report of its run. */
function counts({ summary }: RunTrace, flow: number): Counts {
  const runs = summary.runs as readonly { readonly flows: readonly Counts[] }[] | undefined;
  return runs?.[0]?.flows[flow] ?? {};
}

/** The longest stall of a flow, s. */
function longest({ flows, durationS }: RunTrace, flow: number): number | undefined {
  const one = flows[flow];
  if (one?.captured) return one.captured.row.stalls.longest?.duration_s;
  return one ? longestPause(one, durationS) : undefined;
}

/** The lines of the table for flow `flow` of each run. */
export function tableLines(runs: readonly RunTrace[], flow: number): Line[] {
  const told = runs.map((run) => counts(run, flow));
  const count = (value: number) => grouped(value);
  const line = (name: string, unit: string, values: Line["values"], write = count, more = false): Line => ({
    name,
    unit,
    values,
    write,
    more,
  });
  return [
    line(
      "goodput",
      "kB/s",
      told.map((one) => one.goodput_bytes_per_s ?? undefined),
      (value) => grouped(value / 1e3, 1),
      true,
    ),
    line(
      "retransmissions, needed",
      "",
      told.map((one) => one.needed_retransmissions ?? undefined),
    ),
    line(
      "retransmissions, refused",
      "",
      told.map((one) => one.refused_retransmissions ?? undefined),
    ),
    line(
      "retransmissions, needless",
      "",
      told.map((one) => one.needless_retransmissions ?? undefined),
    ),
    ...(told.some((one) => one.undecided_retransmissions !== undefined)
      ? [
          line(
            "retransmissions, cannot tell",
            "",
            told.map((one) => one.undecided_retransmissions ?? undefined),
          ),
        ]
      : [
          line(
            "timeouts",
            "",
            told.map((one) => one.timeouts ?? undefined),
          ),
        ]),
    line(
      "longest stall",
      "",
      runs.map((run) => longest(run, flow)),
      duration,
    ),
  ];
}

/** How far a value is from the first run's, in percent or as a factor where that says something; nothing if they read the same. */
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

/** Whether the run has the best value of the line, as it reads, and not all have. */
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
    const change = make("span", { class: "ak-change" }, difference(line, run));
    const exact: Record<string, string> = value === undefined ? {} : { "data-value": String(value) };
    return make("td", { class: mark, ...exact }, make("span", mark ? { title: "best" } : {}, text), change);
  };
  const unit = ({ unit: name }: Line) => (name ? [make("span", { class: "ak-unit" }, ` (${name})`)] : []);
  return make(
    "table",
    { class: "ak-table" },
    make("thead", {}, make("tr", {}, make("td"), ...headings.map((name) => make("th", { scope: "col" }, name)))),
    make(
      "tbody",
      {},
      ...lines.map((line) =>
        make(
          "tr",
          {},
          make("th", { scope: "row" }, line.name, ...unit(line)),
          ...headings.map((_, run) => cell(line, run)),
        ),
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
      const text = value === undefined ? "–" : line.write(value);
      surface.text(text, edge(run), y, { colour: theme.ink, size, bold: best(line, run), align: "right" });
      surface.text(difference(line, run), edge(run) + 6, y, { colour: theme.muted });
    });
  });
}
