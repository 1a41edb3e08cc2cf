/** The engine's requests and answers, as `crates/wasm` defines them. */

import { type At, captureTrace, type Fit, type Found, type OneFlow } from "./capture";
import { MOST_TRACE_BYTES, type Opened, openedTrace, type TraceFile } from "./opened";
import { keepReady, type Ready } from "./ready";
import type { CapturedFlow } from "./rows";
import type { FlowColumns, LinkTrace, QueueTrace, Report, RunTrace } from "./trace";

/** The runs to make. */
export interface Scenario {
  /** TOML. */
  scenario: string;
  /** The stack of every flow, instead of the scenario's own. */
  stack?: string | undefined;
  /** Parameters of every flow's stack, as in `rto.tick=500 ms`. */
  set?: readonly string[] | undefined;
}

/** A scenario with its seed. */
export interface Run extends Scenario {
  seed: number;
}

export interface Options {
  /** The file of the request. */
  file?: Blob | undefined;
  /** Whether the file is a trace in Parquet, of which the request takes the text in CSV. */
  parquet?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the share of the run that is done, 0 to 1. */
  progress?: ((share: number) => void) | undefined;
  /** The flow of a run that will be drawn: its graph is made ready beside the page. */
  flow?: number | undefined;
}

/** Why a scenario is refused; the `cause` of the error with which a request is rejected. */
export interface Refusal {
  /** The line in the scenario's text, from 1. */
  line: number | undefined;
  /** Path of the key, as in `link[0].rate`. */
  key: string | undefined;
  found: string;
  allowed: string;
  /** The probable intention. */
  hint: string | undefined;
  /** The whole message in one line. */
  message: string;
}

/** The parts of a scenario, with the numbers that traces use for them. */
export interface Layout {
  name: string;
  durationS: number;
  /** The seeds that the scenario requests. */
  seeds: number[];
  /** Two for each link of the scenario, forward and back, then the paths of splits. */
  links: LinkTrace[];
  elements: { number: number; link: number; kind: string }[];
  flows: { name: string; from: string; to: string; stack: string; mss: number; window: number }[];
  /** The number of kinds of background traffic. */
  background: number;
}

/** A named stack: its name, its description, and each slot with its parameters. */
export type Stack = Readonly<Record<string, unknown>> & { readonly name: string; readonly summary: string };

/** The mean of a number over runs, as `ackclock run --json` has it. */
export interface Interval {
  n: number;
  mean: number;
  /** Half the width of the 95 % confidence interval (Student's t); null for one run. */
  half_width_95: number | null;
}

/** A trace to download. */
export interface File {
  bytes: Uint8Array<ArrayBuffer>;
  /** The description of a CSV, for `NAME.csv-metadata.json`: its run, and every column's type and meaning. */
  description: string | undefined;
  traceHash: string;
}

export interface Engine {
  /** Runs a scenario; rejects with a `Refusal` as `cause`, or with the signal's reason. */
  run(run: Run, options?: Options): Promise<RunTrace>;
  /** The report of `ackclock run --json` alone; rejects as `run` does. */
  report(run: Run, options?: Options): Promise<Report>;
  /** The mean of each list of numbers, with its 95 % confidence interval; null for an empty list. */
  means(of: readonly (readonly number[])[]): Promise<(Interval | null)[]>;
  /** The trace as `ackclock run --trace FILE.csv` writes it. */
  csv(run: Run, options?: Options): Promise<File>;
  /** The trace as `ackclock run --trace FILE.parquet` writes it. */
  parquet(run: Run, options?: Options): Promise<File>;
  /** The scenario's layout; rejects as `run` does. */
  check(scenario: Scenario): Promise<Layout>;
  /** The scenario with every default spelled out, as `ackclock show` prints it. */
  show(scenario: Scenario): Promise<string>;
  /** The named stacks. */
  stacks(): Promise<Stack[]>;
  /** The JSON Schema of scenario files. */
  schema(): Promise<Record<string, unknown>>;
  /** A trace as the run that it tells of. Rejects with the fault of the file and its place. */
  opened(trace: TraceFile, options?: Options): Promise<RunTrace>;
  /** The flows of a capture. Rejects with the fault of the file and its place. */
  capture(of: CaptureFile, options?: Options): Promise<Found>;
  /** One of the flows as a run to draw. */
  captureFlow(of: CaptureFile, flow: CapturedFlow, options?: Options): Promise<RunTrace>;
  /** The path that explains one of the flows; rejects with the reason if there is none. */
  captureFit(of: CaptureFile, flow: CapturedFlow, stack: string, options?: Options): Promise<Fit>;
}

/** A capture. */
export interface CaptureFile {
  file: Blob;
  name: string;
  /** Place of the capture, if it is not to be detected. */
  at?: At | undefined;
}

