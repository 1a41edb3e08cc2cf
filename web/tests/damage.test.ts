/** Whatever a link or a file contains, the page shows it or names the fault: it does not hang, and no error is uncaught. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { presets } from "../src/scenario/presets";
import { encode, type State } from "../src/scenario/state";
import { fromToml } from "../src/scenario/toml";
import { afterwards, follow, KERNEL, OWN, open, ROOT, saved, sharedLab } from "./browser";
import { broken, damaged, random } from "./random";

const MANY = 300;
/** A run of a damaged scenario may be long; if it takes longer than this, it is stopped, ms. */
const PATIENCE = 1000;

const lab = sharedLab();

/**
 * Performs an action on the page and waits for its answer: a picture, a refusal, or progress of a run that it stops.
 * Returns the result; rejects if the page's thread does not respond.
 */
async function answered(page: Page, act: { hash?: string; file?: { name: string; text: string } }): Promise<string> {
  return page.evaluate(
    async ({ hash, file, patience }) => {
      const { dataset } = document.documentElement;
      for (const old of document.querySelectorAll(".notice .bare")) (old as HTMLElement).click();
      dataset.lab = "asked";
      if (hash !== undefined) location.hash = hash;
      if (file) {
        const bytes = Uint8Array.from(atob(file.text), (c) => c.charCodeAt(0));
        const data = new DataTransfer();
        data.items.add(new File([bytes], file.name));
        window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
      }
      const settled = () =>
        dataset.lab === "shown" || dataset.lab === "refused" || document.querySelector(".notice.bad") !== null;
      const began = performance.now();
      while (!settled()) {
        await new Promise((later) => setTimeout(later, 5));
        const waited = performance.now() - began;
        if (waited < patience) continue;
        // A run is under way, and can be stopped.
        if (dataset.lab !== "running" && waited < 10 * patience) continue;
        if (dataset.lab !== "running") return `nothing (${dataset.lab})`;
        window.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
        await new Promise((later) => setTimeout(later, 5));
        return (dataset.lab as string) === "running" ? "not stopped" : "stopped";
      }
      return document.querySelector(".notice.bad") ? "notice" : (dataset.lab ?? "");
    },
    { ...act, patience: PATIENCE },
  );
}

/** The page still works: a chosen experiment is drawn. */
async function works(page: Page): Promise<void> {
  await afterwards(page, () => follow(page, "preset=hoe-1995/fig5-5"));
  expect(await page.title()).toContain("Figure 5.5");
}

test("300 random links are shown or refused in words", async () => {
  const { page, wrong } = await open(lab);
  const next = random(21);
  const all = await presets();
  const counted = new Map<string, number>();
  for (let i = 0; i < MANY; i++) {
    const preset = all[Math.floor(next() * all.length)];
    if (!preset) continue;
    const scenario = fromToml(preset.scenario);
    // Two seconds of it with two senders test as much as the whole run.
    const brief = { ...scenario, run: { ...(scenario.run as object), duration: "2 s" } };
    const whole = { scenario: brief, stacks: preset.stacks.slice(0, 2), seed: preset.seed };
    const state = damaged(structuredClone(whole) as never, next) as unknown as State;
    let hash = await encode(state);
    if (i % 10 === 0) hash = hash.slice(0, Math.floor(next() * hash.length));
    const answer = await answered(page, { hash });
    expect(["shown", "refused", "notice", "stopped"], `link ${i}: #${hash}`).toContain(answer);
    expect(wrong, `link ${i}: #${hash}`).toEqual([]);
    counted.set(answer, (counted.get(answer) ?? 0) + 1);
  }
  // Both kinds occur: not all damage is so great that a check of the form finds it.
  expect((counted.get("shown") ?? 0) + (counted.get("stopped") ?? 0)).toBeGreaterThan(20);
  expect((counted.get("refused") ?? 0) + (counted.get("notice") ?? 0)).toBeGreaterThan(100);
  await works(page);
}, 150_000);

test("300 damaged files (scenarios, CSV, Parquet, captures) are shown or refused in words", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-5");
  const next = random(22);
  const files = await samples(page);
  const counted = new Map<string, number>();
  for (let i = 0; i < MANY; i++) {
    const { name, bytes } = files[i % files.length] as Sample;
    const text = Buffer.from(broken(bytes, next)).toString("base64");
    const answer = await answered(page, { file: { name, text } });
    expect(["shown", "refused", "notice", "stopped"], `file ${i}, ${name}`).toContain(answer);
    expect(wrong, `file ${i}, ${name}`).toEqual([]);
    counted.set(`${name} ${answer}`, (counted.get(`${name} ${answer}`) ?? 0) + 1);
  }
  for (const { name } of files) expect([...counted.keys()].some((key) => key.startsWith(name))).toBe(true);
  await works(page);
}, 150_000);

interface Sample {
  name: string;
  bytes: Uint8Array;
}

/** A file of each kind, small enough to be read three hundred times. */
async function samples(page: Page): Promise<Sample[]> {
  const scenario = readFileSync(join(ROOT, "scenarios/satellite.toml"));
  const named = readdirSync(KERNEL).filter((name) => /\.pcap(ng)?(\.gz)?$/.test(name));
  const first = named.filter((name) => name.endsWith(".gz")).sort()[0] ?? "";
  // Unpacked, because the checksum of a packed file detects nearly all damage; and only its beginning.
  const capture = gunzipSync(readFileSync(join(KERNEL, first))).subarray(0, 60_000);
  // A second of the run: its trace has a few hundred rows.
  const brief = { scenario: { ...fromToml((await presets())[0]?.scenario ?? ""), run: { duration: "1 s" } } };
  const hash = await encode({ ...brief, stacks: OWN, seed: 1 });
  await afterwards(page, () => follow(page, hash));
  await page.keyboard.press("d");
  const csv = await saved(page, ".csv", () => page.getByRole("button", { name: "Trace (CSV)" }).click());
  const parquet = await saved(page, ".parquet", () => page.getByRole("button", { name: "Trace (Parquet)" }).click());
  await page.keyboard.press("Escape");
  return [
    { name: "damaged.toml", bytes: scenario },
    { name: "damaged.csv", bytes: csv },
    { name: "damaged.parquet", bytes: parquet },
    { name: "damaged.pcapng", bytes: capture },
  ];
}
