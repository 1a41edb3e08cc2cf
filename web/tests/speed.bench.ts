import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { encode } from "../src/scenario/state";
import { fromToml, type Table } from "../src/scenario/toml";
import { DIST, type Lab, open, start } from "./browser";

const ROOT = resolve(import.meta.dirname, "../..");
const PATH = join(ROOT, "papers/blanton-allman-2002/scenario-paper.toml");
const TIMES = 7;

interface Row {
  what: string;
  value: number;
  unit: string;
  /** What issue and documents ask for. */
  wanted: string;
}

const rows: Row[] = [];
let lab: Lab;
beforeAll(async () => {
  lab = await start();
});
afterAll(async () => {
  await lab.close();
  mkdirSync(join(ROOT, "results"), { recursive: true });
  writeFileSync(join(ROOT, "results/web-bench.json"), `${JSON.stringify(rows, undefined, 2)}\n`);
  for (const { what, value, unit, wanted } of rows) {
    process.stdout.write(`${what.padEnd(58)} ${value.toPrecision(3).padStart(8)} ${unit.padEnd(4)} ${wanted}\n`);
  }
});

/** The address of Blanton & Allman's path for so long, with these stacks. */
async function address(duration: string, ...stacks: string[]): Promise<string> {
  const scenario = fromToml(readFileSync(PATH, "utf8"));
  const run = { ...(scenario.run as Table), duration };
  const choices = stacks.map((name) => ({ name, set: {} }));
  return `#${await encode({ scenario: { ...scenario, run }, stacks: choices, seed: 1 })}`;
}

/** From the click to the second frame after the picture's data are there, ms. */
function clickToPicture(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const { dataset } = document.documentElement;
    const before = dataset.runs;
    const begun = performance.now();
    document.querySelector<HTMLElement>(".run")?.click();
    await new Promise<void>((there) => {
      const look = () => (dataset.runs !== before ? there() : requestAnimationFrame(look));
      look();
    });
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    return performance.now() - begun;
  });
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

test.each([
  ["60 s", 500],
  ["600 s", 2000],
])("click to picture, one flow for %s", async (duration, wanted) => {
  const { page } = await open(lab, await address(duration, "sack-ff96"));
  const times: number[] = [];
  for (let i = 0; i < TIMES; i++) times.push(await clickToPicture(page));
  rows.push({
    what: `click to picture, one flow for ${duration}`,
    value: median(times),
    unit: "ms",
    wanted: `≤ ${wanted}`,
  });
  await page.context().close();
});

test("frames a second", async () => {
  const stacks = ["sack-ff96", "dsack", "dsack-avg", "dsack-ewma"];
  const { page } = await open(lab, await address("600 s", ...stacks));
  for (const [what, wheel] of [
    ["zoom", true],
    ["pan", false],
  ] as const) {
    const frames = await page.evaluate(async (zooms) => {
      const panel = document.querySelector<HTMLElement>('.ak-panel[data-view="sequence"]');
      if (!panel) throw new Error("no graph");
      const box = panel.getBoundingClientRect();
      const place = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true };
      const frame = () => new Promise<number>((drawn) => requestAnimationFrame(drawn));
      const begun = await frame();
      const many = 90;
      for (let i = 0; i < many; i++) {
        const delta = i < many / 2 ? -40 : 40;
        const moved = zooms ? { deltaY: delta } : { deltaX: delta };
        panel.dispatchEvent(new WheelEvent("wheel", { ...place, ...moved, cancelable: true }));
        await frame();
      }
      return (1000 * many) / ((await frame()) - begun);
    }, wheel);
    const what4 = `frames a second, ${what}, ${stacks.length} runs of 600 s beside each other`;
    rows.push({ what: what4, value: frames, unit: "/s", wanted: "≥ 30" });
  }
  await page.context().close();
});

test("size of the first load", () => {
  const files = readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter((f) => /\.(html|js|css|wasm)$/.test(f));
  const bytes = files.map((file) => gzipSync(readFileSync(join(DIST, file))).length).reduce((a, b) => a + b, 0);
  rows.push({ what: "all files of the page, compressed", value: bytes / 1e6, unit: "MB", wanted: "< 2" });
});
