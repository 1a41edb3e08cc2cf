/** View (c): the length of a queue at each arrival, and its drops. */

import { Bars, type Range } from "../chart/bars";
import { drawBars, drawSigns } from "../chart/paint";
import { countBelow } from "../chart/pyramid";
import { Coords, type Surface } from "../chart/surface";
import { countUnit, short } from "../chart/ticks";
import { dropsOf } from "../engine/ready";
import type { QueueTrace, RunTrace } from "../engine/trace";
import type { Chart, Scene, Style } from "./chart";

export const QUEUE: Style = {
  name: "queue",
  title: "queue",
  height: 90,
  unit: () => countUnit("packets"),
  whole: true,
  legend: [
    { key: "packets", label: "length at each arrival, with the arriving packet", colour: "queue", draw: "bar" },
    { key: "drops", label: "dropped", colour: "dropped", draw: "sign", shape: "cross" },
    { key: "limit", label: "limit", colour: "dropped", draw: "line", dash: [2, 3] },
  ],
};

const STEM_PX = 1;
const SIGN_PX = 8;

/** A queue of the path at which packets arrived. */
export interface QueueName {
  readonly link: number;
  readonly name: string;
}

/** Queues at which packets arrived in any of the runs, the longest first. */
export function queuesOf(runs: readonly RunTrace[]): QueueName[] {
  const most = new Map<number, { name: string; packets: number }>();
  for (const { queues } of runs)
    for (const { link, name, longest } of queues)
      if (longest > (most.get(link)?.packets ?? 0)) most.set(link, { name, packets: longest });
  return [...most].sort(([, a], [, b]) => b.packets - a.packets).map(([link, { name }]) => ({ link, name }));
}

/** The graph's bars stand for no rows of the trace. */
const NO_ITEMS = new Uint32Array(0);

let nothing = new Float64Array(0);

/** The lower ends of bars from zero; all queues share them. */
function zeros(count: number): Float64Array {
  if (count > nothing.length) nothing = new Float64Array(count);
  return nothing.subarray(0, count);
}

const NONE = {
  time: new Float64Array(0),
  packets: new Uint32Array(0),
  longest: 0,
  limit: Number.NaN,
};

export class QueueChart implements Chart {
  readonly title: string;
  private readonly queue: QueueTrace;
  private readonly lost: Float64Array;
  /** The bars and the drops, once they are drawn: on most pages this graph is below the window. */
  private made: { found: Bars; drops: Bars } | undefined;

  constructor(run: RunTrace, { link, name }: QueueName) {
    this.title = `queue of ${name}`;
    this.queue = run.queues.find((queue) => queue.link === link) ?? { ...NONE, link, name };
    this.lost = dropsAt(run, link);
  }

  private get bars(): { found: Bars; drops: Bars } {
    if (this.made) return this.made;
    const { time, packets } = this.queue;
    const high = new Float64Array(packets);
    // A drop is drawn at the queue length that it found.
    const level = this.lost.map((at) => high[Math.max(countBelow(time, at, true) - 1, 0)] ?? 0);
    const [found, drops] = [
      new Bars(time, zeros(high.length), high, NO_ITEMS),
      new Bars(this.lost, level, level, NO_ITEMS),
    ];
    this.made = { found, drops };
    return this.made;
  }

  has(key: string): boolean {
    if (key === "limit") return Number.isFinite(this.queue.limit);
    return key !== "drops" || this.lost.length > 0;
  }

  fit(t0: number, t1: number): Range {
    const { high } = this.bars.found.range(t0, t1);
    const { limit } = this.queue;
    return { low: 0, high: limit < 3 * high ? Math.max(high, limit) : high };
  }

  ground(): void {}

  draw(surface: Surface, { sight, plot, theme, hidden }: Scene): void {
    if (!hidden.has("packets")) drawBars(surface, this.bars.found, sight, theme.queue, { width: STEM_PX });
    const { limit } = this.queue;
    if (!hidden.has("limit") && Number.isFinite(limit)) {
      const line = new Coords();
      const y = Math.round(sight.y.at(limit)) + sight.pixel / 2;
      line.point(plot.x, y);
      line.point(plot.x + plot.width, y);
      surface.line(line, { colour: theme.dropped, width: 1, dash: [2, 3] });
    }
    if (!hidden.has("drops"))
      drawSigns(surface, this.bars.drops, sight, "cross", { colour: theme.dropped, size: SIGN_PX, rim: theme.paper });
  }

  read(time: number): readonly (readonly [string, string])[] {
    const before = countBelow(this.queue.time, time, true);
    return before === 0 ? [] : [["found", short(this.queue.packets[before - 1])]];
  }
}

/** When the link's own queue dropped data of any flow. */
function dropsAt({ flows }: RunTrace, link: number): Float64Array {
  const times = flows.flatMap((flow) => {
    const { time, element } = dropsOf(flow);
    return Array.from(time).filter((_, nth) => element[nth] === link);
  });
  return Float64Array.from(times).sort();
}
