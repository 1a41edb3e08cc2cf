import { expect, test } from "vitest";
import { presets } from "../scenario/presets";
import { NotTrace, readCsv } from "./csv";
import { loadHere } from "./node";
import { readParquet } from "./parquet";
import type { RunTrace } from "./trace";

const engine = await loadHere();

test("a trace that is read again is the run that was written", async () => {
  for (const id of ["hoe-1995/fig5-7", "blanton-allman-2002/burst", "wang-shin/fig5", "paths/red-ecn"]) {
    const preset = (await presets()).find((p) => p.id === id);
    if (!preset) throw new Error(id);
    // A part of the trace, if the whole is large.
    const scenario = preset.scenario.replace('duration = "60 s"', 'duration = "8 s"');
    const run = { scenario, seed: preset.seed };
    const [drawn, file] = [await engine.run(run), await engine.csv(run)];
    const read = readCsv(new TextDecoder().decode(file.bytes));
    for (const [i, flow] of drawn.flows.entries()) {
      const { sends, acks, ...rest } = read.flows[i] ?? {};
      const { element: _, nth: __, ...ours } = flow.sends;
      expect(sends, id).toMatchObject(ours);
      expect(acks, id).toEqual(flow.acks);
      const { phases, marks, dupthresh, inflation, windows, sackLeft } = flow;
      expect(rest, id).toMatchObject({ phases, marks, dupthresh, inflation, windows, sackLeft });
    }
    const lengths = ({ queues }: RunTrace) => queues.toSorted((a, b) => a.link - b.link).map((q) => q.packets);
    expect(lengths(read), id).toEqual(lengths(drawn));
    const parquet = await engine.parquet(run);
    expect(await readParquet(parquet.bytes.slice().buffer), id).toEqual(read);
  }
});

test("a live run's timeout is drawn from its sender's reports", () => {
  const head = "time_ns,flow,side,event,rto_ns\n";
  const rows = "5000000,0,sender,rtt,200000000\n9000000,0,sender,rtt,204000000\n";
  const { rto } = readCsv(head + rows).flows[0] ?? {};
  expect(rto).toEqual({ time: Float64Array.of(0.005, 0.009), value: Float64Array.of(200, 204) });
});

test("a file that is not a trace is refused with the line", () => {
  expect(() => readCsv("a,b\n1,2\n")).toThrow("line 1: there is no column time_ns");
  const head = "time_ns,flow,side,event\n";
  expect(() => readCsv(`${head}5,0,sender\n`)).toThrow("line 2: 3 cells, not 4");
  expect(() => readCsv(`${head}5,0,sender,sent\n4,0,sender,sent\n`)).toThrow("line 3: its time");
  expect(() => readCsv(`${head}5,x,sender,sent\n`)).toThrow('line 2: flow is "x"');
  expect(() => readCsv(`${head}late,0,sender,sent\n`)).toThrow(NotTrace);
});

test("a file that is not Parquet is refused", async () => {
  await expect(readParquet(new TextEncoder().encode("PAR1 and no more").buffer)).rejects.toThrow(/parquet/i);
});

test("a trace that needs more memory than there is room for is refused at the row where it ends", async () => {
  const rows = Array.from({ length: 50 }, (_, i) => `${i},0,sender,sent,${i},1\n`);
  const text = `time_ns,flow,side,event,seq,len\n${rows.join("")}`;
  expect(readCsv(text, undefined, 30_000).flows[0]?.sends.time.length).toBe(50);
  expect(() => readCsv(text, undefined, 29_999)).toThrow(
    "line 51: from here on it needs more memory than this page has",
  );
  const run = { scenario: (await presets())[0]?.scenario ?? "", seed: 1 };
  const { bytes } = await engine.parquet(run);
  await expect(readParquet(bytes.slice().buffer, undefined, 1e6)).rejects.toThrow(/^record 1: from here on/);
});
