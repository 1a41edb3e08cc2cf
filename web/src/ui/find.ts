/** Finds instants of a flow: by time, by sequence number, by packet number, or by event. */
import { duration, grouped } from "../chart/ticks";
import { FATES, type FlowTrace, KINDS, PHASES, VERDICTS } from "../engine/trace";
import { parse } from "./quantity";

/** An instant, and the event at it. */
export interface Found {
  time: number;
  text: string;
}

export type Answer = { found: Found[] } | { wrong: string };

const SENT: Readonly<Record<string, (flow: FlowTrace, i: number) => boolean>> = {
  retransmission: ({ sends }, i) => sends.sends[i] > 1,
  needed: ({ sends }, i) => VERDICTS[sends.verdict[i]] === "needed",
  needless: ({ sends }, i) => VERDICTS[sends.verdict[i]] === "needless",
  refused: ({ sends }, i) => VERDICTS[sends.verdict[i]] === "refused",
  drop: ({ sends }, i) => FATES[sends.fate[i]] === "dropped",
  mark: ({ sends }, i) => sends.marked[i] === 1,
};
const ACKS: Readonly<Record<string, (flow: FlowTrace, i: number) => boolean>> = {
  "dropped ack": ({ acks }, i) => acks.dropped[i] === 1,
  "duplicate ack": ({ acks }, i) => acks.dupRun[i] > 0 && i > 0 && acks.ack[i] === acks.ack[i - 1],
  echo: ({ acks }, i) => acks.echo[i] === 1,
};

/** The kinds of events that can be found. */
export const EVENTS: readonly string[] = [...Object.keys(SENT), ...Object.keys(ACKS), ...KINDS, ...PHASES];

const ALLOWED = `a time (1.25 s), a sequence number (14601), packet 12, ack 7, or one of ${EVENTS.join(", ")}`;

/** The instants of the flow that `query` names, in the order of time. */
export function find(flow: FlowTrace, query: string): Answer {
  const text = query.trim().toLowerCase();
  const moment = parse(text, ["time"]);
  if (moment) return { found: [{ time: moment.value, text: `at ${text}` }] };
  const [, kind = "seq", digits] = text.match(/^(?:(packet|frame|ack|seq)\s*#?\s*)?(\d+)$/) ?? [];
  if (digits !== undefined) return { found: numbered(flow, kind, Number(digits)) };
  const event = text.replace(/s$/, "").replace(/^(dropped|marked)$/, (word) => word.replace(/p?ed$/, ""));
  const name = EVENTS.find((known) => known === event || known === text);
  return name ? { found: happened(flow, name) } : { wrong: `Found "${query}". Allowed: ${ALLOWED}.` };
}

function numbered(flow: FlowTrace, kind: string, number: number): Found[] {
  const { sends, acks, captured } = flow;
  const sent = (is: (i: number) => boolean) => rows(sends.time.length, is).map((i) => segment(flow, i));
  if (kind === "ack") return rows(acks.time.length, (i) => acks.number[i] === number).map((i) => answer(flow, i));
  if (kind === "frame" && captured) {
    const answers = rows(acks.time.length, (i) => captured.ackFrame[i] === number).map((i) => answer(flow, i));
    return [...sent((i) => captured.sendFrame[i] === number), ...answers];
  }
  if (kind !== "seq") return sent((i) => sends.number[i] === number);
  return sent((i) => sends.seq[i] <= number && number < sends.seq[i] + sends.len[i]);
}

function happened(flow: FlowTrace, name: string): Found[] {
  const { sends, acks, marks, phases } = flow;
  const [ofSent, ofAck] = [SENT[name], ACKS[name]];
  if (ofSent) return rows(sends.time.length, (i) => ofSent(flow, i)).map((i) => segment(flow, i));
  if (ofAck) return rows(acks.time.length, (i) => ofAck(flow, i)).map((i) => answer(flow, i));
  const kind = (KINDS as readonly string[]).indexOf(name);
  if (kind >= 0) {
    return rows(marks.time.length, (i) => marks.kind[i] === kind).map((i) => ({
      time: marks.time[i] ?? 0,
      text: name,
    }));
  }
  const phase = (PHASES as readonly string[]).indexOf(name);
  const entered = rows(phases.time.length, (i) => phases.to[i] === phase);
  return entered.map((i) => ({ time: phases.time[i] ?? 0, text: `${name} begins` }));
}

function rows(length: number, is: (i: number) => boolean): number[] {
  const all: number[] = [];
  for (let i = 0; i < length; i++) if (is(i)) all.push(i);
  return all;
}

function segment({ sends }: FlowTrace, i: number): Found {
  const seq = sends.seq[i] ?? 0;
  const again = (sends.sends[i] ?? 1) > 1 ? `, transmission ${sends.sends[i]}` : "";
  const bytes = `${grouped(seq)} to ${grouped(seq + (sends.len[i] ?? 0) - 1)}`;
  return { time: sends.time[i] ?? 0, text: `packet ${sends.number[i]}, data ${bytes}${again}` };
}

function answer({ acks }: FlowTrace, i: number): Found {
  const dropped = acks.dropped[i] === 1;
  const text = `ACK ${acks.number[i]}, up to ${grouped((acks.ack[i] ?? 1) - 1)}${dropped ? ", dropped" : ""}`;
  return { time: (dropped ? acks.sent[i] : acks.time[i]) ?? 0, text };
}

/** The distance between two points: time, bytes if both have them, and the rate. */
export function between(from: Point, to: Point): string {
  const time = Math.abs(to.time - from.time);
  const parts = [`Δt ${duration(time)}`];
  if (from.bytes !== undefined && to.bytes !== undefined) {
    const bytes = Math.abs(to.bytes - from.bytes);
    parts.push(`Δ ${grouped(bytes)} B`);
    if (time > 0) parts.push(`${grouped(bytes / time / 1e3, 1)} kB/s (${grouped((8 * bytes) / time / 1e6, 3)} Mbps)`);
  }
  return parts.join(" · ");
}

/** A point of a graph; `bytes` is its sequence number if the graph shows sequence numbers. */
export interface Point {
  time: number;
  bytes?: number | undefined;
}
