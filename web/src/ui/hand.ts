/** Changes to single packets: a script element on their first link. */
import { flowsOf, linksOf } from "./links";
import { get, isTable, type Json, keyOf, type Path, put, type Table } from "./path";

/** Data, or pure ACKs; each kind is counted separately. */
export type Sort = "data" | "acks";

export type Deed =
  | { what: "drop"; nth: number }
  | { what: "duplicate"; nth: number }
  | { what: "delay"; nth: number; by: string };

/** The place where packets of one kind of a flow are counted. */
export interface Place {
  /** The elements of the direction. */
  path: Path;
  sort: Sort;
  /** The flow that is counted alone, by its number in traces; undefined where no other traffic passes. */
  flow?: number | undefined;
}

/** The end nodes of a flow, by the names in a run. */
export interface Ends {
  from: string;
  to: string;
}

/** Why a packet cannot be changed by hand if access links have elements of their own. */
export const NO_PLACE =
  "This packet cannot be changed: elements on the access links may drop or reorder packets before they are counted.";

/** Where packets of the flow are counted; undefined if a script on their first link cannot count them alone. */
export function placeOf(scenario: Table, flow: number, sort: Sort, ends?: Ends): Place | undefined {
  const flows = flowsOf(scenario);
  const background = Array.isArray(scenario.background) ? scenario.background.filter(isTable) : [];
  const single = flows.length === 1 && Number(flows[0]?.count ?? 1) === 1;
  if (isTable(scenario.dumbbell))
    return inDumbbell(scenario, sort, single && background.length === 0 ? undefined : flow);
  const table = ends ?? flows[flow];
  const from = table?.[sort === "data" ? "from" : "to"];
  const sharing = [...flows, ...background].filter((f) => f.from === from || f.to === from);
  const alone = sharing.length === 1 && Number(sharing[0]?.count ?? 1) === 1;
  const which = alone ? undefined : flow;
  const links = linksOf(scenario);
  const out = links.findIndex((link) => link.from === from);
  if (out >= 0) return { path: ["link", out, "elements"], sort, flow: which };
  const back = links.findIndex((link) => link.to === from);
  return back >= 0 ? { path: ["link", back, "back", "elements"], sort, flow: which } : undefined;
}

/**
 * A dumbbell's access links share one description, so packets are counted behind them. Each flow's packets arrive
 * there in the order of sending, unless an element acts on the access links.
 */
function inDumbbell(scenario: Table, sort: Sort, flow: number | undefined): Place | undefined {
  const acts = get(scenario, ["dumbbell", "access", "elements"]);
  if (Array.isArray(acts) && acts.length > 0) return undefined;
  const way = sort === "data" ? ["elements"] : ["back", "elements"];
  return { path: ["dumbbell", "bottleneck", ...way], sort, flow };
}

/** All places with changes made by hand, on the first links of the flows. */
export function places(scenario: Table): Place[] {
  const all = flowsOf(scenario).flatMap((_, flow) =>
    (["data", "acks"] as const).flatMap((sort) => placeOf(scenario, flow, sort) ?? []),
  );
  const once = new Map(all.map((place) => [`${keyOf(place.path)} ${place.sort}`, place]));
  return [...once.values()].flatMap(({ path, sort }) =>
    elementsAt(scenario, path)
      .filter((e): e is Table => isScript(e, sort))
      .map(({ flow }): Place => ({ path, sort, flow: typeof flow === "number" ? flow : undefined })),
  );
}

/** The elements in effect there: a back direction without elements of its own has those of the forward direction. */
function elementsAt(scenario: Table, path: Path): Json[] {
  const own = get(scenario, path) ?? get(scenario, [...path.slice(0, 2), "elements"]);
  return Array.isArray(own) ? own : [];
}

function isScript(e: Json, sort: Sort): e is Table {
  return isTable(e) && e.kind === "script" && e.only === sort && (e.at ?? "entry") === "entry";
}

/** The script that counts them, by its place in the list. */
function scriptAt(elements: Json[], { sort, flow }: Place): number {
  return elements.findIndex((e) => isScript(e, sort) && e.flow === flow);
}

/** The changes made there by hand, in the order of the packets. */
export function deeds(scenario: Table, place: Place): Deed[] {
  const elements = elementsAt(scenario, place.path);
  const script = elements[scriptAt(elements, place)];
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

/** The scenario with exactly these changes at that place. */
export function withDeeds(scenario: Table, place: Place, next: readonly Deed[]): Table {
  const { path } = place;
  const elements = elementsAt(scenario, path);
  const here = scriptAt(elements, place);
  const rest = here >= 0 ? elements.toSpliced(here, 1) : elements;
  // Both directions are alike until one has elements of its own, but a change by hand concerns only one.
  const back: Path = [...path.slice(0, 2), "back", "elements"];
  const apart = put(scenario, back, elementsAt(scenario, back)) as Table;
  const script = next.length > 0 ? [scripted(next, place)] : [];
  return put(apart, path, [...script, ...rest]) as Table;
}

function scripted(all: readonly Deed[], { sort, flow }: Place): Table {
  const of = (what: Deed["what"]) => all.filter((d) => d.what === what).map((d) => d.nth);
  const script: Table = { kind: "script", only: sort, ...(flow === undefined ? {} : { flow }) };
  if (of("drop").length > 0) script.drop = of("drop");
  if (of("duplicate").length > 0) script.duplicate = of("duplicate");
  const late = all.flatMap((d) => (d.what === "delay" ? [{ nth: d.nth, by: d.by }] : []));
  if (late.length > 0) script.delay = late;
  return script;
}

/** Adds a change; an earlier change of the same kind to the same packet is replaced. */
export function withDeed(scenario: Table, place: Place, deed: Deed): Table {
  const others = without(deeds(scenario, place), deed);
  return withDeeds(
    scenario,
    place,
    [...others, deed].sort((a, b) => a.nth - b.nth),
  );
}

/** Removes that kind of change to that packet. */
export function without(all: readonly Deed[], { what, nth }: Deed): Deed[] {
  return all.filter((d) => !(d.what === what && d.nth === nth));
}

/** A packet in words. */
export function packet({ sort, flow }: Place, nth: number): string {
  const which = sort === "data" ? `data packet ${nth}` : `ACK ${nth}`;
  return flow === undefined ? which : `${which} of flow ${flow + 1}`;
}

/** A deed in words. */
export function says(deed: Deed, place: Place): string {
  const which = packet(place, deed.nth);
  if (deed.what === "drop") return `Drop ${which}`;
  return deed.what === "duplicate" ? `Duplicate ${which}` : `Delay ${which} by ${deed.by}`;
}
