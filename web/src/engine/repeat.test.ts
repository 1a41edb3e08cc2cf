import { expect, test } from "vitest";
import { presets } from "../scenario/presets";
import { loadHere } from "./node";
import { needlessRatio, repeat } from "./repeat";

test("each scenario is run on each seed, from the first on, and the share of needless retransmissions is a mean of shares", async () => {
  const engine = await loadHere();
  const of = (await presets()).find(({ id }) => id === "paths/satellite");
  if (!of) throw new Error("no preset");
  const asked: number[] = [];
  const watched = {
    ...engine,
    report: (run: Parameters<typeof engine.report>[0]) => {
      asked.push(run.seed);
      return engine.report(run);
    },
  };
  const shares: number[] = [];
  const progress = (share: number) => shares.push(share);
  const scenarios = [of.scenario];
  const repeated = await repeat(watched, { scenarios, seed: 4, count: 3, lanes: 2 }, { progress });
  expect(asked.toSorted()).toEqual([4, 5, 6]);
  expect(shares).toEqual([1 / 3, 2 / 3, 1]);
  const each = await Promise.all(
    [4, 5, 6].map(async (seed) => {
      const report = await engine.report({ scenario: of.scenario, seed });
      return (report.runs as { flows: Record<string, number>[] }[])[0]?.flows[0];
    }),
  );
  const mean = each.map((reported) => needlessRatio(reported) ?? Number.NaN).reduce((a, b) => a + b) / 3;
  expect(repeated.scenarios[0]?.[0]?.needless_ratio?.mean).toBeCloseTo(mean, 12);
});

test("a scenario refused with any seed rejects with the refusal", async () => {
  const engine = await loadHere();
  const bad = repeat(engine, { scenarios: ["[run]\n"], seed: 1, count: 2, lanes: 1 });
  await expect(bad).rejects.toThrow();
});
