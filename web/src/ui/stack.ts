/** A compared stack: a named one with some parameters changed. */

import type { StackChoice } from "../scenario/state";
import { get, isTable, type Json, type Path, put, type Table } from "./path";
import type { Field, Shape } from "./schema";

/** The parameters with these changes: `base` is the stack spelled out. */
export function effective(base: Table, set: StackChoice["set"], slots: readonly Field[]): Table {
  // A replaced component comes before changes of its parameters.
  const inOrder = Object.entries(set).sort(([a], [b]) => a.split(".").length - b.split(".").length);
  let stack: Json = base;
  for (const [dotted, value] of inOrder) {
    const path = dotted.replace(/\.kind$/, "").split(".");
    const whole = typeof value === "string" ? component(slots, stack as Table, path, value) : undefined;
    stack = put(stack, path, whole ?? value);
  }
  return stack as Table;
}

/** A component of that kind with its defaults; undefined if there is no component at `path`. */
function component(slots: readonly Field[], stack: Table, path: Path, kind: string): Table | undefined {
  const shape = shapeAt(slots, stack, path);
  if (shape?.type !== "variants") return undefined;
  const variant = shape.variants.find((v) => v.name === kind);
  const defaults = (variant?.fields ?? []).filter((f) => f.standard !== undefined).map((f) => [f.key, f.standard]);
  return { kind, ...Object.fromEntries(defaults) } as Table;
}

function shapeAt(slots: readonly Field[], stack: Table, path: Path): Shape | undefined {
  let fields = slots;
  let shape: Shape | undefined;
  for (const [depth, step] of path.entries()) {
    shape = fields.find((f) => f.key === step)?.shape;
    const kind = get(stack, [...path.slice(0, depth + 1), "kind"]);
    if (shape?.type === "variants") fields = shape.variants.find((v) => v.name === kind)?.fields ?? [];
    else fields = shape?.type === "table" ? shape.fields : [];
  }
  return shape;
}

/** The changes after `value` is set at `path`; undefined undoes that change. */
export function changed(
  base: Table,
  set: StackChoice["set"],
  slots: readonly Field[],
  path: Path,
  value: Json | undefined,
): StackChoice["set"] {
  const dotted = path.join(".");
  const others = Object.entries(set).filter(
    ([key]) => key !== dotted && key !== `${dotted}.kind` && !key.startsWith(`${dotted}.`),
  );
  const rest = Object.fromEntries(others);
  const plain = isTable(value) ? value.kind : value;
  if (plain === undefined) return rest;
  const before = get(effective(base, rest, slots), path);
  const same = (isTable(before) ? before.kind : before) === plain;
  return same ? rest : { ...rest, [dotted]: plain };
}

/** A flow's own parameters that this stack also has, and the paths of its other parameters. */
export function fitting(
  named: Table,
  own: StackChoice["set"],
  slots: readonly Field[],
): { kept: StackChoice["set"]; left: string[] } {
  const kept: StackChoice["set"] = {};
  const left: string[] = [];
  const inOrder = Object.entries(own).sort(([a], [b]) => a.split(".").length - b.split(".").length);
  for (const [dotted, value] of inOrder) {
    const path = dotted.replace(/\.kind$/, "").split(".");
    if (shapeAt(slots, effective(named, kept, slots), path)) kept[dotted] = value;
    else left.push(dotted);
  }
  return { kept, left };
}

/** The data needed to list a stack's parameters. */
export interface Known {
  /** The parameters, as in `ackclock stacks --json`. */
  named: readonly Table[];
  slots: readonly Field[];
}

/**
 * The scenario with this stack written into its flows: a file that runs alone.
 *
 * A flow's own parameters are kept if the stack has them.
 */
export function written(scenario: Table, stack: StackChoice, { named, slots }: Known): Table {
  const path: Path = isTable(scenario.dumbbell) ? ["dumbbell", "flow"] : ["flow"];
  const flows = get(scenario, path);
  if (!Array.isArray(flows)) return scenario;
  const profile = named.find((n) => n.name === stack.name);
  const stacked = flows.filter(isTable).map((flow): Table => {
    const own = profile ? fitting(profile, flat(flow.set), slots).kept : flat(flow.set);
    const replaced = Object.keys(stack.set).filter((key) => typeof stack.set[key] === "string");
    const kept = Object.entries(own).filter(([key]) => !replaced.some((r) => key.startsWith(`${r}.`)));
    const set = { ...Object.fromEntries(kept), ...stack.set };
    const { set: _, ...rest } = flow;
    return { ...rest, stack: stack.name ?? flow.stack ?? "", ...(Object.keys(set).length > 0 ? { set } : {}) };
  });
  return put(scenario, path, stacked) as Table;
}

/** A flow's own parameters by path; a table with a kind is the value of a whole component. */
export function flat(set: Json | undefined, prefix = ""): { [path: string]: Json } {
  if (!isTable(set)) return {};
  const entries = Object.entries(set).flatMap(([key, value]) => {
    const path = prefix + key;
    return isTable(value) && !("kind" in value)
      ? Object.entries(flat(value, `${path}.`))
      : [[path, value] as [string, Json]];
  });
  return Object.fromEntries(entries);
}

/** Its label in comparisons: its name and the changes. */
export function label(stack: StackChoice, own: string): string {
  const changes = Object.entries(stack.set).map(([path, value]) => `${path.split(".").at(-1)} ${String(value)}`);
  const first = changes.slice(0, 2).join(", ");
  const more = changes.length > 2 ? ` and ${changes.length - 2} more` : "";
  return [stack.name ?? own, first + more].filter(Boolean).join(" · ");
}
