/** The data of a flow's time-sequence graph: bars, stairs and events over time. */

import { chosen, gather, positions } from "../../chart/arrays";
import { Bars } from "../../chart/bars";
import { Stairs } from "../../chart/stairs";
import { readyOf } from "../../engine/ready";
import { FATES, type FlowColumns, type FlowTrace, type RunTrace, type Sends, VERDICTS } from "../../engine/trace";

export interface Course extends Layers {
  readonly flow: FlowTrace;
  /** The name of an element with this number. */
  readonly place: (element: number) => string;
}

export interface Layers {
  readonly first: Bars;
  readonly needed: Bars;
  /** Retransmissions that were necessary only because the receiver had refused the data. */
  readonly refused: Bars;
  readonly needless: Bars;
  /** Retransmissions without a verdict at the end of the run. */
  readonly open: Bars;
  /** Retransmissions without a verdict in a capture. */
  readonly untold: Bars;
  /** Segments that were dropped on the path, at their time of sending. */
  readonly dropped: Bars;
  /** Segments that arrived with the mark of a queue, where they were sent. */
  readonly marked: Bars;
  /** ACKs that echo a mark, where they arrived, and ACKs that were dropped, where they were sent. */
  readonly echo: Bars;
  readonly lostAcks: Bars;
  /** Each ACK that arrived, as a bar without height. */
  readonly acks: Bars;
  readonly duplicates: Bars;
  readonly sack: Bars;
  readonly dsack: Bars;
  readonly acked: Stairs;
  /** `ack + rwnd`: the limit set by the peer. */
  readonly rwnd: Stairs;
  /** `snd_una + cwnd`, with Reno's inflation: the sender's own limit. */
  readonly allowed: Stairs;
}

export function course(run: RunTrace, flow: FlowTrace): Course {
  const ready = readyOf(flow);
  return { ...(ready ? sent(ready.layers) : layers(flow)), flow, place: (element) => place(run, element) };
}

/** The layers of a copy that a worker sent. */
function sent(of: Layers): Layers {
  const all = Object.entries(of).map(([key, one]) => [key, "low" in one ? Bars.of(one) : Stairs.of(one)]);
  return Object.fromEntries(all) as unknown as Layers;
}

/** The same layers with the pyramids that a drawing needs, for another thread. */
export function prepared(of: Layers): Layers {
  // Only the pointer searches single ACKs.
  for (const [key, one] of Object.entries(of)) if (key !== "acks") one.prepare();
  return of;
}

/** A flow's layers. */
export function layers(flow: FlowColumns): Layers {
  const { sends } = flow;
  const judged = byVerdict(flow);
  const verdict = (name: (typeof VERDICTS)[number]) => judged[VERDICTS.indexOf(name)];
  const lost = FATES.indexOf("dropped");
  const told = blocks(flow);
  const { acks, duplicates, acked, rwnd } = acknowledged(flow);
  return {
    first: verdict("first"),
    needed: verdict("needed"),
    refused: verdict("refused"),
    needless: verdict("needless"),
    open: verdict("open"),
    untold: verdict("cannot tell"),
    dropped: segments(sends, positions(sends.fate, lost)),
    marked: segments(sends, positions(sends.marked, 1)),
    echo: answers(flow, flow.acks.time, echoes(flow)),
    lostAcks: answers(flow, flow.acks.sent, positions(flow.acks.dropped, 1)),
    acks,
    duplicates,
    ...told,
    acked,
    rwnd,
    allowed: allowed(flow, acked),
  };
}

/** The segments with each verdict, in one pass over all. */
function byVerdict({ sends }: FlowColumns): Bars[] {
  const { verdict } = sends;
  const counts = new Uint32Array(1 << 8);
  for (let i = 0; i < verdict.length; i++) counts[verdict[i]]++;
  const items = Array.from(counts, (count) => new Uint32Array(count));
  counts.fill(0);
  for (let i = 0; i < verdict.length; i++) items[verdict[i]][counts[verdict[i]]++] = i;
  return VERDICTS.map((_, one) => segments(sends, items[one]));
}

function segments({ time, seq, len }: Sends, item: Uint32Array): Bars {
  const low = gather(seq, item);
  const high = new Float64Array(item.length);
  for (let n = 0; n < item.length; n++) high[n] = low[n] + len[item[n]];
  return new Bars(gather(time, item), low, high, item);
}

/** The ACKs that arrived with the echo of a mark. */
function echoes({ acks: { echo, dropped } }: FlowColumns): Uint32Array {
  return positions(echo, 1).filter((i) => dropped[i] === 0);
}

