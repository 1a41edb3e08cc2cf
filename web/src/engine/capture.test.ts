import { openAsBlob } from "node:fs";
import { expect, test } from "vitest";
import { pausesOf } from "../ui/stallPanel";
import { SequenceChart } from "../views/sequence";
import { course } from "../views/sequence/course";
import { variables } from "../views/state";
import { tableLines } from "../views/table";
import { loadHere } from "./node";
import type { FlowTrace } from "./trace";

const engine = await loadHere();
const at = (name: string) => new URL(`../../../tests/captures/kernel/${name}.pcapng.gz`, import.meta.url);
const capture = async (name: string) => ({ file: await openAsBlob(at(name)), name });

const of = await capture("cubic-swap12-loss-1-sender");
const shares: number[] = [];
const found = await engine.capture(of, { progress: (share) => shares.push(share) });
const [row] = found.flows.toSorted((a, b) => b.bytes - a.bytes);
if (!row) throw new Error("no flow");
const run = await engine.captureFlow(of, row);
const [flow] = run.flows as [FlowTrace];

test("the share that has been read is reported", () => {
  expect(shares.at(-1)).toBe(1);
});

test("a flow of a capture is drawn with the verdicts that the list counts", () => {
  const drawn = course(run, flow);
  const sure = row.needed_retransmissions + row.needless_retransmissions + row.refused_retransmissions;
  const again = drawn.needed.length + drawn.needless.length + drawn.refused.length + drawn.undecided.length;
  expect(sure + row.likely_retransmissions + row.undecided_retransmissions).toBe(again);
  expect(drawn.needless.length).toBeGreaterThanOrEqual(row.needless_retransmissions);
  expect(drawn.undecided.length).toBe(row.undecided_retransmissions);
  expect(drawn.needed.length).toBeGreaterThan(0);
  expect(drawn.needless.length).toBeGreaterThan(0);
  expect(drawn.first.length + row.retransmissions).toBe(flow.sends.time.length);
  const chart = new SequenceChart(drawn, variables(flow));
  expect(["needed", "needless", "sack", "dsack", "acked", "rwnd"].every((key) => chart.has(key))).toBe(true);
  expect(["dropped", "open", "allowed", "timeout", "recovery"].some((key) => chart.has(key))).toBe(false);
});

test("the details of a retransmission name its frame, its verdict and the evidence; those of an ACK list its blocks", () => {
  const chart = new SequenceChart(course(run, flow), variables(flow));
  const again = flow.sends.verdict.findIndex((verdict) => verdict > 0);
  const tip = chart.tell({ kind: "data", index: again, time: 0, low: 0, high: 0 });
  expect(tip.title).toMatch(/^Frame \S+, sent again$/);
  expect(tip.note).toMatch(/^(likely )?(needed|needless|refused|undecided): \w+/);
  const sacks = flow.acks.sackCount.findIndex((count) => count > 0);
  const ack = chart.tell({ kind: "ack", index: sacks, time: 0, low: 0, high: 0 });
  expect(ack.title).toMatch(/^Frame \S+, an ACK$/);
  expect(ack.rows.map(([name]) => name)).toContain("SACK");
});

test("the table of results has the capture's counts, and no line for numbers that it cannot know", () => {
  const lines = tableLines([run], 0);
  const value = (name: string) => lines.find((line) => line.name === name)?.values[0];
  expect(value("needless retransmissions")).toBe(row.needless_retransmissions);
  expect(value("undecided retransmissions")).toBe(row.undecided_retransmissions);
  expect(value("longest stall")).toBe(row.longest_stall_s ?? undefined);
  expect(lines.map(({ name }) => name)).not.toContain("timeouts");
});

test("its stalls are listed with their evidence, the longest first", async () => {
  const silent = await capture("cubic-swap12-no-sack-sender");
  const [stalled] = (await engine.capture(silent)).flows;
  if (!stalled) throw new Error("no flow");
  const pauses = pausesOf([await engine.captureFlow(silent, stalled)]);
  expect(pauses.length).toBe(stalled.stalls);
  expect(pauses.length).toBeGreaterThan(1);
  expect((pauses[0]?.to ?? 0) - (pauses[0]?.from ?? 0)).toBeCloseTo(stalled.longest_stall_s ?? 0, 9);
  expect(pauses[0]?.title).toContain(`without a segment of data: ${stalled.longest_stall_cause}`);
  expect(pauses[0]?.sentences.at(-1)?.text).toMatch(/^Frame \d+ ended it\. [A-Z].*\.$/);
});

test("a fitted path is a scenario; if none can be fitted, the error says why", async () => {
  const fit = await engine.captureFit(of, row, "linux-2025");
  expect(fit.parameters[0]).toMatchObject({ name: "rate", mark: "measured" });
  expect((await engine.check({ scenario: fit.scenarios[0] ?? "" })).flows).toHaveLength(1);
  const other = await capture("cubic-swap12-loss-1-receiver");
  const [received] = (await engine.capture(other)).flows;
  if (!received) throw new Error("no flow");
  await expect(engine.captureFit(other, received, "linux-2025")).rejects.toThrow("a capture at the receiver");
});

test("a file that is not a capture is rejected with its first bytes", async () => {
  const file = new Blob(["hello, no capture"]);
  await expect(engine.capture({ file, name: "x" })).rejects.toThrow("it begins with 68 65 6c 6c");
});
