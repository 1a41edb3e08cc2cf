/** Step functions: acknowledged data, windows, thresholds, queues. */

import { columns, type Range, type Sight } from "./bars";
import { around, beginnings, bounds, countBelow, descend, during } from "./pyramid";

/** The levels above values. */
interface Above {
  readonly lows: readonly Float64Array[];
  readonly highs: readonly Float64Array[];
  readonly begins: readonly Float64Array[];
}

/** Values over ascending times, each valid until the next one, with a pyramid above. */
export class Stairs {
  constructor(
    readonly time: Float64Array,
    readonly value: Float64Array,
    private made?: Above,
  ) {}

  /** The stairs of a copy that a worker sent. */
  static of({ time, value, made }: Stairs): Stairs {
    return new Stairs(time, value, made);
  }

  /** Made when the values are drawn for the first time: many never are. */
  private get above(): Above {
    this.made ??= { ...bounds(this.value), begins: beginnings(this.time) };
    return this.made;
  }

  /** Makes the pyramid before it is needed. */
  prepare(): void {
    this.made = this.above;
  }

  get length(): number {
    return this.time.length;
  }

  /** The value at `time`; NaN before the first. */
  at(time: number): number {
    const before = countBelow(this.time, time, true);
    return before === 0 ? Number.NaN : this.value[before - 1];
  }

  /** The smallest and the largest finite value from `t0` to `t1`. */
  range(t0: number, t1: number): Range {
    const seen = { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };
    const take = (low: number, high: number) => {
      if (low < seen.low && low !== Number.NEGATIVE_INFINITY) seen.low = low;
      if (high > seen.high && high !== Number.POSITIVE_INFINITY) seen.high = high;
      return true;
    };
    const { lows, highs } = this.above;
    const { first, end } = during(this.time, t0, t1);
    descend(
      this.length,
      { first: Math.max(first - 1, 0), end },
      (level, node) => take(lows[level - 1][node], highs[level - 1][node]),
      (point) => take(this.value[point], this.value[point]),
    );
    return seen;
  }

  /**
   * Calls `emit` for each column of pixels in `sight`, from left to right, with its first and last point and the
   * smallest and largest value between them.
   */
  visit(sight: Sight, emit: (x: number, first: number, last: number, low: number, high: number) => void): void {
    const { x, pixel } = sight;
    const { time, value } = this;
    const { lows, highs, begins } = this.above;
    const column = columns(sight);
    descend(
      this.length,
      around(time, x.from, x.to),
      (level, node, first, last) => {
        const begin = begins[level - 1];
        const at = column(begin[node]);
        if (at !== column(begin[node + 1])) return false;
        emit(at * pixel, first, last, lows[level - 1][node], highs[level - 1][node]);
        return true;
      },
      (point) => emit(column(time[point]) * pixel, point, point, value[point], value[point]),
    );
  }
}
