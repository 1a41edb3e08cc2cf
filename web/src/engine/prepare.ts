/** Makes a run ready for its first drawing, in a worker. */

import type { Answer } from "./engine";
import { layers, prepared } from "./layers";
import { drops } from "./ready";

/** The answer, with what a drawing of the flow at this position, or of the last one, needs. */
export function prepare(answer: Answer, position: number): Answer {
  const at = Math.min(position, answer.flows.length - 1);
  const flow = answer.flows[at];
  if (!flow) return answer;
  return { ...answer, ready: { flow: at, layers: prepared(layers(flow)), drops: drops(flow) } };
}
