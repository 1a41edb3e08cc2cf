/** Prepared experiments: everyday paths, and those of the papers. Made from the repository's files by scripts/presets.mjs. */
import type { StackChoice } from "./state";

export interface Preset {
  /** For example `hoe-1995/fig5-7`; it must not change, because reports link to it. */
  id: string;
  /** The paper, or "Everyday paths". */
  group: string;
  title: string;
  about: string;
  /** What to look for in its graphs, in one sentence; equal to `about` if no other sentence is needed. */
  watch: string;
  /** The scenario's file in the repository. */
  file: string;
  /** TOML. */
  scenario: string;
  stacks: StackChoice[];
  seed: number;
  /** The part of the run to show, in seconds; null for all of it. */
  span: [number, number] | null;
}

/** All presets, in the order of a menu; loaded on request. */
export async function presets(): Promise<readonly Preset[]> {
  return (await import("../../generated/presets.json")).default as unknown as Preset[];
}
