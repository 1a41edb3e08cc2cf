/** The sender's phases as shades behind a plot. */

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

/** Draws each phase but Open; Loss is hatched, so that it is told apart without its colour. */
export function drawBands(surface: Surface, phases: Phases, { sight, plot, theme, hidden }: Scene): void {
  const { x, pixel } = sight;
  const { time, to } = phases;
  const snap = (at: number) => Math.round(at / pixel) * pixel;
  const boxes = SHADED.map(() => new Coords());
  const hatched: [number, number][] = [];
  const last = countBelow(time, x.to, true);
  let drawn = Number.NEGATIVE_INFINITY;
  for (let i = Math.max(countBelow(time, x.from) - 1, 0); i < last; i++) {
    const kind = (SHADED as readonly string[]).indexOf(PHASES[to[i]]);
    if (kind < 0 || hidden.has(SHADED[kind])) continue;
    const left = snap(Math.max(x.at(time[i]), plot.x));
    const right = snap(Math.min(i + 1 < time.length ? x.at(time[i + 1]) : x.end, plot.x + plot.width));
    // Many short phases in one pixel are drawn once, the first of them.
    if (right === drawn) continue;
    drawn = right;
    const width = Math.max(right - left, pixel);
    boxes[kind].box(left, plot.y, width, plot.height);
    if (SHADED[kind] === "loss" && width > 3) hatched.push([left, width]);
  }
  SHADED.forEach((phase, kind) => {
    surface.boxes(boxes[kind], theme[phase]);
  });
  for (const [left, width] of hatched) surface.hatch(left, plot.y, width, plot.height, theme.hatch);
}

/** The index into `PHASES` that holds at `time`. */
export function phaseAt({ time, to }: Phases, at: number): number {
  const before = countBelow(time, at, true);
  return before === 0 ? 0 : to[before - 1];
}
