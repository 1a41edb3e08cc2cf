import { expect, test } from "vitest";
import { syntheticRun } from "../../bench/synthetic";
import type { Sight } from "../chart/bars";
import { Scale } from "../chart/scale";
import { SvgSurface } from "../chart/svg";
import type { Answer } from "../engine/engine";
import { prepare } from "../engine/prepare";
import { keepReady, readyOf } from "../engine/ready";
import { FATES, type FlowTrace, VERDICTS } from "../engine/trace";
import { columnsOf } from "../engine/transfer";
import { SequenceChart } from "./sequence";
import { course } from "./sequence/course";
import { variables } from "./state";

const run = syntheticRun(3000);
const [flow] = run.flows;
const drawn = course(run, flow);
const chart = new SequenceChart(drawn, variables(flow));
const { sends } = flow;
const kinds = (name: (typeof VERDICTS)[number]) => sends.verdict.filter((v) => VERDICTS[v] === name).length;

function sight(t0: number, t1: number) {
  const { low, high } = chart.fit(t0, t1);
  return { x: new Scale(t0, t1, 0, 1000), y: new Scale(low, high, 400, 0), pixel: 1 };
}

function picture(of: SequenceChart, shown: Sight, hidden: string[] = []): string {
  const theme = new Proxy({}, { get: (_, name) => String(name) }) as never;
  const surface = new SvgSurface(1000, 400);
  of.draw(surface, { sight: shown, plot: { x: 0, y: 0, width: 1000, height: 400 }, theme, hidden: new Set(hidden) });
  return surface.toString("", "none");
}

test("every transmission is in the layer of its verdict and in no other", () => {
  const layers = [drawn.first, drawn.needed, drawn.refused, drawn.needless, drawn.open];
  expect(layers.map(({ length }) => length)).toEqual([
    kinds("first"),
    kinds("needed"),
    kinds("refused"),
    kinds("needless"),
    kinds("open"),
  ]);
  expect(drawn.needed.length).toBeGreaterThan(0);
  expect(drawn.needless.length).toBeGreaterThan(0);
  for (const layer of [drawn.first, drawn.needed, drawn.needless])
    layer.item.forEach((i, n) => {
      expect(layer.low[n]).toBe(sends.seq[i]);
      expect(layer.high[n]).toBe(sends.seq[i] + sends.len[i]);
    });
});

test("the pointer on a segment finds that segment, at any zoom in which it stands alone", () => {
  for (const i of [0, 331, 996, 1003, 2999]) {
    const time = sends.time[i];
    const shown = sight(time - 0.004, time + 0.004);
    const y = shown.y.at(sends.seq[i] + sends.len[i] / 2);
    expect(chart.hit(shown, shown.x.at(time), y)).toMatchObject({ kind: "data", index: i, time });
  }
});

test("the pointer far from everything finds nothing", () => {
  const shown = sight(1, 1.01);
  expect(chart.hit({ ...shown, y: new Scale(1e12, 2e12, 400, 0) }, 500, 200)).toBeUndefined();
});

test("the keys go from packet to packet and stop at the ends", () => {
  const second = chart.next(1.0005, 1);
  expect(second?.time).toBeCloseTo(1.001, 9);
  const back = second && chart.next(second, -1);
  expect(back?.index).toBe((second?.index ?? 0) - 1);
  const first = { kind: "data", index: 0, time: 0, low: 1, high: 1461 } as const;
  expect(chart.next(first, -1)).toBeUndefined();
  expect(chart.next({ ...first, index: sends.time.length - 1 }, 1)).toBeUndefined();
});

test("the details of a dropped segment name the place and the arrival there", () => {
  const i = sends.element.indexOf(0);
  const hit = { kind: "data", index: i, time: sends.time[i], low: 0, high: 0 } as const;
  const { rows, title } = chart.tell(hit);
  expect(title).toBe(`Packet ${i}, first transmission`);
  expect(Object.fromEntries(rows).fate).toMatch(new RegExp(`by the queue of S → D, as arrival ${i} there$`));
});

test("a needless retransmission says that it was needless", () => {
  const i = sends.verdict.indexOf(VERDICTS.indexOf("needless"));
  const tip = chart.tell({ kind: "data", index: i, time: sends.time[i], low: 0, high: 0 });
  expect(tip.title).toContain("second transmission");
  expect(tip.note).toContain("had taken an earlier copy");
});

