/** Nodes, links and the packets on them: data above, ACKs below. */

import { BASE_PX, fitted, HEADING } from "../../chart/frame";
import { countBelow } from "../../chart/pyramid";
import { Coords, type Shape, type Surface } from "../../chart/surface";
import type { ColourName, Theme } from "../../chart/theme";
import { duration, grouped, short } from "../../chart/ticks";
import { FATES, type FlowTrace, type LinkTrace, VERDICTS } from "../../engine/trace";
import { emptyTime, type Place, placeAt, type Route } from "./flight";

/** A flow's routes in both directions, and the longest times on them, s. */
export interface Ways {
  readonly flow: FlowTrace;
  readonly there: Route;
  readonly back: Route;
  readonly longest: { readonly data: number; readonly ack: number };
}

export const PATH_PX = 176;
const EDGE_PX = 34;
const LANE_PX = 13;
/** The part of the room between nodes that their names may take. */
const ROOM_PX = 30;
const PACKET = { width: 7, height: 11 };
const ACK_PX = 7;
const PITCH_PX = 3;
const STACK = 14;
/** A dropped packet stays visible for this share of a round trip. */
const LINGER = 0.2;
/** No link is drawn shorter than this share of the longest. */
const LEAST = 0.3;

const RATES = [
  [1e9, "Gbps"],
  [1e6, "Mbps"],
  [1e3, "kbps"],
] as const;

const coords = new Coords();

/** The positions of the nodes: links are as long as their delays, but short ones stay visible. */
export function nodePlaces({ links }: Route, width: number): number[] {
  const most = Math.max(...links.map(({ delayS }) => delayS)) || 1;
  const lengths = links.map(({ delayS }) => LEAST + delayS / most);
  const total = lengths.reduce((sum, one) => sum + one, 0);
  const places = [EDGE_PX];
  for (const length of lengths) places.push(places[places.length - 1] + (length / total) * (width - 2 * EDGE_PX));
  return places;
}

const axis = (height: number) => height * 0.6;

/** What stands still. */
export function drawPath(
  surface: Surface,
  { there }: Ways,
  width: number,
  height: number,
  theme: Theme,
  heading: string,
): void {
  const at = nodePlaces(there, width);
  const y = axis(height);
  coords.clear();
  there.links.forEach((_, i) => {
    for (const lane of [-LANE_PX, LANE_PX]) coords.box(at[i], y + lane - 0.5, at[i + 1] - at[i], 1);
  });
  surface.boxes(coords, theme.rule, 0.6);
  there.links.forEach((link, i) => {
    const gap = at[i + 1] - at[i];
    const words = label(link);
    const writing = { colour: theme.muted, align: "center" } as const;
    const wide = (line: string) => surface.measure(line, writing);
    const lines = wide(words.join(", ")) < gap - ROOM_PX ? [words.join(", ")] : words;
    const most = Math.max(...lines.map(wide));
    // It is below the nodes' names if it would overlap them, and left out if it would overlap those of other links.
    if (most > gap) return;
    const below = most < gap - ROOM_PX ? 0 : 1;
    lines.forEach((line, n) => {
      surface.text(line, (at[i] + at[i + 1]) / 2, y + LANE_PX + 22 + 14 * (n + below), writing);
    });
  });
  there.nodes.forEach((node, i) => {
    coords.clear().box(at[i] - 10, y - LANE_PX - 9, 20, 2 * LANE_PX + 18);
    surface.boxes(coords, theme.rule);
    coords.clear().box(at[i] - 9, y - LANE_PX - 8, 18, 2 * LANE_PX + 16);
    surface.boxes(coords, theme.paper);
    surface.text(node, at[i], y + LANE_PX + 22, { colour: theme.ink, align: "center", bold: true });
  });
  surface.text(fitted(surface, heading, width - 24, HEADING), width - 12, BASE_PX, { ...HEADING, colour: theme.ink });
}

function label({ rateBps, delayS }: LinkTrace): string[] {
  const delay = delayS === 0 ? "0 ms" : duration(delayS);
  if (!Number.isFinite(rateBps)) return [delay];
  for (const [size, unit] of RATES) if (rateBps >= size) return [`${short(rateBps / size)} ${unit}`, delay];
  return [`${short(rateBps)} bps`, delay];
}

