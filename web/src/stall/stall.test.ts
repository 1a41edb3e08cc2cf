import { expect, test } from "vitest";
import { loadHere } from "../engine/node";
import type { FlowTrace } from "../engine/trace";
import { presets } from "../scenario/presets";
import { setOptions } from "../scenario/stacks";
import { type Stall, stalls } from "./stall";

const engine = await loadHere();
const all = await presets();

async function told(id: string, stack?: string): Promise<Stall[]> {
  const preset = all.find((p) => p.id === id);
  if (!preset) throw new Error(id);
  const set = stack === undefined ? setOptions(preset.stacks[0]?.set ?? {}) : [];
  return stalls(await engine.run({ scenario: preset.scenario, seed: preset.seed, stack, set }));
}

/** A transfer of 30 segments, 12 of them at once, over a path of 100 ms; the test drops some packets. */
function transfer(lost: { data?: number[]; acks?: number[] }): string {
  const script = (only: string, drop?: number[]) =>
    drop ? `[{ kind = "script", only = "${only}", drop = ${JSON.stringify(drop)} }]` : "[]";
  return `
    [run]
    duration = "10 s"
    [[link]]
    from = "A"
    to = "B"
    rate = "10 Mbps"
    delay = "50 ms"
    elements = ${script("data", lost.data)}
    back = { elements = ${script("acks", lost.acks)} }
    [[flow]]
    from = "A"
    to = "B"
    stack = "newreno"
    app = { kind = "fixed", size = "30 packets" }
    set = { "startup.initial_window_segs" = 12 }
  `;
}

async function words(lost: { data?: number[]; acks?: number[] }, set: string[] = []): Promise<string[]> {
  const [stall] = stalls(await engine.run({ scenario: transfer(lost), seed: 1, set }));
  if (!stall) throw new Error("no pause");
  return [stall.title, ...stall.sentences.map((s) => s.text)];
}

test("Hoe's stall: partial repair ends recovery, the window is used up, the timer has to fire", async () => {
  const [stall] = await told("hoe-1995/fig5-7");
  expect(stall?.title).toBe(
    "0.62 s without an ACK of new data: segment 53 was lost, and the timer had to send it again",
  );
  expect(stall?.sentences.map((s) => s.text)).toEqual([
    "Segment 53 was dropped by the full queue A → B (10 packets). It was one of 19 lost among the 48 segments outstanding when the pause began.",
    "An ACK ended fast recovery, though 19 segments sent earlier were still missing.",
    "No duplicate ACK came, but a fast retransmit needs 3: nothing sent after it arrived, and the window of 26 segments allowed no new data with 48 segments outstanding.",
    "The retransmission timer fired 0.513 s after the last ACK of new data (RTO 1 s, in ticks of a coarse clock). Segment 53 was sent again, and arrived at 1.557 s.",
    "An ACK covered 2 segments: the data sent after it had already arrived.",
  ]);
});

test("after a recovery, duplicates of earlier data begin no further fast retransmit", async () => {
  const [stall] = await told("paths/satellite", "reno");
  expect(stall?.sentences.map((s) => s.text).join(" ")).toMatch(
    /\d+ duplicate ACKs came, with a threshold of 3; but data sent before an earlier recovery/,
  );
});

test("a handover's timeout is needless: the segment had arrived, and its ACK was delayed", async () => {
  const [stall] = await told("paths/handover", "eifel");
  expect(stall?.title).toMatch(/segment \d+ was late, not lost: a needless timeout/);
  const text = stall?.sentences.map((s) => s.text).join(" ");
  expect(text).toMatch(/Its ACK was sent, and took 1.5\d s, while the shortest way back takes 15 ms/);
  expect(text).toContain("needlessly");
  expect(text).toContain("this was a mistake, and the window was restored");
});

test("a lost tail has too few segments after it for a fast retransmit", async () => {
  const text = (await words({ data: [28] })).join(" ");
  expect(text).toContain("segment 29 was lost, and the timer had to send it again");
  expect(text).toContain("1 duplicate ACK came, but a fast retransmit needs 3: only 1 packet sent after it arrived");
  expect(text).toContain("there was nothing new to send");
});

test("a lost retransmission waits for the timer, which backs off if it is lost again", async () => {
  const { sends } = (await engine.run({ scenario: transfer({ data: [4] }), seed: 1 })).flows[0] as FlowTrace;
  const again = sends.number[sends.sends.indexOf(2)] as number;
  const text = (await words({ data: [4, again] })).join(" ");
  expect(text).toContain("segment 5 and its retransmission were lost");
  expect(text).toMatch(
    /3 duplicate ACKs began fast recovery \(threshold 3\): segment 5 was sent again and dropped by the script/,
  );
  expect(text).toMatch(/The retransmission timer fired 1 s after .*Segment 5 was sent again, and arrived/);
});

test("a timer that fired before says that it had backed off", async () => {
  const text = (await words({ data: [29, 30, 31] })).join(" ");
  expect(text).toMatch(/\(RTO 2 s, backed off once\)/);
});

test("a segment that arrived while its ACKs were lost is not a lost segment", async () => {
  const text = (await words({ acks: [28, 29] })).join(" ");
  expect(text).toContain("segment 29 arrived, but its ACKs were lost");
  expect(text).toContain("2 ACKs that would have said so were dropped");
});

test("a threshold higher than the number of possible duplicates is named", async () => {
  const text = (await words({ data: [4] }, ["detect.threshold.segments=40"])).join(" ");
  expect(text).toMatch(/\d+ duplicate ACKs came, but a fast retransmit needs 40/);
});

test("a run that ends in a pause says so", async () => {
  const scenario = transfer({ data: [29] }).replace('"10 s"', '"900 ms"');
  const [stall] = stalls(await engine.run({ scenario, seed: 1 }));
  expect(stall?.to).toBe(0.9);
  expect(stall?.sentences.at(-1)?.text).toBe("The run ended before an ACK of new data came.");
});

test("a run without a loss has no long pause", async () => {
  expect(stalls(await engine.run({ scenario: transfer({}), seed: 1 }))).toEqual([]);
});

test("in a pause no ACK of new data arrives, the longest comes first, and its story is in order", async () => {
  for (const preset of all) {
    if ((await engine.check({ scenario: preset.scenario })).durationS > 120) continue;
    const run = await engine.run({ scenario: preset.scenario, seed: preset.seed });
    const found = stalls(run);
    expect(found).toEqual([...found].sort((a, b) => b.to - b.from - (a.to - a.from)));
    for (const { flow, from, to, sentences } of found) {
      const { acks, sends } = run.flows[flow] as FlowTrace;
      const arrived = [...acks.ack].filter((_, i) => (acks.time[i] as number) <= from);
      const within = [...acks.ack].filter((_, i) => (acks.time[i] as number) > from && (acks.time[i] as number) < to);
      expect(Math.max(1, ...within), preset.id).toBeLessThanOrEqual(arrived.reduce((a, b) => Math.max(a, b), 1));
      const times = sentences.map((s) => s.time);
      expect(times, preset.id).toEqual([...times].sort((a, b) => a - b));
      expect(times.every((t) => t >= 0 && t <= run.durationS)).toBe(true);
      expect(sentences.every((s) => s.rows.every((row) => row < sends.time.length))).toBe(true);
      for (const { text } of sentences) expect(text, preset.id).not.toMatch(/NaN|undefined|Infinity|null/);
    }
  }
}, 60_000);
