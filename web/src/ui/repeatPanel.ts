/** Repeats the runs on several seeds, and puts means with their intervals into the table of results. */

import { fill, h } from "../dom";
import { type Engine, refusalOf } from "../engine/engine";
import { lanesHere } from "../engine/lanes";
import { type Repeated, repeat } from "../engine/repeat";
import { button } from "./buttons";
import { icon } from "./icons";
import { notice } from "./overlay";

const MOST_SEEDS = 1000;
const FIRST_SEEDS = "10";
/** More workers than this gain little: each holds an engine. */
const MOST_LANES = 4;

interface Hooks {
  /** The scenarios that are compared now. */
  asked: () => { scenarios: readonly string[]; seed: number };
  /** Shows the means; undefined shows the runs again. */
  show: (repeated: Repeated | undefined) => void;
}

export class RepeatPanel {
  readonly element = h("div", { class: "line repeat" });
  private readonly count = h("input", {
    type: "text",
    inputmode: "numeric",
    class: "exact",
    value: FIRST_SEEDS,
    id: "seeds",
    "aria-label": "Number of seeds",
  });
  private readonly button: HTMLButtonElement;
  private readonly alone: HTMLButtonElement;
  private readonly message = h("span", { class: "hint", role: "status" });
  private running: AbortController | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly hooks: Hooks,
  ) {
    this.button = button("", () => this.press());
    this.alone = button("This seed", () => this.clear(), undefined, { hidden: true });
    this.count.addEventListener("keydown", ({ key }) => {
      if (key === "Enter" && !this.running) this.press();
    });
    const label = h("label", { class: "hint" }, "Repeat on ", this.count, " seeds");
    this.element.append(label, this.button, this.alone, this.message);
    this.mark();
  }

  /** The page shows other runs, to which the means do not belong. */
  left(shown: boolean): void {
    this.stop();
    this.element.hidden = !shown;
    this.alone.hidden = true;
    fill(this.message);
  }

  stop(): void {
    this.running?.abort();
    this.running = undefined;
    this.mark();
  }

  private clear(): void {
    this.left(true);
    this.hooks.show(undefined);
  }

  private press(): void {
    if (this.running) {
      this.stop();
      fill(this.message, "Stopped");
    } else void this.start();
  }

  private async start(): Promise<void> {
    const text = this.count.value.trim();
    const count = Number(text);
    const good = /^\d+$/.test(text) && count >= 2 && count <= MOST_SEEDS;
    this.count.setAttribute("aria-invalid", String(!good));
    if (!good) {
      notice(`Seeds: found "${text}". Allowed: a whole number from 2 to ${MOST_SEEDS}.`, true);
      return;
    }
    const mine = new AbortController();
    this.running = mine;
    this.mark();
    const { scenarios, seed } = this.hooks.asked();
    const all = scenarios.length * count;
    const progress = (share: number) => fill(this.message, `${Math.round(share * all)} of ${all} runs`);
    progress(0);
    const lanes = Math.min(MOST_LANES, lanesHere());
    try {
      const of = { scenarios, seed, count, lanes };
      const repeated = await repeat(this.engine, of, { signal: mine.signal, progress });
      if (this.running !== mine) return;
      this.hooks.show(repeated);
      this.alone.hidden = false;
      fill(
        this.message,
        `Means over seeds ${seed} to ${seed + count - 1} with 95 % confidence intervals (Student’s t)`,
      );
    } catch (error) {
      if (mine.signal.aborted) return;
      mine.abort(); // the other runs
      fill(this.message);
      notice(refusalOf(error)?.message ?? (error as Error).message, true);
    } finally {
      if (this.running === mine) this.stop();
    }
  }

  private mark(): void {
    const says = this.running ? "Stop repeating" : "Repeat";
    fill(this.button, icon(this.running ? "stop" : "run"), this.running ? "Stop" : "Repeat");
    this.button.setAttribute("aria-label", says);
  }
}
