/** Bars, stairs and signs on a surface, thinned to its resolution. */

import type { Bars, Sight } from "./bars";
import type { Stairs } from "./stairs";
import { Coords, type Shape, type Stroke, type Style, type Surface } from "./surface";

/** Side in px of a square that has at most one sign; the bars below are complete. */
const CELL_PX = 7;
/** Signs closer than this on average are drawn smaller. */
const CROWD_PX = 18;
const SMALLER = 0.65;

const scratch = new Coords();

/** The look of bars, in px. */
export interface BarStyle {
  readonly width: number;
  /** Width of the two ends of each, as xplot draws segments; 0 for none. */
  readonly ends?: number;
  /** Whether each is at least as high as wide. */
  readonly grow?: boolean;
}

/** Bars as boxes; touching bars in one column are merged. */
export function drawBars(
  surface: Surface,
  bars: Bars,
  sight: Sight,
  colour: string,
  { width, ends = 0, grow = false }: BarStyle,
): void {
  const { y, pixel } = sight;
  const wide = Math.max(Math.round(width / pixel), 1) * pixel;
  const left = Math.floor(wide / pixel / 2) * pixel;
  const least = grow ? wide : 0;
  scratch.clear();
  let column = Number.NaN;
  let top = 0;
  let bottom = 0;
  const put = () => {
    if (Number.isNaN(column)) return;
    // A bar is at least as high as wide: a shorter one would be lost beside the lines.
    const less = Math.max(least - (bottom - top), 0) / 2;
    top = Math.round((top - less) / pixel) * pixel;
    bottom = Math.round((bottom + less) / pixel) * pixel;
    scratch.box(column - left, top, wide, Math.max(bottom - top, pixel));
    if (ends === 0 || bottom - top < 3) return;
    scratch.box(column - ends / 2, top, ends, pixel);
    scratch.box(column - ends / 2, bottom - pixel, ends, pixel);
  };
  bars.visit(sight, (x, low, high) => {
    const up = y.at(high);
    const down = y.at(low);
    if (ends === 0 && x === column && up <= bottom + pixel && down >= top - pixel) {
      top = Math.min(top, up);
      bottom = Math.max(bottom, down);
      return;
    }
    put();
    column = x;
    top = up;
    bottom = down;
  });
  put();
  surface.boxes(scratch, colour);
}

/** A step line; a column of pixels with many steps shows their range. */
export function drawStairs(surface: Surface, stairs: Stairs, sight: Sight, stroke: Stroke): void {
  const { x, y, pixel } = sight;
  // Infinity is drawn as an edge far above the visible range.
  const place = (value: number) => {
    const at = Math.min(Math.max(y.at(value), -1e4), 1e4);
    return Math.round(at / pixel) * pixel;
  };
  scratch.clear();
  let before = Number.NaN;
  const { value } = stairs;
  let column = Number.NaN;
  let [start, end, least, most] = [0, 0, 0, 0];
  const put = () => {
    if (Number.isNaN(column)) return;
    const [first, low, high, last] = [place(value[start]), place(least), place(most), place(value[end])];
    if (!Number.isNaN(before)) scratch.point(column, before);
    if (first !== before) scratch.point(column, first);
    if (low !== first && low !== last) scratch.point(column, low);
    if (high !== first && high !== last) scratch.point(column, high);
    if (last !== first) scratch.point(column, last);
    before = last;
  };
  stairs.visit(sight, (at, first, last, low, high) => {
    if (at === column) {
      if (low < least) least = low;
      if (high > most) most = high;
    } else {
      put();
      column = at;
      start = first;
      least = low;
      most = high;
    }
    end = last;
  });
  put();
  if (!Number.isNaN(before)) scratch.point(x.end, before);
  surface.steps(scratch, stroke);
}

/** Ticks across the ACK line. */
export function drawTicks(surface: Surface, bars: Bars, sight: Sight, colour: string): void {
  scratch.clear();
  let last = Number.NaN;
  bars.visit(sight, (x, low) => {
    if (x === last) return;
    last = x;
    scratch.box(x, sight.y.at(low) - 3, Math.max(1, sight.pixel), 6);
  });
  surface.boxes(scratch, colour);
}

/** Signs on bars, thinned where they would hide each other, and smaller if there are many. */
export function drawSigns(surface: Surface, bars: Bars, sight: Sight, shape: Shape, style: Style): void {
  const taken = new Set<number>();
  // The squares move with the data, so that a pan does not change the selection of signs.
  const [left, top] = [sight.x.at(0) % CELL_PX, sight.y.at(0) % CELL_PX];
  scratch.clear();
  bars.visit(sight, (x, low, high) => {
    const y = (sight.y.at(low) + sight.y.at(high)) / 2;
    const cell = Math.floor((x - left) / CELL_PX) * 65_536 + Math.floor((y - top) / CELL_PX);
    if (taken.has(cell)) return;
    taken.add(cell);
    scratch.point(x, y);
  });
  const crowd = scratch.length / 2 > Math.abs(sight.x.end - sight.x.start) / CROWD_PX;
  if (scratch.length > 0) surface.signs(scratch, shape, crowd ? { ...style, size: style.size * SMALLER } : style);
}