/** The moving parts at `time`. */
export function drawPackets(
  surface: Surface,
  ways: Ways,
  width: number,
  height: number,
  theme: Theme,
  time: number,
): void {
  const at = nodePlaces(ways.there, width);
  const y = axis(height);
  const back = [...at].reverse();
  const x = (nodes: readonly number[], { link, share }: Place) => nodes[link] + share * (nodes[link + 1] - nodes[link]);
  const kinds = new Map<ColourName, Coords>();
  const of = (colour: ColourName) => {
    const found = kinds.get(colour) ?? new Coords();
    kinds.set(colour, found);
    return found;
  };
  let stack = 0;
  const lost = new Coords();
  for (const { place, colour, dropped } of dataAt(ways, time)) {
    if (place.waits) {
      if (stack < STACK) of(colour).box(at[place.link] - 8, y - LANE_PX - 14 - stack * (PITCH_PX + 2), 16, PITCH_PX);
      stack++;
    } else if (dropped) lost.point(x(at, place), y - LANE_PX);
    else of(colour).box(x(at, place) - PACKET.width / 2, y - LANE_PX - PACKET.height / 2, PACKET.width, PACKET.height);
  }
  for (const [colour, boxes] of kinds) surface.boxes(boxes, theme[colour]);
  surface.signs(lost, "cross", { colour: theme.dropped, size: 12, rim: theme.paper });
  for (const [colour, shape, places] of acksAt(ways, time, (place) => x(back, place), y + LANE_PX))
    surface.signs(places, shape, { colour: theme[colour], size: ACK_PX });
  note(surface, ways, at[ways.there.slowest], y, stack, theme, time);
}

/** Draws the length of the queue beside it. */
function note(
  surface: Surface,
  { there }: Ways,
  x: number,
  y: number,
  stack: number,
  theme: Theme,
  time: number,
): void {
  const { queue } = there;
  const before = queue ? countBelow(queue.time, time, true) : 0;
  if (!queue || (before === 0 && stack === 0)) return;
  const limit = Number.isFinite(queue.limit) ? ` of ${grouped(queue.limit)}` : "";
  const found = before > 0 ? queue.packets[before - 1] : 0;
  const more = stack > STACK ? `, ${stack - STACK} more above` : "";
  surface.text(`${stack} waiting${more}`, x + 16, y - LANE_PX - 34, { colour: theme.ink });
  surface.text(`last arrival: ${found}${limit}`, x + 16, y - LANE_PX - 20, { colour: theme.muted });
}

interface Moving {
  readonly place: Place;
  readonly colour: ColourName;
  readonly dropped: boolean;
}

const COLOURS: Readonly<Record<(typeof VERDICTS)[number], ColourName>> = {
  first: "first",
  needed: "needed",
  refused: "refused",
  needless: "needless",
  open: "open",
  undecided: "open",
};

/** Data in flight at `time`, and data just dropped. */
export function* dataAt({ flow, there, back, longest }: Ways, time: number): Generator<Moving> {
  const { sends } = flow;
  const linger = LINGER * (emptyTime(there, flow.mss) + emptyTime(back, 0));
  const end = countBelow(sends.time, time, true);
  for (let i = countBelow(sends.time, time - longest.data - linger); i < end; i++) {
    const dropped = FATES[sends.fate[i]] === "dropped";
    const done = Number.isNaN(sends.fateTime[i]) ? sends.time[i] + emptyTime(there, sends.len[i]) : sends.fateTime[i];
    if (time >= done + (dropped ? linger : 0)) continue;
    const place = placeAt(there, sends.len[i], sends.time[i], done, dropped, Math.min(time, done));
    yield { place, colour: COLOURS[VERDICTS[sends.verdict[i]]], dropped: dropped && time >= done };
  }
}

/** Signs of the ACKs in flight at `time`, by kind. */
function acksAt(
  { flow, back, longest }: Ways,
  time: number,
  x: (place: Place) => number,
  y: number,
): [ColourName, Shape, Coords][] {
  const { acks } = flow;
  const plain = new Coords();
  const sack = new Coords();
  for (let i = firstUnderWay(acks.time, acks.sent, time); i < acks.time.length; i++) {
    if (acks.time[i] - longest.ack > time) break;
    if (acks.dropped[i] || acks.sent[i] > time || acks.time[i] <= time) continue;
    const place = placeAt(back, 0, acks.sent[i], acks.time[i], false, time);
    (acks.sackCount[i] > 0 ? sack : plain).point(x(place), y);
  }
  return [
    ["ack", "diamond", plain],
    ["sack", "diamond", sack],
  ];
}

/** The first ACK after `time`; a dropped ACK counts at its time of sending. */
function firstUnderWay(arrived: Float64Array, sent: Float64Array, time: number): number {
  let low = 0;
  let high = arrived.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const stands = Number.isNaN(arrived[middle]) ? sent[middle] : arrived[middle];
    if (stands <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
