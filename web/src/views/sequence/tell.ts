/** Details of one packet from the trace, in words. */

import { countBelow } from "../../chart/pyramid";
import type { Stairs } from "../../chart/stairs";
import { bytes, duration, grouped, moment, short } from "../../chart/ticks";
import type { Tip } from "../../chart/tip";
import { isDsack } from "../../engine/layers";
import { FATES, type FlowTrace, PHASES, SLOTS, VERDICTS, WHYS } from "../../engine/trace";
import type { Course } from "./course";

/** The sender's variables over time. */
export interface Variables {
  readonly cwnd: Stairs;
  readonly ssthresh: Stairs;
  readonly pipe: Stairs;
  readonly dupthresh: Stairs;
  /** ms. */
  readonly rto: Stairs;
}

const ORDINALS = ["", "first", "second", "third"];

function nth(n: number): string {
  if (n < ORDINALS.length) return ORDINALS[n];
  const tail = n % 100 > 10 && n % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${n}${tail}`;
}

const NOTES: Readonly<Record<(typeof VERDICTS)[number], string>> = {
  first: "",
  needed: "needed: no earlier copy arrived",
  refused: "refused: an earlier copy arrived, and the receiver threw it away",
  needless: "needless: the receiver had taken an earlier copy",
  open: "the run ended before it was known whether it was needed",
  undecided: "the capture does not say whether it was needed",
};

/** A segment with data. */
export function tellData(course: Course, state: Variables, i: number): Tip {
  const { sends, mss } = course.flow;
  const time = sends.time[i];
  const from = sends.seq[i];
  const verdict = VERDICTS[sends.verdict[i]];
  // The number of a segment for people: from 1, by its place in the stream.
  const segment = Math.floor((from - 1) / mss) + 1;
  const rows: [string, string][] = [
    [
      "data",
      `${grouped(from)} to ${grouped(from + sends.len[i] - 1)} (${bytes(sends.len[i])}, segment ${grouped(segment)})`,
    ],
    ["sent", moment(time)],
    ["fate", fate(course, i)],
    ...(sends.marked[i] === 1 ? [["marked", "by a queue (CE)"] as [string, string]] : []),
    ["asked by", SLOTS[sends.by[i]]],
    ["phase", phase(course.flow, time)],
    ["episode", sends.episode[i] > 0 ? grouped(sends.episode[i]) : "none yet"],
    ...variables(course.flow, state, time),
  ];
  const note = NOTES[verdict];
  const title = `Packet ${grouped(sends.number[i])}, ${nth(sends.sends[i])} transmission`;
  return note ? { title, note, rows } : { title, rows };
}

function fate({ flow: { sends }, place }: Course, i: number): string {
  const then = sends.fateTime[i];
  switch (FATES[sends.fate[i]]) {
    case "delivered":
      return `arrived at ${moment(then)}, after ${duration(then - sends.time[i])}`;
    case "refused":
      return `arrived at ${moment(then)}, after ${duration(then - sends.time[i])}, and the receiver threw it away`;
    case "dropped":
      return `dropped at ${moment(then)} by ${place(sends.element[i])}, as arrival ${grouped(sends.nth[i])} there`;
    default:
      return "in flight when the run ended";
  }
}

/** A pure ACK. */
export function tellAck(course: Course, state: Variables, i: number): Tip {
  const { flow } = course;
  const { acks } = flow;
  const time = acks.dropped[i] === 1 ? acks.sent[i] : acks.time[i];
  const rows: [string, string][] = [
    ["acknowledges", `up to ${grouped(acks.ack[i] - 1)}`],
    ["sent", moment(acks.sent[i])],
    acks.dropped[i] === 1
      ? ["fate", "dropped on its way"]
      : ["arrived", `${moment(acks.time[i])}, after ${duration(acks.time[i] - acks.sent[i])}`],
    ...(acks.echo[i] === 1 ? [["echoes", "a mark (ECE)"] as [string, string]] : []),
    ["window", `${bytes(acks.rwnd[i])}, up to ${grouped(acks.ack[i] + acks.rwnd[i] - 1)}`],
  ];
  for (let k = 0; k < acks.sackCount[i]; k++) {
    const at = acks.sackFirst[i] + k;
    const name = isDsack(flow, i, k) ? "DSACK" : "SACK";
    rows.push([name, `${grouped(flow.sackLeft[at])} to ${grouped(flow.sackRight[at] - 1)}`]);
  }
  if (acks.newlyDelivered[i] >= 0) rows.push(["newly delivered", bytes(acks.newlyDelivered[i])]);
  rows.push(["phase after it", phase(flow, time)], ...variables(flow, state, time));
  const note = duplicate(course, i);
  const title = `ACK ${grouped(acks.number[i])}`;
  return note ? { title, note, rows } : { title, rows };
}

/** Its relation to duplicates. */
function duplicate({ flow: { acks }, acks: arrived, acked }: Course, i: number): string {
  const run = acks.dupRun[i];
  const n = countBelow(arrived.item, i);
  if (run === 0 || n === 0) return "";
  return acks.ack[i] === acked.value[n - 1] ? `duplicate ACKs in a row: ${run}` : `ends a row of ${run} duplicate ACKs`;
}

/** The phase at a moment, since when, and why. */
function phase({ phases }: FlowTrace, time: number): string {
  const before = countBelow(phases.time, time, true);
  if (before === 0) return "open";
  return `${PHASES[phases.to[before - 1]]} since ${moment(phases.time[before - 1])} (${WHYS[phases.why[before - 1]]})`;
}

function variables({ windows, mss }: FlowTrace, state: Variables, time: number): [string, string][] {
  const both = (value: number) =>
    Number.isFinite(value) ? `${bytes(value)} (${short(value / mss)} segments)` : "none yet";
  const written = countBelow(windows.time, time, true);
  const by = written > 0 ? `, by ${SLOTS[windows.by[written - 1]]}` : "";
  const rows: [string, string][] = [
    ["cwnd", both(state.cwnd.at(time)) + by],
    ["ssthresh", both(state.ssthresh.at(time))],
    ["pipe", both(state.pipe.at(time))],
  ];
  const threshold = state.dupthresh.at(time);
  if (Number.isFinite(threshold)) rows.push(["dupthresh", `${short(threshold)} segments`]);
  const timeout = state.rto.at(time);
  if (Number.isFinite(timeout)) rows.push(["RTO", `${short(timeout)} ms`]);
  return rows;
}
