/** What is done to single packets by hand: a script element on the way that they take first. */
import { flowsOf, linksOf } from "./links";
import { isTable, type Json, type Path, put, type Table } from "./path";

export type Deed =
  | { what: "drop"; nth: number }
  | { what: "duplicate"; nth: number }
  | { what: "delay"; nth: number; by: string };

/** Where the elements stand that see the data of the `flow`-th flow first; nothing if other flows' packets pass there. */
export function placeOf(scenario: Table, flow: number): Path | undefined {
  const from = flowsOf(scenario)[flow]?.from;
  const sharing = flowsOf(scenario).filter((f) => f.from === from || f.to === from);
  if (isTable(scenario.dumbbell) || sharing.length !== 1 || Number(sharing[0]?.count ?? 1) > 1) return undefined;
  const links = linksOf(scenario);
  const out = links.findIndex((link) => link.from === from);
  if (out >= 0) return ["link", out, "elements"];
  const back = links.findIndex((link) => link.to === from);
  return back >= 0 ? ["link", back, "back", "elements"] : undefined;
}

function at(scenario: Table, path: Path): Json[] {
  let value: Json | undefined = scenario;
  for (const step of path) value = (value as { [key: string | number]: Json } | undefined)?.[step];
  return Array.isArray(value) ? value : [];
}

/** The script that counts data packets there, by its place in the list. */
function scriptAt(elements: Json[]): number {
  return elements.findIndex(
    (e) => isTable(e) && e.kind === "script" && e.only === "data" && (e.at ?? "entry") === "entry",
  );
}

/** What was done by hand there, in the order of the packets. */
export function deeds(scenario: Table, path: Path): Deed[] {
  const elements = at(scenario, path);
  const script = elements[scriptAt(elements)];
  if (!isTable(script)) return [];
  const numbers = (value: Json | undefined) => (Array.isArray(value) ? value.map(Number) : []);
  const late = Array.isArray(script.delay) ? script.delay.filter(isTable) : [];
  const all: Deed[] = [
    ...numbers(script.drop).map((nth): Deed => ({ what: "drop", nth })),
    ...numbers(script.duplicate).map((nth): Deed => ({ what: "duplicate", nth })),
    ...late.map((one): Deed => ({ what: "delay", nth: Number(one.nth), by: String(one.by) })),
  ];
  return all.sort((a, b) => a.nth - b.nth);
}

/** The scenario with these deeds and no others there. */
export function withDeeds(scenario: Table, path: Path, next: readonly Deed[]): Table {
  const elements = at(scenario, path);
  const here = scriptAt(elements);
  const rest = here >= 0 ? elements.toSpliced(here, 1) : elements;
  if (next.length === 0) return put(scenario, path, rest) as Table;
  const of = (what: Deed["what"]) => next.filter((d) => d.what === what);
  const script: Table = { kind: "script", only: "data" };
  if (of("drop").length > 0) script.drop = of("drop").map((d) => d.nth);
  if (of("duplicate").length > 0) script.duplicate = of("duplicate").map((d) => d.nth);
  const late = of("delay").flatMap((d) => (d.what === "delay" ? [{ nth: d.nth, by: d.by }] : []));
  if (late.length > 0) script.delay = late;
  return put(scenario, path, [script, ...rest]) as Table;
}

/** With one deed more; one of the same kind to the same packet is replaced. */
export function withDeed(scenario: Table, path: Path, deed: Deed): Table {
  const others = deeds(scenario, path).filter((d) => !(d.what === deed.what && d.nth === deed.nth));
  return withDeeds(
    scenario,
    path,
    [...others, deed].sort((a, b) => a.nth - b.nth),
  );
}

/** In words. */
export function says(deed: Deed): string {
  const packet = `data packet ${deed.nth}`;
  if (deed.what === "drop") return `Drop ${packet}`;
  return deed.what === "duplicate" ? `Duplicate ${packet}` : `Delay ${packet} by ${deed.by}`;
}
