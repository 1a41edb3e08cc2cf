/** Graphs that fold away; the browser remembers which are folded, also for the next visit. */

import { make } from "./dom";

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

/** A view under its title, which folds it away. */
export function fold(name: keyof typeof TITLES, inside: HTMLElement): HTMLElement {
  const box = make("details", { class: "ak-fold", "data-fold": name }, make("summary", {}, TITLES[name]), inside);
  box.open = !kept().has(name);
  box.addEventListener("toggle", () => {
    const names = kept();
    if (box.open) names.delete(name);
    else names.add(name);
    keep(names);
  });
  return box;
}

function kept(): Set<string> {
  try {
    return new Set((localStorage.getItem(KEY) ?? "").split(" "));
  } catch {
    return new Set(); // no storage: all are open
  }
}

function keep(names: ReadonlySet<string>): void {
  try {
    localStorage.setItem(KEY, [...names].join(" "));
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
}
