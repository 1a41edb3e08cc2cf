import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { refusalOf } from "../engine/engine";
import { loadHere } from "../engine/node";
import { Compared } from "./compared";
import type { Table } from "./path";
import { pathOf, repairs } from "./repair";
import { Schema } from "./schema";
import type { Lab } from "./session";

const engine = await loadHere();
const slots = new Schema(JSON.parse(readFileSync("../docs/scenario.schema.json", "utf8"))).slots();
const compared = new Compared({ named: (await engine.stacks()) as unknown as Table[], slots }, () => 0);

const check = (lab: Lab, column: number) =>
  engine.check({ scenario: compared.toml(lab, column) }).then(
    () => undefined,
    (error: Error) => refusalOf(error),
  );

const LAB: Lab = {
  scenario: {
    run: { duration: "1 s" },
    link: [{ from: "S", to: "D", rate: "10 Mbps", delay: "1 ms" }],
    flow: [{ from: "S", to: "D", stack: "reno" }],
  },
  stacks: [{ name: "reno", set: {} }],
  seed: 1,
};

async function offered(lab: Lab) {
  const refusal = await check(lab, 0);
  if (!refusal) throw new Error("not refused");
  return repairs(lab, { column: 0, refusal }, check);
}

test("a component that lacks an option gets it: SACK is switched on", async () => {
  const lab = { ...LAB, stacks: [{ name: "reno", set: { recovery: "prr" } }] };
  const [first, second] = await offered(lab);
  expect(first?.says).toMatch(/^Switch on SACK/);
  expect(first?.next.stacks?.[0]?.set).toMatchObject({ recovery: "prr", "options.sack": true });
  expect(second).toMatchObject({ says: "Take back recovery", next: { stacks: [{ set: {} }] } });
});

test("whatever component is refused, a repair is offered that the engine accepts", async () => {
  let refused = 0;
  for (const name of ["reno", "rack-tlp"])
    for (const slot of slots)
      for (const { name: kind } of slot.shape.type === "variants" ? slot.shape.variants : []) {
        const lab = { ...LAB, stacks: [{ name, set: { [slot.key]: kind } }] };
        const refusal = await check(lab, 0);
        if (!refusal) continue;
        refused += 1;
        const found = await repairs(lab, { column: 0, refusal }, check);
        expect(found.length, `${name} ${slot.key} ${kind}`).toBeGreaterThan(0);
        for (const { next } of found) expect(await check({ ...lab, ...next }, 0)).toBeUndefined();
      }
  expect(refused).toBeGreaterThan(20);
}, 120_000);

test("a number out of range is set to the nearest one in range", async () => {
  const link = [{ ...(LAB.scenario.link as Table[])[0], elements: [{ kind: "bernoulli", p: 1.5 }] }] as Table[];
  const [first] = await offered({ ...LAB, scenario: { ...LAB.scenario, link } });
  expect(first?.says).toBe("Use 1");
  expect(first?.next.scenario).toMatchObject({ link: [{ elements: [{ p: 1 }] }] });
});

test("a key of the engine is a path of the scenario", () => {
  expect(pathOf("link[0].elements[11].p")).toEqual(["link", 0, "elements", 11, "p"]);
  expect(pathOf("dumbbell.bottleneck.rate")).toEqual(["dumbbell", "bottleneck", "rate"]);
});
