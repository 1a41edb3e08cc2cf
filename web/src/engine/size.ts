/** Estimates how large a run will be: its drawing must fit into the page's memory. */
import { emptyTime, route } from "../views/path/flight";
import { type Engine, type Layout, type Options, type Run, refusalOf } from "./engine";
import type { LinkTrace } from "./trace";

/** The largest number of segments that a page draws, over all stacks: about 1 GB with their acknowledgments. */
export const MOST_SEGMENTS = 4e6;
/** The first trial is so short that it has at most this many segments. */
const TRIED = 100_000;
/** The smallest number of segments in a trial from which the whole run is estimated. */
const ENOUGH = 20_000;
/** Length of the first trial where nothing bounds a sender's rate, s. */
const BRIEF = 0.01;

/** A run is too large; says how long it may be. */
export class TooLarge extends Error {
  constructor(
    message: string,
    /** The longest duration that fits, as written in a scenario. */
    readonly shorter: string,
  ) {
    super(message);
  }
}

/** An upper bound on the number of segments that the flows of a layout send in a second. */
export function most({ links, flows }: Layout): number {
  const shares = new Map<number, number>();
  for (const { from, to, mss, window } of flows) {
    const there = route({ links, queues: [] }, from, to);
    const back = route({ links, queues: [] }, to, from);
    if (!there || !back) continue;
    const rates = there.links.map((link) => capacity(links, link));
    const slowest = rates.indexOf(Math.min(...rates));
    const paced = (rates[slowest] ?? Number.POSITIVE_INFINITY) / (8 * mss);
    const windowed = window / mss / (emptyTime(there, mss) + emptyTime(back, 0));
    const link = there.numbers[slowest] ?? -1;
    // Flows share their slowest link, and each is limited by its window.
    shares.set(link, Math.min((shares.get(link) ?? 0) + Math.min(paced, windowed), paced));
  }
  return [...shares.values()].reduce((a, b) => a + b, 0);
}

/** A link's rate in bits per second; for a split link, the sum over its paths. */
function capacity(links: readonly LinkTrace[], { from, to, rateBps }: LinkTrace): number {
  const paths = links.filter((link) => link.path !== undefined && link.from === from && link.to === to);
  return Math.max(
    rateBps,
    paths.reduce((sum, path) => sum + path.rateBps, 0),
  );
}

/**
 * Rejects with `TooLarge` if a run has too many segments to be drawn with `beside` runs in all.
 *
 * If the run could be too large, it makes a shorter run first and estimates the rest from it.
 */
export async function fits(engine: Engine, run: Run, shortened: Shortened, beside: number, options: Options = {}) {
  const layout = await layoutOf(engine, run.scenario);
  const { durationS } = layout;
  const bound = most(layout);
  const limit = MOST_SEGMENTS / beside;
  if (bound * durationS <= limit) return;
  let triedS = Number.isFinite(bound) ? TRIED / bound : BRIEF;
  let segments = 0;
  // Flows may begin late, so trials grow until there is enough to count.
  for (; segments < ENOUGH; triedS *= 8) {
    if (triedS >= durationS) return;
    segments = await sent(engine, { ...run, scenario: shortened(`${Math.ceil(1e9 * triedS)} ns`) }, options);
    if (segments >= ENOUGH) break;
  }
  const whole = (segments * durationS) / triedS;
  if (whole <= limit) return;
  const [found, allowed] = [rounded(whole), rounded(limit)];
  const reason = `This run of ${readable(durationS)} would send about ${found} segments, and the page can draw up to ${allowed}${beside > 1 ? ` of each of ${beside} runs` : ""}.`;
  throw new TooLarge(reason, readable((limit / whole) * durationS));
}

/** The layouts asked for last, the oldest first: runs with another seed, and those of stacks that did not change, have one of them. */
const last: { engine: Engine; scenario: string; layout: Promise<Layout> }[] = [];
const MOST_LAYOUTS = 8;

function layoutOf(engine: Engine, scenario: string): Promise<Layout> {
  const known = last.find((one) => one.engine === engine && one.scenario === scenario);
  if (known) return known.layout;
  const layout = engine.check({ scenario });
  last.push({ engine, scenario, layout });
  if (last.length > MOST_LAYOUTS) last.shift();
  return layout;
}

/** The number of segments that a run sends; 0 if the engine refuses it, because a flow would begin after its end. */
async function sent(engine: Engine, run: Run, { signal }: Options): Promise<number> {
  try {
    const { flows } = await engine.run(run, { signal });
    return flows.reduce((sum, { sends }) => sum + sends.time.length, 0);
  } catch (error) {
    if (refusalOf(error)) return 0;
    throw error;
  }
}

/** The scenario's text with another duration. */
export type Shortened = (duration: string) => string;

const rounded = (n: number) => Number(n.toPrecision(2)).toLocaleString("en");

/** A time as written in a scenario, rounded down to two digits. */
function readable(seconds: number): string {
  const [unit, name] = seconds >= 1 ? [1, "s"] : seconds >= 1e-3 ? [1e3, "ms"] : [1e6, "us"];
  const step = 10 ** Math.max(Math.floor(Math.log10(unit * seconds)) - 1, 0);
  return `${Math.max(Math.floor((unit * seconds) / step) * step, 1)} ${name}`;
}
