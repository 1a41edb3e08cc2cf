/** Where the time of captured flows went: the parts of a time as a bar with words. */
import { duration, grouped } from "../chart/ticks";
import { h } from "../dom";
import type { CapturedConnection, CapturedFlow } from "../engine/rows";

/** Seconds by name. */
export type Times = Readonly<Record<string, number>>;

/** A part of a time; `share` is its part of the whole. */
export interface Part {
  name: string;
  seconds: number;
  share: number;
}

/** A smaller part is not named. */
const LEAST = 0.005;
const OTHERS = "the rest";
/** The colours of the parts, in the order of their time; each part has its name beside it, too. */
const COLOURS = ["needed", "needless", "dsack", "open", "refused", "sack", "dropped", "queue"];
/** Parts that are no one's fault. */
const QUIET: Readonly<Record<string, string>> = { sending: "ack", "application idle": "rule", [OTHERS]: "grid" };

/** The time of all flows together. */
export function timeOf(flows: readonly Pick<CapturedFlow, "time_by_cause_s">[]): Times {
  const all: Record<string, number> = {};
  for (const { time_by_cause_s: times } of flows)
    for (const [cause, seconds] of Object.entries(times)) all[cause] = (all[cause] ?? 0) + seconds;
  return all;
}

/** The time of requests and answers, by who took it. */
export function waitsOf(connections: readonly CapturedConnection[]): Times {
  const all = { client: 0, network: 0, server: 0, "network or server": 0, answers: 0 };
  for (const one of connections) {
    all.client += one.client_s;
    all.answers += one.answers_s;
    all.network += one.network_s ?? 0;
    all.server += one.server_s ?? 0;
    if (one.server_s === null) all["network or server"] += one.first_byte_s;
  }
  return all;
}

/** The parts, the largest first; those too small to be seen are put together. */
export function partsOf(times: Times): Part[] {
  const whole = Object.values(times).reduce((sum, seconds) => sum + seconds, 0);
  if (whole <= 0) return [];
  const all = Object.entries(times).map(([name, seconds]) => ({ name, seconds, share: seconds / whole }));
  const named = all.filter(({ share }) => share >= LEAST).toSorted((a, b) => b.seconds - a.seconds);
  const rest = whole - named.reduce((sum, { seconds }) => sum + seconds, 0);
  const small = all.some(({ share }) => share > 0 && share < LEAST);
  return small ? [...named, { name: OTHERS, seconds: rest, share: rest / whole }] : named;
}

/** A bar with its legend; nothing without time. */
export function timeBar(label: string, times: Times): HTMLElement | false {
  const parts = partsOf(times);
  if (parts.length === 0) return false;
  const named = parts.filter(({ name }) => !(name in QUIET)).map(({ name }) => name);
  const colour = (name: string) => `var(--ak-${QUIET[name] ?? COLOURS[named.indexOf(name)] ?? "grid"})`;
  const pieces = parts.map(({ name, share }) =>
    h("span", { style: `flex-grow: ${share}; background: ${colour(name)}` }),
  );
  const lines = parts.map(({ name, seconds, share }) => {
    const swatch = h("span", { style: `background: ${colour(name)}` });
    return h("li", {}, swatch, h("b", {}, name), ` ${duration(seconds)}, ${percent(share)}`);
  });
  const bar = h("div", { class: "bar", "aria-hidden": true }, ...pieces);
  return h("div", { class: "times" }, h("span", { class: "hint" }, label), bar, h("ul", {}, ...lines));
}

function percent(share: number): string {
  return `${share < 0.01 ? "<1" : grouped(100 * share)} %`;
}
