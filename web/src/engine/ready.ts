/** What a worker has made of a run for its first drawing. */
import { positions } from "../chart/arrays";
import type { Layers } from "./layers";
import { FATES, type FlowColumns, type Sends } from "./trace";

/** The segments of a flow that were dropped: when, and by which element. */
export interface Drops {
  time: Float64Array;
  element: Int32Array;
}

export interface Ready {
  /** Position of the flow. */
  flow: number;
  layers: Layers;
  drops: Drops;
}

/** Beside the columns that it was made of: a flow with other times has none. */
const kept = new WeakMap<Sends, Ready>();

/** Keeps what was made of one of these flows. */
export function keepReady(flows: readonly FlowColumns[], ready: Ready | undefined): void {
  const flow = ready && flows[ready.flow];
  if (flow) kept.set(flow.sends, ready);
}

/** What was made of the flow, if anything was. */
export function readyOf({ sends }: FlowColumns): Ready | undefined {
  return kept.get(sends);
}

/** The drops of the flow. */
export function dropsOf(flow: FlowColumns): Drops {
  return readyOf(flow)?.drops ?? drops(flow);
}

/** Finds the drops of the flow. */
export function drops({ sends: { fate, fateTime, element } }: FlowColumns): Drops {
  const lost = positions(fate, FATES.indexOf("dropped"));
  return {
    time: Float64Array.from(lost, (row) => fateTime[row]),
    element: Int32Array.from(lost, (row) => element[row]),
  };
}
