/** View (b): the sender's variables: windows, dupthresh, retransmission timeout. */

import { beginning, gather } from "../chart/arrays";
import type { Range } from "../chart/bars";
import { drawStairs } from "../chart/paint";
import { Stairs } from "../chart/stairs";
import type { Surface } from "../chart/surface";
import { bytes, byteUnit, countUnit, short } from "../chart/ticks";
import type { FlowTrace, Phases } from "../engine/trace";
import { BANDS, drawBands, hasPhase } from "./bands";
import type { Chart, LegendItem, Scene, Style } from "./chart";
import type { Variables } from "./sequence/tell";

interface Line extends LegendItem {
  readonly draw: "line";
  /** Whether the axis covers all of its values; otherwise the line may leave the drawing. */
  readonly fits: boolean;
}

const WINDOWS = [
  { key: "pipe", label: "pipe", colour: "pipe", draw: "line", fits: true },
  { key: "ssthresh", label: "ssthresh", colour: "ssthresh", draw: "line", dash: [4, 3], fits: false },
  { key: "cwnd", label: "cwnd", colour: "cwnd", draw: "line", fits: true },
] as const satisfies readonly Line[];
const DUPTHRESH = [
  { key: "dupthresh", label: "dupthresh", colour: "needed", draw: "line", fits: true },
] as const satisfies readonly Line[];
const RTO = [
  { key: "rto", label: "RTO", colour: "dsack", draw: "line", fits: true },
] as const satisfies readonly Line[];

/** An ssthresh up to this factor above the window stays visible. */
const NEAR = 1.4;

export const STATE_VIEWS: readonly { style: Style; lines: readonly (Line & { key: keyof Variables })[] }[] = [
  {
    style: {
      name: "window",
      title: "window",
      height: 130,
      unit: byteUnit,
      legend: [...[...WINDOWS].reverse(), ...BANDS],
    },
    lines: WINDOWS,
  },
  {
    style: {
      name: "dupthresh",
      title: "dupthresh",
      height: 64,
      unit: () => countUnit("segments"),
      whole: true,
      legend: [],
    },
    lines: DUPTHRESH,
  },
  { style: { name: "rto", title: "RTO", height: 64, unit: () => countUnit("ms"), legend: [] }, lines: RTO },
];

export function variables({ acks, windows, dupthresh, rto }: FlowTrace): Variables {
  const { dropped, pipe } = acks;
  const all = new Uint32Array(pipe.length);
  const reported = beginning(all, locateTold(pipe, dropped, all));
  return {
    cwnd: new Stairs(windows.time, windows.cwnd),
    ssthresh: new Stairs(windows.time, windows.ssthresh),
    pipe: new Stairs(gather(acks.time, reported), gather(acks.pipe, reported)),
    dupthresh: new Stairs(dupthresh.time, dupthresh.value),
    rto: new Stairs(rto.time, rto.value),
  };
}

/** The ACKs that arrived and told of `pipe`. */
function locateTold(pipe: Float64Array, dropped: Uint8Array, all: Uint32Array): number {
  let found = 0;
  for (let i = 0; i < all.length; i++) if (dropped[i] === 0 && pipe[i] >= 0) all[found++] = i;
  return found;
}

export class StateChart implements Chart {
  constructor(
    private readonly state: Variables,
    private readonly phases: Phases,
    private readonly lines: readonly (Line & { key: keyof Variables })[],
  ) {}

  has(key: string): boolean {
    const line = this.lines.find((one) => one.key === key);
    return line ? this.state[line.key].length > 0 : hasPhase(this.phases, key);
  }

  fit(t0: number, t1: number): Range {
    const seen = { low: 0, high: Number.NEGATIVE_INFINITY };
    for (const { key, fits } of this.lines)
      if (fits) seen.high = Math.max(seen.high, this.state[key].range(t0, t1).high);
    for (const { key } of this.lines) {
      const { high } = this.state[key].range(t0, t1);
      if (high <= NEAR * seen.high) seen.high = Math.max(seen.high, high);
    }
    return seen;
  }

  ground(surface: Surface, scene: Scene): void {
    drawBands(surface, this.phases, scene);
  }

  draw(surface: Surface, { sight, theme, hidden }: Scene): void {
    for (const { key, colour, ...line } of this.lines) {
      if (hidden.has(key)) continue;
      const dash = "dash" in line ? { dash: line.dash as readonly number[] } : {};
      const width = key === "pipe" ? 1 : 1.5;
      drawStairs(surface, this.state[key], sight, { colour: theme[colour], width, ...dash });
    }
  }

  read(time: number): readonly (readonly [string, string])[] {
    const units: Partial<Record<keyof Variables, (value: number) => string>> = {
      dupthresh: (value) => `${short(value)} segments`,
      rto: (value) => `${short(value)} ms`,
    };
    return this.lines
      .map(({ key, label }) => [label, this.state[key].at(time), units[key] ?? bytes] as const)
      .filter(([, value]) => !Number.isNaN(value))
      .map(([label, value, write]) => [this.lines.length > 1 ? label : "", write(value)]);
  }
}
