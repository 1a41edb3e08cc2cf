/** What the trace knows about one packet, in words. */

import type { Stairs } from "../../chart/stairs";
import { bytes, duration, grouped, moment, short } from "../../chart/ticks";
import type { Tip } from "../../chart/tip";
import { FATES, PHASES, SLOTS, VERDICTS } from "../../engine/trace";
import { phaseAt } from "../bands";
import { type Course, isDsack, lastAck } from "./course";

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
  needed: "needed: every earlier copy was lost",
  needless: "needless: an earlier copy was not lost",
  open: "the run ended before it was known whether it was needed",
};

/** A segment with data. */
export function tellData(course: Course, state: Variables, i: number): Tip {
  const { sends, phases, mss } = course.flow;
  const time = sends.time[i];
  const from = sends.seq[i];
  const phase = PHASES[phaseAt(phases, time)];
  const verdict = VERDICTS[sends.verdict[i]];
  const rows: [string, string][] = [
    ["data", `${grouped(from)} to ${grouped(from + sends.len[i] - 1)} (${bytes(sends.len[i])})`],
    ["sent", moment(time)],
    ["fate", fate(course, i)],
    ["asked by", SLOTS[sends.by[i]]],
    ["phase", `${phase}${sends.episode[i] > 0 ? `, episode ${sends.episode[i]}` : ""}`],
    ...variables(state, time, mss),
  ];
  const note = NOTES[verdict];
  const title = `Segment ${grouped(sends.number[i])}, ${nth(sends.sends[i])} transmission`;
  return note ? { title, note, rows } : { title, rows };
}

function fate({ flow: { sends }, place }: Course, i: number): string {
  const then = sends.fateTime[i];
  switch (FATES[sends.fate[i]]) {
    case "delivered":
      return `arrived at ${moment(then)}, after ${duration(then - sends.time[i])}`;
    case "dropped":
      return `dropped at ${moment(then)} by ${place(sends.element[i])}, as arrival ${grouped(sends.nth[i])} there`;
    default:
      return "under way when the run ended";
  }
}

/** A pure ACK. */
export function tellAck(course: Course, state: Variables, i: number): Tip {
  const { flow } = course;
  const { acks } = flow;
  const time = acks.time[i];
  const before = lastAck(course, time);
  const rows: [string, string][] = [
    ["acknowledges", `up to ${grouped(acks.ack[i] - 1)}`],
    ["arrived", `${moment(time)}, after ${duration(time - acks.sent[i])}`],
    ["window", `${bytes(acks.rwnd[i])}, up to ${grouped(acks.ack[i] + acks.rwnd[i] - 1)}`],
  ];
  for (let k = 0; k < acks.sackCount[i]; k++) {
    const at = acks.sackFirst[i] + k;
    const name = isDsack(flow, i, k) ? "DSACK" : "SACK";
    rows.push([name, `${grouped(flow.sackLeft[at])} to ${grouped(flow.sackRight[at] - 1)}`]);
  }
  if (acks.newlyDelivered[i] >= 0) rows.push(["newly delivered", bytes(acks.newlyDelivered[i])]);
  rows.push(["phase after it", PHASES[phaseAt(flow.phases, time)]], ...variables(state, time, flow.mss));
  const run = acks.dupRun[i];
  const repeated = run > 0 && (before < 0 || acks.newlyDelivered[i] === 0 || acks.sackCount[i] > 0);
  return {
    title: `ACK ${grouped(acks.number[i])}`,
    ...(repeated ? { note: `duplicate ACKs in a row: ${run}` } : {}),
    rows,
  };
}

function variables(state: Variables, time: number, mss: number): [string, string][] {
  const both = (value: number) =>
    Number.isFinite(value) ? `${bytes(value)} (${short(value / mss)} segments)` : "none yet";
  const rows: [string, string][] = [
    ["cwnd", both(state.cwnd.at(time))],
    ["ssthresh", both(state.ssthresh.at(time))],
    ["pipe", both(state.pipe.at(time))],
  ];
  const threshold = state.dupthresh.at(time);
  if (Number.isFinite(threshold)) rows.push(["dupthresh", `${short(threshold)} segments`]);
  const timeout = state.rto.at(time);
  if (Number.isFinite(timeout)) rows.push(["RTO", `${short(timeout)} ms`]);
  return rows;
}
