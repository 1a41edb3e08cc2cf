/** Why did it stall? Walks through the longest pauses of the runs. */

import { fill, h, prose } from "../dom";
import type { RunTrace, Stall } from "../engine/trace";
import { iconButton } from "./buttons";
import type { Span } from "./labs";

/** A pause of one of the runs. */
export interface Pause extends Stall {
  run: number;
  /** Position in `RunTrace.flows`. */
  flow: number;
}

/** The number of pauses of a run that are shown. */
const MOST = 5;

export interface StallPanel {
  element: HTMLElement;
  /** Shows these pauses of the runs with these names. */
  show: (pauses: readonly Pause[], names: readonly string[]) => void;
  step: (by: number) => void;
}

/** `visit` shows a pause in the views; undefined ends that. */
export function stallPanel(visit: (pause: Pause | undefined) => void): StallPanel {
  let pauses: readonly Pause[] = [];
  let names: readonly string[] = [];
  let at = -1;
  const place = h("span", { class: "hint", "aria-live": "polite" });
  const title = h("p", {});
  // A long list scrolls, so it must be focusable.
  const list = h("ol", { tabindex: 0, "aria-label": "What happened" });
  const leave = iconButton("remove", "Leave the pause", () => go(-1), { title: "Leave" });
  const head = h("h2", {}, "Why did it stall?");
  const back = iconButton("left", "Longer pause", () => step(-1));
  const on = iconButton("right", "Next pause", () => step(1));
  const line = h("div", { class: "line" }, head, place, h("span", { class: "spacer" }), back, on, leave);
  const element = h("section", { class: "card stall", "aria-label": "Why did it stall?" }, line, title, list);

  function draw(): void {
    const pause = pauses[at];
    const count = pauses.length === 1 ? "1 long pause" : `${pauses.length} long pauses`;
    fill(place, pause ? `${at + 1} of ${pauses.length}, longest first` : pauses.length > 0 ? count : "No long pause");
    title.hidden = list.hidden = leave.hidden = pause === undefined;
    back.disabled = at < 0;
    on.disabled = at + 1 >= pauses.length;
    if (!pause) return;
    const who = names.length > 1 ? [`${names[pause.run]}: `] : [];
    fill(title, ...who, h("strong", {}, pause.title));
    fill(list, ...pause.sentences.map((s) => h("li", {}, h("time", {}, `${s.time.toFixed(3)} s`), " ", prose(s.text))));
  }

  function go(to: number): void {
    at = Math.min(Math.max(to, -1), pauses.length - 1);
    visit(pauses[at]);
    draw();
  }

  function step(by: number): void {
    if (pauses.length > 0) go(at + by);
  }

  function show(found: readonly Pause[], called: readonly string[]): void {
    pauses = found.toSorted((a, b) => b.to - b.from - (a.to - a.from));
    names = called;
    at = -1;
    draw();
  }
  return { element, show, step };
}

/** The time span of a pause, with the events that led to it, unless they were much earlier, and a little time after it. */
export function around({ from, to, sentences }: Pause): Span {
  const length = to - from;
  const first = Math.max(from - 2 * length, Math.min(from, ...sentences.map((s) => s.time)));
  return [first - 0.15 * length, to + 0.25 * length];
}

/** The pauses of all runs: the longest of a simulated run, all of a captured flow. */
export function pausesOf(runs: readonly RunTrace[]): Pause[] {
  return runs.flatMap(({ flows }, run) => {
    const all = flows.flatMap(({ stalls }, flow) => stalls.map((stall) => ({ ...stall, run, flow })));
    const longest = all.sort((a, b) => b.to - b.from - (a.to - a.from));
    return flows.some(({ captured }) => captured) ? longest : longest.slice(0, MOST);
  });
}
