/** The same scenarios on several seeds: means of each flow's numbers with their 95 % confidence intervals. */
import type { Engine, Interval, Options, Run } from "./engine";
import { inLanes } from "./lanes";
import type { FlowSummary } from "./results";

/** The numbers of a flow that are averaged: names of the report, and `needless_ratio` of its measures. */
export const MEASURES = [
  "goodput_bytes_per_s",
  "needed_retransmissions",
  "refused_retransmissions",
  "needless_retransmissions",
  "needless_ratio",
  "timeouts",
] as const;
export type Measure = (typeof MEASURES)[number];

export type FlowMeans = Readonly<Partial<Record<Measure, Interval>>>;

/** The means of all scenarios, and the seeds that they cover. */
export interface Repeated {
  first: number;
  count: number;
  /** For each scenario the means of each of its flows. */
  scenarios: readonly (readonly FlowMeans[])[];
}

export interface Repeat {
  /** TOML, each with the same seeds. */
  scenarios: readonly string[];
  /** The first seed; the others follow it, as with `ackclock run --seeds`. */
  seed: number;
  count: number;
  /** The number of runs at a time. */
  lanes: number;
}

/** A flow in the report of one run, as far as it has numbers. */
type Flow = Partial<FlowSummary>;

/** Runs each scenario on each seed; `progress` is called with the share of finished runs, 0 to 1. Rejects as `Engine.run` does. */
export async function repeat(
  engine: Pick<Engine, "report" | "means">,
  { scenarios, seed, count, lanes }: Repeat,
  { signal, progress }: Options = {},
): Promise<Repeated> {
  const jobs = scenarios.flatMap((scenario) =>
    Array.from({ length: count }, (_, i): Run => ({ scenario, seed: seed + i })),
  );
  let done = 0;
  const ended = await inLanes([...jobs.keys()], lanes, async (i) => {
    const flows = flowsOf(await engine.report(jobs[i] as Run, { signal }));
    done += 1;
    progress?.(done / jobs.length);
    return flows;
  });
  const runs = scenarios.map((_, i) => ended.slice(i * count, (i + 1) * count));
  const numbers = runs.flatMap((of) =>
    (of[0] ?? []).flatMap((_, flow) => MEASURES.map((name) => values(of, flow, name))),
  );
  const means = await engine.means(numbers);
  let at = 0;
  const flow = (): FlowMeans =>
    Object.fromEntries(MEASURES.flatMap((name) => [means[at++]].flatMap((m) => (m ? [[name, m]] : []))));
  return { first: seed, count, scenarios: runs.map((of) => (of[0] ?? []).map(flow)) };
}

function flowsOf(report: Readonly<Record<string, unknown>>): Flow[] {
  return (report.runs as { flows: Flow[] }[] | undefined)?.[0]?.flows ?? [];
}

function values(runs: readonly Flow[][], flow: number, name: Measure): number[] {
  return runs.flatMap((flows) => {
    const found = flows[flow];
    return (name === "needless_ratio" ? needlessRatio(found) : found?.[name]) ?? [];
  });
}

/** Needless retransmissions as a share of the data packets sent, 0 to 1; undefined if none were sent. */
export function needlessRatio(flow: Flow | undefined): number | undefined {
  const { needless_retransmissions: needless, data_packets_sent: sent } = flow ?? {};
  return typeof needless === "number" && sent ? needless / sent : undefined;
}
