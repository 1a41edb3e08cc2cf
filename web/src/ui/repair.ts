/**
 * Repairs of a refusal that take one click: derived from the refusal's own words, and checked by the engine before they
 * are offered.
 *
 * A refusal states the requirements of a component as `options.sack = true`, and ranges as "from 0 to 1".
 */
import type { Refusal } from "../engine/engine";
import { columns } from "./columns";
import { flowsOf } from "./links";
import { get, isTable, type Json, type Path, put, type Table } from "./path";
import type { Lab, Refused } from "./session";
import { parameter } from "./stackPanel";

export interface Repair {
  says: string;
  /** The repaired state. */
  next: Partial<Lab>;
}

/** Asks the engine whether the i-th column of a state would run. */
export type Check = (lab: Lab, column: number) => Promise<Refusal | undefined>;

/** The largest number of changes in a repair: one change often requires another. */
const MOST_STEPS = 4;
const MOST_OFFERED = 2;

const PAIR = /([a-z_]+(?:\.[a-z_]+)*) = (true|false|"[^"]+")/g;
const IN_STACK = /(^|\.)flow\[\d+\]\.(set|stack)\b/;

/** A change: its description, and a function that makes it. */
interface Change {
  says: string;
  make: (lab: Lab) => Lab;
}

/** The repairs that the engine accepts, the likeliest first. */
export async function repairs(lab: Lab, { column, refusal }: Refused, check: Check): Promise<Repair[]> {
  const found: Repair[] = [];
  for (const first of candidates(lab, column, refusal)) {
    if (found.length >= MOST_OFFERED) break;
    const mended = await follow(lab, column, first, check);
    if (mended) found.push(mended);
  }
  return found;
}

/** Makes a change, and the changes that the engine then requests. */
async function follow(lab: Lab, column: number, first: Change, check: Check): Promise<Repair | undefined> {
  const made: string[] = [];
  let now = lab;
  let next: Change | undefined = first;
  for (let step = 0; next && step < MOST_STEPS; step++) {
    now = next.make(now);
    made.push(next.says);
    const refusal = await check(now, column);
    if (!refusal) {
      const says = made.map((one, i) => (i === 0 ? one : one.charAt(0).toLowerCase() + one.slice(1))).join(", ");
      return { says, next: { scenario: now.scenario, other: now.other, stacks: now.stacks } };
    }
    [next] = beside(column, refusal).filter(({ says }) => !made.includes(says));
  }
  return undefined;
}

function candidates(lab: Lab, column: number, refusal: Refusal): Change[] {
  return [...beside(column, refusal), ...inRange(column, refusal), ...back(lab, column, refusal)];
}

/** The changes that provide the requirements of the refused component. */
function beside(column: number, { found, allowed, key }: Refusal): Change[] {
  if (!IN_STACK.test(key ?? "")) return [];
  // If the component itself must change, the refusal allows `"prr" with order = "marks"`: another component, with keys of its
  // own.
  const [, slot] = found.match(/^([a-z_]+) = /) ?? [];
  const [, kind] = allowed.match(/^"([^"]+)"/) ?? [];
  const pairs = [...allowed.matchAll(PAIR)].map(
    ([, path = "", value = ""]) => [path, JSON.parse(value) as Json] as const,
  );
  if (slot && kind) {
    const inside = pairs.filter(([path]) => !path.includes(".") && !found.includes(`${path} =`) && path !== "detect");
    const set = Object.fromEntries([[slot, kind], ...inside.map(([path, value]) => [`${slot}.${path}`, value])]);
    return [{ says: `Use ${kind} for ${slot}`, make: (of) => withSet(of, column, set) }];
  }
  return pairs.map(([path, value]): Change => {
    if (path === "handshake")
      return { says: "Begin with a handshake", make: (of) => withFlowKey(of, column, path, value) };
    return { says: saying(path, value), make: (of) => withSet(of, column, { [path]: value }) };
  });
}

const NAMES: Readonly<Record<string, string>> = { sack: "SACK", timestamps: "timestamps", ecn: "ECN", dsack: "DSACK" };

function saying(path: string, value: Json): string {
  const last = path.split(".").at(-1) ?? path;
  const name = NAMES[last] ?? path;
  if (typeof value === "boolean") return `Switch ${value ? "on" : "off"} ${name}`;
  return `Use ${String(value)} for ${path}`;
}

function withSet(lab: Lab, column: number, set: Table): Lab {
  const at = columns(lab)[column]?.at ?? 0;
  const stacks = lab.stacks.map((stack, i) => (i === at ? { ...stack, set: { ...stack.set, ...set } } : stack));
  return { ...lab, stacks };
}

function withFlowKey(lab: Lab, column: number, key: string, value: Json): Lab {
  const side = columns(lab)[column]?.side ?? "scenario";
  const scenario = lab[side] ?? lab.scenario;
  const path: Path = isTable(scenario.dumbbell) ? ["dumbbell", "flow"] : ["flow"];
  const flows = flowsOf(scenario).map((flow): Table => ({ ...flow, [key]: value }));
  return { ...lab, [side]: put(scenario, path, flows) as Table };
}

/** The nearest value of a range that the refusal names. */
function inRange(column: number, { found, allowed, key = "" }: Refusal): Change[] {
  const value = Number(found);
  const limits = [
    /from (-?[\d.]+) to (-?[\d.]+)/.exec(allowed)?.slice(1, 3),
    /at most (-?[\d.]+)/.exec(allowed)?.slice(1, 2),
    /at least (-?[\d.]+)/.exec(allowed)?.slice(1, 2),
  ];
  const numbers = limits
    .flatMap((one) => one ?? [])
    .map(Number)
    .filter(Number.isFinite);
  if (!Number.isFinite(value) || numbers.length === 0) return [];
  const nearest = numbers.reduce((a, b) => (Math.abs(b - value) < Math.abs(a - value) ? b : a));
  return [{ says: `Use ${nearest}`, make: (of) => written(of, column, key, nearest) }];
}

/** Takes the refused value back: to the stack's own, or to the default. */
function back(lab: Lab, column: number, { key = "" }: Refusal): Change[] {
  const name = IN_STACK.test(key) ? parameter(key) : key;
  if (!name) return [];
  const made = written(lab, column, key, undefined);
  const same = JSON.stringify(made) === JSON.stringify(lab);
  return same
    ? []
    : [
        {
          says: IN_STACK.test(key) ? `Take back ${name}` : `Leave out ${name}`,
          make: (of) => written(of, column, key, undefined),
        },
      ];
}

/** Sets the value at the place that the engine names; undefined removes it. */
function written(lab: Lab, column: number, key: string, value: Json | undefined): Lab {
  const compared = columns(lab)[column];
  if (!compared) return lab;
  const { at, side, scenario } = compared;
  if (IN_STACK.test(key)) {
    const name = parameter(key) ?? "";
    const set = Object.entries(compared.stack.set).filter(([path]) => path !== name && !path.startsWith(`${name}.`));
    const next = value === undefined ? set : [...set, [name, value] as const];
    return { ...lab, stacks: lab.stacks.with(at, { ...compared.stack, set: Object.fromEntries(next) }) };
  }
  const path = pathOf(key);
  if (get(scenario, path) === undefined) return lab;
  return { ...lab, [side]: put(scenario, path, value) as Table };
}

/** `link[0].elements[1].p` as a path. */
export function pathOf(key: string): Path {
  return [...key.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name, index]) => name ?? Number(index));
}
