import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { load } from "../../../crates/wasm/ackclock.mjs";
import { refusalOf } from "./engine";
import { loadHere } from "./node";
import { KINDS, VERDICTS } from "./trace";

const MODULE = readFileSync(new URL("../../generated/ackclock.wasm", import.meta.url));
const engine = await loadHere();
const scenario = readFileSync(new URL("../../../crates/lab/tests/scenarios/paths.toml", import.meta.url), "utf8");

test("a run's numbers are those of its report, which is the command's", async () => {
  const shares: number[] = [];
  const trace = await engine.run({ scenario, seed: 3 }, { progress: (share) => shares.push(share) });
  expect(shares.at(-1)).toBeCloseTo(1);
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
  const lab = await load(MODULE);
  expect(trace.summary).toEqual(await lab.run(scenario, { seed: 3 }));
  const [flow] = (trace.summary.runs as { flows: Record<string, number>[] }[])[0]?.flows ?? [];
  const sends = trace.flows[0]?.sends;
  expect(sends?.time.length).toBe(flow?.data_packets_sent);
  for (const word of ["needed", "refused", "needless"] as const)
    expect(sends?.verdict.filter((v) => VERDICTS[v] === word).length).toBe(flow?.[`${word}_retransmissions`]);
});

test("columns own their memory, and links and elements have names", async () => {
  const trace = await engine.run({ scenario, seed: 3 });
  const buffers = trace.flows.flatMap((f) => Object.values(f.sends).map((column) => column.buffer));
  expect(new Set(buffers).size).toBe(buffers.length);
  expect(trace.queues.map((q) => q.name)).toContain("R2 → R3, path 2");
  expect(trace.elements.map((e) => e.kind)).toContain("demote");
  expect(trace.elements.every((e, i) => e.number === trace.links.length + i)).toBe(true);
  expect(trace.links.find((l) => l.from === "R4" && l.to === "D")?.rateBps).toBe(Number.POSITIVE_INFINITY);
});

test("a kept instance answers as a new one does; an instance that failed or has much memory is not kept", async () => {
  const made = vi.spyOn(WebAssembly, "instantiate");
  const asked = (seed: number, duration = "2 s") => {
    const text = scenario.replace(/duration = ".*"/, `duration = "${duration}"`);
    return { do: "trace", scenario: text, seed: String(seed) };
  };
  const fresh = await Promise.all([3, 4].map(async (seed) => (await load(MODULE)).ask(asked(seed))));
  const lab = await load(MODULE);
  made.mockClear();
  expect(await lab.ask(asked(3))).toEqual(fresh[0]);
  await expect(lab.ask({ ...asked(3), scenario: "bad = [" })).rejects.toThrow();
  expect(await lab.ask(asked(4))).toEqual(fresh[1]);
  expect(made).toHaveBeenCalledTimes(1);
  const fail = () => {
    throw new Error("no more");
  };
  await expect(lab.ask(asked(3), fail)).rejects.toThrow("no more");
  expect(await lab.ask(asked(3))).toEqual(fresh[0]);
  expect(made).toHaveBeenCalledTimes(2);
  await lab.ask(asked(3, "2400 s"));
  expect(await lab.ask(asked(4))).toEqual(fresh[1]);
  expect(made).toHaveBeenCalledTimes(3);
  made.mockRestore();
}, 60_000);

test("another stack, parameters and seed make another run", async () => {
  const hash = async (run: { stack?: string; set?: string[]; seed: number }) =>
    (await engine.csv({ scenario, ...run })).traceHash;
  const hashes = await Promise.all([
    hash({ seed: 3 }),
    hash({ seed: 4 }),
    hash({ seed: 3, stack: "reno" }),
    hash({ seed: 3, stack: "reno", set: ["startup.initial_window_segs=3"] }),
  ]);
  expect(new Set(hashes).size).toBe(4);
});

test("the CSV is the trace of the run: header, hash, description", async () => {
  const csv = await engine.csv({ scenario, seed: 3 });
  const text = new TextDecoder().decode(csv.bytes);
  expect(text.slice(0, text.indexOf("\n"))).toMatch(/^time_\w+,flow,/);
  const trace = await engine.run({ scenario, seed: 3 });
  expect((trace.summary.runs as { trace_hash: string }[])[0]?.trace_hash).toBe(csv.traceHash);
  expect(JSON.parse(csv.description ?? "").tableSchema.columns.length).toBe(
    text.slice(0, text.indexOf("\n")).split(",").length,
  );
});

test("the Parquet file is whole and says which run it holds", async () => {
  const { bytes, traceHash } = await engine.parquet({ scenario, seed: 3 });
  const text = new TextDecoder("latin1").decode(bytes);
  expect([text.slice(0, 4), text.slice(-4)]).toEqual(["PAR1", "PAR1"]);
  expect(text).toContain(traceHash);
  expect(traceHash).toBe((await engine.csv({ scenario, seed: 3 })).traceHash);
});

test("a refusal names the place, the value found and the values allowed", async () => {
  const wrong = scenario.replace('rate = "10 Mbps"', 'rate = "10 Mpbs"');
  const refusal = await engine.check({ scenario: wrong }).then(
    () => undefined,
    (e) => refusalOf(e),
  );
  expect(refusal).toMatchObject({ line: 10, key: "link[0].rate", found: '"10 Mpbs" (unknown unit)' });
  expect(refusal?.allowed).toContain("Mbps");
});

test("a scenario that cannot be laid out is refused without a run", async () => {
  const wrong = scenario.replace("interval = 4", "interval = 0");
  await expect(engine.check({ scenario: wrong })).rejects.toThrow(/interval/);
});

test("stacks, schema and the scenario with its defaults are the command's", async () => {
  const stacks = await engine.stacks();
  expect(stacks.find((s) => s.name === "rfc-6675")?.summary).toContain("SACK");
  const schema = readFileSync(new URL("../../../docs/scenario.schema.json", import.meta.url), "utf8");
  expect(await engine.schema()).toEqual(JSON.parse(schema));
  expect(await engine.show({ scenario })).toContain("[flow.set]");
});

test("the timeout is reported as the sender uses it, back-off included", async () => {
  const outage = scenario.replace(
    "elements = [{",
    'elements = [{ kind = "outage", times = ["2 s"], length = "6 s" }, {',
  );
  const trace = await engine.run({ scenario: outage, seed: 3 });
  const [flow] = trace.flows;
  expect(flow?.marks.kind.filter((k) => KINDS[k] === "timeout").length).toBeGreaterThanOrEqual(2);
  const [least, most] = [Math.min(...(flow?.rto.value ?? [])), Math.max(...(flow?.rto.value ?? []))];
  expect(least).toBeGreaterThanOrEqual(1000);
  expect(most).toBeGreaterThanOrEqual(2 * least);
});
