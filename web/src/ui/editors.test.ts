import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { refusalOf } from "../engine/engine";
import { loadHere } from "../engine/node";
import { FATES } from "../engine/trace";
import { toToml } from "../scenario/toml";
import { deeds, placeOf, places, says, withDeed, withDeeds } from "./hand";
import { linksOf, withHopAfter, withoutHop } from "./links";
import { get, keyOf, put, type Table } from "./path";
import { parse, write } from "./quantity";
import { scaleOf } from "./scale";
import { Schema } from "./schema";
import { changed, effective, fitting, flat, type Known, label, written } from "./stack";

const schema = new Schema(JSON.parse(readFileSync("../docs/scenario.schema.json", "utf8")));
const slots = schema.slots();

const CHAIN: Table = {
  run: { duration: "10 s" },
  link: [
    { from: "S", to: "R", rate: "10 Mbps", delay: "1 ms" },
    { from: "R", to: "D", rate: "5 Mbps", delay: "50 ms", queue: "65 packets" },
  ],
  flow: [{ from: "S", to: "D", stack: "reno", set: { "rto.tick": "500 ms" } }],
};

const NEWRENO: Table = { name: "newreno", rto: { kind: "rfc6298", tick: "1 ns" }, recovery: { kind: "newreno" } };

test("the page, where no Python runs, offers no algorithm in Python", () => {
  expect(slots.map((slot) => slot.key)).toContain("detect");
  expect(JSON.stringify(slots)).not.toContain("python");
});

test("every kind of element is a variant whose fields have a shape, with a name and an initial value", () => {
  const element = schema.definition("Element");
  if (element.type !== "variants") throw new Error("no variants");
  expect(element.tag).toBe("kind");
  expect(element.variants.length).toBeGreaterThan(12);
  for (const { name, title, starter, fields } of element.variants) {
    expect(title, name).not.toBe(name);
    for (const field of fields) expect(field.shape.type, `${name}.${field.key}`).not.toBe("unknown");
    const begun = Object.keys(starter);
    expect(begun, name).not.toHaveLength(0);
    const needed = fields.filter((f) => f.required).map((f) => f.key);
    expect(begun).toEqual(expect.arrayContaining(needed));
  }
});

test("each kind of element, newly added, gives a scenario that the engine accepts", async () => {
  const engine = await loadHere();
  const element = schema.definition("Element");
  for (const { name, starter } of element.type === "variants" ? element.variants : []) {
    const scenario = put(CHAIN, ["link", 1, "elements"], [{ kind: name, ...starter }]) as Table;
    await expect(engine.check({ scenario: toToml(scenario) }), name).resolves.toBeDefined();
  }
});

test("each kind of application and of background traffic, newly added, gives a scenario that the engine accepts", async () => {
  const engine = await loadHere();
  const kinds = (name: string) => {
    const shape = schema.definition(name);
    return shape.type === "variants" ? shape.variants : [];
  };
  for (const { name, starter } of kinds("App")) {
    const scenario = put(CHAIN, ["flow", 0, "app"], { kind: name, ...starter }) as Table;
    await expect(engine.check({ scenario: toToml(scenario) }), name).resolves.toBeDefined();
  }
  for (const { name, starter } of kinds("Background")) {
    const scenario = put(CHAIN, ["background"], [{ kind: name, from: "S", to: "D", ...starter }]) as Table;
    await expect(engine.check({ scenario: toToml(scenario) }), name).resolves.toBeDefined();
  }
});

test("each component in each slot runs or is refused with the values allowed", async () => {
  const engine = await loadHere();
  const known: Known = { named: (await engine.stacks()) as unknown as Table[], slots };
  let taken = 0;
  for (const slot of slots) {
    for (const { name } of slot.shape.type === "variants" ? slot.shape.variants : []) {
      const scenario = toToml(written(CHAIN, { name: "rfc-6675", set: { [slot.key]: name } }, known));
      const message = await engine.check({ scenario }).then(
        () => "taken",
        (error: unknown) => refusalOf(error)?.allowed,
      );
      expect(message, `${slot.key} = ${name}`).toBeTruthy();
      taken += message === "taken" ? 1 : 0;
    }
  }
  expect(taken).toBeGreaterThan(20);
});

