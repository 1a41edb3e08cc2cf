/** A flow's time-sequence graph: its layers, and the places on its path. */

import { type Layers, layers, restored } from "../../engine/layers";
import { readyOf } from "../../engine/ready";
import type { FlowTrace, RunTrace } from "../../engine/trace";

export interface Course extends Layers {
  readonly flow: FlowTrace;
  /** The name of an element with this number. */
  readonly place: (element: number) => string;
}

export function course(run: RunTrace, flow: FlowTrace): Course {
  const ready = readyOf(flow);
  return { ...(ready ? restored(ready.layers) : layers(flow)), flow, place: (element) => whereOf(run, element) };
}

/** An element of the path, or the queue of a link, and where it is. */
function whereOf({ links, elements }: RunTrace, number: number): string {
  const element = elements.find((one) => one.number === number);
  const link = links[element ? element.link : number];
  const where = link ? ` of ${link.from} → ${link.to}` : "";
  return `${element ? element.kind : "the queue"}${where}`;
}
