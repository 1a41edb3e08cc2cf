/** Ranges of the sequence space at points in time: segments, SACK blocks. */

import { beginnings, descend, during, type Nodes, nodes } from "./pyramid";
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

/** The levels above bars. */
interface Above {
  readonly lows: readonly Float64Array[];
  readonly highs: readonly Float64Array[];
  readonly begins: readonly Float64Array[];
  /** The widest gap between the bars of a node when they are stacked. */
  readonly gaps: readonly Float64Array[];
}

/** Bars over ascending times, with a pyramid above them. */
export class Bars {
  /** `item` holds each bar's index in the trace. */
  constructor(
    readonly time: Float64Array,
    readonly low: Float64Array,
    readonly high: Float64Array,
    readonly item: Uint32Array,
    private made?: Above,
  ) {}

  /** The bars of a copy that a worker sent. */
  static of({ time, low, high, item, made }: Bars): Bars {
    return new Bars(time, low, high, item, made);
  }

  /** Made when the bars are drawn or searched for the first time: many never are. */
  private get above(): Above {
    this.made ??= above(this.time, this.low, this.high);
    return this.made;
  }

  /** Makes the pyramid before it is needed. */
  prepare(): void {
    this.made = this.above;
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
    const { time, low, high } = this;
    const { lows, highs, gaps, begins } = this.above;
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
    const { lows, highs } = this.above;
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
        const low = lows[level - 1][node];
        return apart(first, last, low, highs[level - 1][node]) >= best.distance;
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
    const { lows, highs } = this.above;
    const seen = { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };
    const take = (low: number, high: number) => {
      seen.low = Math.min(seen.low, low);
      seen.high = Math.max(seen.high, high);
      return true;
    };
    descend(
      this.length,
      during(this.time, t0, t1),
      (level, node) => take(lows[level - 1][node], highs[level - 1][node]),
      (point) => take(this.low[point], this.high[point]),
    );
    return seen;
  }
}

function above(time: Float64Array, low: Float64Array, high: Float64Array): Above {
  const levels: Nodes[] = [];
  for (let [lows, highs] = [low, high]; lows.length > 1; ) {
    const level = nodes(lows, highs, levels.at(-1)?.gaps);
    levels.push(level);
    ({ lows, highs } = level);
  }
  return {
    lows: levels.map(({ lows }) => lows),
    highs: levels.map(({ highs }) => highs),
    gaps: levels.map(({ gaps }) => gaps),
    begins: beginnings(time),
  };
}