test("each slot of a stack is a choice of components, a choice of words, or a table", () => {
  expect(slots.map((s) => s.key)).toContain("recovery");
  for (const slot of slots) expect(["variants", "choice", "table"], slot.key).toContain(slot.shape.type);
});

test("a queue is a limit in packets or bytes, none, or a table", () => {
  const link = schema.definition("Link");
  const queue = link.type === "table" ? link.fields.find((f) => f.key === "queue")?.shape : undefined;
  expect(queue).toMatchObject({ type: "quantity", dimensions: ["packets", "size"], words: ["unlimited"] });
  expect(queue?.type === "quantity" && queue.table?.map((f) => f.key)).toEqual(["limit", "limit_counts_service"]);
});

test("a value is set at its path, and the old scenario is unchanged", () => {
  const next = put(CHAIN, ["link", 1, "elements", 0, "p"], 0.5);
  expect(get(next, ["link", 1, "elements", 0, "p"])).toBe(0.5);
  expect(get(CHAIN, ["link", 1, "elements"])).toBeUndefined();
  expect(keyOf(["link", 1, "elements", 0, "p"])).toBe("link[1].elements[0].p");
  expect(put(CHAIN, ["link", 0], undefined)).toMatchObject({ link: [{ from: "R" }] });
});

test("a quantity is read in any of its units and written in a suitable one", () => {
  expect(parse("1_500 kbps", ["rate"])).toEqual({ value: 1.5e6, dimension: "rate" });
  expect(parse("20 µs", ["time"])?.value).toBeCloseTo(2e-5);
  expect(parse("3 parsecs", ["time"])).toBeUndefined();
  expect(write({ value: 1.5e6, dimension: "rate" })).toBe("1.5 Mbps");
  expect(write({ value: 0.02, dimension: "time" })).toBe("20 ms");
  expect(write({ value: 64.2, dimension: "packets" })).toBe("64 packets");
});

test("a slider's position gives a value that has the same position", () => {
  const shapes = [
    { type: "quantity", dimensions: ["time"], words: [], table: undefined },
    { type: "number", whole: false, min: 0, max: 1, above: undefined },
    { type: "number", whole: true, min: 1, max: 100000, above: undefined },
  ] as const;
  for (const shape of shapes) {
    const scale = scaleOf(shape as never, undefined);
    for (const share of [0.2, 0.5, 0.9]) expect(scale.share(scale.write(share, ""))).toBeCloseTo(share, 1);
  }
});

test("a text that is not a number is passed to the engine unchanged", () => {
  const scale = scaleOf({ type: "number", whole: false, min: 0, max: 1, above: undefined }, undefined);
  expect(scale.read("much")).toBe("much");
  expect(scale.read("0.5")).toBe(0.5);
});

test("a replaced component has the defaults of its kind, and its parameters can be changed", () => {
  const base: Table = { recovery: { kind: "reno" }, rto: { kind: "rfc6298", min: "1 s" } };
  const now = effective(base, { "rto.min": "200 ms", recovery: "rfc6675" }, slots);
  expect(now).toMatchObject({ recovery: { kind: "rfc6675", rearm_on_rexmit: false }, rto: { min: "200 ms" } });
});

test("a parameter set back to the stack's own value is not a change, and a new kind drops the old one's parameters", () => {
  const base: Table = { rto: { kind: "rfc6298", min: "1 s" } };
  const once = changed(base, {}, slots, ["rto", "min"], "200 ms");
  expect(once).toEqual({ "rto.min": "200 ms" });
  expect(changed(base, once, slots, ["rto", "min"], "1 s")).toEqual({});
  expect(changed(base, once, slots, ["rto"], { kind: "quic" })).toEqual({ rto: "quic" });
});

