/** Pauses of a sender: the longest intervals between two ACKs of new data. */
import type { Acks, FlowColumns, FlowTrace, Sends, Steps } from "../engine/trace";

/** From one ACK of new data to the next, with data outstanding. */
export interface Pause {
  /** Time of the ACK before it, or of the first transmission if there was none. */
  from: number;
  /** Time of the ACK that ends it, or of the end of the run. */
  to: number;
  /** When the ACK before it was sent: arrivals at the receiver from then on explain the pause. */
  since: number;
  /** The first unacknowledged offset during the pause. */
  una: number;
  /** Row in `acks` of the ACK that ends it; -1 at the end of the run. */
  ended: number;
}

/** Shortest pause that is reported, in the flow's shortest round-trip times. */
const LONG = 2;

/** The longest pauses of a flow, the longest first; at most the requested number. */
export function pauses(flow: FlowTrace, durationS: number, most: number): Pause[] {
  const longest: Pause[] = [];
  let shortest = Number.POSITIVE_INFINITY;
  const roundTrip = roundTrips(flow.sends);
  walk(flow, durationS, (from, to, since, una, ended, last) => {
    if (ended >= 0) shortest = Math.min(shortest, roundTrip(last, flow.acks.ack[ended] as number, to));
    const place = longest.findLastIndex((p) => p.to - p.from >= to - from) + 1;
    if (place >= most) return;
    longest.splice(place, 0, { from, to, since, una, ended });
    if (longest.length > most) longest.pop();
  });
  return longest.filter((p) => p.to - p.from > LONG * shortest);
}

/** The longest pause of a flow, however short, s. */
export function longestPause(flow: FlowColumns, durationS: number): number {
  let longest = 0;
  walk(flow, durationS, (from, to) => {
    if (to - from > longest) longest = to - from;
  });
  return longest;
}

/** Calls back for each interval between ACKs of new data; `last` is the row in `sends` of the latest transmission by then. */
function walk(
  { sends, acks }: FlowColumns,
  durationS: number,
  tell: (from: number, to: number, since: number, una: number, ended: number, last: number) => void,
): void {
  if (sends.time.length === 0) return;
  // Plain variables of one loop: those of a nested function would be written to the heap each time.
  let from = sends.time[0] as number;
  let [since, una, row, highest] = [0, 1, 0, 1];
  for (let i = 0; i <= acks.time.length; i += 1) {
    const over = i === acks.time.length;
    if (!over && (acks.dropped[i] === 1 || (acks.ack[i] as number) <= una)) continue;
    const time = over ? durationS : (acks.time[i] as number);
    // The transmissions until then, and the time at which the last of them ended an idle time of the flow.
    for (; row < sends.time.length && (sends.time[row] as number) <= time; row += 1) {
      if (una >= highest) from = sends.time[row] as number;
      highest = Math.max(highest, end(sends, row));
    }
    if (!over || una < highest) tell(from, time, since, una, over ? -1 : i, row - 1);
    if (over) return;
    from = time;
    since = acks.sent[i] as number;
    una = acks.ack[i] as number;
  }
}

/**
 * The time since the first transmission that ends at `ack`, Infinity if it was sent again up to row `last`. The function that is
 * returned must be called with rows and ACKs that ascend: it reads each row once.
 */
function roundTrips(sends: Sends): (last: number, ack: number, time: number) => number {
  const again = new Set<number>();
  let [read, first] = [0, 0];
  return (last, ack, time) => {
    for (; read <= last; read += 1) if (sends.sends[read] !== 1) again.add(end(sends, read));
    while (first <= last && (sends.sends[first] !== 1 || end(sends, first) < ack)) first += 1;
    const known = first <= last && end(sends, first) === ack && !again.has(ack);
    return known ? time - (sends.time[first] as number) : Number.POSITIVE_INFINITY;
  };
}

/** The offset after a transmission. */
export function end(sends: Sends, row: number): number {
  return (sends.seq[row] as number) + (sends.len[row] as number);
}

/** The number of ascending `times` not after `time`; with `before`, the number before it. */
export function until(times: Float64Array, time: number, before = false): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const t = times[middle] as number;
    if (before ? t < time : t <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The value at `time`, or just before it; undefined before the first step. */
export function held(steps: Steps, time: number, before = false): number | undefined {
  return steps.value[until(steps.time, time, before) - 1];
}

/** Rows of the ACKs that arrived after `from` and before `to`. */
export function arrivals(acks: Acks, from: number, to: number): number[] {
  const rows: number[] = [];
  // Dropped ACKs are at their time of sending, so only the other times ascend: the scan begins at a safe place.
  for (let i = Math.max(0, firstAfter(acks, from)); i < acks.time.length; i += 1) {
    const time = acks.dropped[i] === 1 ? (acks.sent[i] as number) : (acks.time[i] as number);
    if (time >= to) break;
    if (acks.dropped[i] === 0 && time > from) rows.push(i);
  }
  return rows;
}

/** The first row whose place in the order is after `time`. */
export function firstAfter(acks: Acks, time: number): number {
  let [low, high] = [0, acks.time.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const t = (acks.dropped[middle] === 1 ? acks.sent[middle] : acks.time[middle]) as number;
    if (t <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
