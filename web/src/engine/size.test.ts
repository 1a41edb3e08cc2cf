import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { presets } from "../scenario/presets";
import { fromToml, type Table, toToml } from "../scenario/toml";
import { lasting } from "../ui/links";
import { loadHere } from "./node";
import { fits, MOST_SEGMENTS, most, TooLarge } from "./size";

const engine = await loadHere();
const bundle = readFileSync("../scenarios/bundle.toml", "utf8");
const brief = (text: string) => (duration: string) => toToml(lasting(fromToml(text), duration));

test("no experiment of the menu sends more than the bound says, apart from retransmissions and the first window", async () => {
  for (const { id, scenario } of await presets()) {
    // The flows of some begin within ten seconds.
    const text = brief(scenario)(id.startsWith("wang-shin/") ? "10 s" : "2 s");
    const layout = await engine.check({ scenario: text });
    const { flows } = await engine.run({ scenario: text, seed: 1 });
    const windows = layout.flows.reduce((sum, { window, mss }) => sum + Math.min(window / mss, 200), 0);
    const first = flows.reduce((sum, { sends }) => sum + sends.sends.filter((n) => n === 1).length, 0);
    expect(first, id).toBeLessThanOrEqual(layout.durationS * most(layout) + windows);
  }
}, 60_000);

test("runs of the same scenarios with another seed do not ask for the layouts again", async () => {
  let asked = 0;
  const counting = {
    ...engine,
    check: (...what: Parameters<typeof engine.check>) => {
      asked += 1;
      return engine.check(...what);
    },
  };
  const texts = ["10 s", "11 s", "12 s", "13 s"].map(brief(bundle));
  for (const seed of [1, 2]) for (const scenario of texts) await fits(counting, { scenario, seed }, brief(bundle), 4);
  expect(asked).toBe(4);
});

test("a run whose bound is within the limit is not tried first; one beyond it is refused with a duration that fits", async () => {
  let tried = 0;
  const counting = {
    ...engine,
    run: (...asked: Parameters<typeof engine.run>) => {
      tried += 1;
      return engine.run(...asked);
    },
  };
  await fits(counting, { scenario: bundle, seed: 1 }, brief(bundle), 1);
  expect(tried).toBe(0);
  const long = brief(bundle)("100000 s");
  const refused = await fits(counting, { scenario: long, seed: 1 }, brief(bundle), 2).catch((error) => error);
  expect(tried).toBeGreaterThan(0);
  expect(refused).toBeInstanceOf(TooLarge);
  expect(refused.message).toContain("of each of 2 runs");
  const fitting = toToml(lasting(fromToml(bundle), refused.shorter));
  await fits(engine, { scenario: fitting, seed: 1 }, brief(bundle), 2);
  const { durationS } = await engine.check({ scenario: fitting });
  expect(durationS * most(await engine.check({ scenario: bundle }))).toBeGreaterThan(MOST_SEGMENTS / 4);
}, 60_000);

test("a run whose flows begin late is tried until they have begun", async () => {
  const late = fromToml(bundle);
  const flow = { ...((late.flow as Table[])[0] as Table), app: { kind: "bulk", start: "30 s" } };
  const scenario = toToml({ ...late, run: { duration: "100000 s" }, flow: [flow] });
  await expect(fits(engine, { scenario, seed: 1 }, brief(scenario), 4)).rejects.toThrow(TooLarge);
}, 60_000);

test("a sender that never fills a fast path is not refused for the path's capacity", async () => {
  const lossy = `
    [run]
    duration = "60 s"
    [[link]]
    from = "A"
    to = "B"
    rate = "100 Gbps"
    delay = "20 ms"
    elements = [{ kind = "bernoulli", p = 0.02 }]
    [[flow]]
    from = "A"
    to = "B"
    stack = "reno"
    window = "100 MB"
  `;
  expect(60 * most(await engine.check({ scenario: lossy }))).toBeGreaterThan(MOST_SEGMENTS);
  await fits(engine, { scenario: lossy, seed: 1 }, brief(lossy), 1);
}, 60_000);
