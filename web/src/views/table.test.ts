import { expect, test } from "vitest";
import { syntheticRun } from "../../bench/synthetic";
import { best, difference, tableLines } from "./table";

const runs = [syntheticRun(2000, 1000), syntheticRun(2000, 2000)];
const lines = tableLines(runs, 0);
const of = (name: string) => {
  const found = lines.find((line) => line.name === name);
  if (!found) throw new Error(`no line ${name}`);
  return found;
};

test("needed, refused and needless retransmissions are told apart and add up to all", () => {
  const [needed] = of("needed retransmissions").values;
  const [needless] = of("needless retransmissions").values;
  const again = runs[0].flows[0].sends.sends.filter((sends) => sends > 1).length;
  const [refused] = of("refused retransmissions").values;
  expect((needed ?? 0) + (refused ?? 0) + (needless ?? 0)).toBe(again);
  expect(needed).toBe(2);
});

test("values that a report lacks are left blank", () => {
  const [line] = tableLines([{ ...runs[0], summary: {} }], 0);
  expect(line.values).toEqual([undefined]);
  expect(best(line, 0)).toBe(false);
});

test("the best value is marked, unless all are the same", () => {
  expect([0, 1].map((run) => best(of("goodput"), run))).toEqual([false, true]);
  expect([0, 1].map((run) => best(of("timeouts"), run))).toEqual([false, false]);
});

test("differences are from the first run, in percent or as a factor", () => {
  const line = {
    name: "",
    unit: "",
    values: [100, 100, 150, 95.5, 2000, undefined, 100.01],
    write: String,
    more: true,
  };
  expect([0, 1, 2, 3, 4, 5, 6].map((run) => difference(line, run))).toEqual([
    "",
    "",
    "+50 %",
    "−4.5 %",
    "× 20.0",
    "",
    "≈",
  ]);
  expect(difference({ ...line, values: [0, 7] }, 1)).toBe("+7");
});

test("the longest stall is the one that the engine found", () => {
  const [flow] = runs[0].flows;
  const late = { ...flow, longestPauseS: 3.001 };
  const stalls = tableLines([runs[0], { ...runs[0], flows: [late] }], 0).at(-1);
  expect(stalls?.values).toEqual([flow.longestPauseS, 3.001]);
});
