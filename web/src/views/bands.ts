/** The sender's phases as shades behind a plot. */

import type { Sight } from "../chart/bars";
import type { Box } from "../chart/frame";
import { countBelow } from "../chart/pyramid";
import { Coords, type Surface } from "../chart/surface";
import { PHASES, type Phases } from "../engine/trace";
import type { LegendItem, Scene } from "./chart";

const SHADED = ["disorder", "recovery", "loss"] as const;

export const BANDS: readonly LegendItem[] = SHADED.map((phase) => ({
  key: phase,
  label: phase.charAt(0).toUpperCase() + phase.slice(1),
  colour: phase,
  draw: "band",
}));

/** Number of shades for a column of pixels that a phase fills in part. */
const STEPS = 6;
const HATCHED_PX = 3;

/** Draws each phase but Open; Loss is hatched, so that it is distinguishable without colour. */
export function drawBands(surface: Surface, phases: Phases, { sight, plot, theme, hidden }: Scene): void {
  const { pixel } = sight;
  const shares = coverage(phases, sight, plot);
  SHADED.forEach((phase, kind) => {
    if (hidden.has(phase)) return;
    const boxes = Array.from({ length: STEPS + 1 }, () => new Coords());
    const hatched: [number, number][] = [];
    const share = shares[kind];
    const step = (column: number) => Math.min(Math.ceil(share[column] * STEPS - 0.01), STEPS);
    for (let from = 0; from < share.length; ) {
      const level = step(from);
      let to = from + 1;
      while (to < share.length && step(to) === level) to++;
      const width = (to - from) * pixel;
      boxes[level].box(plot.x + from * pixel, plot.y, width, plot.height);
      if (phase === "loss" && level === STEPS && width > HATCHED_PX) hatched.push([plot.x + from * pixel, width]);
      from = to;
    }
    for (let level = 1; level <= STEPS; level++) surface.boxes(boxes[level], theme[phase], level / STEPS);
    for (const [left, width] of hatched) surface.hatch(left, plot.y, width, plot.height, theme.hatch);
  });
}

/** The share of each phase in each column of pixels. */
function coverage({ time, to }: Phases, { x, pixel }: Sight, plot: Box): Float64Array[] {
  const width = Math.ceil(plot.width / pixel);
  const shares = SHADED.map(() => new Float64Array(width));
  const place = (at: number) => Math.min(Math.max((x.at(at) - plot.x) / pixel, 0), width);
  const last = countBelow(time, x.to, true);
  for (let i = Math.max(countBelow(time, x.from) - 1, 0); i < last; i++) {
    const kind = (SHADED as readonly string[]).indexOf(PHASES[to[i]]);
    if (kind < 0) continue;
    const left = place(time[i]);
    const right = i + 1 < time.length ? place(time[i + 1]) : width;
    for (let column = Math.floor(left); column < right; column++)
      shares[kind][column] += Math.min(right, column + 1) - Math.max(left, column);
  }
  return shares;
}

/** Whether the sender was ever in the phase. */
export function hasPhase({ to }: Phases, phase: string): boolean {
  return to.includes((PHASES as readonly string[]).indexOf(phase));
}
