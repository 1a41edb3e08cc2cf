/** What is done to single packets by hand: a script element on the link that they take first. */
import { flowsOf, linksOf } from "./links";
import { get, isTable, type Json, type Path, put, type Table } from "./path";

/** Data, or pure ACKs; each is counted for itself. */
export type Sort = "data" | "acks";

export type Deed =
  | { what: "drop"; nth: number }
  | { what: "duplicate"; nth: number }
  | { what: "delay"; nth: number; by: string };

/** Where the packets of a sort are counted that a flow sends. */
export interface Place {
  /** The elements of the direction. */
  path: Path;
  sort: Sort;
}

/** Nothing if others' packets pass there, so that the flow's have no numbers of their own. */
export function placeOf(scenario: Table, flow: number, sort: Sort): Place | undefined {
  const flows = flowsOf(scenario);
  const background = Array.isArray(scenario.background) ? scenario.background.filter(isTable) : [];
  if (isTable(scenario.dumbbell)) return flows.length + background.length > 1 ? undefined : inDumbbell(scenario, sort);
  const from = flows[flow]?.[sort === "data" ? "from" : "to"];
  const sharing = [...flows, ...background].filter((f) => f.from === from || f.to === from);
  if (sharing.length !== 1 || Number(sharing[0]?.count ?? 1) > 1) return undefined;
  const links = linksOf(scenario);
  const out = links.findIndex((link) => link.from === from);
  if (out >= 0) return { path: ["link", out, "elements"], sort };
  const back = links.findIndex((link) => link.to === from);
  return back >= 0 ? { path: ["link", back, "back", "elements"], sort } : undefined;
}

/**
 * A dumbbell's access links are all alike, so the packets of an only flow are counted behind them, where they come as
 * they were sent, if nothing acts on them before.
 */
function inDumbbell(scenario: Table, sort: Sort): Place | undefined {
  const acts = get(scenario, ["dumbbell", "access", "elements"]);
  const alone = Number(flowsOf(scenario)[0]?.count ?? 1) === 1;
  if (!alone || (Array.isArray(acts) && acts.length > 0)) return undefined;
  const way = sort === "data" ? ["elements"] : ["back", "elements"];
  return { path: ["dumbbell", "bottleneck", ...way], sort };
}

/** What acts there now: the way back without elements of its own has those of the way there. */
function elementsAt(scenario: Table, path: Path): Json[] {
  const own = get(scenario, path) ?? get(scenario, [...path.slice(0, 2), "elements"]);
  return Array.isArray(own) ? own : [];
}

/** The script that counts them, by its place in the list. */
function scriptAt(elements: Json[], sort: Sort): number {
  return elements.findIndex(
    (e) => isTable(e) && e.kind === "script" && e.only === sort && (e.at ?? "entry") === "entry",
  );
}

/** What was done by hand there, in the order of the packets. */
export function deeds(scenario: Table, { path, sort }: Place): Deed[] {
  const elements = elementsAt(scenario, path);
  const script = elements[scriptAt(elements, sort)];
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
export function withDeeds(scenario: Table, { path, sort }: Place, next: readonly Deed[]): Table {
  const elements = elementsAt(scenario, path);
  const here = scriptAt(elements, sort);
  const rest = here >= 0 ? elements.toSpliced(here, 1) : elements;
  // Both directions are alike until one has elements of its own: what is done by hand is done in one.
  const back: Path = [...path.slice(0, 2), "back", "elements"];
  const apart = put(scenario, back, elementsAt(scenario, back)) as Table;
  const script = next.length > 0 ? [scripted(next, sort)] : [];
  return put(apart, path, [...script, ...rest]) as Table;
}

function scripted(all: readonly Deed[], sort: Sort): Table {
  const of = (what: Deed["what"]) => all.filter((d) => d.what === what).map((d) => d.nth);
  const script: Table = { kind: "script", only: sort };
  if (of("drop").length > 0) script.drop = of("drop");
  if (of("duplicate").length > 0) script.duplicate = of("duplicate");
  const late = all.flatMap((d) => (d.what === "delay" ? [{ nth: d.nth, by: d.by }] : []));
  if (late.length > 0) script.delay = late;
  return script;
}

/** With one deed more; one of the same kind to the same packet is replaced. */
export function withDeed(scenario: Table, place: Place, deed: Deed): Table {
  const others = without(deeds(scenario, place), deed);
  return withDeeds(
    scenario,
    place,
    [...others, deed].sort((a, b) => a.nth - b.nth),
  );
}

/** Without that kind of deed to that packet. */
export function without(all: readonly Deed[], { what, nth }: Deed): Deed[] {
  return all.filter((d) => !(d.what === what && d.nth === nth));
}

/** A packet in words. */
export function packet(sort: Sort, nth: number): string {
  return sort === "data" ? `data packet ${nth}` : `ACK ${nth}`;
}

/** A deed in words. */
export function says(deed: Deed, sort: Sort): string {
  const which = packet(sort, deed.nth);
  if (deed.what === "drop") return `Drop ${which}`;
  return deed.what === "duplicate" ? `Duplicate ${which}` : `Delay ${which} by ${deed.by}`;
}
