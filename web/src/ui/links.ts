/** Changes of a whole path: adds or removes a hop. */
import { isTable, type Json, type Table } from "./path";

/** The links of a scenario in their order; empty if it has a dumbbell. */
export function linksOf(scenario: Table): Table[] {
  return Array.isArray(scenario.link) ? scenario.link.filter(isTable) : [];
}

export function flowsOf(scenario: Table): Table[] {
  const dumbbell = isTable(scenario.dumbbell) ? scenario.dumbbell : undefined;
  const flows = dumbbell ? dumbbell.flow : scenario.flow;
  return Array.isArray(flows) ? flows.filter(isTable) : [];
}

/** Adds a hop like the i-th after it, over a new node. */
export function withHopAfter(scenario: Table, i: number): Table {
  const links = linksOf(scenario);
  const link = links[i];
  if (!link) return scenario;
  const node = newNode(links);
  const hop: Table = { from: node, to: link.to ?? "", rate: link.rate ?? "10 Mbps", delay: link.delay ?? "1 ms" };
  return { ...scenario, link: links.toSpliced(i, 1, { ...link, to: node }, hop) };
}

function newNode(links: Table[]): string {
  const known = new Set(links.flatMap((link) => [link.from, link.to]));
  let n = 1;
  while (known.has(`R${n}`)) n += 1;
  return `R${n}`;
}

/** Removes the i-th link: its two ends become one node, with the name of the end at which a flow begins or ends, if any. */
export function withoutHop(scenario: Table, i: number): Table {
  const links = linksOf(scenario);
  const link = links[i];
  if (!link || links.length < 2) return scenario;
  const ends = new Set(flowsOf(scenario).flatMap((flow) => [flow.from, flow.to]));
  const [gone, kept] = ends.has(link.to as Json) ? [link.from, link.to] : [link.to, link.from];
  const joined = (node: Json | undefined) => (node === gone ? kept : node) as Json;
  const rest = links.toSpliced(i, 1).map((one): Table => ({ ...one, from: joined(one.from), to: joined(one.to) }));
  return { ...scenario, link: rest };
}

/** The scenario with another duration. */
export function lasting(scenario: Table, duration: string): Table {
  return { ...scenario, run: { ...(isTable(scenario.run) ? scenario.run : {}), duration } };
}
