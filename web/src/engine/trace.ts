/**
 * The record of a run, as arrays that a view can draw: the contract between the engine and the page.
 *
 * Times are seconds since the run's start, offsets and windows bytes. A value that does not exist is NaN, or -1 in an
 * array of integers. `seq`, `ack` and the edges of SACK blocks are offsets of the sender's stream: 0 is the SYN, data
 * begins at 1. `docs/trace.md` explains the words.
 */

import type { Captured } from "./captured";
import { FATES, KINDS, PHASES, SLOTS, VERDICTS, WHYS } from "./results";

export { FATES, KINDS, PHASES, SLOTS, VERDICTS, WHYS };

export type Why = (typeof WHYS)[number];
export type Kind = (typeof KINDS)[number];

/** Segments with data, in the order of transmission. */
export interface Sends {
  time: Float64Array;
  seq: Float64Array;
  len: Uint32Array;
  /** How often this data has been sent by now: 1 is the first transmission. */
  sends: Uint8Array;
  /** Index into `VERDICTS`. */
  verdict: Uint8Array;
  /** Index into `FATES`. */
  fate: Uint8Array;
  /** When it arrived or was dropped; NaN while in flight. */
  fateTime: Float64Array;
  /** Index into `SLOTS`: the slot that requested it. */
  by: Uint8Array;
  /** The newest episode at that time, 0 before the first. */
  episode: Uint32Array;
  /** The element that dropped it, else -1. */
  element: Int32Array;
  /** The number of its arrival there, from 0, else -1. */
  nth: Int32Array;
  /** Its index among the flow's packets with sequence space in the order of sending, from 0, with SYN and retransmissions. */
  number: Uint32Array;
  /** 1 if it arrived with the mark of a queue (CE, RFC 3168). */
  marked: Uint8Array;
}

/** Pure ACKs and the sender's reaction, in the order of arrival at the sender; dropped ones are at their time of transmission. */
export interface Acks {
  /** When the receiver sent it. */
  sent: Float64Array;
  /** When it arrived at the sender; NaN if it was dropped. */
  time: Float64Array;
  ack: Float64Array;
  /** The announced window: `ack + rwnd` is the window line; NaN where a capture does not show it. */
  rwnd: Float64Array;
  /** Duplicate ACKs in a row, this one included; on an advancing ACK, the length of the run that it ended. */
  dupRun: Uint32Array;
  /** Bytes in the network after it, by the sender's estimate. */
  pipe: Float64Array;
  newlyDelivered: Float64Array;
  /** Its index among the flow's pure ACKs in the order of sending, from 0. */
  number: Uint32Array;
  /** The index of its first block in the flow's `sackLeft` and `sackRight`; blocks are in the order of the option. */
  sackFirst: Uint32Array;
  sackCount: Uint8Array;
  /** 1 if it was dropped on the path. */
  dropped: Uint8Array;
  /** 1 if it echoes a mark (ECE, RFC 3168). */
  echo: Uint8Array;
}

/** The window after each change of it. */
export interface Windows {
  time: Float64Array;
  cwnd: Float64Array;
  /** Infinity while there is none. */
  ssthresh: Float64Array;
  /** Index into `SLOTS`: the slot that wrote it. */
  by: Uint8Array;
  episode: Uint32Array;
}

/** A step function: `value[i]` holds from `time[i]` to `time[i + 1]`. */
export interface Steps {
  time: Float64Array;
  value: Float64Array;
}

/** The sender's changes of phase; it begins in `open`. */
export interface Phases {
  time: Float64Array;
  /** Index into `PHASES`. */
  from: Uint8Array;
  /** Index into `PHASES`. */
  to: Uint8Array;
  /** Index into `WHYS`. */
  why: Uint8Array;
  episode: Uint32Array;
}

/** Events that get a sign. */
export interface Marks {
  time: Float64Array;
  /** Index into `KINDS`. */
  kind: Uint8Array;
  episode: Uint32Array;
  /** For `timeout` the number of earlier back-offs; for `persist` the offset probed; else NaN. */
  value: Float64Array;
}

/** The queue of a directed link at each arrival, the arriving packet included. */
export interface QueueTrace {
  /** The directed link's number, as in the trace's column `link`. */
  link: number;
  name: string;
  time: Float64Array;
  packets: Uint32Array;
  /** The largest of `packets`. */
  longest: number;
  /** Packets; NaN if the limit is not counted in packets. */
  limit: number;
}

/** One flow of a run. */
export interface FlowTrace {
  name: string;
  /** The node that sends data. */
  from: string;
  /** The node that receives it. */
  to: string;
  /** Name of the stack. */
  stack: string;
  /** Maximum segment size, bytes. */
  mss: number;
  sends: Sends;
  acks: Acks;
  /** Left edges of all SACK blocks of the flow; a block below its `ack` is a DSACK. */
  sackLeft: Float64Array;
  /** Right edges, exclusive. */
  sackRight: Float64Array;
  windows: Windows;
  /** The number of duplicate ACKs, or SACKed segments, that means a loss. */
  dupthresh: Steps;
  /** The retransmission timeout, ms; empty if the engine does not report it. */
  rto: Steps;
  /** The bytes that a Reno-style recovery adds to `cwnd` when it sends. */
  inflation: Steps;
  phases: Phases;
  marks: Marks;
  /** Its longest time without an ACK of new data, while data was outstanding, s. */
  longestPauseS: number;
  /** Its stalls, the longest first; of a run the 5 longest. */
  stalls: readonly Stall[];
  /** For a flow of a capture: additional facts. */
  captured?: Captured | undefined;
}

/** A time in which a transfer stood still, explained by the engine. */
export interface Stall {
  from: number;
  to: number;
  title: string;
  /** In the order of time. */
  sentences: readonly Sentence[];
}

/** A sentence, with its time and the transmissions that it names (rows in `sends`). */
export interface Sentence {
  time: number;
  text: string;
  rows: readonly number[];
}

/** What the engine records of a flow. */
export type FlowColumns = Omit<FlowTrace, "name" | "from" | "to" | "stack" | "mss">;

/** A directed link; its position in `RunTrace.links` is its number, as in `QueueTrace.link`. */
export interface LinkTrace {
  from: string;
  to: string;
  /** Bits per second; Infinity if transmission takes no time. */
  rateBps: number;
  delayS: number;
  /** Packets; NaN if there is no limit, or a limit in bytes. */
  limitPackets: number;
  /** For a path of a split link: its number, from 1. Paths follow all links. */
  path?: number | undefined;
}

/** An element of the path; `Sends.element` names it by its number, or a link by the link's. */
export interface ElementTrace {
  number: number;
  /** Position in `RunTrace.links`. */
  link: number;
  /** Its name in scenario files. */
  kind: string;
}

/** One run: a scenario with a seed and, in a comparison, one of the stacks. */
export interface RunTrace {
  flows: FlowTrace[];
  queues: QueueTrace[];
  links: LinkTrace[];
  elements: ElementTrace[];
  durationS: number;
  summary: Report;
}

/** The report of `ackclock run --json` for this run. */
export type Report = Readonly<Record<string, unknown>>;