/** Sends a request to the module and returns its reply. */
export type Ask = (request: Readonly<Record<string, unknown>>, options?: Options) => Promise<unknown>;

/** The engine behind `ask`. */
export function engine(ask: Ask): Engine {
  const answer = <T>(request: Readonly<Record<string, unknown>>, options?: Options) =>
    ask(request, options) as Promise<T>;
  return {
    run: async (run, options) => runTrace(await answer<Answer>({ do: "trace", ...asked(run) }, options)),
    report: (run, options) => answer<Report>({ do: "run", ...asked(run) }, options),
    means: (of) => answer<(Interval | null)[]>({ do: "means", of }),
    csv: async (run, options) => file(await answer<Recorded>({ do: "csv", ...asked(run) }, options)),
    parquet: async (run, options) => file(await answer<Recorded>({ do: "parquet", ...asked(run) }, options)),
    check: async (scenario) => layout(await answer<Layout>({ do: "check", ...scenario })),
    show: (scenario) => answer<string>({ do: "show", ...scenario }),
    stacks: () => answer<Stack[]>({ do: "stacks" }),
    schema: () => answer<Record<string, unknown>>({ do: "schema" }),
    opened: async ({ file, kind }, options) => {
      if (file.size > MOST_TRACE_BYTES) {
        const [found, allowed] = [file.size, MOST_TRACE_BYTES].map((bytes) => `${Math.round(bytes / 1e6)} MB`);
        throw new Error(`found ${found}, allowed: traces up to ${allowed}`);
      }
      const found = await answer<Opened>(
        { do: "opened", size: file.size },
        { ...options, file, parquet: kind === "parquet" },
      );
      return openedTrace(found);
    },
    capture: ({ file, name, at }, options) =>
      answer<Found>({ do: "capture", file: name, size: file.size, at }, { ...options, file }),
    captureFlow: async ({ file, name, at }, { interface: one, connection, flow }, options) => {
      const request = { do: "capture-flow", file: name, size: file.size, at, interface: one, connection, flow };
      return captureTrace(await answer<OneFlow>(request, { ...options, file }));
    },
    captureFit: ({ file, at }, { interface: one, flow }, stack, options) =>
      answer<Fit>({ do: "capture-fit", size: file.size, at, interface: one, flow, stack }, { ...options, file }),
  };
}

/** The refusal with which a request was rejected, if it was refused. */
export function refusalOf(error: unknown): Refusal | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === "object" && cause !== null && "allowed" in cause ? (cause as Refusal) : undefined;
}

/** An error as the module reports it: a refusal if it names the values allowed. */
export function rejection(message: string, details: unknown): Error {
  const reported = details as { [key in keyof Refusal]: Refusal[key] | null } | undefined;
  if (typeof reported?.allowed !== "string") return new Error(message);
  const { line, key, found, allowed, hint } = reported;
  const refusal = { line: line ?? undefined, key: key ?? undefined, found, allowed, hint: hint ?? undefined, message };
  return new Error(message, { cause: refusal });
}

/** A run as the module returns it; a worker adds what it made ready. */
export interface Answer {
  layout: Layout;
  flows: FlowColumns[];
  queues: Omit<QueueTrace, "name" | "limit">[];
  report: Report;
  ready?: Ready | undefined;
}

interface Recorded {
  file: Uint8Array<ArrayBuffer>;
  description?: string;
  trace_hash: string;
}

function file({ file, description, trace_hash }: Recorded): File {
  return { bytes: file, description, traceHash: trace_hash };
}

/** Seeds are passed as digits, because they may exceed JavaScript's whole numbers. */
function asked({ seed, ...scenario }: Run) {
  return { ...scenario, seed: String(seed) };
}

/** JSON has no infinity and no NaN. */
function layout(reported: Layout): Layout {
  const links = reported.links.map((link) => ({
    ...link,
    path: link.path ?? undefined,
    rateBps: link.rateBps ?? Number.POSITIVE_INFINITY,
    limitPackets: link.limitPackets ?? Number.NaN,
  }));
  return { ...reported, links };
}

function runTrace(answer: Answer): RunTrace {
  keepReady(answer.flows, answer.ready);
  const { links, elements, flows, durationS } = layout(answer.layout);
  const queueOf = (link: number) => {
    const { from, to, path, limitPackets } = links[link] as LinkTrace;
    return { name: path === undefined ? `${from} → ${to}` : `${from} → ${to}, path ${path}`, limit: limitPackets };
  };
  return {
    flows: answer.flows.map((columns, i) => {
      const { name, from, to, stack, mss } = flows[i] as Layout["flows"][number];
      return { name, from, to, stack, mss, ...columns };
    }),
    queues: answer.queues.map((queue) => ({ ...queue, ...queueOf(queue.link) })),
    links,
    elements,
    durationS,
    summary: answer.report,
  };
}