test("a stack is written into every flow, after the flow's own parameters", () => {
  const known = { named: [NEWRENO], slots };
  const alone = written(CHAIN, { name: "newreno", set: { "rto.min": "200 ms" } }, known);
  expect(get(alone, ["flow", 0])).toMatchObject({
    stack: "newreno",
    set: { "rto.tick": "500 ms", "rto.min": "200 ms" },
  });
  const other = written(CHAIN, { name: null, set: { rto: "quic" } }, known);
  expect(get(other, ["flow", 0])).toMatchObject({ stack: "reno", set: { rto: "quic" } });
  expect(flat({ rto: { tick: "1 s" }, recovery: { kind: "prr" } })).toEqual({
    "rto.tick": "1 s",
    recovery: { kind: "prr" },
  });
  expect(label({ name: null, set: { "rto.min": "1 s" } }, "reno")).toBe("reno · min 1 s");
});

test("a flow's parameter that a stack lacks is left out, and named", () => {
  const own = { "rto.tick": "500 ms", "rto.phase": "0 ms", "recovery.hole_rule": "ff96" };
  const { kept, left } = fitting(NEWRENO, own, slots);
  expect(kept).toEqual({ "rto.tick": "500 ms" });
  expect(left).toEqual(["rto.phase", "recovery.hole_rule"]);
});

test("a hop is added over a new node and removed again", () => {
  const more = withHopAfter(CHAIN, 1);
  expect(linksOf(more).map((l) => `${l.from}-${l.to}`)).toEqual(["S-R", "R-R1", "R1-D"]);
  expect(linksOf(withoutHop(more, 2)).map((l) => `${l.from}-${l.to}`)).toEqual(["S-R", "R-D"]);
  expect(linksOf(withoutHop(CHAIN, 0)).map((l) => `${l.from}-${l.to}`)).toEqual(["S-D"]);
});

test("a change by hand is a script on the flow's first link, in one direction, and can be undone", () => {
  const place = placeOf(CHAIN, 0, "data");
  expect(place?.path).toEqual(["link", 0, "elements"]);
  if (!place) return;
  const dropped = withDeed(CHAIN, place, { what: "drop", nth: 30 });
  const both = withDeed(dropped, place, { what: "delay", nth: 12, by: "40 ms" });
  expect(get(both, place.path)).toEqual([
    { kind: "script", only: "data", drop: [30], delay: [{ nth: 12, by: "40 ms" }] },
  ]);
  expect(get(both, ["link", 0, "back", "elements"])).toEqual([]);
  expect(deeds(both, place)).toEqual([
    { what: "delay", nth: 12, by: "40 ms" },
    { what: "drop", nth: 30 },
  ]);
  expect(withDeeds(both, place, [])).toMatchObject({ link: [{ elements: [] }, {}] });
});

test("an ACK is counted on the receiver's first link, where elements of both directions stay", () => {
  const lossy = put(CHAIN, ["link", 1, "elements"], [{ kind: "bernoulli", p: 0.1 }]) as Table;
  const place = placeOf(lossy, 0, "acks");
  expect(place?.path).toEqual(["link", 1, "back", "elements"]);
  if (!place) return;
  const dropped = withDeed(lossy, place, { what: "drop", nth: 3 });
  const script = { kind: "script", only: "acks", drop: [3] };
  expect(get(dropped, place.path)).toEqual([script, { kind: "bernoulli", p: 0.1 }]);
  expect(get(dropped, ["link", 1, "elements"])).toEqual([{ kind: "bernoulli", p: 0.1 }]);
});

test("in a dumbbell packets are counted on the bottleneck, and by flow where there is other traffic", () => {
  const dumbbell = { bottleneck: {}, access: {}, flow: [{ stack: "reno" }] };
  const scenario: Table = { run: { duration: "1 s" }, dumbbell };
  const back = ["dumbbell", "bottleneck", "back", "elements"];
  expect(placeOf(scenario, 0, "acks")).toEqual({ path: back, sort: "acks", flow: undefined });
  expect(placeOf({ ...scenario, background: [{ kind: "source" }] }, 0, "data")?.flow).toBe(0);
  const many = put(scenario, ["dumbbell", "flow", 0, "count"], 2) as Table;
  expect(placeOf(many, 1, "data")?.flow).toBe(1);
  // If an element acts before, the packets' numbers are unknown.
  expect(
    placeOf(put(scenario, ["dumbbell", "access", "elements"], [{ kind: "swap" }]) as Table, 0, "data"),
  ).toBeUndefined();
});

