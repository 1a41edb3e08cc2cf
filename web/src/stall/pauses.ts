/** Pauses of a sender: the longest intervals between two ACKs of new data. */
import type { Acks, FlowTrace, Sends, Steps } from "../engine/trace";

/** From one ACK of new data to the next, with data outstanding. */
export interface Pause {
  /** The ACK before it; the first transmission if there was none. */
  from: number;
  /** The ACK that ends it, or the end of the run. */
  to: number;
  /** When the ACK before it was sent: what reaches the receiver from then on answers for the pause. */
  since: number;
  /** First unacknowledged offset meanwhile. */
  una: number;
  /** Row in `acks` of the ACK that ends it; -1 at the end of the run. */
  ended: number;
}

/** Shortest pause that is reported, in the flow's shortest round-trip times. */
const LONG = 2;

/** The longest pauses of a flow, the longest first; at most the number asked for. */
export function pauses(flow: FlowTrace, durationS: number, most: number): Pause[] {
  const all: Pause[] = [];
  let shortest = Number.POSITIVE_INFINITY;
  walk(flow, durationS, (from, to, since, una, ended, last) => {
    all.push({ from, to, since, una, ended });
    if (ended >= 0 && last >= 0)
      shortest = Math.min(shortest, roundTrip(flow.sends, last, flow.acks.ack[ended] as number, to));
  });
  const long = all.filter((p) => p.to - p.from > LONG * shortest);
  return long.sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, most);
}

/** The longest pause of a flow, however short, s. */
export function longestPause(flow: FlowTrace, durationS: number): number {
  let longest = 0;
  walk(flow, durationS, (from, to) => {
    longest = Math.max(longest, to - from);
  });
  return longest;
}

/** Tells of all intervals between ACKs of new data; `last` is the row in `sends` of what was sent last by then. */
function walk(
  { sends, acks }: FlowTrace,
  durationS: number,
  tell: (from: number, to: number, since: number, una: number, ended: number, last: number) => void,
): void {
  if (sends.time.length === 0) return;
  let [from, since, una, row, highest] = [sends.time[0] as number, 0, 1, 0, 1];
  /** What was sent until then, and when the last of it ended the flow's idle time. */
  const sentUntil = (time: number) => {
    for (; row < sends.time.length && (sends.time[row] as number) <= time; row += 1) {
      if (una >= highest) from = sends.time[row] as number;
      highest = Math.max(highest, end(sends, row));
    }
  };
  for (let i = 0; i < acks.time.length; i += 1) {
    const [time, ack] = [acks.time[i] as number, acks.ack[i] as number];
    if (acks.dropped[i] === 1 || ack <= una) continue;
    sentUntil(time);
    tell(from, time, since, una, i, row - 1);
    [from, since, una] = [time, acks.sent[i] as number, ack];
  }
  sentUntil(durationS);
  if (una < highest) tell(from, durationS, since, una, -1, row - 1);
}

/** Since the first transmission that ends at `ack` was sent; Infinity if it was sent again. */
function roundTrip(sends: Sends, last: number, ack: number, time: number): number {
  for (let row = last; row >= 0 && (sends.time[row] as number) > time - 60; row -= 1) {
    if (end(sends, row) === ack)
      return sends.sends[row] === 1 ? time - (sends.time[row] as number) : Number.POSITIVE_INFINITY;
    if (end(sends, row) < ack && sends.sends[row] === 1) break;
  }
  return Number.POSITIVE_INFINITY;
}

/** The offset after a transmission. */
export function end(sends: Sends, row: number): number {
  return (sends.seq[row] as number) + (sends.len[row] as number);
}

/** How many of the ascending `times` are not after `time`; with `before`, how many are before it. */
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

/** What holds at `time`, or just before it; undefined before the first step. */
export function held(steps: Steps, time: number, before = false): number | undefined {
  return steps.value[until(steps.time, time, before) - 1];
}

/** Rows of the ACKs that arrived after `from` and before `to`. */
export function arrivals(acks: Acks, from: number, to: number): number[] {
  const rows: number[] = [];
  // Dropped ACKs stand at their sending, so times ascend only among the others: the scan begins at a sure place.
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
