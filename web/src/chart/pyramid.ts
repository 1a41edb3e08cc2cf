/**
 * Level of detail: draws a million points at the screen's resolution, at a cost that depends on the pixels.
 *
 * Points are in order of time. Eight neighbours make a node, eight nodes a node above. A drawing begins at the top
 * and goes down only where a node is larger than a pixel, so no visible point is lost and none is invented. Passing
 * all points to WebGL would be simpler, but is seven times slower without a graphics card.
 */

const FAN_BITS = 3;
/** The number of children of a node. */
export const FAN = 1 << FAN_BITS;

/** The points from `first` to `end`, exclusive. */
export interface Stretch {
  readonly first: number;
  readonly end: number;
}

/** The number of ascending values below `value` (or equal to it, with `orEqual`). */
export function countBelow(values: ArrayLike<number>, value: number, orEqual = false): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const here = values[middle];
    if (here < value || (orEqual && here === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The points from `t0` to `t1`. */
export function during(time: Float64Array, t0: number, t1: number): Stretch {
  return { first: countBelow(time, t0), end: countBelow(time, t1, true) };
}

/** The same with one more point on each side, so that a line continues to the edges. */
export function around(time: Float64Array, t0: number, t1: number): Stretch {
  const { first, end } = during(time, t0, t1);
  return { first: Math.max(first - 1, 0), end: Math.min(end + 1, time.length) };
}

/**
 * Goes down over the points of `stretch`, left to right. `settle` is called for each node completely inside it, with
 * its first and last point, and returns whether that was enough; `leaf` is called for each remaining point.
 */
export function descend(
  count: number,
  stretch: Stretch,
  settle: (level: number, node: number, first: number, last: number) => boolean,
  leaf: (point: number) => void,
): void {
  const go = (level: number, node: number, size: number): void => {
    const first = node * size;
    const end = Math.min(first + size, count);
    if (end <= stretch.first || first >= stretch.end) return;
    if (level === 0) {
      leaf(node);
      return;
    }
    if (first >= stretch.first && end <= stretch.end && settle(level, node, first, end - 1)) return;
    const below = size / FAN;
    for (let child = node * FAN; child < (node + 1) * FAN && child * below < end; child++) go(level - 1, child, below);
  };
  let top = 0;
  let size = 1;
  while (size < count) {
    size *= FAN;
    top++;
  }
  if (count > 0) go(top, 0, size);
}

/** The bounds of each node of each level: the least and the greatest of these values, without infinity and NaN. */
export function bounds(values: Float64Array): { lows: Float64Array[]; highs: Float64Array[] } {
  const lows: Float64Array[] = [];
  const highs: Float64Array[] = [];
  for (let [low, high] = [values, values]; low.length > 1; ) {
    const count = Math.ceil(low.length / FAN);
    const [least, most] = [new Float64Array(count), new Float64Array(count)];
    bound(low, high, least, most);
    lows.push(least);
    highs.push(most);
    [low, high] = [least, most];
  }
  return { lows, highs };
}

// A function of the module, as in arrays.ts: what a browser compiles of it is kept. A node is stored once, not at each child.
function bound(low: Float64Array, high: Float64Array, lows: Float64Array, highs: Float64Array): void {
  for (let node = 0, child = 0; node < lows.length; node++) {
    const end = Math.min(child + FAN, low.length);
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (; child < end; child++) {
      const [bottom, top] = [low[child], high[child]];
      if (bottom < least && bottom !== Number.NEGATIVE_INFINITY) least = bottom;
      if (top > most && top !== Number.POSITIVE_INFINITY) most = top;
    }
    lows[node] = least;
    highs[node] = most;
  }
}

/** The start time of each node of each level, and finally the time of the last point. */
export function beginnings(time: Float64Array): Float64Array[] {
  const found: Float64Array[] = [];
  for (let size = FAN; size < FAN * time.length; size *= FAN) {
    const here = new Float64Array(Math.ceil(time.length / size) + 1);
    every(time, size, here.subarray(0, -1));
    here[here.length - 1] = time[time.length - 1];
    found.push(here);
  }
  return found;
}

/** Fills `into` with every `step`th of the times. */
function every(time: Float64Array, step: number, into: Float64Array): void {
  for (let node = 0; node < into.length; node++) into[node] = time[node * step];
}

/** The nodes of a level above bars. */
export interface Nodes {
  readonly lows: Float64Array;
  readonly highs: Float64Array;
  /** The widest gap between the bars of a node when they are stacked. */
  readonly gaps: Float64Array;
}

/** The nodes above these bars, or above nodes with these bounds; `inside` are the gaps of the latter. */
export function nodes(low: Float64Array, high: Float64Array, inside: Float64Array | undefined): Nodes {
  const count = Math.ceil(low.length / FAN);
  const found = { lows: new Float64Array(count), highs: new Float64Array(count), gaps: new Float64Array(count) };
  join(low, high, inside ?? NO_GAPS, found);
  return found;
}

const NO_GAPS = new Float64Array(0);

function join(low: Float64Array, high: Float64Array, inside: Float64Array, { lows, highs, gaps }: Nodes): void {
  const known = inside.length > 0;
  for (let node = 0, child = 0; node < lows.length; node++) {
    const end = Math.min(child + FAN, low.length);
    let least = finite(low[child], Number.POSITIVE_INFINITY);
    let most = finite(high[child], Number.NEGATIVE_INFINITY);
    let gap = known ? inside[child] : 0;
    for (child++; child < end; child++) {
      const [bottom, top] = [low[child], high[child]];
      if (bottom - most > gap) gap = bottom - most;
      if (least - top > gap) gap = least - top;
      if (known && inside[child] > gap) gap = inside[child];
      if (bottom < least) least = bottom;
      if (top > most) most = top;
    }
    lows[node] = least;
    highs[node] = most;
    gaps[node] = gap;
  }
}

function finite(value: number, otherwise: number): number {
  return Number.isFinite(value) ? value : otherwise;
}
