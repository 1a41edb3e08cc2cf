import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { loadHere } from "../engine/node";
import { Compared } from "../ui/compared";
import { ofPreset } from "../ui/labs";
import type { Table } from "../ui/path";
import { Schema } from "../ui/schema";
import { presets } from "./presets";
import { fromToml, NotToml, toToml } from "./toml";

const engine = await loadHere();
const slots = new Schema((await engine.schema()) as never).slots();
const compared = new Compared({ named: (await engine.stacks()) as unknown as Table[], slots }, () => 0);
const all = await presets();

test("every scenario of the papers and every everyday path is in a preset, and ids are unique", () => {
  const root = new URL("../../../", import.meta.url);
  // A paper's folder is its authors and the year; papers/tuning has plans.
  const papers = readdirSync(new URL("papers", root), { withFileTypes: true }).filter((e) => e.name.includes("-"));
  const scenario = /^(?!(paper|readings|causes)\.toml$).*\.toml$/;
  const files = [...papers.map((p) => `papers/${p.name}`), "scenarios"].flatMap((folder) =>
    readdirSync(new URL(folder, root))
      .filter((name) => scenario.test(name))
      .map((name) => `${folder}/${name}`),
  );
  expect(files.length).toBeGreaterThan(20);
  expect([...new Set(all.map((p) => p.file))].sort()).toEqual(files.sort());
  expect(new Set(all.map((p) => p.id)).size).toBe(all.length);
});

test("the engine accepts every preset with each of its stacks, also after rewriting", async () => {
  for (const preset of all) {
    const layout = await engine.check({ scenario: preset.scenario });
    if (preset.span) expect(preset.span[1], preset.id).toBeLessThanOrEqual(layout.durationS);
    expect(await engine.check({ scenario: toToml(fromToml(preset.scenario)) }), preset.id).toEqual(layout);
    for (const scenario of compared.all(ofPreset(preset)).scenarios)
      await expect(engine.check({ scenario }), preset.id).resolves.toBeDefined();
  }
}, 60_000);

test("a scenario that is written again is the same run", async () => {
  const ids = ["hoe-1995/fig5-7", "fukuda-2018/fig3", "wang-shin/fig6", "paths/handover"];
  for (const preset of all.filter((p) => ids.includes(p.id))) {
    const report = async (scenario: string) => (await engine.run({ scenario, seed: 1 })).summary.runs;
    expect(await report(toToml(fromToml(preset.scenario)))).toEqual(await report(preset.scenario));
  }
});

test("a text that is not TOML is refused with its line", () => {
  expect(() => fromToml("a = 1\nb = [")).toThrow(NotToml);
  expect(() => fromToml("a = 1\nb = = 2")).toThrow(/^line 2: /);
});
