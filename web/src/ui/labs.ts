/** The page's state, made from a preset, a file or a link. */
import type { Preset } from "../scenario/presets";
import type { State } from "../scenario/state";
import { fromToml, type Table } from "../scenario/toml";
import type { Lab } from "./session";

/** The start and the end of the visible time, s. */
export type Span = readonly [number, number];

/** The initial state of a preset. */
export function ofPreset({ scenario, stacks, seed }: Preset): Lab {
  return { scenario: fromToml(scenario), stacks, seed };
}

/** The first seed of `ackclock run`. */
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

/** The flow that a link shows. Default: the first. */
export function flowOf(view: State["view"]): number {
  const { flow } = (view ?? {}) as { flow?: unknown };
  return typeof flow === "number" && Number.isSafeInteger(flow) && flow >= 0 ? flow : 0;
}
