/** Places in a scenario, named as in the engine's refusals: `link[1].elements[0].p`. */

import type { Json, Table } from "../scenario/toml";

export type { Json, Table };
export type Path = readonly (string | number)[];

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value there; undefined if there is none. */
export function get(root: Json, path: Path): Json | undefined {
  let at: Json | undefined = root;
  for (const step of path) {
    if (typeof step === "number") at = Array.isArray(at) ? at[step] : undefined;
    else at = isTable(at) ? at[step] : undefined;
  }
  return at;
}

/** A copy with `value` there, with missing tables created; undefined removes the place. */
export function put(root: Json | undefined, path: Path, value: Json | undefined): Json {
  const [step, ...rest] = path;
  if (step === undefined) return value ?? {};
  if (typeof step === "number") {
    const list = Array.isArray(root) ? [...root] : [];
    if (rest.length === 0 && value === undefined) list.splice(step, 1);
    else list[step] = put(list[step], rest, value);
    return list;
  }
  const table: Table = isTable(root) ? { ...root } : {};
  if (rest.length === 0 && value === undefined) delete table[step];
  else table[step] = put(table[step], rest, value);
  return table;
}

/** The path as the engine writes it. */
export function keyOf(path: Path): string {
  return path.map((s, i) => (typeof s === "number" ? `[${s}]` : i === 0 ? s : `.${s}`)).join("");
}
