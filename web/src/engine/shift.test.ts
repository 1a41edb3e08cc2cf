import { expect, test } from "vitest";
import { syntheticRun } from "../../bench/synthetic";
import { begins, shifted } from "./shift";

/** All arrays of times of a run. */
function times({ flows, queues }: ReturnType<typeof syntheticRun>): Float64Array[] {
  return [
    ...flows.flatMap((f) => [f.sends.time, f.sends.fateTime, f.acks.time, f.acks.sent, f.windows.time]),
    ...flows.flatMap((f) => [f.dupthresh.time, f.rto.time, f.inflation.time, f.phases.time, f.marks.time]),
    ...queues.map((q) => q.time),
  ];
}

test("shifting a run makes every time later and changes nothing else", () => {
  const run = syntheticRun(500, 1000);
  const later = shifted(run, 0.25);
  const [before, after] = [times(run), times(later)];
  for (const [i, column] of before.entries()) expect(after[i]).toEqual(column.map((time) => time + 0.25));
  expect(later.durationS).toBe(run.durationS + 0.25);
  expect(later.flows[0].sends.seq).toBe(run.flows[0].sends.seq);
  expect(begins(later)).toBe((begins(run) ?? Number.NaN) + 0.25);
  expect(begins({ ...run, flows: [] })).toBeUndefined();
});
