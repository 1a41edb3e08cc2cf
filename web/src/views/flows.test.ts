import { expect, test } from "vitest";
import { loadHere } from "../engine/node";
import { acknowledged, jain, throughput } from "./flows";

const SCENARIO = `
  [run]
  duration = "10 s"
  [dumbbell]
  access = { rate = "100 Mbps", delay = "2 ms" }
  bottleneck = { rate = "5 Mbps", delay = "20 ms", queue = "30 packets" }
  [[dumbbell.flow]]
  count = 3
  spread = "6 s"
  stack = "newreno"
`;

test("a flow's throughput adds up to its acknowledged bytes, which are those of the report", async () => {
  const engine = await loadHere();
  const run = await engine.run({ scenario: SCENARIO, seed: 1 });
  const reported = (run.summary.runs as { flows: { acked_bytes: number }[] }[])[0]?.flows ?? [];
  expect(run.flows).toHaveLength(3);
  for (const [i, flow] of run.flows.entries()) {
    const rates = throughput(flow, run.durationS, 40);
    expect(rates.reduce((a, b) => a + b, 0) * (run.durationS / 40)).toBeCloseTo(acknowledged(flow), 3);
    expect(acknowledged(flow)).toBe(reported[i]?.acked_bytes);
    // Before it begins, its throughput is zero.
    expect(rates[0] > 0).toBe(i === 0);
  }
});

test("Jain's index is 1 where all have the same and 1/n where one has everything", () => {
  expect(jain([5, 5, 5, 5])).toBe(1);
  expect(jain([8, 0, 0, 0])).toBe(0.25);
  expect(jain([1, 2, 3])).toBeCloseTo(36 / 42, 12);
  expect(jain([0, 0])).toBeNaN();
});
