/** Facts from the trace about one pause, before they become words. */
import {
  FATES,
  type Fate,
  type FlowTrace,
  KINDS,
  PHASES,
  type Phase,
  type RunTrace,
  SLOTS,
  type Slot,
  VERDICTS,
} from "../engine/trace";
import { arrivals, end, firstAfter, held, type Pause, until } from "./pauses";

/** A transmission of the segment for which both ends wait. */
export interface Copy {
  /** Row in `sends`. */
  row: number;
  time: number;
  sends: number;
  by: Slot;
  fate: Fate;
  fateTime: number;
  /** The place of its drop, in words. */
  place: string;
  needless: boolean;
}

/** The shortest one-way times of a flow's packets: data to the receiver, ACKs back; in seconds. */
export interface Ways {
  data: number;
  ack: number;
}

export interface Timeout {
  time: number;
  /** The number of earlier back-offs of the timer. */
  backoff: number;
  /** The timer's setting, in seconds. */
  rto: number | undefined;
  /** The ACK or transmission that set it, if exactly this time has passed since one. */
  setBy: number | undefined;
}

export interface Facts {
  pause: Pause;
  /** The number of that segment among the stream's full segments, from 1. */
  segment: number;
  copies: Copy[];
  ways: Ways;
  /** When the ACK that ended the pause was sent; NaN at the end of the run. */
  acked: number;
  /** Data packets sent after the first copy that arrived before it. */
  overtaken: number;
  /** First transmissions outstanding when the pause began, the first copy included, and how many of them were dropped. */
  outstanding: number;
  lost: number;
  /** The phase when the pause began, after the ACK that began it, and before that ACK. */
  phase: Phase;
  phaseBefore: Phase;
  /** Duplicate ACKs until the first response: a fast retransmit, a timeout, or the end. */
  duplicates: number;
  /** Arrival of the last of them; the beginning of the pause if there was none. */
  lastDuplicate: number;
  /** Duplicates that mean a loss; undefined for a sender that does not count them. */
  dupthresh: number | undefined;
  /** Segments sent behind the first copy that arrived in time to cause duplicates. */
  behind: number;
  /** New segments sent during the pause, and how many of them `disorder` requested. */
  fresh: number;
  limited: number;
  /** When a fast recovery began in the pause. */
  recovery: number | undefined;
  timeouts: Timeout[];
  /** The window and the outstanding data just before the first timeout or the end, in segments. */
  cwnd: number | undefined;
  inflation: number;
  flight: number;
  pipe: number | undefined;
  rwnd: number | undefined;
  /** Retransmissions in the pause, and how many were needless. */
  again: number;
  needless: number;
  /** Dropped ACKs that would have ended it. */
  lostAcks: number;
  /** Segments that the ACK at its end covers; 0 at the end of the run. */
  covered: number;
  /** When an episode of the pause was found to be a mistake, and whether the window was restored. */
  mistake: { time: number; undone: boolean } | undefined;
}

