/** Details of one packet from a capture, in words. */

import { bytes, grouped, moment } from "../../chart/ticks";
import type { Tip } from "../../chart/tip";
import type { Captured } from "../../engine/captured";
import { isDsack } from "../../engine/layers";
import { VERDICTS } from "../../engine/trace";
import type { Course } from "./course";

/** A segment with data, or a FIN. */
export function tellSegment({ flow: { sends } }: Course, captured: Captured, i: number): Tip {
  const [from, len, again] = [sends.seq[i], sends.len[i], sends.sends[i]];
  const frame = captured.sendFrame[i];
  const title = `Frame ${grouped(frame)}`;
  const rows: [string, string][] = [
    ["data", `${grouped(from)} to ${grouped(from + len - 1)} (${bytes(len)})`],
    ["captured", moment(sends.time[i])],
  ];
  const verdict = VERDICTS[sends.verdict[i]];
  if (verdict === "first") return { title: `${title}, first transmission`, rows };
  rows.push(["sent before", again === 2 ? "once" : `${grouped(again - 1)} times`]);
  return { title: `${title}, sent again`, note: captured.evidence.get(frame) ?? verdict, rows };
}

/** An acknowledgment. */
export function tellAnswer({ flow }: Course, captured: Captured, i: number): Tip {
  const { acks } = flow;
  const rows: [string, string][] = [
    ["acknowledges", `up to ${grouped(acks.ack[i] - 1)}`],
    ["captured", moment(acks.time[i])],
  ];
  const window = acks.rwnd[i];
  if (Number.isFinite(window)) rows.push(["window", `${bytes(window)}, up to ${grouped(acks.ack[i] + window - 1)}`]);
  for (let k = 0; k < acks.sackCount[i]; k++) {
    const at = acks.sackFirst[i] + k;
    const name = isDsack(flow, i, k) ? "DSACK" : "SACK";
    rows.push([name, `${grouped(flow.sackLeft[at])} to ${grouped(flow.sackRight[at] - 1)}`]);
  }
  const title = `Frame ${grouped(captured.ackFrame[i])}, an ACK`;
  const run = acks.dupRun[i];
  return run > 0 ? { title, note: `duplicate ACKs in a row: ${run}`, rows } : { title, rows };
}
