/** The views in their order, and what one does in them. */
import type { FlowTrace, RunTrace } from "../engine/trace";
import type { ViewName } from "../views/views";
import { h } from "./dom";

export const ORDER: readonly ViewName[] = ["sequence", "table", "window", "dupthresh", "rto", "queue", "path"];

/** As people call them. */
export const GRAPHS: readonly (readonly [ViewName, string])[] = [
  ["sequence", "Time sequence"],
  ["window", "Window"],
  ["dupthresh", "Duplicate threshold"],
  ["rto", "Retransmission timeout"],
  ["queue", "Queue"],
  ["path", "Packets on the path"],
  ["table", "Results"],
];

/** Gestures that the views understand, for the sheet of help. */
export const GESTURES: readonly (readonly [string, string])[] = [
  ["Wheel, pinch", "zoom in and out"],
  ["Drag", "move"],
  ["Shift and drag", "show this part alone"],
  ["Double click", "show all"],
  ["Click a packet", "drop, delay or duplicate it"],
  ["← → + − 0", "in a graph: move, zoom, show all"],
  ["n p Enter", "in a graph: next packet, previous, choose"],
];

/** Where less than this share of a run is busy, the rest is not shown at first. */
const BUSY = 0.8;
const MARGIN = 1.04;

/** The part of the runs in which something happens, from 0 to this, s. */
export function busy(runs: readonly RunTrace[]): number {
  const end = Math.max(0, ...runs.map(({ durationS }) => durationS));
  const last = Math.max(0, ...runs.flatMap(({ flows }) => flows.map(lastMoment)));
  return last < BUSY * end ? last * MARGIN : end;
}

/** When a flow's last packet was sent or acknowledged. */
function lastMoment({ sends, acks }: FlowTrace): number {
  return Math.max(sends.time.at(-1) ?? 0, acks.time.at(-1) || 0);
}

/** The choice of a flow; nothing where there is one. */
export function flowChoice(runs: readonly RunTrace[], now: number, choose: (flow: number) => void): HTMLElement[] {
  const flows = runs[0]?.flows ?? [];
  if (flows.length < 2) return [];
  const select = h("select", { id: "flow" });
  for (const [i, { name, stack }] of flows.entries()) select.append(h("option", { value: i }, `${name}, ${stack}`));
  select.value = String(now);
  select.addEventListener("change", () => choose(Number(select.value)));
  return [h("label", { for: "flow" }, `Flow, one of ${flows.length}`), select];
}
