/** The columns of a comparison: each stack on the path, and also on the second path if there is one. A column is one run. */
import type { StackChoice } from "../scenario/state";
import type { Table } from "./path";
import type { Lab } from "./session";

/** Which of the two paths. */
export type Side = "scenario" | "other";

export interface Column {
  side: Side;
  scenario: Table;
  /** Position in `Lab.stacks`. */
  at: number;
  stack: StackChoice;
}

/** The columns from left to right: the paths of a stack beside each other. */
export function columns({ scenario, other, stacks }: Lab): Column[] {
  return stacks.flatMap((stack, at): Column[] => [
    { side: "scenario", scenario, at, stack },
    ...(other ? [{ side: "other", scenario: other, at, stack } satisfies Column] : []),
  ]);
}

/** The names of the paths if there are two. */
export const PATH_NAMES: Readonly<Record<Side, string>> = { scenario: "path A", other: "path B" };
