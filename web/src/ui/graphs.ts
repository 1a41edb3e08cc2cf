/** The views, and the gestures in them. */
import type { FlowTrace, RunTrace } from "../engine/trace";
import { TITLES, type ViewName } from "../views/fold";

/** The graphs that can be saved as pictures, with their titles. */
export const GRAPHS = Object.entries(TITLES) as (readonly [ViewName, string])[];

/** Gestures that the views understand, for the sheet of help. */
export const GESTURES: readonly (readonly [string, string])[] = [
  ["Wheel, pinch", "zoom in and out"],
  ["Drag", "move"],
  ["Shift and drag", "show this part alone"],
  ["Double click", "show all"],
  ["Click a packet", "drop, delay or duplicate it"],
  ["Tap a packet", "describe it, with a button to change it"],
  ["← → + − 0", "in a graph: move, zoom, show all"],
  ["n p Enter", "in a graph: next packet, previous, choose"],
];

/** If less than this share of a run is busy, the rest is not shown at first. */
const BUSY = 0.8;
const MARGIN = 1.04;

/** The end of the part of the runs that has events, s. */
export function busy(runs: readonly RunTrace[]): number {
  const end = Math.max(0, ...runs.map(({ durationS }) => durationS));
  const last = Math.max(0, ...runs.flatMap(({ flows }) => flows.map(lastMoment)));
  return last < BUSY * end ? last * MARGIN : end;
}

/** The part of a captured flow from its first packet on, s. */
export function fromFirst({ flows: [flow], durationS }: RunTrace): [number, number] {
  const first = Math.min(flow?.sends.time[0] ?? durationS, flow?.acks.time[0] ?? durationS);
  return [Math.max(first - (durationS - first) / 50, 0), durationS];
}

/** When a flow's last packet was sent or acknowledged. */
function lastMoment({ sends, acks }: FlowTrace): number {
  return Math.max(sends.time.at(-1) ?? 0, acks.time.at(-1) || 0);
}
