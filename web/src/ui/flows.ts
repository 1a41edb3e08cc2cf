/** The picker of a flow: one choice for all graphs and the results. */

import { fill, h } from "../dom";
import type { RunTrace } from "../engine/trace";

export class FlowPicker {
  readonly element = h("div", { class: "line flows", hidden: true });
  private readonly select = h("select", { id: "flow" });
  private chosen = 0;

  /** `choose` is called with a new choice. */
  constructor(choose: (flow: number) => void) {
    this.select.addEventListener("change", () => {
      this.chosen = Number(this.select.value);
      choose(this.chosen);
    });
  }

  get flow(): number {
    return this.chosen;
  }

  /** Sets the choice; it also applies to runs that are shown later. */
  set flow(flow: number) {
    this.chosen = flow;
    this.select.value = String(flow);
  }

  /** Offers the flows of these runs; hidden if there is only one. */
  show(runs: readonly RunTrace[]): void {
    const flows = runs[0]?.flows ?? [];
    this.element.hidden = flows.length < 2;
    const options = flows.map(({ name, stack }, i) => h("option", { value: i }, `${name}, ${stack}`));
    fill(this.select, ...options);
    fill(this.element, h("label", { for: "flow" }, `Flow, one of ${flows.length}`), this.select);
    this.flow = Math.max(Math.min(this.chosen, ...runs.map((run) => run.flows.length - 1)), 0);
  }
}
