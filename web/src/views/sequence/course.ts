/** A flow's course as a time-sequence graph needs it: bars, stairs and moments over time. */

import { Bars } from "../../chart/bars";
import { countBelow } from "../../chart/pyramid";
import { Stairs } from "../../chart/stairs";
import { FATES, type FlowTrace, type RunTrace, VERDICTS } from "../../engine/trace";

export interface Course {
  readonly flow: FlowTrace;
  /** What an element's number names, in words. */
  readonly place: (element: number) => string;
  readonly first: Bars;
  readonly needed: Bars;
  readonly needless: Bars;
  /** Retransmissions whose verdict the run's end left open. */
  readonly open: Bars;
  /** Segments that were dropped on the way, where they were sent. */
  readonly dropped: Bars;
  /** Each ACK that arrived, as a bar without height. */
  readonly acks: Bars;
  readonly duplicates: Bars;
  readonly sack: Bars;
  readonly dsack: Bars;
  readonly acked: Stairs;
  /** `ack + rwnd`: up to where the peer allows. */
  readonly rwnd: Stairs;
  /** `snd_una + cwnd`, and Reno's inflation: up to where the sender allows itself. */
  readonly allowed: Stairs;
}

export function course(run: RunTrace, flow: FlowTrace): Course {
  const { sends } = flow;
  const verdict = (name: (typeof VERDICTS)[number]) => {
    const wanted = VERDICTS.indexOf(name);
    return pick(flow, (i) => sends.verdict[i] === wanted);
  };
  const lost = FATES.indexOf("dropped");
  const told = blocks(flow);
  const { acks, duplicates, acked, rwnd } = acknowledged(flow);
  return {
    flow,
    place: (element) => place(run, element),
    first: verdict("first"),
    needed: verdict("needed"),
    needless: verdict("needless"),
    open: verdict("open"),
    dropped: pick(flow, (i) => sends.fate[i] === lost),
    acks,
    duplicates,
    ...told,
    acked,
    rwnd,
    allowed: allowed(flow, acked),
  };
}

/** The segments that `wanted` wants. */
function pick({ sends }: FlowTrace, wanted: (i: number) => boolean): Bars {
  let count = 0;
  for (let i = 0; i < sends.time.length; i++) if (wanted(i)) count++;
  const item = new Uint32Array(count);
  const low = new Float64Array(count);
  const high = new Float64Array(count);
  const time = new Float64Array(count);
  for (let i = 0, n = 0; n < count; i++) {
    if (!wanted(i)) continue;
    item[n] = i;
    time[n] = sends.time[i];
    low[n] = sends.seq[i];
    high[n++] = sends.seq[i] + sends.len[i];
  }
  return new Bars(time, low, high, item);
}

/** What the ACKs say that arrived. One that was overtaken by a later one moves no line. */
function acknowledged({ acks }: FlowTrace): Pick<Course, "acks" | "duplicates" | "acked" | "rwnd"> {
  const here = arrived(acks.dropped);
  const time = Float64Array.from(here, (i) => acks.time[i]);
  const ack = Float64Array.from(here, (i) => acks.ack[i]);
  const una = new Float64Array(here.length);
  const window = new Float64Array(here.length);
  for (let n = 0, most = 0, reach = 0; n < here.length; n++) {
    if (ack[n] >= most) {
      most = ack[n];
      reach = most + acks.rwnd[here[n]];
    }
    una[n] = most;
    window[n] = reach;
  }
  const repeats = here.map((_, n) => n).filter((n) => acks.dupRun[here[n]] > 0 && n > 0 && ack[n] === una[n - 1]);
  const same = Float64Array.from(repeats, (n) => ack[n]);
  return {
    acks: new Bars(time, ack, ack, here),
    duplicates: new Bars(
      Float64Array.from(repeats, (n) => time[n]),
      same,
      same,
      Uint32Array.from(repeats, (n) => here[n]),
    ),
    acked: new Stairs(time, una),
    rwnd: new Stairs(time, window),
  };
}

