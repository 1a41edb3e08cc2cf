/** The data of a flow's time-sequence graph: bars and stairs over time. */

import { beginning, gather, positions, select } from "../chart/arrays";
import { Bars } from "../chart/bars";
import { Stairs } from "../chart/stairs";
import { FATES, type FlowColumns, type Sends, VERDICTS } from "./trace";

export interface Layers {
  readonly first: Bars;
  readonly needed: Bars;
  /** Retransmissions that were necessary only because the receiver had refused the data. */
  readonly refused: Bars;
  readonly needless: Bars;
  /** Retransmissions without a verdict at the end of the run. */
  readonly open: Bars;
  /** Retransmissions without a verdict in a capture. */
  readonly undecided: Bars;
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

/** The layers of a copy that a worker sent. */
export function restored(of: Layers): Layers {
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
  const sacked = blocks(flow);
  const { acks, duplicates, acked, rwnd } = acknowledged(flow);
  return {
    first: verdict("first"),
    needed: verdict("needed"),
    refused: verdict("refused"),
    needless: verdict("needless"),
    open: verdict("open"),
    undecided: verdict("undecided"),
    dropped: segments(sends, positions(sends.fate, lost)),
    marked: segments(sends, positions(sends.marked, 1)),
    echo: answers(flow, flow.acks.time, echoes(flow)),
    lostAcks: answers(flow, flow.acks.sent, positions(flow.acks.dropped, 1)),
    acks,
    duplicates,
    ...sacked,
    acked,
    rwnd,
    allowed: allowed(flow, acked),
  };
}

/** The segments with each verdict. */
function byVerdict({ sends }: FlowColumns): Bars[] {
  const items = Array.from(counted(sends.verdict), (count) => new Uint32Array(count));
  distribute(sends.verdict, items);
  return VERDICTS.map((_, one) => segments(sends, items[one]));
}

// Loops over all packets are functions of the module, with nothing behind them: see chart/arrays.ts.
function counted(bytes: Uint8Array): Uint32Array {
  const counts = new Uint32Array(1 << 8);
  for (let i = 0; i < bytes.length; i++) counts[bytes[i]]++;
  return counts;
}

/** Appends each position to the list of its byte. */
function distribute(bytes: Uint8Array, lists: readonly Uint32Array[]): void {
  const counts = new Uint32Array(lists.length);
  for (let i = 0; i < bytes.length; i++) lists[bytes[i]][counts[bytes[i]]++] = i;
}

function segments({ time, seq, len }: Sends, item: Uint32Array): Bars {
  const low = gather(seq, item);
  return new Bars(gather(time, item), low, ends(low, len, item), item);
}

function ends(low: Float64Array, len: Uint32Array, item: Uint32Array): Float64Array {
  const high = new Float64Array(item.length);
  for (let n = 0; n < item.length; n++) high[n] = low[n] + len[item[n]];
  return high;
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
  const { una, window } = lines(ack, gather(acks.rwnd, here));
  const repeats = repeated(ack, una, acks.dupRun, here);
  const same = gather(ack, repeats);
  const known = numbers(window);
  return {
    acks: new Bars(time, ack, ack, here),
    duplicates: new Bars(gather(time, repeats), same, same, select(here, repeats)),
    acked: new Stairs(time, una),
    rwnd: new Stairs(gather(time, known), gather(window, known)),
  };
}

/** The data acknowledged by each ACK and those before it, and the end of the announced window. */
function lines(ack: Float64Array, rwnd: Float64Array): { una: Float64Array; window: Float64Array } {
  const found = { una: new Float64Array(ack.length), window: new Float64Array(ack.length) };
  const { una, window } = found;
  for (let n = 0, most = 0, reach = 0; n < ack.length; n++) {
    if (ack[n] >= most) {
      most = ack[n];
      reach = most + rwnd[n];
    }
    una[n] = most;
    window[n] = reach;
  }
  return found;
}

/** The ACKs that repeat the one before; `here` are their rows. */
function repeated(ack: Float64Array, una: Float64Array, dupRun: Uint32Array, here: Uint32Array): Uint32Array {
  const all = new Uint32Array(here.length);
  return beginning(all, locateRepeats(ack, una, dupRun, here, all));
}

function locateRepeats(
  ack: Float64Array,
  una: Float64Array,
  dupRun: Uint32Array,
  here: Uint32Array,
  all: Uint32Array,
): number {
  let found = 0;
  for (let n = 1; n < all.length; n++) if (dupRun[here[n]] > 0 && ack[n] === una[n - 1]) all[found++] = n;
  return found;
}

/** The positions of the values that are not NaN. */
function numbers(values: Float64Array): Uint32Array {
  const all = new Uint32Array(values.length);
  return beginning(all, locateNumbers(values, all));
}

function locateNumbers(values: Float64Array, all: Uint32Array): number {
  let found = 0;
  for (let n = 0; n < all.length; n++) if (!Number.isNaN(values[n])) all[found++] = n;
  return found;
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
  const repeats = new Uint8Array(flow.acks.time.length);
  const many = classify(flow, repeats);
  const [sack, dsack] = [room(many.sack), room(many.dsack)];
  place(flow, repeats, sack, dsack);
  return { sack, dsack };
}

/** Bars to be filled in. */
function room(count: number): Bars {
  const numbers = () => new Float64Array(count);
  return new Bars(numbers(), numbers(), numbers(), new Uint32Array(count));
}

/** Marks the ACKs that arrived with a DSACK, which is their first block; returns how many blocks of each kind arrived. */
function classify(flow: FlowColumns, repeats: Uint8Array): { sack: number; dsack: number } {
  const { dropped, sackCount } = flow.acks;
  let [sack, dsack] = [0, 0];
  for (let i = 0; i < dropped.length; i++) {
    if (dropped[i] === 1 || sackCount[i] === 0) continue;
    sack += sackCount[i];
    if (!isDsack(flow, i, 0)) continue;
    repeats[i] = 1;
    sack--;
    dsack++;
  }
  return { sack, dsack };
}

/** Fills in the blocks of both kinds. */
function place({ acks, sackLeft, sackRight }: FlowColumns, repeats: Uint8Array, sack: Bars, dsack: Bars): void {
  const { time: arrived, dropped, sackCount, sackFirst } = acks;
  const { time, low, high, item } = sack;
  let [n, again] = [0, 0];
  for (let i = 0; i < dropped.length; i++) {
    if (dropped[i] === 1) continue;
    let block = sackFirst[i];
    const end = block + sackCount[i];
    if (repeats[i] === 1) {
      dsack.time[again] = arrived[i];
      dsack.low[again] = sackLeft[block];
      dsack.high[again] = sackRight[block];
      dsack.item[again] = i;
      again++;
      block++;
    }
    for (; block < end; block++, n++) {
      time[n] = arrived[i];
      low[n] = sackLeft[block];
      high[n] = sackRight[block];
      item[n] = i;
    }
  }
}

/** The right edge of the congestion window after each event that moves it; of several events at one instant, after the last. */
function allowed({ windows, inflation }: FlowColumns, acked: Stairs): Stairs {
  const total = acked.time.length + windows.time.length + inflation.time.length;
  const time = new Float64Array(total);
  const value = new Float64Array(total);
  const count = edges(acked, windows, inflation, time, value);
  // Memory that nothing was written to takes no room.
  return new Stairs(time.subarray(0, count), value.subarray(0, count));
}

/** Fills the times and values of `allowed`; returns how many they are. */
function edges(
  { time: acks, value: una }: Stairs,
  { time: changes, cwnd }: FlowColumns["windows"],
  { time: inflations, value: more }: FlowColumns["inflation"],
  time: Float64Array,
  value: Float64Array,
): number {
  let [a, w, f, count] = [0, 0, 0, 0];
  while (a < acks.length || w < changes.length || f < inflations.length) {
    const ack = a < acks.length ? acks[a] : Number.POSITIVE_INFINITY;
    const change = w < changes.length ? changes[w] : Number.POSITIVE_INFINITY;
    const inflated = f < inflations.length ? inflations[f] : Number.POSITIVE_INFINITY;
    const now = Math.min(ack, change, inflated);
    if (ack === now) a++;
    else if (change === now) w++;
    else f++;
    if (w === 0) continue;
    if (count > 0 && time[count - 1] === now) count--;
    time[count] = now;
    value[count++] = (a > 0 ? una[a - 1] : 1) + cwnd[w - 1] + (f > 0 ? more[f - 1] : 0);
  }
  return count;
}
