import { expect, test } from "vitest";
import { Bars, type Sight } from "./bars";
import { Scale } from "./scale";
import { Stairs } from "./stairs";

/** The same numbers in every run of the tests. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function someBars(count: number, seed: number): Bars {
  const draw = numbers(seed);
  const time = Float64Array.from({ length: count }, () => Math.round(draw() * 1000) / 100).sort();
  const low = Float64Array.from({ length: count }, (_, i) => (draw() < 0.8 ? i * 10 : draw() * count * 10));
  const high = low.map((value) => value + (draw() < 0.5 ? 10 : draw() * 300));
  return new Bars(
    time,
    low,
    high,
    Uint32Array.from(time, (_, i) => i),
  );
}

const SIZES = [0, 1, 2, 7, 8, 9, 63, 64, 65, 700, 3000];

function sight(count: number, seed: number): Sight {
  const draw = numbers(seed + 99);
  const t0 = draw() * 8;
  const low = draw() * count * 5;
  return {
    x: new Scale(t0, t0 + 10 * draw() + 0.01, 0, 300),
    y: new Scale(low, low + count * 10 * draw() + 20, 200, 0),
    pixel: draw() < 0.5 ? 1 : 0.5,
  };
}

/** Rows of pixels from `low` to `high` in the column of `x`. */
function cells({ y, pixel }: Sight, x: number, low: number, high: number): string[] {
  const first = Math.floor(y.at(high) / pixel);
  const last = Math.floor(y.at(low) / pixel);
  return Array.from({ length: last - first + 1 }, (_, i) => `${Math.round(x / pixel)}:${first + i}`);
}

test("no visible bar is lost and none is invented, at any zoom", () => {
  for (const count of SIZES)
    for (let seed = 1; seed <= 10; seed++) {
      const bars = someBars(count, seed);
      const shown = sight(count, seed);
      const drawn = new Set<string>();
      bars.visit(shown, (x, low, high) => {
        for (const cell of cells(shown, x, low, high)) drawn.add(cell);
      });
      const real = new Set<string>();
      const near = new Set<string>();
      for (let i = 0; i < count; i++) {
        if (bars.time[i] < shown.x.from || bars.time[i] > shown.x.to) continue;
        if (bars.high[i] < shown.y.from || bars.low[i] > shown.y.to) continue;
        const x = Math.round(shown.x.at(bars.time[i]) / shown.pixel) * shown.pixel;
        for (const cell of cells(shown, x, bars.low[i], bars.high[i])) real.add(cell);
        // A gap of less than a pixel may be closed.
        const slack = shown.pixel / Math.abs(shown.y.factor);
        for (const cell of cells(shown, x, bars.low[i] - slack, bars.high[i] + slack)) near.add(cell);
      }
      for (const cell of real) expect(drawn.has(cell), `lost ${cell}`).toBe(true);
      for (const cell of drawn) expect(near.has(cell), `invented ${cell}`).toBe(true);
    }
});

test("a million bars in one column are drawn as a few", () => {
  const count = 1_000_000;
  const time = Float64Array.from({ length: count }, (_, i) => i / 1000);
  const low = Float64Array.from({ length: count }, (_, i) => i * 1460);
  const bars = new Bars(
    time,
    low,
    low.map((value) => value + 1460),
    Uint32Array.from(time, (_, i) => i),
  );
  let reported = 0;
  const whole = { x: new Scale(0, 1000, 0, 1000), y: new Scale(0, count * 1460, 500, 0), pixel: 1 };
  bars.visit(whole, () => reported++);
  expect(reported).toBeGreaterThanOrEqual(1000);
  expect(reported).toBeLessThan(30_000);
});

test("the nearest bar is the one that a search of all finds", () => {
  for (const count of SIZES)
    for (let seed = 1; seed <= 20; seed++) {
      const bars = someBars(count, seed);
      const shown = sight(count, seed);
      const [px, py] = [150, 100];
      let least = 25;
      for (let i = 0; i < count; i++) {
        const dx = Math.abs(shown.x.at(bars.time[i]) - px);
        const dy = Math.max(shown.y.at(bars.high[i]) - py, py - shown.y.at(bars.low[i]), 0);
        least = Math.min(least, Math.hypot(dx, dy));
      }
      const found = bars.nearest(shown, px, py, 25);
      expect(found?.distance ?? 25).toBeCloseTo(least, 6);
    }
});

test("the range of bars and of stairs is that of everything in the window", () => {
  for (const count of SIZES)
    for (let seed = 1; seed <= 20; seed++) {
      const bars = someBars(count, seed);
      const { from, to } = sight(count, seed).x;
      let low = Number.POSITIVE_INFINITY;
      let high = Number.NEGATIVE_INFINITY;
      for (let i = 0; i < count; i++) {
        if (bars.time[i] < from || bars.time[i] > to) continue;
        low = Math.min(low, bars.low[i]);
        high = Math.max(high, bars.high[i]);
      }
      expect(bars.range(from, to)).toEqual({ low, high });
    }
});

test("stairs keep the first, least, largest and last value of each column of pixels", () => {
  for (const count of SIZES)
    for (let seed = 1; seed <= 20; seed++) {
      const bars = someBars(count, seed);
      const stairs = new Stairs(bars.time, bars.low);
      const shown = sight(count, seed);
      const reported = new Map<number, number[]>();
      stairs.visit(shown, (x, start, end, low, high) => {
        const before = reported.get(x);
        const [first, last] = [stairs.value[start], stairs.value[end]];
        reported.set(
          x,
          before ? [before[0], Math.min(before[1], low), Math.max(before[2], high), last] : [first, low, high, last],
        );
      });
      const real = new Map<number, number[]>();
      for (let i = 0; i < count; i++) {
        const inside = bars.time[i] >= shown.x.from && bars.time[i] <= shown.x.to;
        const edge = bars.time[i + 1] >= shown.x.from || bars.time[i - 1] <= shown.x.to;
        if (!inside && !edge) continue;
        const x = Math.round(shown.x.at(bars.time[i]) / shown.pixel) * shown.pixel;
        if (x < 0 || x > 300) continue;
        const value = bars.low[i];
        const before = real.get(x);
        real.set(
          x,
          before
            ? [before[0], Math.min(before[1], value), Math.max(before[2], value), value]
            : [value, value, value, value],
        );
      }
      for (const [x, values] of real) if (x > 0 && x < 300) expect(reported.get(x)).toEqual(values);
    }
});

test("stairs keep a value until the next one and have none before the first", () => {
  const stairs = new Stairs(Float64Array.of(1, 2, 2, 3), Float64Array.of(10, 20, 30, Number.POSITIVE_INFINITY));
  expect([0, 1, 1.5, 2, 2.5, 9].map((time) => stairs.at(time))).toEqual([
    Number.NaN,
    10,
    10,
    30,
    30,
    Number.POSITIVE_INFINITY,
  ]);
  expect(stairs.range(1.5, 9)).toEqual({ low: 10, high: 30 });
});
