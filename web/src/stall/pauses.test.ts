import { expect, test } from "vitest";
import { loadHere } from "../engine/node";
import type { FlowTrace } from "../engine/trace";
import { end, type Pause, pauses } from "./pauses";

const engine = await loadHere();

/** The round trips by definition: for each ACK, all rows of `sends` before it. */
function shortestRoundTrip({ sends, acks }: FlowTrace): number {
  let [shortest, una] = [Number.POSITIVE_INFINITY, 1];
  acks.time.forEach((time, i) => {
    const ack = acks.ack[i] as number;
    if (acks.dropped[i] === 1 || ack <= una) return;
    una = ack;
    const rows = [...sends.time.keys()].filter((row) => (sends.time[row] as number) <= time && end(sends, row) === ack);
    if (rows.length === 1 && sends.sends[rows[0] as number] === 1)
      shortest = Math.min(shortest, time - (sends.time[rows[0] as number] as number));
  });
  return shortest;
}

test.each(["newreno", "linux-2025", "tahoe"])(
  "the pauses of %s are the longest above two round trips, in order",
  async (stack) => {
    const scenario = `
    [run]
    duration = "30 s"
    [[link]]
    from = "A"
    to = "B"
    rate = "2 Mbps"
    delay = "50 ms"
    queue = { limit = "12 packets" }
    elements = [{ kind = "bernoulli", p = 0.1 }]
    [[flow]]
    from = "A"
    to = "B"
    stack = "${stack}"
  `;
    const { flows, durationS } = await engine.run({ scenario, seed: 3, set: [] });
    const flow = flows[0] as FlowTrace;
    const shortest = shortestRoundTrip(flow);
    const length = (p: Pause) => p.to - p.from;
    const [few, all] = [3, 1e6].map((most) => pauses(flow, durationS, most).long) as [Pause[], Pause[]];
    expect(shortest).toBeGreaterThan(0.1);
    expect(all.length).toBeGreaterThan(3);
    expect(few).toEqual(all.slice(0, 3));
    expect(all.every((p) => length(p) > 2 * shortest)).toBe(true);
    expect(all.map(length)).toEqual(all.map(length).toSorted((a, b) => b - a));
    expect(length(all[0] as Pause)).toBe(pauses(flow, durationS, 3).longestS);
  },
);

test("the longest pause counts even if none is long: the widest gap between two ACKs of new data, or before the first", async () => {
  const scenario = `
    [run]
    duration = "5 s"
    [[link]]
    from = "A"
    to = "B"
    rate = "2 Mbps"
    delay = "50 ms"
    [[flow]]
    from = "A"
    to = "B"
    stack = "newreno"
  `;
  const { flows, durationS } = await engine.run({ scenario, seed: 1 });
  const flow = flows[0] as FlowTrace;
  const arrivals = [...flow.acks.time.filter((_, i) => (flow.acks.ack[i] as number) > 1), durationS];
  const gaps = arrivals.map((time, i) => time - ((i === 0 ? flow.sends.time[0] : arrivals[i - 1]) as number));
  expect(pauses(flow, durationS, 5)).toEqual({ longestS: Math.max(...gaps), long: [] });
});
