/** Why did it stall? The longest pauses of a run, explained by its events. */
import { readyOf } from "../engine/ready";
import type { RunTrace } from "../engine/trace";
import { capturedStalls } from "./captured";
import { facts, shortestWays } from "./facts";
import { MOST_PAUSES, pauses } from "./pauses";
import { type Sentence, story, title } from "./story";

export interface Stall {
  /** Position in `RunTrace.flows`. */
  flow: number;
  from: number;
  to: number;
  title: string;
  /** In the order of time. */
  sentences: Sentence[];
}

/** The longest pauses of all flows, at most `MOST_PAUSES`, or all stalls of a capture; the longest first. */
export function stalls(run: RunTrace): Stall[] {
  const all = run.flows.flatMap((flow, i) => {
    if (flow.captured) return capturedStalls(flow.captured, i);
    const ways = shortestWays(flow);
    const { long } = readyOf(flow)?.pauses ?? pauses(flow, run.durationS, MOST_PAUSES);
    return long.map((pause): Stall => {
      const found = facts(run, flow, ways, pause);
      return { flow: i, from: pause.from, to: pause.to, title: title(found), sentences: story(found) };
    });
  });
  const longest = all.sort((a, b) => b.to - b.from - (a.to - a.from));
  return run.flows.some(({ captured }) => captured) ? longest : longest.slice(0, MOST_PAUSES);
}
