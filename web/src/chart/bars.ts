/** Ranges of the sequence space at points in time: segments, SACK blocks. */

import { beginnings, children, descend, during, largest, least, levels } from "./pyramid";
import type { Scale } from "./scale";

/** The visible part of a chart: scales from values to px, and the size of a device pixel in px. */
export interface Sight {
  readonly x: Scale;
  readonly y: Scale;
  readonly pixel: number;
}

/** Values from `low` to `high`. */
export interface Range {
  low: number;
  high: number;
}

/** The column of pixels that contains a moment. */
export function columns({ x, pixel }: Sight): (time: number) => number {
  const factor = x.factor / pixel;
  const start = x.start / pixel - x.from * factor;
  return (time) => Math.round(time * factor + start);
}

/** Bars over ascending times, with a pyramid above them. */
export class Bars {
  private readonly lows: Float64Array[];
  private readonly highs: Float64Array[];
  private readonly begins: Float64Array[];
  /** The widest gap between the bars of a node when they are stacked. */
  private readonly gaps: Float64Array[];

  /** `item` holds each bar's index in the trace. */
  constructor(
    readonly time: Float64Array,
    readonly low: Float64Array,
    readonly high: Float64Array,
    readonly item: Uint32Array,
  ) {
    this.lows = levels(low, least);
    this.highs = levels(high, largest);
    this.begins = beginnings(time);
    this.gaps = this.lows.map((level) => new Float64Array(level.length));
    for (let level = 0; level < this.gaps.length; level++) this.measureGaps(level);
  }

  get length(): number {
    return this.time.length;
  }

  /**
   * Calls `emit` for each bar to draw in `sight`, from `low` to `high` at `x` px: one bar of the data, or many in one
   * column of pixels with no pixel between them.
   */
  visit(sight: Sight, emit: (x: number, low: number, high: number) => void): void {
    const { x, y, pixel } = sight;
    const { time, low, high, lows, highs, gaps, begins } = this;
    const column = columns(sight);
    const bottom = Math.min(y.from, y.to);
    const top = Math.max(y.from, y.to);
    const small = pixel / Math.abs(y.factor);
    descend(
      this.length,
      during(time, x.from, x.to),
      (level, node) => {
        const least = lows[level - 1][node];
        const most = highs[level - 1][node];
        if (most < bottom || least > top) return true;
        if (gaps[level - 1][node] >= small) return false;
        const begin = begins[level - 1];
        const at = column(begin[node]);
        if (at !== column(begin[node + 1])) return false;
        emit(at * pixel, least, most);
        return true;
      },
      (point) => {
        if (high[point] >= bottom && low[point] <= top) emit(column(time[point]) * pixel, low[point], high[point]);
      },
    );
  }

  /** The bar nearest to (`px`, `py`) and nearer than `reach` px, as its position and distance; undefined if there is none. */
  nearest(sight: Sight, px: number, py: number, reach: number): { point: number; distance: number } | undefined {
    const { x, y } = sight;
    let best = { point: -1, distance: reach };
    const apart = (first: number, last: number, low: number, high: number) => {
      const left = x.at(this.time[first]) - px;
      const right = px - x.at(this.time[last]);
      const above = y.at(high) - py;
      const below = py - y.at(low);
      return Math.hypot(Math.max(left, right, 0), Math.max(above, below, 0));
    };
    descend(
      this.length,
      during(this.time, x.back(px - reach), x.back(px + reach)),
      (level, node, first, last) => {
        const low = this.lows[level - 1][node];
        return apart(first, last, low, this.highs[level - 1][node]) >= best.distance;
      },
      (point) => {
        const distance = apart(point, point, this.low[point], this.high[point]);
        if (distance < best.distance) best = { point, distance };
      },
    );
    return best.point < 0 ? undefined : best;
  }

  /** The lowest and the highest value of the bars from `t0` to `t1`; low is above high if there are none. */
  range(t0: number, t1: number): Range {
    const seen = { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };
    const take = (low: number, high: number) => {
      seen.low = Math.min(seen.low, low);
      seen.high = Math.max(seen.high, high);
      return true;
    };
    descend(
      this.length,
      during(this.time, t0, t1),
      (level, node) => take(this.lows[level - 1][node], this.highs[level - 1][node]),
      (point) => take(this.low[point], this.high[point]),
    );
    return seen;
  }

  private measureGaps(level: number): void {
    const lows = level === 0 ? this.low : this.lows[level - 1];
    const highs = level === 0 ? this.high : this.highs[level - 1];
    const inside = level === 0 ? undefined : this.gaps[level - 1];
    const here = this.gaps[level];
    for (let node = 0; node < here.length; node++) {
      const { first, end } = children(node, lows.length);
      let low = lows[first];
      let high = highs[first];
      let gap = inside ? inside[first] : 0;
      for (let child = first + 1; child < end; child++) {
        gap = Math.max(gap, inside ? inside[child] : 0, lows[child] - high, low - highs[child]);
        low = Math.min(low, lows[child]);
        high = Math.max(high, highs[child]);
      }
      here[node] = gap;
    }
  }
}
