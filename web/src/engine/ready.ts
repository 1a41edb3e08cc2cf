/** What a worker has made of a run for its first drawing. */
import type { Pauses } from "../stall/pauses";
import type { Layers } from "../views/sequence/course";
import type { FlowColumns, Sends } from "./trace";

export interface Ready {
  /** Position of the flow. */
  flow: number;
  layers: Layers;
  pauses: Pauses;
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
