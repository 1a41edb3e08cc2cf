/** The caption above the graphs: paper, figure and what to look for; and an invitation to the tour. */

import { fill, h } from "../dom";
import type { Preset } from "../scenario/presets";
import type { Table } from "../scenario/toml";
import { keep, kept } from "../storage";
import { button } from "./buttons";
import { flowsOf, linksOf } from "./links";
import { get, isTable, type Json } from "./path";
import { parse, write } from "./quantity";
import type { Lab } from "./session";

/** The origin of a state. */
export interface Origin {
  /** As it was then. */
  lab: Pick<Lab, "scenario" | "stacks">;
  preset?: Preset | undefined;
}

export interface Caption {
  element: HTMLElement;
  show: (origin: Origin | undefined, lab: Lab) => void;
}

const KEY = "ackclock-visited";

/** Makes the caption, with an invitation on the first visit; `tour` starts the tour. */
export function caption(tour: () => void): Caption {
  const message = h("div", {});
  const element = h("section", { class: "caption", "aria-label": "What is shown" }, message);
  if (kept(KEY) === undefined) element.append(invitation(tour));
  const show = (origin: Origin | undefined, lab: Lab) => {
    const { preset } = origin ?? {};
    message.hidden = preset === undefined;
    if (!preset) return;
    const changed = isChanged(origin, lab) && " You have changed it since.";
    fill(
      message,
      h("p", {}, h("strong", {}, preset.group), ` · ${preset.title}`),
      h("p", { class: "hint look" }, `What to look for: ${preset.watch}`, changed),
    );
  };
  return { element, show };
}

function invitation(tour: () => void): HTMLElement {
  const done = () => {
    keep(KEY, "yes");
    box.remove();
  };
  const go = () => {
    done();
    tour();
  };
  const box = h(
    "p",
    { class: "invitation" },
    "New here? Take a two-minute tour of the page.",
    button("Show me around", go),
    button("Not now", done),
  );
  return box;
}

/** The title: the origin's name until the path is edited, then the path in words. */
export function heading(origin: Origin | undefined, lab: Lab): string {
  const own = origin?.preset?.title ?? (typeof lab.scenario.name === "string" ? lab.scenario.name : undefined);
  if (!origin || same(origin.lab.scenario, lab.scenario)) {
    const senders = origin && !same(origin.lab.stacks, lab.stacks) ? ", other senders" : "";
    return own ? own + senders : described(lab.scenario);
  }
  const short = own?.split(":")[0];
  return described(lab.scenario) + (short ? ` (was ${short})` : "");
}

function isChanged(origin: Origin | undefined, lab: Lab): boolean {
  return origin !== undefined && !(same(origin.lab.scenario, lab.scenario) && same(origin.lab.stacks, lab.stacks));
}

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** A path in words: bottleneck, one-way delay, elements and number of flows. */
export function described(scenario: Table): string {
  const links = isTable(scenario.dumbbell)
    ? [get(scenario, ["dumbbell", "bottleneck"]), get(scenario, ["dumbbell", "access"])].filter(isTable)
    : linksOf(scenario);
  const rates = links.flatMap(({ rate }) => parse(String(rate), ["rate"]) ?? []);
  const delays = links.flatMap(({ delay }) => parse(String(delay), ["time"]) ?? []);
  const slowest = rates.toSorted((a, b) => a.value - b.value)[0];
  const delay = delays.reduce((sum, { value }) => sum + value, 0);
  const kinds = links.flatMap(({ elements }) => (Array.isArray(elements) ? elements.filter(isTable) : []));
  const acting = [...new Set(kinds.map((element) => String(element.kind as Json).replaceAll("-", " ")))];
  const flows = flowsOf(scenario).reduce((sum, { count }) => sum + (Number(count ?? 1) || 1), 0);
  return [
    slowest ? write(slowest) : "unlimited rate",
    delays.length > 0 && `${write({ value: delay, dimension: "time" })} one way`,
    ...acting,
    flows > 1 && `${flows} flows`,
  ]
    .filter(Boolean)
    .join(", ");
}
