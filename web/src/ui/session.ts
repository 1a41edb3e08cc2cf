/** The page's state and its runs: a change starts a run, and a newer change stops an older run. */
import { type Refusal, refusalOf } from "../engine/engine";
import { inLanes, lanesHere } from "../engine/lanes";
import type { RunTrace } from "../engine/trace";
import type { StackChoice } from "../scenario/state";
import type { Mark } from "../views/marks";
import { columns } from "./columns";
import type { Table } from "./path";

/** The content of a link, except the view. */
export interface Lab {
  scenario: Table;
  /** A second path, with which the first is compared. */
  other?: Table | undefined;
  stacks: StackChoice[];
  seed: number;
  /** Instants that are marked. */
  marks?: readonly Mark[] | undefined;
}

export type Progress = { running: false } | { running: true; share: number };

/** A refusal, and the column whose run was refused. */
export interface Refused {
  column: number;
  refusal: Refusal;
}

/** Runs one column; rejects with a `Refusal` as the error's `cause`, or with any other error. */
export type RunOne = (
  lab: Lab,
  column: number,
  options: { signal: AbortSignal; progress: (share: number) => void },
) => Promise<RunTrace>;

interface Listeners {
  /** Something was edited. */
  changed: () => void;
  progress: (progress: Progress) => void;
  /** The runs of `lab`, one for each column. */
  done: (runs: RunTrace[], lab: Lab) => void;
  refused: (refused: Refused | undefined) => void;
  failed: (error: Error) => void;
  /** Whether the drawing shows an older state than the current one. */
  stale: (is: boolean) => void;
}

/** A run starts this long after the last change, ms. */
const PAUSE = 120;
/** While values keep changing, a run that takes longer than this, ms, is stopped in favour of the latest value. */
const PATIENCE = 700;
/** The least time between two reports of progress, ms: for each the page draws a frame, beside workers that need the processor. */
const BEAT = 100;

export class Session {
  private running: AbortController | undefined;
  /** When the current run began, ms. */
  private began = 0;
  private timer = 0;
  /** How long each column took last time, ms. */
  private took: readonly number[] = [];

  constructor(
    private current: Lab,
    private readonly one: RunOne,
    private readonly tell: Listeners,
    private readonly lanes = lanesHere(),
  ) {}

  get lab(): Lab {
    return this.current;
  }

  /** Applies `next` and runs it soon; stops the current run if it takes long. */
  change(next: Partial<Lab>): void {
    this.set(next);
    this.soon();
    this.tell.changed();
    this.tell.stale(true);
  }

  /** Applies `next`, which changes no run. */
  note(next: Pick<Lab, "marks">): void {
    this.set(next);
    this.tell.changed();
  }

  /** Applies `next` without counting it as an edit; the caller runs it. */
  set(next: Partial<Lab>): void {
    this.current = { ...this.current, ...next };
  }

  private soon(after = PAUSE): void {
    if (this.timer === 0) this.timer = window.setTimeout(() => this.due(), after);
  }

  private due(): void {
    this.timer = 0;
    const left = this.running ? this.began + PATIENCE - performance.now() : 0;
    if (left > 0) this.soon(left);
    else void this.run();
  }

  stop(): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.running?.abort();
    this.running = undefined;
    this.tell.progress({ running: false });
  }

  /** Runs the current state. */
  async run(): Promise<void> {
    this.stop();
    const mine = new AbortController();
    this.running = mine;
    this.began = performance.now();
    const { current: lab } = this;
    const compared = columns(lab);
    const shares = compared.map(() => 0);
    this.tell.progress({ running: true, share: 0 });
    let reported = this.began;
    const took: number[] = [];
    const one = async (i: number) => {
      mine.signal.throwIfAborted();
      const begun = performance.now();
      const progress = (share: number) => {
        shares[i] = share;
        const now = performance.now();
        if (this.running !== mine || now - reported < BEAT) return;
        reported = now;
        this.tell.progress({ running: true, share: shares.reduce((a, b) => a + b, 0) / shares.length });
      };
      const run = await this.one(lab, i, { signal: mine.signal, progress });
      took[i] = performance.now() - begun;
      return run;
    };
    // The longest begins first, so that it does not run alone at the end. An error thrown synchronously is handled like a rejected run.
    const order = [...compared.keys()].sort((a, b) => (this.took[b] ?? 0) - (this.took[a] ?? 0));
    const ended = await inLanes(order, this.lanes, async (i) => (await Promise.allSettled([one(i)]))[0]);
    if (this.running !== mine) return;
    this.running = undefined;
    this.took = took;
    this.tell.progress({ running: false });
    this.report(ended, lab);
    if (this.current !== lab) await this.run();
  }

  private report(ended: PromiseSettledResult<RunTrace>[], lab: Lab): void {
    const first = ended.findIndex((e) => e.status === "rejected");
    const failure = ended[first];
    if (failure?.status !== "rejected") {
      this.tell.refused(undefined);
      this.tell.done(
        ended.flatMap((e) => (e.status === "fulfilled" ? [e.value] : [])),
        lab,
      );
      this.tell.stale(this.current !== lab);
      return;
    }
    const refusal = refusalOf(failure.reason);
    if (refusal) this.tell.refused({ column: first, refusal });
    else this.tell.failed(failure.reason instanceof Error ? failure.reason : new Error(String(failure.reason)));
  }
}
