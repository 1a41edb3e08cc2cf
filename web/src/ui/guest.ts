/** A trace or a captured flow that the user opened: shown alone, or beside the simulated runs with the same origin of time. */

import { fill, h } from "../dom";
import { begins, shifted } from "../engine/shift";
import type { RunTrace } from "../engine/trace";
import { button, iconButton } from "./buttons";

/** Runs and their names. */
export interface Shown {
  runs: readonly RunTrace[];
  names: readonly string[];
}

export class Guest {
  readonly element = h("section", {
    class: "card guest line",
    "aria-label": "Trace or capture beside the run",
    hidden: true,
  });
  private of: { run: RunTrace; name: string } | undefined;
  private together = false;

  /** `redraw` is called when the drawing must change. */
  constructor(private readonly redraw: () => void) {}

  /** Takes a run that was made elsewhere; it is shown like the previous guest, alone or beside the runs. */
  bring(run: RunTrace, name: string): void {
    this.of = { run, name };
    this.draw();
  }

  /** There are new simulated runs: a guest that is shown alone is removed. */
  renewed(): void {
    if (!this.together) this.leave();
  }

  /** Shows the guest beside the runs from now on. */
  join(): void {
    this.together = true;
    this.draw();
  }

  leave(): void {
    this.of = undefined;
    this.together = false;
    this.draw();
  }

  /** Removes the guest; only the simulated runs are drawn. */
  close(): void {
    if (!this.of) return;
    this.leave();
    this.redraw();
  }

  get here(): boolean {
    return this.of !== undefined;
  }

  /** Whether the graphs show the simulated runs, with the guest or without. */
  get simulated(): boolean {
    return !this.of || this.together;
  }

  /** The runs that the graphs show: these simulated ones, the guest, or both. */
  with({ runs, names }: Shown): Shown {
    const { of } = this;
    if (!of) return { runs, names };
    if (!this.together) return { runs: [of.run], names: [of.name] };
    const [ours, theirs] = [Math.min(...runs.map((run) => begins(run) ?? 0)), begins(of.run)];
    const by = theirs === undefined || runs.length === 0 ? 0 : ours - theirs;
    const note = Math.abs(by) < 1e-6 ? "" : ` (shifted by ${by < 0 ? "−" : "+"}${Math.abs(by).toFixed(3)} s)`;
    const name = of.name + note;
    const run = shifted(of.run, by);
    return {
      runs: [...runs, { ...run, flows: run.flows.map((flow) => ({ ...flow, stack: name })) }],
      names: [...names, name],
    };
  }

  private draw(): void {
    const { of } = this;
    this.element.hidden = of === undefined;
    if (!of) return;
    const choice = (says: string, together: boolean) => {
      const choose = () => {
        this.together = together;
        this.draw();
        this.redraw();
      };
      return button(says, choose, undefined, { "aria-pressed": this.together === together });
    };
    fill(
      this.element,
      h("span", { class: "hint" }, of.name),
      h("span", { class: "spacer" }),
      choice("Alone", false),
      choice("Beside the run", true),
      iconButton("remove", "Back to the run", () => this.close()),
    );
  }
}