/** These ACKs, at these times. */
function answers({ acks }: FlowColumns, times: Float64Array, item: Uint32Array): Bars {
  const ack = gather(acks.ack, item);
  return new Bars(gather(times, item), ack, ack, item);
}

/** The content of the ACKs that arrived. An ACK that a later one overtook moves no line. */
function acknowledged({ acks }: FlowColumns): Pick<Layers, "acks" | "duplicates" | "acked" | "rwnd"> {
  const here = positions(acks.dropped, 0);
  const time = gather(acks.time, here);
  const ack = gather(acks.ack, here);
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
  const repeats = chosen(here.length, (n) => n > 0 && acks.dupRun[here[n]] > 0 && ack[n] === una[n - 1]);
  const same = gather(ack, repeats);
  const known = chosen(here.length, (n) => !Number.isNaN(window[n]));
  return {
    acks: new Bars(time, ack, ack, here),
    duplicates: new Bars(
      gather(time, repeats),
      same,
      same,
      repeats.map((n) => here[n]),
    ),
    acked: new Stairs(time, una),
    rwnd: new Stairs(gather(time, known), gather(window, known)),
  };
}

/** Whether block `block` of ACK `ack` is a DSACK: the first block, if it is at or below the ACK, or inside the second block (RFC 2883 §4). */
export function isDsack(flow: FlowColumns, ack: number, block: number): boolean {
  if (block > 0) return false;
  const at = flow.acks.sackFirst[ack];
  if (flow.sackRight[at] <= flow.acks.ack[ack]) return true;
  if (flow.acks.sackCount[ack] < 2) return false;
  return flow.sackLeft[at] >= flow.sackLeft[at + 1] && flow.sackRight[at] <= flow.sackRight[at + 1];
}

/** SACK blocks at the arrival of their ACK. */
function blocks(flow: FlowColumns): Pick<Layers, "sack" | "dsack"> {
  const { acks, sackLeft, sackRight } = flow;
  const by = new Uint32Array(sackLeft.length);
  const kind = new Uint8Array(sackLeft.length);
  const [SACK, DSACK] = [1, 2];
  for (let i = 0; i < acks.time.length; i++) {
    if (acks.dropped[i] === 1) continue;
    for (let k = 0; k < acks.sackCount[i]; k++) {
      by[acks.sackFirst[i] + k] = i;
      kind[acks.sackFirst[i] + k] = isDsack(flow, i, k) ? DSACK : SACK;
    }
  }
  const bars = (wanted: number) => {
    const here = positions(kind, wanted);
    const item = here.map((at) => by[at]);
    return new Bars(gather(acks.time, item), gather(sackLeft, here), gather(sackRight, here), item);
  };
  return { sack: bars(SACK), dsack: bars(DSACK) };
}

/** The right edge of the congestion window after each event that moves it; of several events at one instant, after the last. */
function allowed({ windows, inflation }: FlowColumns, acked: Stairs): Stairs {
  const total = acked.time.length + windows.time.length + inflation.time.length;
  const time = new Float64Array(total);
  const value = new Float64Array(total);
  let [a, w, f, count] = [0, 0, 0, 0];
  const [acks, changes, inflations] = [acked.time, windows.time, inflation.time];
  while (a < acks.length || w < changes.length || f < inflations.length) {
    let now = Number.POSITIVE_INFINITY;
    if (a < acks.length) now = acks[a];
    if (w < changes.length && changes[w] < now) now = changes[w];
    if (f < inflations.length && inflations[f] < now) now = inflations[f];
    while (a < acks.length && acks[a] === now) a++;
    while (w < changes.length && changes[w] === now) w++;
    while (f < inflations.length && inflations[f] === now) f++;
    if (w === 0) continue;
    const una = a > 0 ? acked.value[a - 1] : 1;
    time[count] = now;
    value[count++] = una + windows.cwnd[w - 1] + (f > 0 ? inflation.value[f - 1] : 0);
  }
  // Memory that nothing was written to takes no room.
  return new Stairs(time.subarray(0, count), value.subarray(0, count));
}

/** An element of the path, or the queue of a link, and where it is. */
function place({ links, elements }: RunTrace, number: number): string {
  const element = elements.find((one) => one.number === number);
  const link = links[element ? element.link : number];
  const where = link ? ` of ${link.from} → ${link.to}` : "";
  return `${element ? element.kind : "the queue"}${where}`;
}
