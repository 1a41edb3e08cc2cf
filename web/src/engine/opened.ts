/** A trace file, as `ackclock run --trace FILE` and this page write it, as a run that the views can draw. */
import { type FlowColumns, type FlowTrace, KINDS, type QueueTrace, type RunTrace, VERDICTS } from "./trace";

/** A trace. */
export interface TraceFile {
  file: Blob;
  kind: "csv" | "parquet";
}

/** Largest trace file, bytes: a browser ends a page that runs out of memory. */
export const MOST_TRACE_BYTES = 400e6;

/** The module's answer about a trace, which names neither flows nor links. */
export interface Opened {
  durationS: number;
  /** The number of each flow. */
  numbers: number[];
  flows: FlowColumns[];
  queues: Omit<QueueTrace, "name" | "limit">[];
}

/** The run that a trace tells of. */
export function openedTrace({ durationS, numbers, flows: columns, queues }: Opened): RunTrace {
  const flows = columns.map((flow, i) => named(flow, numbers[i] as number));
  flows.sort((a, b) => a.number - b.number);
  return {
    flows: flows.map(({ flow }) => flow),
    queues: queues.map((queue) => ({
      ...queue,
      name: `link ${queue.link >> 1}, ${queue.link & 1 ? "back" : "forward"}`,
      limit: Number.NaN,
    })),
    links: [],
    elements: [],
    durationS,
    summary: { runs: [{ duration_s: durationS, flows: flows.map(({ flow }) => counted(flow, durationS)) }] },
  };
}

function named(columns: FlowColumns, number: number): { number: number; flow: FlowTrace } {
  const name = `flow ${number}`;
  const mss = columns.sends.len.reduce((most, len) => Math.max(most, len), 0);
  return { number, flow: { name, from: "sender", to: "receiver", stack: name, mss, ...columns } };
}

/** The counts that a run's report would have. */
function counted({ name, stack, sends, acks, marks }: FlowTrace, durationS: number): Record<string, unknown> {
  const count = (of: Uint8Array, is: (value: number) => boolean) => of.reduce((n, value) => n + (is(value) ? 1 : 0), 0);
  const acked = acks.ack.reduce((most, ack, i) => (acks.dropped[i] ? most : Math.max(most, ack)), 1) - 1;
  return {
    name,
    stack,
    goodput_bytes_per_s: durationS > 0 ? acked / durationS : null,
    retransmissions: count(sends.sends, (value) => value > 1),
    needed_retransmissions: count(sends.verdict, (value) => VERDICTS[value] === "needed"),
    refused_retransmissions: count(sends.verdict, (value) => VERDICTS[value] === "refused"),
    needless_retransmissions: count(sends.verdict, (value) => VERDICTS[value] === "needless"),
    timeouts: count(marks.kind, (value) => KINDS[value] === "timeout"),
  };
}
