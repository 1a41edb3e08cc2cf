/** The visible segments of a time-sequence graph, in words. */

import { countBelow } from "../../chart/pyramid";
import { duration, grouped, moment } from "../../chart/ticks";
import { FATES, KINDS, VERDICTS } from "../../engine/trace";
import type { Listing } from "../listing";
import type { Course } from "./course";

/** Up to this many segments are all listed; above it, retransmissions and drops alone. */
const EACH = 100;
/** Most rows. */
const MOST = 200;

/** Lists the segments that were sent from `t0` to `t1`, s. */
export function listed(course: Course, t0: number, t1: number): Listing {
  const { sends, marks } = course.flow;
  const [from, to] = [countBelow(sends.time, t0), countBelow(sends.time, t1, true)];
  const lost = (i: number) => FATES[sends.fate[i]] === "dropped";
  const again: number[] = [];
  const dropped: number[] = [];
  const odd: number[] = [];
  for (let i = from; i < to; i++) {
    const resent = VERDICTS[sends.verdict[i]] !== "first";
    if (resent) again.push(i);
    if (lost(i)) dropped.push(i);
    if (resent || lost(i)) odd.push(i);
  }
  let timeouts = 0;
  for (let i = countBelow(marks.time, t0); i < countBelow(marks.time, t1, true); i++)
    if (KINDS[marks.kind[i]] === "timeout") timeouts += 1;
  const each = to - from <= EACH;
  const shown = each ? Array.from({ length: to - from }, (_, k) => from + k) : odd.slice(0, MOST);
  const counts = [
    plural(to - from, "segment"),
    plural(again.length, "retransmission"),
    plural(dropped.length, "drop"),
    plural(timeouts, "timeout"),
  ].join(", ");
  const left = odd.length - shown.length;
  const rest = each
    ? ""
    : ` The table has retransmissions and drops${left > 0 ? `, the first ${MOST} of ${grouped(odd.length)}` : ""}; zoom in to ${EACH} segments or fewer for all.`;
  return {
    sentence: `From ${moment(t0)} to ${moment(t1)}: ${counts}.${rest}`,
    columns: ["sent", "bytes", "transmission", "verdict", "fate"],
    rows: shown.map((i) => row(course, i)),
  };
}

function plural(n: number, what: string): string {
  return `${grouped(n)} ${what}${n === 1 ? "" : "s"}`;
}

function row({ flow: { sends }, place }: Course, i: number): string[] {
  const { seq, len, fateTime, time } = sends;
  const fate = FATES[sends.fate[i]];
  const when = {
    delivered: () => `arrived at ${moment(fateTime[i])}, after ${duration(fateTime[i] - time[i])}`,
    refused: () => `arrived at ${moment(fateTime[i])}, thrown away by the receiver`,
    dropped: () => `dropped at ${moment(fateTime[i])} by ${place(sends.element[i])}`,
    "under way": () => "in flight when the run ended",
    unknown: () => "not in the capture",
  }[fate];
  return [
    moment(time[i]),
    `${grouped(seq[i])} to ${grouped(seq[i] + len[i] - 1)}`,
    String(sends.sends[i]),
    VERDICTS[sends.verdict[i]],
    when(),
  ];
}