test("the details of a refused copy and of its retransmission say that the receiver threw the copy away", () => {
  const i = sends.verdict.indexOf(VERDICTS.indexOf("needed"));
  const first = sends.seq.indexOf(sends.seq[i]);
  const [verdict, fate] = [sends.verdict.slice(), sends.fate.slice()];
  verdict[i] = VERDICTS.indexOf("refused");
  fate[first] = FATES.indexOf("refused");
  const changed = course(run, { ...flow, sends: { ...sends, verdict, fate } });
  expect([...changed.refused.item]).toEqual([i]);
  expect(changed.needed.length).toBe(drawn.needed.length - 1);
  const other = new SequenceChart(changed, variables(flow));
  const tell = (index: number) => other.tell({ kind: "data", index, time: sends.time[index], low: 0, high: 0 });
  expect(tell(i).note).toContain("the receiver threw it away");
  expect(Object.fromEntries(tell(first).rows).fate).toMatch(/^arrived at .* threw it away$/);
});

test("the details of an ACK list its blocks, and call a DSACK by that name", () => {
  const repeated = drawn.dsack.item[0];
  const tip = chart.tell({ kind: "ack", index: repeated, time: flow.acks.time[repeated], low: 0, high: 0 });
  expect(tip.rows.map(([name]) => name)).toContain("DSACK");
});

test("the line of ACKs never moves backwards", () => {
  const { value } = drawn.acked;
  expect(value.every((ack, i) => i === 0 || ack >= value[i - 1])).toBe(true);
  expect(value.at(-1)).toBe(1 + 3000 * flow.mss);
});

test("layers that are switched off are not drawn, and the others are", () => {
  const draw = (hidden: string[]) => picture(chart, sight(0, run.durationS), hidden);
  expect(draw([])).toContain('fill="needless"');
  expect(draw(["needless"])).not.toContain('fill="needless"');
  expect(draw(["needless"])).toContain('fill="needed"');
});

test("a graph that a worker made ready is the graph that the page would make, pyramids included", () => {
  const answer = { layout: { durationS: run.durationS }, flows: [flow] } as unknown as Answer;
  const made = prepare(structuredClone(answer), 3);
  const sent = structuredClone(made, { transfer: columnsOf(made) });
  keepReady(sent.flows, sent.ready);
  const theirs = sent.flows[0] as FlowTrace;
  expect(readyOf(flow)).toBeUndefined();
  expect(readyOf(theirs)).toBeDefined();
  const { acks, first, allowed } = course(run, theirs) as unknown as Record<string, { made?: object }>;
  expect([acks, first, allowed].map(({ made }) => made !== undefined)).toEqual([false, true, true]);
  const other = new SequenceChart(course(run, theirs), variables(theirs));
  for (const [t0, t1] of [
    [0, run.durationS],
    [0.9, 1.1],
  ] as const) {
    expect(other.fit(t0, t1)).toEqual(chart.fit(t0, t1));
    expect(picture(other, sight(t0, t1))).toBe(picture(chart, sight(t0, t1)));
  }
});

test("a picture of a long run stays small", () => {
  const long = syntheticRun(200_000);
  const many = new SequenceChart(course(long, long.flows[0]), variables(long.flows[0]));
  const { low, high } = many.fit(0, long.durationS);
  const surface = new SvgSurface(1000, 400);
  const theme = new Proxy({}, { get: () => "#000" }) as never;
  const plot = { x: 0, y: 0, width: 1000, height: 400 };
  const shown = { x: new Scale(0, long.durationS, 0, 1000), y: new Scale(low, high, 400, 0), pixel: surface.pixel };
  many.draw(surface, { sight: shown, plot, theme, hidden: new Set() });
  expect(surface.toString("", "none").length).toBeLessThan(1_500_000);
});

test("a flow that sent nothing is an empty graph", () => {
  const empty = syntheticRun(0);
  const nothing = new SequenceChart(course(empty, empty.flows[0]), variables(empty.flows[0]));
  expect(nothing.fit(0, 1).high).toBe(Number.NEGATIVE_INFINITY);
  expect(nothing.next(0, 1)).toBeUndefined();
  expect(nothing.read(0.5)).toEqual([]);
  expect(["first", "needed", "sack", "timeout", "recovery"].map((key) => nothing.has(key))).toEqual(
    Array(5).fill(false),
  );
});
