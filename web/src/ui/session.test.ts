import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RunTrace } from "../engine/trace";
import { type Lab, Session } from "./session";

const LAB: Lab = { scenario: {}, stacks: [{ name: null, set: {} }], seed: 0 };
/** Listeners that do nothing. */
const SILENT = {
  changed: () => {},
  progress: () => {},
  done: () => {},
  refused: () => {},
  failed: () => {},
  stale: () => {},
};

/** A session whose runs take `lasting` ms; it records its drawings, and whether it marks them as stale. */
function session(lasting: number) {
  const drawn: number[] = [];
  const stale: boolean[] = [];
  let ended = 0;
  const one = (_: Lab, __: number, { signal }: { signal: AbortSignal }) =>
    new Promise<RunTrace>((resolve, reject) => {
      const timer = setTimeout(() => resolve({} as RunTrace), lasting);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        ended += 1;
        reject(signal.reason);
      });
    });
  const made = new Session(LAB, one, {
    ...SILENT,
    done: (_, of) => drawn.push(of.seed),
    stale: (is) => stale.push(is),
  });
  return { made, drawn, stale, ended: () => ended };
}

/** Changes the seed to 1, 2, … every 20 ms. */
async function drag(made: Session, steps: number): Promise<void> {
  for (let seed = 1; seed <= steps; seed++) {
    made.change({ seed });
    await vi.advanceTimersByTimeAsync(20);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("window", globalThis);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("while a value is dragged, runs are drawn, no quick run is stopped, and the last value is drawn last", async () => {
  const { made, drawn, stale, ended } = session(100);
  await drag(made, 60);
  expect(drawn.length).toBeGreaterThanOrEqual(5);
  await vi.advanceTimersByTimeAsync(1000);
  expect(drawn.at(-1)).toBe(60);
  expect(drawn).toEqual([...drawn].sort((a, b) => a - b));
  expect(ended()).toBe(0);
  expect(stale.at(-1)).toBe(false);
});

test("a long run is stopped for the latest value, and at most one run is in progress", async () => {
  const { made, drawn, ended } = session(5000);
  await drag(made, 100);
  expect(drawn).toEqual([]);
  // Two seconds of dragging, during which a run may continue for 700 ms.
  expect(ended()).toBeGreaterThanOrEqual(2);
  expect(ended()).toBeLessThanOrEqual(3);
  await vi.advanceTimersByTimeAsync(6000);
  expect(drawn).toEqual([100]);
});

test("progress is told at the beginning and the end, and ten times a second in between", async () => {
  const reported: number[] = [];
  const one = async (_: Lab, __: number, { progress }: { progress: (share: number) => void }) => {
    for (let ms = 1; ms <= 1000; ms++) {
      await new Promise((later) => setTimeout(later, 1));
      progress(ms / 1000);
    }
    return {} as RunTrace;
  };
  const made = new Session(LAB, one, {
    ...SILENT,
    progress: (now) => reported.push(now.running ? now.share : Number.NaN),
  });
  const run = made.run();
  await vi.advanceTimersByTimeAsync(1100);
  await run;
  const shares = reported.filter((share) => !Number.isNaN(share));
  expect(shares.map((share) => share.toFixed(1))).toEqual([..."0123456789"].map((digit) => `0.${digit}`).concat("1.0"));
  expect(reported.at(-1)).toBeNaN();
});

test("an error thrown before a run begins is a failure, and the session continues", async () => {
  const failed: string[] = [];
  const one = () => {
    throw new Error("no text");
  };
  const broken = new Session(LAB, one, { ...SILENT, failed: ({ message }) => failed.push(message) });
  await broken.run();
  expect(failed).toEqual(["no text"]);
});

test("runs begin in lanes, the longest of the last time first, and are drawn in their order", async () => {
  const begun: number[] = [];
  const drawn: unknown[][] = [];
  let [now, most] = [0, 0];
  const lasting = [100, 200, 400, 300];
  const stacks = lasting.map((_, i) => ({ name: `stack ${i}`, set: {} }));
  const one = async (_: Lab, i: number) => {
    begun.push(i);
    most = Math.max(most, ++now);
    await new Promise((later) => setTimeout(later, lasting[i]));
    now -= 1;
    return i as unknown as RunTrace;
  };
  const made = new Session({ scenario: {}, stacks, seed: 0 }, one, { ...SILENT, done: (runs) => drawn.push(runs) }, 2);
  for (let i = 0; i < 2; i++) {
    const run = made.run();
    await vi.advanceTimersByTimeAsync(1000);
    await run;
  }
  expect(begun).toEqual([0, 1, 2, 3, 2, 3, 1, 0]);
  expect(most).toBe(2);
  expect(drawn).toEqual([
    [0, 1, 2, 3],
    [0, 1, 2, 3],
  ]);
});

test("of a run that is stopped, no other column begins", async () => {
  const begun: number[] = [];
  const stacks = [0, 1, 2].map((i) => ({ name: `stack ${i}`, set: {} }));
  const one = (_: Lab, i: number, { signal }: { signal: AbortSignal }) =>
    new Promise<RunTrace>((_, reject) => {
      begun.push(i);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const made = new Session({ scenario: {}, stacks, seed: 0 }, one, SILENT, 2);
  const run = made.run();
  made.stop();
  await run;
  expect(begun).toEqual([0, 1]);
});
