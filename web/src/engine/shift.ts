/** A run with another origin of time. */
import type { FlowTrace, RunTrace } from "./trace";

/** When a run's first data was sent, s; undefined if none was. */
export function begins({ flows }: RunTrace): number | undefined {
  const first = flows.map(({ sends }) => sends.time[0]).filter((time) => time !== undefined);
  return first.length > 0 ? Math.min(...first) : undefined;
}

/** The same run with every time `by` seconds later. Events before 0 are not drawn. */
export function shifted(run: RunTrace, by: number): RunTrace {
  const later = (times: Float64Array) => times.map((time) => time + by);
  return {
    ...run,
    flows: run.flows.map((flow) => shiftedFlow(flow, by, later)),
    queues: run.queues.map((queue) => ({ ...queue, time: later(queue.time) })),
    durationS: Math.max(run.durationS + by, 0),
  };
}

function shiftedFlow(flow: FlowTrace, by: number, later: (times: Float64Array) => Float64Array): FlowTrace {
  const { sends, acks } = flow;
  const moved = <T extends { time: Float64Array }>(table: T): T => ({ ...table, time: later(table.time) });
  return {
    ...flow,
    sends: { ...moved(sends), fateTime: later(sends.fateTime) },
    acks: { ...moved(acks), sent: later(acks.sent) },
    windows: moved(flow.windows),
    dupthresh: moved(flow.dupthresh),
    rto: moved(flow.rto),
    inflation: moved(flow.inflation),
    phases: moved(flow.phases),
    marks: moved(flow.marks),
    stalls: flow.stalls.map((stall) => ({
      ...stall,
      from: stall.from + by,
      to: stall.to + by,
      sentences: stall.sentences.map((sentence) => ({ ...sentence, time: sentence.time + by })),
    })),
  };
}