test("changes to packets of several flows are listed flow by flow and undone one by one", () => {
  const two = put(CHAIN, ["flow", 1], { from: "S", to: "R", stack: "reno" }) as Table;
  const [first, second] = [placeOf(two, 0, "data"), placeOf(two, 1, "data")];
  if (!first || !second) throw new Error("no place");
  const done = withDeed(withDeed(two, first, { what: "drop", nth: 7 }), second, { what: "drop", nth: 7 });
  expect(get(done, first.path)).toEqual([
    { kind: "script", only: "data", flow: 1, drop: [7] },
    { kind: "script", only: "data", flow: 0, drop: [7] },
  ]);
  const listed = places(done).flatMap((place) => deeds(done, place).map((deed) => says(deed, place)));
  expect(listed).toEqual(["Drop data packet 7 of flow 2", "Drop data packet 7 of flow 1"]);
  expect(deeds(withDeeds(done, second, []), first)).toHaveLength(1);
});

test("of several flows, only the chosen packet is dropped", async () => {
  const engine = await loadHere();
  const dumbbell: Table = {
    access: { rate: "100 Mbps", delay: "2 ms" },
    bottleneck: { rate: "5 Mbps", delay: "20 ms" },
    flow: [{ stack: "reno", count: 3, window: "20 packets" }],
  };
  const shared = put(
    put(CHAIN, ["flow", 1], { from: "S", to: "D", stack: "reno" }),
    ["run", "duration"],
    "3 s",
  ) as Table;
  for (const scenario of [{ run: { duration: "3 s" }, dumbbell } as Table, shared]) {
    const run = async (of: Table) => engine.run({ scenario: toToml(of), seed: 1 });
    const before = await run(scenario);
    const nth = before.flows[1]?.sends.number[30] ?? 0;
    const place = placeOf(scenario, 1, "data", before.flows[1]);
    if (!place) throw new Error("no place");
    const { flows } = await run(withDeed(scenario, place, { what: "drop", nth }));
    const lost = flows.map(({ sends }) => sends.fate.reduce((n, fate) => n + (FATES[fate] === "dropped" ? 1 : 0), 0));
    const losses = before.flows.map(({ sends }) => sends.fate.filter((fate) => FATES[fate] === "dropped").length);
    expect(losses).toEqual(losses.map(() => 0));
    expect(lost).toEqual(losses.map((_, i) => (i === 1 ? 1 : 0)));
    expect(flows[1]?.sends.fate[30]).toBe(FATES.indexOf("dropped"));
  }
});

test("the packet that is dropped by hand is the one that was chosen, data or ACK", async () => {
  const engine = await loadHere();
  for (const handshake of [false, true]) {
    const scenario = put(CHAIN, ["flow", 0, "handshake"], handshake) as Table;
    const run = async (of: Table) => (await engine.run({ scenario: toToml(of), seed: 1 })).flows[0];
    const before = await run(scenario);
    const dropped = async (sort: "data" | "acks", nth: number) => {
      const place = placeOf(scenario, 0, sort);
      if (!place) throw new Error("no place");
      return run(withDeed(scenario, place, { what: "drop", nth }));
    };
    const data = before?.sends.number[40] ?? 0;
    const after = await dropped("data", data);
    expect([after?.sends.number[40], after?.sends.fate[40]]).toEqual([data, FATES.indexOf("dropped")]);
    const ack = before?.acks.number[20] ?? 0;
    const acks = (await dropped("acks", ack))?.acks;
    expect(acks?.dropped[acks.number.indexOf(ack)]).toBe(1);
    expect(acks?.dropped.reduce((a, b) => a + b, 0)).toBe(1);
  }
});