function arrived(dropped: Uint8Array): Uint32Array {
  let count = 0;
  for (const gone of dropped) if (!gone) count++;
  const here = new Uint32Array(count);
  for (let i = 0, n = 0; n < count; i++) if (!dropped[i]) here[n++] = i;
  return here;
}

/** Whether block `block` of ACK `ack` is a DSACK: a first one at or below the ACK, or inside the second (RFC 2883 §4). */
export function isDsack(flow: FlowTrace, ack: number, block: number): boolean {
  if (block > 0) return false;
  const at = flow.acks.sackFirst[ack];
  if (flow.sackRight[at] <= flow.acks.ack[ack]) return true;
  if (flow.acks.sackCount[ack] < 2) return false;
  return flow.sackLeft[at] >= flow.sackLeft[at + 1] && flow.sackRight[at] <= flow.sackRight[at + 1];
}

/** SACK blocks where their ACK arrived. */
function blocks(flow: FlowTrace): Pick<Course, "sack" | "dsack"> {
  const found = { sack: [] as number[], dsack: [] as number[] };
  const { acks } = flow;
  for (let i = 0; i < acks.time.length; i++) {
    if (acks.dropped[i]) continue;
    for (let k = 0; k < acks.sackCount[i]; k++) (isDsack(flow, i, k) ? found.dsack : found.sack).push(i, k);
  }
  const bars = (pairs: readonly number[]) => {
    const count = pairs.length / 2;
    const time = new Float64Array(count);
    const low = new Float64Array(count);
    const high = new Float64Array(count);
    const item = new Uint32Array(count);
    for (let n = 0; n < count; n++) {
      const ack = pairs[2 * n];
      const at = acks.sackFirst[ack] + pairs[2 * n + 1];
      item[n] = ack;
      time[n] = acks.time[ack];
      low[n] = flow.sackLeft[at];
      high[n] = flow.sackRight[at];
    }
    return new Bars(time, low, high, item);
  };
  return { sack: bars(found.sack), dsack: bars(found.dsack) };
}

/** The right edge of the congestion window after each event that moves it. */
function allowed({ windows, inflation }: FlowTrace, acked: Stairs): Stairs {
  const moves = [acked.time, windows.time, inflation.time];
  const total = moves.reduce((sum, { length }) => sum + length, 0);
  const time = new Float64Array(total);
  const value = new Float64Array(total);
  const next = [0, 0, 0];
  let count = 0;
  for (;;) {
    let now = Number.POSITIVE_INFINITY;
    moves.forEach((times, k) => {
      if (next[k] < times.length && times[next[k]] < now) now = times[next[k]];
    });
    if (now === Number.POSITIVE_INFINITY) break;
    moves.forEach((times, k) => {
      while (next[k] < times.length && times[next[k]] === now) next[k]++;
    });
    if (next[1] === 0) continue;
    const una = next[0] > 0 ? acked.value[next[0] - 1] : 1;
    time[count] = now;
    value[count++] = una + windows.cwnd[next[1] - 1] + (next[2] > 0 ? inflation.value[next[2] - 1] : 0);
  }
  return new Stairs(time.slice(0, count), value.slice(0, count));
}

/** The index of the ACK that had arrived last at `time`; -1 before the first. */
export function lastAck(course: Course, time: number): number {
  const before = countBelow(course.acks.time, time, true);
  return before === 0 ? -1 : course.acks.item[before - 1];
}

/** An element of the path, or the queue of a link, and where it is. */
function place({ links, elements }: RunTrace, number: number): string {
  const element = elements.find((one) => one.number === number);
  const link = links[element ? element.link : number];
  const where = link ? ` of ${link.from} → ${link.to}` : "";
  return `${element ? element.kind : "the queue"}${where}`;
}
