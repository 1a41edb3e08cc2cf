/** View (f): all flows of a run on one graph: each flow's acknowledged data over time, its share, and the fairness. */

import type { Range } from "../chart/bars";
import { drawStairs } from "../chart/paint";
import { Stairs } from "../chart/stairs";
import type { Stroke, Surface } from "../chart/surface";
import type { ColourName, Theme } from "../chart/theme";
import { bytes, byteUnit, grouped } from "../chart/ticks";
import { h } from "../dom";
import type { FlowTrace, RunTrace } from "../engine/trace";
import type { Chart, Scene, Style } from "./chart";

export const FLOWS: Style = {
  name: "flows",
  title: "throughput of each flow",
  height: 150,
  unit: (top) => ({ ...byteUnit(top), name: `${byteUnit(top).name}/s` }),
  legend: [],
};

/** The number of equal parts of the run over which throughput is averaged. */
const BINS = 100;
/** Number of flows described at the cursor, the fastest first. */
const REPORTED = 4;
const COLOURS: readonly ColourName[] = ["needless", "needed", "dsack", "refused", "dropped", "sack", "open", "ack"];
/** Flows whose colour is taken are dashed. */
const DASHES: readonly (readonly number[])[] = [[], [5, 3], [2, 2], [8, 2, 2, 2]];

/** How the i-th flow is drawn. */
export function strokeOf(i: number, theme: Theme): Stroke {
  const dash = DASHES[Math.floor(i / COLOURS.length) % DASHES.length];
  const colour = theme[COLOURS[i % COLOURS.length]];
  return { colour, width: 1.5, ...(dash.length > 0 ? { dash } : {}) };
}

/** Bytes acknowledged by the end. */
export function acknowledged({ acks }: FlowTrace): number {
  let most = 1;
  for (let i = 0; i < acks.ack.length; i++) if (acks.dropped[i] === 0 && acks.ack[i] > most) most = acks.ack[i];
  return most - 1;
}

/** Bytes per second of a flow, in bins of equal length from 0 to the end of the run. */
export function throughput({ acks }: FlowTrace, durationS: number, bins = BINS): Float64Array {
  const found = new Float64Array(bins);
  const width = durationS / bins;
  let una = 1;
  for (let i = 0; i < acks.ack.length; i++) {
    if (acks.dropped[i] === 1 || acks.ack[i] <= una) continue;
    const bin = Math.min(Math.floor(acks.time[i] / width), bins - 1);
    found[bin] += (acks.ack[i] - una) / width;
    una = acks.ack[i];
  }
  return found;
}

/** Jain's index of fairness: 1 if all have the same, 1/n if one has everything; NaN if none has anything. */
export function jain(values: readonly number[]): number {
  const sum = values.reduce((a, b) => a + b, 0);
  const squares = values.reduce((a, b) => a + b * b, 0);
  return (sum * sum) / (values.length * squares);
}

export class FlowsChart implements Chart {
  private readonly lines: readonly Stairs[];

  constructor(
    private readonly run: RunTrace,
    private readonly theme: () => Theme,
  ) {
    const width = run.durationS / BINS;
    const times = Float64Array.from({ length: BINS }, (_, i) => i * width);
    this.lines = run.flows.map((flow) => new Stairs(times, throughput(flow, run.durationS)));
  }

  fit(t0: number, t1: number): Range {
    return { low: 0, high: Math.max(0, ...this.lines.map((line) => line.range(t0, t1).high)) };
  }

  ground(): void {}

  draw(surface: Surface, { sight }: Scene): void {
    const theme = this.theme();
    for (const [i, line] of this.lines.entries()) drawStairs(surface, line, sight, strokeOf(i, theme));
  }

  read(time: number): readonly (readonly [string, string])[] {
    const at = this.lines.map((line, i) => [this.run.flows[i].name, line.at(time)] as const);
    const fastest = at.filter(([, rate]) => rate > 0).sort(([, a], [, b]) => b - a);
    return fastest.slice(0, REPORTED).map(([name, rate]) => [name, `${bytes(rate)}/s`]);
  }
}

/** The shares of all flows of each run, each with a sample of its line. */
export function sharesTable(runs: readonly RunTrace[], headings: readonly string[]): HTMLElement {
  const got = runs.map((run) => run.flows.map(acknowledged));
  const sums = got.map((of) => of.reduce((a, b) => a + b, 0));
  const longest = runs.reduce((a, b) => (b.flows.length > a.flows.length ? b : a));
  const cells = (run: number, flow: number) => {
    const bytesOf = got[run][flow];
    if (bytesOf === undefined) return [h("td", {}, "–"), h("td", {}, "–")];
    const share = sums[run] > 0 ? bytesOf / sums[run] : 0;
    const rate = bytesOf / Math.max(runs[run].durationS, 1e-9);
    return [
      h("td", { "data-value": String(rate) }, grouped(rate / 1e3, 1)),
      h("td", { "data-value": String(share) }, `${(100 * share).toFixed(1)} %`),
    ];
  };
  const sample = (i: number) => {
    const { colour, dash } = strokeOf(i, INHERITED);
    return h("i", { class: "ak-sample-line", style: `border-top: 2px ${dash ? "dashed" : "solid"} ${colour}` });
  };
  const head = h(
    "tr",
    {},
    h("td"),
    ...headings.flatMap((name) => [h("th", { scope: "col" }, `${name}, kB/s`), h("th", { scope: "col" }, "share")]),
  );
  const rows = longest.flows.map(({ name }, i) =>
    h("tr", {}, h("th", { scope: "row" }, sample(i), name), ...runs.flatMap((_, run) => cells(run, i))),
  );
  const fair = h(
    "tr",
    { class: "ak-jain" },
    h("th", { scope: "row" }, "Jain’s index of fairness"),
    ...got.flatMap((of) => {
      const index = jain(of);
      const text = Number.isFinite(index) ? index.toFixed(3) : "–";
      return [h("td"), h("td", { "data-value": String(index) }, text)];
    }),
  );
  const table = h("table", { class: "ak-table" }, h("thead", {}, head), h("tbody", {}, ...rows, fair));
  return h("div", { class: "ak-scroll ak-shares" }, table);
}

/** Colours by their names in the style sheet, so that a table follows a change of theme. */
const INHERITED = Object.fromEntries(COLOURS.map((name) => [name, `var(--ak-${name})`])) as Theme;
