import { expect, test } from "vitest";
import { presets } from "../scenario/presets";
import { loadHere } from "./node";

const engine = await loadHere();

const opened = (text: string) => engine.opened({ file: new Blob([text]), kind: "csv" });

test("a trace that is opened is the run that was written, stalls included", async () => {
  for (const id of [
    "hoe-1995/fig5-7",
    "blanton-allman-2002/burst",
    "wang-shin/fig5",
    "paths/red-ecn",
    "paths/bundle",
  ]) {
    const preset = (await presets()).find((p) => p.id === id);
    if (!preset) throw new Error(id);
    // A part of the trace, if the whole is large.
    const scenario = preset.scenario.replace('duration = "60 s"', 'duration = "8 s"');
    const run = { scenario, seed: preset.seed };
    const [drawn, file] = [await engine.run(run), await engine.csv(run)];
    const read = await engine.opened({ file: new Blob([file.bytes]), kind: "csv" });
    for (const [i, flow] of drawn.flows.entries()) {
      // A trace has no timers, and so no sentence with the timeout; the last pause ends with its last event.
      const { name, from, to, stack, mss, rto, stalls, longestPauseS, ...rows } = flow;
      expect(read.flows[i], id).toMatchObject(rows);
      expect(read.flows[i]?.stalls.map((stall) => stall.title)[0], id).toBe(stalls[0]?.title);
    }
    const lengths = ({ queues }: typeof read) => queues.toSorted((a, b) => a.link - b.link).map((q) => q.packets);
    expect(lengths(read), id).toEqual(lengths(drawn));
    const parquet = await engine.parquet(run);
    expect(await engine.opened({ file: new Blob([parquet.bytes]), kind: "parquet" }), id).toEqual(read);
  }
}, 60_000);

test("a live run's timeout is drawn from its sender's reports", async () => {
  const head = "time_ns,flow,side,event,packet,rto_ns\n";
  const rows = "5000000,0,sender,rtt,,200000000\n9000000,0,sender,rtt,,204000000\n";
  const { rto } = (await opened(head + rows)).flows[0] ?? {};
  expect(rto).toEqual({ time: Float64Array.of(0.005, 0.009), value: Float64Array.of(200, 204) });
});

test("a file that is not a trace is refused with the line", async () => {
  await expect(opened("a,b\n1,2\n")).rejects.toThrow("line 1: there is no column time_ns");
  const head = "time_ns,flow,side,event";
  await expect(opened(`${head}\n5,0,sender,sent\n`)).rejects.toThrow(
    "line 1: there is no column packet: an older version wrote this trace; write it again",
  );
  const [all, rest] = [`${head},packet,seq\n`, ",0,1"];
  await expect(opened(`${all}5,0,sender\n`)).rejects.toThrow("line 2: 3 cells, not 6");
  await expect(opened(`${all}5,0,sender,sent${rest}\n4,0,sender,sent${rest}\n`)).rejects.toThrow("line 3: its time");
  await expect(opened(`${all}5,x,sender,sent${rest}\n`)).rejects.toThrow('line 2: flow is "x"');
  await expect(opened(`${all}late,0,sender,sent${rest}\n`)).rejects.toThrow("line 2: its time");
});

test("a file that is not Parquet is refused", async () => {
  const file = new Blob(["PAR1 and no more"]);
  await expect(engine.opened({ file, kind: "parquet" })).rejects.toThrow(/parquet/i);
});
