/** The columns of a state: their scenarios for the engine, and their names. */
import { type Engine, type Options, refusalOf } from "../engine/engine";
import { fits } from "../engine/size";
import type { FlowTrace, RunTrace } from "../engine/trace";
import { toToml } from "../scenario/toml";
import { button } from "./buttons";
import { type Column, columns, PATH_NAMES } from "./columns";
import { flowsOf, lasting } from "./links";
import { repairs } from "./repair";
import type { Lab, Refused } from "./session";
import { type Known, label, written } from "./stack";

export class Compared {
  /** `flow` returns the position of the flow that is drawn. */
  constructor(
    private readonly known: Known,
    private readonly flow: () => number,
  ) {}

  /** The scenario of the i-th column, with its stack in it. */
  toml(lab: Lab, i: number): string {
    const { scenario, stack } = columns(lab)[i] as Column;
    return toToml(written(scenario, stack, this.known));
  }

  /** The scenarios of all columns, and the seed with which they run. */
  all(lab: Lab): { scenarios: string[]; seed: number } {
    return { scenarios: columns(lab).map((_, i) => this.toml(lab, i)), seed: lab.seed };
  }

  /** Runs the i-th column, unless it is too large for a page. */
  async run(engine: Engine, lab: Lab, i: number, options: Options): Promise<RunTrace> {
    const run = { scenario: this.toml(lab, i), seed: lab.seed };
    const { side, scenario } = columns(lab)[i] as Column;
    const shortened = (duration: string) => this.toml({ ...lab, [side]: lasting(scenario, duration) }, i);
    await fits(engine, run, shortened, columns(lab).length, { signal: options.signal });
    return engine.run(run, { ...options, flow: this.flow() });
  }

  /** Buttons for the repairs of a refusal, if there are any; each passes its change to `edit`. */
  async repairs(
    engine: Engine,
    lab: Lab,
    refused: Refused,
    edit: (next: Partial<Lab>) => void,
  ): Promise<HTMLElement[]> {
    const check = (of: Lab, column: number) =>
      engine.check({ scenario: this.toml(of, column) }).then(() => undefined, refusalOf);
    return (await repairs(lab, refused, check)).map(({ says, next }) => button(says, () => edit(next)));
  }

  names(lab: Lab): string[] {
    const own = String(flowsOf(lab.scenario)[0]?.stack ?? "");
    const path = ({ side }: Column) => (lab.other ? ` · ${PATH_NAMES[side]}` : "");
    return columns(lab).map((column) => label(column.stack, own) + path(column));
  }

  /** The runs, with their flows named after their columns. */
  named(runs: readonly RunTrace[], lab: Lab): RunTrace[] {
    const names = this.names(lab);
    const compared = columns(lab);
    const called = (flow: FlowTrace, i: number) => ({ ...flow, stack: names[i] ?? flow.stack });
    // The flows of a scenario with different stacks keep their own names.
    const plain = (i: number) => !lab.other && Object.keys(compared[i]?.stack.set ?? {}).length === 0;
    return runs.map((run, i) => (plain(i) ? run : { ...run, flows: run.flows.map((f) => called(f, i)) }));
  }
}
