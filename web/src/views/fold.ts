/** Graphs that fold away; the browser remembers which are folded, also for the next visit. */

import { h } from "../dom";
import { keep, kept } from "../storage";

const KEY = "ackclock-folded";

/** The titles of the views. */
export const TITLES = {
  sequence: "Time sequence",
  window: "Window",
  dupthresh: "Duplicate threshold",
  rto: "Retransmission timeout",
  queue: "Queue",
  path: "Packets on the path",
  flows: "Throughput of each flow",
  table: "Results",
} as const;
export type ViewName = keyof typeof TITLES;

/** A view under its title, which folds it away. */
export function fold(name: ViewName, inside: HTMLElement): HTMLElement {
  const box = h("details", { class: "ak-fold", "data-fold": name }, h("summary", {}, TITLES[name]), inside);
  box.open = !folded().has(name);
  box.addEventListener("toggle", () => {
    const names = folded();
    if (box.open) names.delete(name);
    else names.add(name);
    keep(KEY, [...names].join(" "));
  });
  return box;
}

function folded(): Set<string> {
  return new Set(kept(KEY)?.split(" "));
}
