/** What the page can be about, of a preset, of a file, of a link. */
import type { Preset } from "../scenario/presets";
import type { State } from "../scenario/state";
import { fromToml, type Table } from "../scenario/toml";
import type { Lab } from "./session";

/** From when to when, s. */
export type Span = readonly [number, number];

/** The initial state of a preset. */
export function ofPreset({ scenario, stacks, seed }: Preset): Lab {
  return { scenario: fromToml(scenario), stacks, seed };
}

/** The seed with which `ackclock run` begins. */
export function seedOf(scenario: Table): number {
  const run = (scenario.run ?? {}) as Table;
  const { seed, seeds } = run as { seed?: number; seeds?: number[] | { first?: number } };
  return seed ?? (Array.isArray(seeds) ? seeds[0] : seeds?.first) ?? 1;
}

/** The view state in a link. */
export function spanOf(view: State["view"]): Span | undefined {
  const { from, to } = (view ?? {}) as { from?: unknown; to?: unknown };
  return typeof from === "number" && typeof to === "number" ? [from, to] : undefined;
}

/** Which flow a link looks at; the first if it says none. */
export function flowOf(view: State["view"]): number {
  const { flow } = (view ?? {}) as { flow?: unknown };
  return typeof flow === "number" && Number.isSafeInteger(flow) && flow >= 0 ? flow : 0;
}
