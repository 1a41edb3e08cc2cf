/** Pauses of a sender: the longest intervals between two ACKs of new data. */
import type { Acks, FlowColumns, Sends, Steps } from "../engine/trace";

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

/** The pauses of a flow. */
export interface Pauses {
  /** The longest, however short, s; 0 if there is none. */
  longestS: number;
  /** Those of more than two of its shortest round-trip times, the longest first; at most the requested number. */
  long: Pause[];
}

/** The number of pauses that are explained. */
export const MOST_PAUSES = 5;

/** Shortest pause that is reported, in the flow's shortest round-trip times. */
const LONG = 2;

/** The pauses of a flow; `most` of the long ones. */
export function pauses(flow: FlowColumns, durationS: number, most: number): Pauses {
  const long = new Longest(most);
  const shortest = search(flow, durationS, long);
  const [longest] = long.found;
  return {
    longestS: longest ? length(longest) : 0,
    long: long.found.slice(0, most).filter((p) => length(p) > LONG * shortest),
  };
}

/** Adds the pauses to `long`; returns the shortest round-trip time, s. */
function search({ sends, acks }: FlowColumns, durationS: number, long: Longest): number {
  // Plain variables of one loop: those of a nested function, or of an object, would be read from the heap each time.
  const { time, seq, len, sends: nth } = sends;
  const { time: came, sent, ack, dropped } = acks;
  // The ends of what was sent again up to `row`: their round trips are not known.
  const again = new Set<number>();
  let [row, first, shortest, highest] = [0, 0, Number.POSITIVE_INFINITY, 1];
  let [from, since, una] = [time[0] as number, 0, 1];
  for (let i = 0; i <= came.length && time.length > 0; i += 1) {
    const over = i === came.length;
    if (!over && (dropped[i] === 1 || (ack[i] as number) <= una)) continue;
    const to = over ? durationS : (came[i] as number);
    // The transmissions until then, and the time at which the last of them ended an idle time of the flow.
    for (; row < time.length && (time[row] as number) <= to; row += 1) {
      if (una >= highest) from = time[row] as number;
      const right = (seq[row] as number) + (len[row] as number);
      if (right > highest) highest = right;
      if (nth[row] !== 1) again.add(right);
    }
    if (to - from > long.bar && (!over || una < highest)) long.add({ from, to, since, una, ended: over ? -1 : i });
    if (over) break;
    [from, since, una] = [to, sent[i] as number, ack[i] as number];
    // The first transmission that ends at this ACK: both ascend, so each row is read once.
    let right = 0;
    for (; first < row; first += 1) {
      right = (seq[first] as number) + (len[first] as number);
      if (right >= una && nth[first] === 1) break;
    }
    if (first < row && right === una && to - (time[first] as number) < shortest && !again.has(una))
      shortest = to - (time[first] as number);
  }
  return shortest;
}

function length({ from, to }: Pause): number {
  return to - from;
}

/** The longest pauses so far: as many as asked for, but at least one. Of two that are equally long, the earlier is first. */
class Longest {
  readonly found: Pause[] = [];
  /** Only a longer one is among them. */
  bar = 0;
  private readonly most: number;

  constructor(most: number) {
    this.most = Math.max(most, 1);
  }

  add(pause: Pause): void {
    const place = this.found.findLastIndex((p) => length(p) >= length(pause)) + 1;
    this.found.splice(place, 0, pause);
    if (this.found.length > this.most) this.found.pop();
    const last = this.found[this.most - 1];
    if (last) this.bar = length(last);
  }
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
