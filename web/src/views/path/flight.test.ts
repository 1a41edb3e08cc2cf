import { expect, test } from "vitest";
import type { LinkTrace, QueueTrace, RunTrace } from "../../engine/trace";
import { emptyTime, placeAt, route } from "./flight";

const link = (from: string, to: string, rateBps: number, delayS: number): LinkTrace => ({
  from,
  to,
  rateBps,
  delayS,
  limitPackets: Number.NaN,
});

/** As in Hoe's scenarios: the slow link is first. */
const links = [
  link("A", "B", 8e5, 0.05),
  link("B", "A", 8e5, 0.05),
  link("S", "A", 8e6, 0),
  link("A", "S", 8e6, 0),
  link("B", "D", 8e6, 0.01),
  link("D", "B", 8e6, 0.01),
  { ...link("S", "D", 8e6, 0), path: 1 },
];

function run(queues: QueueTrace[] = []): RunTrace {
  return { flows: [], queues, links, elements: [], durationS: 1, summary: {} };
}

function queue(time: number, packets: number): QueueTrace {
  return {
    link: 0,
    name: "A → B",
    time: Float64Array.of(time),
    packets: Uint32Array.of(packets),
    longest: packets,
    limit: 10,
  };
}

function there(queues: QueueTrace[] = []) {
  const found = route(run(queues), "S", "D");
  if (!found) throw new Error("no route");
  return found;
}

test("a route is found through links in any order, and not over a path of a split link", () => {
  expect(there().nodes).toEqual(["S", "A", "B", "D"]);
  expect(there().numbers).toEqual([2, 0, 4]);
  expect(there().slowest).toBe(1);
  expect(route(run(), "D", "S")?.numbers).toEqual([5, 1, 3]);
});

test("there is no route where there are no links", () => {
  expect(route(run(), "S", "X")).toBeUndefined();
  expect(route(run(), "S", "S")).toBeUndefined();
});

test("a packet that never waits is on each link for its transmission time and delay", () => {
  const way = there();
  const total = emptyTime(way, 1000);
  expect(total).toBeCloseTo(0.001 + 0.06 + 0.011, 12);
  expect(placeAt(way, 1000, 2, 2 + total, false, 2)).toEqual({ link: 0, share: 0, waits: false });
  expect(placeAt(way, 1000, 2, 2 + total, false, 2.031)).toMatchObject({ link: 1, waits: false });
  expect(placeAt(way, 1000, 2, 2 + total, false, 2.031).share).toBeCloseTo(0.5, 9);
  expect(placeAt(way, 1000, 2, 2 + total, false, 2 + total)).toMatchObject({ link: 2, share: 1 });
});

test("time in a queue is spent waiting before its link, for as long as the packets found there take", () => {
  const way = there([queue(2.001, 4)]);
  const total = emptyTime(way, 1000) + 0.03;
  expect(placeAt(way, 1000, 2, 2 + total, false, 2.02)).toMatchObject({ link: 1, waits: true });
  expect(placeAt(way, 1000, 2, 2 + total, false, 2.032)).toMatchObject({ link: 1, waits: false });
});

test("delay that no queue explains is not drawn as waiting", () => {
  const way = there([queue(2.001, 1)]);
  const total = emptyTime(way, 1000) + 0.5;
  expect(placeAt(way, 1000, 2, 2 + total, false, 2.3)).toMatchObject({ link: 1, waits: false });
});

test("a packet never moves backwards, whatever it meets", () => {
  for (const extra of [-0.05, 0, 0.01, 0.3])
    for (const found of [1, 3, 9]) {
      const way = there([queue(2, found)]);
      const total = emptyTime(way, 1000) + extra;
      let before = 0;
      for (let time = 2; time <= 2 + total; time += total / 97) {
        const { link: at, share } = placeAt(way, 1000, 2, 2 + total, false, time);
        expect(at + share).toBeGreaterThanOrEqual(before - 1e-9);
        before = at + share;
      }
    }
});
