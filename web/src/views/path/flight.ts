/** Position of a packet on its path, from the trace's times of transmission and arrival. */

import { countBelow } from "../../chart/pyramid";
import type { LinkTrace, QueueTrace, RunTrace } from "../../engine/trace";

/** Directed links from one end of a flow to the other. */
export interface Route {
  readonly nodes: readonly string[];
  readonly links: readonly LinkTrace[];
  /** The links' positions in `RunTrace.links`. */
  readonly numbers: readonly number[];
  /** The slowest link, at which packets wait. */
  readonly slowest: number;
  /** The length of that link's queue, if the trace has it. */
  readonly queue: QueueTrace | undefined;
}

/** On `link` of the route, with the `share` already passed; or waiting before it. */
export interface Place {
  readonly link: number;
  readonly share: number;
  readonly waits: boolean;
}

/** The route with the fewest links, as the engine chooses it; undefined if there is none. */
export function route(
  { links, queues }: Pick<RunTrace, "links" | "queues">,
  from: string,
  to: string,
): Route | undefined {
  const arrived = new Map<string, number>();
  const reached = [from];
  for (let next = 0; next < reached.length && reached[next] !== to; next++)
    links.forEach((link, number) => {
      // The paths of a split link are in the same list as the link.
      if (link.path !== undefined || link.from !== reached[next] || link.to === from || arrived.has(link.to)) return;
      arrived.set(link.to, number);
      reached.push(link.to);
    });
  const numbers: number[] = [];
  for (let at = to; at !== from; ) {
    const number = arrived.get(at);
    if (number === undefined) return undefined;
    numbers.unshift(number);
    at = links[number].from;
  }
  if (numbers.length === 0) return undefined;
  const way = numbers.map((number) => links[number]);
  const slowest = way.reduce((best, link, i) => (link.rateBps < way[best].rateBps ? i : best), 0);
  return {
    nodes: [from, ...way.map((link) => link.to)],
    links: way,
    numbers,
    slowest,
    queue: queues.find((queue) => queue.link === numbers[slowest]),
  };
}

/** Time that `bytes` take over a link without queueing, in seconds. */
function crossing({ rateBps, delayS }: LinkTrace, bytes: number): number {
  return (rateBps > 0 ? (8 * bytes) / rateBps : 0) + delayS;
}

/** Time that `bytes` take over the whole route without queueing, in seconds. */
export function emptyTime({ links }: Route, bytes: number): number {
  return links.reduce((sum, link) => sum + crossing(link, bytes), 0);
}

/**
 * The position of a packet at `time`. It is exact at both ends. In between, extra time compared with an empty route
 * is spent waiting at the slowest link, as far as the queue there explains it; the rest is additional delay on that
 * link. A packet that was faster (on a path whose delay changes) was faster by the same factor everywhere. A `lost`
 * packet moves until it is dropped.
 */
export function placeAt(way: Route, bytes: number, sent: number, done: number, lost: boolean, time: number): Place {
  const empty = way.links.map((link) => crossing(link, bytes));
  const total = empty.reduce((sum, one) => sum + one, 0);
  const taken = Math.max(done - sent, 1e-9);
  const hurry = lost ? 1 : Math.min(1, taken / total);
  const extra = lost ? 0 : Math.max(taken - total, 0);
  let left = Math.max(time - sent, 0);
  for (let i = 0; i < empty.length; i++) {
    const wait = i === way.slowest ? Math.min(extra, waiting(way, bytes, time - left)) : 0;
    if (left < wait) return { link: i, share: 0, waits: true };
    left -= wait;
    const long = empty[i] * hurry + (i === way.slowest ? extra - wait : 0);
    if (left < long || i === empty.length - 1)
      return { link: i, share: long > 0 ? Math.min(left / long, 1) : 1, waits: false };
    left -= long;
  }
  return { link: 0, share: 0, waits: false };
}

/** How long the packets in the queue at `time` make another one of `bytes` wait, s. */
function waiting({ queue, links, slowest }: Route, bytes: number, time: number): number {
  if (!queue) return 0;
  // Times are rounded from nanoseconds; half a packet's time distinguishes arrivals.
  const each = (8 * bytes) / links[slowest].rateBps;
  const found = countBelow(queue.time, time + each / 2, true);
  return found === 0 ? 0 : Math.max(queue.packets[found - 1] - 1, 0) * each + each / 2;
}