/** All of them; `ways` are the flow's. */
export function facts(run: RunTrace, flow: FlowTrace, ways: Ways, pause: Pause): Facts {
  const copies = copiesOf(run, flow, pause);
  const first = copies[0];
  const timeouts = timeoutsIn(flow, pause);
  const recovery = recoveryIn(flow, pause);
  const answer = Math.min(recovery ?? pause.to, timeouts[0]?.time ?? pause.to);
  const duplicates = arrivals(flow.acks, pause.from, answer).concat(at(flow, answer));
  const same = duplicates.filter((i) => flow.acks.ack[i] === pause.una);
  const size = (first && flow.sends.len[first.row]) || flow.mss;
  const segments = (bytes: number | undefined) => (bytes === undefined ? undefined : bytes / size);
  const quiet = timeouts[0]?.time ?? pause.to;
  const last = arrivals(flow.acks, pause.from, quiet).at(-1) ?? firstAfter(flow.acks, pause.from) - 1;
  const window = until(flow.windows.time, quiet, true) - 1;
  const phases = phasesAt(flow, pause.from);
  return {
    pause,
    segment: Math.floor((pause.una - 1) / size) + 1,
    copies,
    ways,
    acked: flow.acks.sent[pause.ended] ?? Number.NaN,
    overtaken: first ? overtakers(flow, first) : 0,
    ...outstandingAt(flow, pause, first),
    ...phases,
    duplicates: Math.max(0, ...same.map((i) => flow.acks.dupRun[i] as number)),
    lastDuplicate: flow.acks.time[same.at(-1) ?? -1] ?? pause.from,
    dupthresh: held(flow.dupthresh, answer, answer === timeouts[0]?.time) ?? flow.dupthresh.value[0],
    ...sentMeanwhile(flow, pause, first, answer, ways.ack),
    recovery,
    timeouts,
    cwnd: segments(flow.windows.cwnd[window]),
    inflation: (held(flow.inflation, quiet, true) ?? 0) / size,
    flight: (highestAt(flow, quiet) - pause.una) / size,
    pipe: segments(finite(flow.acks.pipe[last])),
    rwnd: segments(finite(flow.acks.rwnd[last])),
    ...resent(flow, pause),
    lostAcks: lostAcks(flow, pause),
    covered: pause.ended < 0 ? 0 : ((flow.acks.ack[pause.ended] as number) - pause.una) / size,
    mistake: mistakeAfter(flow, pause),
  };
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

/** The ACK that arrived at this instant, if any, to which the sender reacted. */
function at({ acks }: FlowTrace, time: number): number[] {
  const i = firstAfter(acks, time) - 1;
  return i >= 0 && acks.time[i] === time ? [i] : [];
}

/** Every transmission of the segment at `una`, up to the pause's end. */
function copiesOf(run: RunTrace, { sends }: FlowTrace, pause: Pause): Copy[] {
  const copies: Copy[] = [];
  for (let row = until(sends.time, pause.to) - 1; row >= 0; row -= 1) {
    if ((sends.seq[row] as number) > pause.una || end(sends, row) <= pause.una) continue;
    const fate = FATES[sends.fate[row] as number] ?? "under way";
    copies.unshift({
      row,
      time: sends.time[row] as number,
      sends: sends.sends[row] as number,
      by: SLOTS[sends.by[row] as number] ?? "sequencer",
      fate,
      fateTime: sends.fateTime[row] as number,
      place: fate === "dropped" ? place(run, sends.element[row] as number, sends.fateTime[row] as number) : "",
      needless: VERDICTS[sends.verdict[row] as number] === "needless",
    });
    if (sends.sends[row] === 1) break;
  }
  return copies;
}

/** An element in words: `the full queue R1 → R2 (10 packets)`, `the loss model on A → B`. */
export function place(run: RunTrace, number: number, time: number): string {
  const way = (link: number) => `${run.links[link]?.from} → ${run.links[link]?.to}`;
  const element = run.elements.find((e) => e.number === number);
  if (!element) {
    const queue = run.queues.find((q) => q.link === number);
    const packets = queue?.packets[until(queue.time, time) - 1];
    return `the full queue ${way(number)}${packets === undefined ? "" : ` (${packets} packets)`}`;
  }
  const names: Record<string, string> = {
    bernoulli: "random loss",
    "gilbert-elliott": "burst loss",
    outage: "an outage",
    red: "RED",
    script: "the script",
  };
  return `${names[element.kind] ?? element.kind} on ${way(element.link)}`;
}

export function shortestWays({ sends, acks }: FlowTrace): Ways {
  return { data: shortest(sends.time, sends.fateTime, sends.fate), ack: shortest(acks.sent, acks.time, acks.dropped) };
}

/** The shortest way of the packets that arrived, whose `fate` is 0, s. */
function shortest(from: Float64Array, to: Float64Array, fate: Uint8Array): number {
  let found = Number.POSITIVE_INFINITY;
  for (let i = 0; i < from.length; i += 1) {
    const way = (to[i] as number) - (from[i] as number);
    if (way < found && fate[i] === 0) found = way;
  }
  return found;
}

/** The number of packets sent later that arrived before this one. */
function overtakers({ sends }: FlowTrace, first: Copy): number {
  if (first.fate !== "delivered") return 0;
  let count = 0;
  for (let row = first.row + 1; row < sends.time.length; row += 1) {
    if ((sends.time[row] as number) >= first.fateTime) break;
    if (sends.fate[row] === 0 && (sends.fateTime[row] as number) < first.fateTime) count += 1;
  }
  return count;
}

function outstandingAt({ sends }: FlowTrace, pause: Pause, first: Copy | undefined) {
  let [outstanding, lost] = [0, 0];
  for (let row = first?.row ?? 0; row < sends.time.length && (sends.time[row] as number) <= pause.from; row += 1) {
    if (sends.sends[row] !== 1 || (sends.seq[row] as number) < pause.una) continue;
    outstanding += 1;
    if (sends.fate[row] === 1) lost += 1;
  }
  return { outstanding, lost };
}

function phasesAt({ phases }: FlowTrace, time: number): { phase: Phase; phaseBefore: Phase } {
  const name = (index: number) => PHASES[phases.to[index] ?? 0] ?? "open";
  const [now, before] = [until(phases.time, time) - 1, until(phases.time, time, true) - 1];
  return { phase: now < 0 ? "open" : name(now), phaseBefore: before < 0 ? "open" : name(before) };
}

function highestAt({ sends }: FlowTrace, time: number): number {
  let highest = 0;
  for (let row = until(sends.time, time, true) - 1; row >= 0; row -= 1) {
    if (sends.sends[row] === 1) return end(sends, row);
    highest = Math.max(highest, end(sends, row));
  }
  return highest;
}

/** Segments sent between the start of the pause and the first response, and segments sent after the hole that had arrived by then. */
function sentMeanwhile({ sends }: FlowTrace, pause: Pause, first: Copy | undefined, answer: number, back: number) {
  let [behind, fresh, limited] = [0, 0, 0];
  for (let row = (first?.row ?? -1) + 1; row < sends.time.length && (sends.time[row] as number) < answer; row += 1) {
    if ((sends.seq[row] as number) <= pause.una) continue;
    const arrived = sends.fate[row] === 0 ? (sends.fateTime[row] as number) : Number.POSITIVE_INFINITY;
    if (arrived > pause.since && arrived < answer - back) behind += 1;
    if (sends.sends[row] === 1 && (sends.time[row] as number) > pause.from) {
      fresh += 1;
      limited += SLOTS[sends.by[row] as number] === "disorder" ? 1 : 0;
    }
  }
  return { behind, fresh, limited };
}

function timeoutsIn(flow: FlowTrace, pause: Pause): Timeout[] {
  const { marks, rto } = flow;
  const all: Timeout[] = [];
  for (let i = until(marks.time, pause.from); i < marks.time.length && (marks.time[i] as number) <= pause.to; i += 1) {
    if (KINDS[marks.kind[i] as number] !== "timeout") continue;
    const time = marks.time[i] as number;
    const ms = held(rto, time, true);
    const setBy = ms === undefined ? undefined : moment(flow, time - ms / 1000);
    all.push({ time, backoff: marks.value[i] as number, rto: ms === undefined ? undefined : ms / 1000, setBy });
  }
  return all;
}

/** The ACK or the transmission at exactly that time, if there is one; it may have set the timer. */
function moment({ acks, sends }: FlowTrace, time: number): number | undefined {
  const slack = 1e-7;
  const near = [acks.time[firstAfter(acks, time + slack) - 1], sends.time[until(sends.time, time + slack) - 1]];
  return near.find((t) => t !== undefined && Math.abs(t - time) < slack);
}

function recoveryIn({ phases }: FlowTrace, pause: Pause): number | undefined {
  for (
    let i = until(phases.time, pause.from);
    i < phases.time.length && (phases.time[i] as number) < pause.to;
    i += 1
  ) {
    if (PHASES[phases.to[i] as number] === "recovery") return phases.time[i];
  }
  return undefined;
}

function resent({ sends }: FlowTrace, pause: Pause) {
  let [again, needless] = [0, 0];
  for (
    let row = until(sends.time, pause.from);
    row < sends.time.length && (sends.time[row] as number) < pause.to;
    row += 1
  ) {
    if (sends.sends[row] === 1) continue;
    again += 1;
    if (VERDICTS[sends.verdict[row] as number] === "needless") needless += 1;
  }
  return { again, needless };
}

function lostAcks({ acks }: FlowTrace, pause: Pause): number {
  let count = 0;
  for (let i = firstAfter(acks, pause.since); i < acks.time.length; i += 1) {
    if (acks.dropped[i] === 0 ? (acks.time[i] as number) >= pause.to : (acks.sent[i] as number) >= pause.to) break;
    if (acks.dropped[i] === 1 && (acks.ack[i] as number) > pause.una) count += 1;
  }
  return count;
}

/** The verdict on an episode that began in the pause; it may follow later. */
function mistakeAfter({ marks, phases }: FlowTrace, pause: Pause) {
  const episodes = new Set<number>();
  for (
    let i = until(phases.time, pause.from);
    i < phases.time.length && (phases.time[i] as number) <= pause.to;
    i += 1
  ) {
    const to = PHASES[phases.to[i] as number];
    if (to === "recovery" || to === "loss") episodes.add(phases.episode[i] as number);
  }
  for (let i = until(marks.time, pause.from); i < marks.time.length && episodes.size > 0; i += 1) {
    const kind = KINDS[marks.kind[i] as number];
    if ((kind === "mistake" || kind === "undone") && episodes.has(marks.episode[i] as number)) {
      return { time: marks.time[i] as number, undone: kind === "undone" };
    }
  }
  return undefined;
}
