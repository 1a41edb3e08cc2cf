import { expect, test } from "vitest";
import { Scale } from "./scale";
import { bytes, byteUnit, countUnit, duration, grouped, moment, niceStep, short, ticks, timeUnit } from "./ticks";
import { Timeline } from "./timeline";

const labels = (...of: Parameters<typeof ticks>) => ticks(...of).map((tick) => tick.label);

test("a scale goes there and back", () => {
  const scale = new Scale(2, 6, 300, 100);
  expect([scale.at(2), scale.at(6), scale.at(3)]).toEqual([300, 100, 250]);
  expect(scale.back(scale.at(4.7))).toBeCloseTo(4.7, 12);
});

test("a scale over an empty range does not divide by zero", () => {
  expect(new Scale(5, 5, 0, 100).at(5)).toBe(0);
});

test("steps are 1, 2 or 5 times a power of ten, in no more parts than requested", () => {
  for (let power = -9; power < 12; power++)
    for (const digit of [1, 1.1, 2, 3.7, 5, 9.99])
      for (const most of [1, 3, 7, 12]) {
        const span = digit * 10 ** power;
        const step = niceStep(span, most);
        expect(span / step).toBeLessThanOrEqual(most * (1 + 1e-6));
        expect([1, 2, 5, 10]).toContain(Math.round(step / 10 ** Math.floor(Math.log10(step) + 1e-9)));
      }
});

test("times are written in the unit that is shortest", () => {
  expect(labels(0, 4, 5, timeUnit(0, 4))).toEqual(["0", "1", "2", "3", "4"]);
  expect(timeUnit(1.2, 1.4).name).toBe("ms");
  expect(labels(1.2, 1.4, 4, timeUnit(1.2, 1.4))).toEqual(["1200", "1250", "1300", "1350", "1400"]);
  expect(labels(45.012, 45.0121, 3, timeUnit(45.012, 45.0121))).toEqual(["45.01200", "45.01205", "45.01210"]);
  expect(timeUnit(0, 0.0005).name).toBe("µs");
});

test("ticks never leave the axis and stay round far from zero", () => {
  const found = ticks(1e9 + 0.1, 1e9 + 0.9, 5, countUnit(""));
  for (const { value } of found) {
    expect(value).toBeGreaterThanOrEqual(1e9 + 0.1);
    expect(value).toBeLessThanOrEqual(1e9 + 0.9);
  }
  expect(found.map((tick) => Math.round(tick.value * 10) % 2)).toEqual(found.map(() => 0));
  expect(ticks(3, 3, 5, countUnit(""))).toEqual([]);
});

test("an axis of counts has no fractions", () => {
  expect(labels(0, 2, 8, countUnit("packets"), true)).toEqual(["0", "1", "2"]);
});

test("bytes become kB and MB where that is shorter, of 1000 each", () => {
  expect([100, 60_000, 3e7].map((top) => byteUnit(top).name)).toEqual(["B", "kB", "MB"]);
  expect(labels(0, 20_000, 4, byteUnit(20_000))).toEqual(["0", "5", "10", "15", "20"]);
  expect([bytes(1460), bytes(51_200), bytes(12_036_240), bytes(Number.POSITIVE_INFINITY)]).toEqual([
    "1460 B",
    "51.2 kB",
    "12.0 MB",
    "∞",
  ]);
});

test("numbers are grouped by thousands from five digits on, and nothing is minus zero", () => {
  expect([1234, 12_345, 1234567.25, -0.001].map((value) => grouped(value, 1))).toEqual([
    "1234.0",
    "12\u2009345.0",
    "1\u2009234\u2009567.3",
    "0.0",
  ]);
  expect(grouped(-5)).toBe("−5");
});

test("moments are exact to the microsecond, durations are short", () => {
  expect([moment(1.5), moment(1.234567), moment(0)]).toEqual(["1.500 s", "1.234567 s", "0.000 s"]);
  expect([1.5, 0.0525, 0.00002, 0].map(duration)).toEqual(["1.50 s", "52.5 ms", "20 µs", "0 s"]);
  expect(short(Number.NaN)).toBe("–");
});

test("zooming keeps the moment under the pointer where it is", () => {
  const timeline = new Timeline();
  timeline.setEnd(100);
  timeline.zoom(0.1, 30);
  expect(timeline.span.t0).toBeCloseTo(27, 9);
  expect(timeline.span.t1).toBeCloseTo(37, 9);
});

test("the window stays inside the run and keeps its length when it is pushed against an end", () => {
  const timeline = new Timeline();
  timeline.setEnd(100);
  timeline.set(95, 115);
  expect(timeline.span).toEqual({ t0: 80, t1: 100 });
  timeline.pan(-1000);
  expect(timeline.span).toEqual({ t0: 0, t1: 20 });
  timeline.zoom(1e9);
  expect(timeline.whole).toBe(true);
  timeline.zoom(1e-12, 50);
  expect(timeline.span.t1 - timeline.span.t0).toBeCloseTo(1e-6, 12);
});

test("every listener is called once for a change, and never without one", () => {
  const timeline = new Timeline();
  timeline.setEnd(10);
  const heard: string[] = [];
  timeline.onWindow(({ t0, t1 }) => heard.push(`a ${t0} ${t1}`));
  timeline.onWindow(() => heard.push("b"));
  timeline.onCursor((time) => heard.push(`c ${time}`));
  timeline.set(2, 4);
  timeline.set(2, 4);
  timeline.set(Number.NaN, 4);
  timeline.point(3);
  timeline.point(3);
  timeline.point(99);
  timeline.point(undefined);
  expect(heard).toEqual(["a 2 4", "b", "c 3", "c 10", "c undefined"]);
});

test("a longer run is seen whole if the last one was, else the window stays", () => {
  const timeline = new Timeline();
  timeline.setEnd(10);
  timeline.setEnd(60);
  expect(timeline.span).toEqual({ t0: 0, t1: 60 });
  timeline.set(5, 8);
  timeline.setEnd(20);
  expect(timeline.span).toEqual({ t0: 5, t1: 8 });
  timeline.setEnd(6);
  expect(timeline.span).toEqual({ t0: 3, t1: 6 });
});
