/** Captures as the module reports them, and one flow of a capture as a run that the views can draw. */
import type { CapturedConnection, CapturedFile, CapturedFlow, CapturedRetransmission } from "./rows";
import { FATES, type FlowTrace, type RunTrace, type Stall, type Steps } from "./trace";

/** Place of the capture, relative to the data. Default: detected. */
export type At = "sender" | "receiver" | "middle";

export interface Found {
  /** What the capture says about its largest transfers and failed connections. */
  answers: string[];
  /** What a reader should know about the whole analysis. */
  remarks: string[];
  files: [CapturedFile];
  connections: CapturedConnection[];
  flows: CapturedFlow[];
}

/** One number of a fitted path, with its evidence. */
export interface Parameter {
  name: string;
  unit: string;
  mark: "measured" | "lower bound" | "unknown";
  value: number;
  low: number;
  high: number;
}

/** A path fitted to a flow. */
export interface Fit {
  parameters: Parameter[];
  disagreements: string[];
  transfers: { flow: string; duration_s: number; bytes: number }[];
  /** TOML; the first is the likeliest. */
  scenarios: string[];
}

/** The module's answer about one flow. */
export interface OneFlow {
  flow: CapturedFlow;
  retransmissions: CapturedRetransmission[];
  /** The sentence about verdicts that are not certain, if there are any. */
  likely: string | null;
  stalls: Stall[];
  leftOut: number;
  drawn: {
    sends: Pick<FlowTrace["sends"], "time" | "seq" | "len" | "sends" | "verdict"> & { frame: Float64Array };
    acks: Pick<FlowTrace["acks"], "time" | "ack" | "rwnd" | "dupRun" | "sackFirst" | "sackCount"> & {
      frame: Float64Array;
    };
    sackLeft: Float64Array;
    sackRight: Float64Array;
  };
}

/** A flow of a capture as a run of one flow; times count from the first packet of the file. */
export function captureTrace({ flow: row, retransmissions, likely, stalls, leftOut, drawn }: OneFlow): RunTrace {
  const { sends, acks, sackLeft, sackRight } = drawn;
  const { frame: sendFrame, ...segments } = sends;
  const { frame: ackFrame, ...answers } = acks;
  const [from = "", to = ""] = row.flow.split(" > ");
  const words = retransmissions.map(
    (r) => [r.frame, `${r.likely ? "likely " : ""}${r.verdict}: ${r.evidence}`] as const,
  );
  const [sent, answered] = [segments.time.length, answers.time.length];
  const flow: FlowTrace = {
    name: row.flow,
    from,
    to,
    stack: row.flow,
    mss: segments.len.reduce((most, len) => Math.max(most, len), 1),
    sends: {
      ...segments,
      fate: new Uint8Array(sent).fill(FATES.indexOf("unknown")),
      fateTime: nothing(sent),
      by: new Uint8Array(sent),
      episode: new Uint32Array(sent),
      element: new Int32Array(sent).fill(-1),
      nth: new Int32Array(sent).fill(-1),
      number: new Uint32Array(sent),
      marked: new Uint8Array(sent),
    },
    acks: {
      ...answers,
      sent: nothing(answered),
      pipe: nothing(answered),
      newlyDelivered: nothing(answered),
      number: new Uint32Array(answered),
      dropped: new Uint8Array(answered),
      echo: new Uint8Array(answered),
    },
    sackLeft,
    sackRight,
    windows: { time: none(), cwnd: none(), ssthresh: none(), by: new Uint8Array(), episode: new Uint32Array() },
    dupthresh: noSteps(),
    rto: noSteps(),
    inflation: noSteps(),
    phases: {
      time: none(),
      from: new Uint8Array(),
      to: new Uint8Array(),
      why: new Uint8Array(),
      episode: new Uint32Array(),
    },
    marks: { time: none(), kind: new Uint8Array(), episode: new Uint32Array(), value: none() },
    longestPauseS: row.longest_stall_s ?? 0,
    stalls: stalls.toSorted((a, b) => b.to - b.from - (a.to - a.from)),
    captured: { row, sendFrame, ackFrame, evidence: new Map(words), likely, leftOut },
  };
  const durationS = Math.max(segments.time.at(-1) ?? 0, answers.time.at(-1) ?? 0);
  return { flows: [flow], queues: [], links: [], elements: [], durationS, summary: { runs: [{ flows: [row] }] } };
}

function none(): Float64Array {
  return new Float64Array();
}

function nothing(length: number): Float64Array {
  return new Float64Array(length).fill(Number.NaN);
}

function noSteps(): Steps {
  return { time: none(), value: none() };
}
