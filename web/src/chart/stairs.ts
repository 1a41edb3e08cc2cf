/** Step functions: acknowledged data, windows, thresholds, queues. */

import type { Range, Sight } from "./bars";
import { around, countBelow, descend, during, largest, least, levels } from "./pyramid";

/** A value that holds until the next, over ascending times, with a pyramid above. */
export class Stairs {
  private readonly lows: Float64Array[];
  private readonly highs: Float64Array[];

  constructor(
    readonly time: Float64Array,
    readonly value: Float64Array,
  ) {
    this.lows = levels(value, least);
    this.highs = levels(value, largest);
  }

  get length(): number {
    return this.time.length;
  }

  /** The value that holds at `time`; NaN before the first. */
  at(time: number): number {
    const before = countBelow(this.time, time, true);
    return before === 0 ? Number.NaN : this.value[before - 1];
  }

  /** The least and the largest value that hold from `t0` to `t1`, infinity left out. */
  range(t0: number, t1: number): Range {
    const seen = { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };
    const take = (low: number, high: number) => {
      if (low < seen.low && low !== Number.NEGATIVE_INFINITY) seen.low = low;
      if (high > seen.high && high !== Number.POSITIVE_INFINITY) seen.high = high;
      return true;
    };
    const { first, end } = during(this.time, t0, t1);
    descend(
      this.length,
      { first: Math.max(first - 1, 0), end },
      (level, node) => take(this.lows[level - 1][node], this.highs[level - 1][node]),
      (point) => take(this.value[point], this.value[point]),
    );
    return seen;
  }

  /**
   * Tells `emit` each column of pixels in `sight` in which the value changes: the value that it comes with, the least and the largest
   * in it, and the one that it leaves with.
   */
  visit(sight: Sight, emit: (x: number, first: number, low: number, high: number, last: number) => void): void {
    const { x, pixel } = sight;
    const column = (at: number) => Math.round(x.at(this.time[at]) / pixel);
    descend(
      this.length,
      around(this.time, x.from, x.to),
      (level, node, first, last) => {
        const at = column(first);
        if (at !== column(last)) return false;
        const low = this.lows[level - 1][node];
        const high = this.highs[level - 1][node];
        emit(at * pixel, this.value[first], low, high, this.value[last]);
        return true;
      },
      (point) => {
        const value = this.value[point];
        emit(column(point) * pixel, value, value, value, value);
      },
    );
  }
}
