import { expect, test } from "vitest";
import { loadHere } from "../engine/node";
import { FATES } from "../engine/trace";
import { presets } from "../scenario/presets";
import { between, EVENTS, find } from "./find";

const engine = await loadHere();
const preset = (await presets()).find(({ id }) => id === "hoe-1995/fig5-7");
const run = await engine.run({ scenario: preset?.scenario ?? "", seed: preset?.seed ?? 1 });
const [flow] = run.flows;
if (!flow) throw new Error("no flow");

const times = (query: string) => {
  const answer = find(flow, query);
  return "found" in answer ? answer.found.map(({ time }) => time) : answer.wrong;
};

test("an instant is found by time, in any unit", () => {
  expect(times("1.5 s")).toEqual([1.5]);
  expect(times("250ms")).toEqual([0.25]);
});

test("a sequence number finds every transmission of that byte, a packet's number that packet", () => {
  const again = flow.sends.sends.findIndex((sends) => sends > 1);
  const seq = flow.sends.seq[again] ?? 0;
  const all = [...flow.sends.time].filter((_, i) => flow.sends.seq[i] === seq);
  expect(all.length).toBeGreaterThan(1);
  expect(times(String(seq + 10))).toEqual(all);
  const number = flow.sends.number[again] ?? 0;
  expect(times(`packet ${number}`)).toEqual([flow.sends.time[again]]);
  expect(times(`ack ${flow.acks.number[5]}`)).toEqual([flow.acks.time[5]]);
});

test("every kind of event is understood, and drops, retransmissions and timeouts are all found", () => {
  for (const event of EVENTS) expect(times(event), event).toBeInstanceOf(Array);
  const lost = [...flow.sends.time].filter((_, i) => FATES[flow.sends.fate[i] ?? 0] === "dropped");
  expect(times("drops")).toEqual(lost);
  expect(times("dropped")).toEqual(lost);
  expect(times("retransmissions")).toHaveLength(flow.sends.sends.filter((sends) => sends > 1).length);
  expect(times("timeout")).toHaveLength(1);
});

test("a query that names nothing is refused with the queries allowed", () => {
  expect(times("fly")).toMatch(/^Found "fly"\. Allowed: a time .*retransmission.*timeout/);
});

test("between two points there are time, bytes and a rate; without bytes, only time", () => {
  expect(between({ time: 1, bytes: 1000 }, { time: 3, bytes: 5001 })).toBe("Δt 2 s · Δ 4001 B · 2.0 kB/s (0.016 Mbps)");
  expect(between({ time: 3, bytes: 1 }, { time: 1 })).toBe("Δt 2 s");
});
