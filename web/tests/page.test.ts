import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { encode } from "../src/scenario/state";
import { fromToml } from "../src/scenario/toml";
import {
  afterwards,
  commandRun,
  dropIt,
  enter,
  OWN,
  open,
  ROOT,
  SEQUENCE,
  saved,
  select,
  setSeed,
  settled,
  sharedLab,
  shownRate,
  values,
} from "./browser";

const lab = sharedLab();

interface Report {
  runs: [{ trace_hash: string; flows: Record<string, number>[] }];
}

/** The i-th scenario of the sheet of downloads, and the hash beside it. */
async function taken(page: Page, i: number): Promise<{ toml: string; hash: string }> {
  await page.keyboard.press("d");
  const button = page.getByRole("button", { name: "Scenario (TOML)" }).nth(i);
  const toml = (await saved(page, ".toml", () => button.click())).toString();
  const hash = (await page.locator(`[data-hash="${i}"]`).textContent()) ?? "";
  await page.keyboard.press("Escape");
  return { toml, hash };
}

/** Opens a file, as if it had been chosen. */
async function bring(page: Page, name: string, content: string | Buffer): Promise<void> {
  const buffer = Buffer.from(content);
  await page.locator("input[type=file]").setInputFiles({ name, mimeType: "application/toml", buffer });
}

const picture = (page: Page) =>
  page
    .locator(`${SEQUENCE} canvas`)
    .first()
    .evaluate((c) => (c as HTMLCanvasElement).toDataURL());

async function settle(page: Page): Promise<void> {
  await settled(page);
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

test("the page begins with a picture, asks nobody else, and has no word in the console", async () => {
  const { page, wrong } = await open(lab);
  expect(await page.locator(SEQUENCE).count()).toBe(1);
  expect(await values(page, "timeouts")).toEqual([1]);
  expect(wrong).toEqual([]);
});

test("an experiment chosen from the menu runs", async () => {
  const { page, wrong } = await open(lab);
  await page.keyboard.press("e");
  await page.getByRole("searchbox").fill("bundle of links");
  await afterwards(page, () => page.keyboard.press("Enter"));
  expect(await page.locator(SEQUENCE).count()).toBe(4);
  expect(await page.title()).toContain("bundle");
  expect(wrong).toEqual([]);
});

test("numbers and trace hashes are those of `ackclock run` with the scenario that is downloaded", async () => {
  const { page } = await open(lab, "#preset=paths/bundle");
  await afterwards(page, () => setSeed(page, "7"));
  const goodput = await values(page, "goodput");
  const needed = await values(page, "needed retransmissions");
  const refused = await values(page, "refused retransmissions");
  const needless = await values(page, "needless retransmissions");
  const timeouts = await values(page, "timeouts");
  expect(goodput).toHaveLength(4);
  for (const i of goodput.keys()) {
    const { toml, hash } = await taken(page, i);
    const { trace_hash, flows } = commandRun<Report>(toml, "--seed", "7").runs[0];
    expect(hash).toBe(trace_hash);
    const flow = flows[0] as Record<string, number>;
    expect(goodput[i]).toBe(flow.goodput_bytes_per_s);
    expect(needless[i]).toBe(flow.needless_retransmissions);
    expect(refused[i]).toBe(flow.refused_retransmissions);
    expect((needed[i] ?? 0) + (refused[i] ?? 0) + (needless[i] ?? 0)).toBe(flow.retransmissions);
    expect(timeouts[i]).toBe(flow.timeouts);
  }
});

test("the wheel zooms in time, and pointing at a packet tells about it", async () => {
  const { page, wrong } = await open(lab);
  const before = await picture(page);
  const box = await page.locator(SEQUENCE).boundingBox();
  if (!box) throw new Error("no graph");
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.5);
  await page.mouse.wheel(0, -600);
  await settle(page);
  expect(await picture(page)).not.toBe(before);
  await page.locator(SEQUENCE).focus();
  await page.keyboard.press("n");
  await page.waitForSelector(".ak-tip:not([hidden])");
  expect(await page.locator(".ak-tip").textContent()).toMatch(/segment|bytes|packet/i);
  expect(wrong).toEqual([]);
});

test("a packet dropped by hand changes the graph, and undone it is as before", async () => {
  const { page } = await open(lab, "#preset=hoe-1995/fig5-5");
  const before = await values(page, "goodput");
  const drawn = await picture(page);
  await select(page, 3);
  await dropIt(page);
  expect(await values(page, "goodput")).not.toEqual(before);
  expect(await picture(page)).not.toBe(drawn);
  const deed = page.locator(".deed");
  expect(await deed.textContent()).toMatch(/^Drop data packet \d+$/);
  await afterwards(page, () => deed.getByRole("button").click());
  expect(await values(page, "goodput")).toEqual(before);
  expect(await page.locator(".deed").count()).toBe(0);
});

test("the address restores the state: path, stacks, parameters, seed, view", async () => {
  const { page } = await open(lab, "#preset=paths/handover");
  await afterwards(page, () => setSeed(page, "3"));
  await afterwards(page, () => enter(shownRate(page), "3 Mbps"));
  const shown = async (of: Page) => ({
    rate: await shownRate(of).inputValue(),
    stacks: await of.locator(".stack select").evaluateAll((all) => all.map((s) => (s as HTMLSelectElement).value)),
    seed: await of.inputValue("#seed"),
    goodput: await values(of, "goodput"),
  });
  const here = await shown(page);
  expect(here.rate).toBe("3 Mbps");
  await page.locator(SEQUENCE).first().focus();
  await page.keyboard.press("+");
  await page.waitForTimeout(600);
  const drawn = await picture(page);
  const { page: other, wrong } = await open(lab, new URL(page.url()).hash);
  expect(await shown(other)).toEqual(here);
  await settle(other);
  expect(await picture(other)).toBe(drawn);
  expect(wrong).toEqual([]);
});

test("an address whose scenario the engine refuses shows where, and is mended in the panel", async () => {
  const scenario = fromToml(readFileSync(join(ROOT, "scenarios/satellite.toml"), "utf8"));
  const wrong = { ...scenario, run: { duration: "none" } };
  const fragment = await encode({ scenario: wrong, stacks: OWN, seed: 1 });
  const { page } = await open(lab);
  await page.goto(`${lab.served.url}#${fragment}`);
  await page.waitForSelector("html[data-lab=refused]");
  const field = page.locator('.field[data-key="run.duration"]');
  expect(await field.locator(".refusal").textContent()).toContain("a time");
  await afterwards(page, () => enter(field.locator("input[type=text]"), "20 s"));
  expect(await values(page, "goodput")).toHaveLength(1);
});

test("an address that is damaged gives a message, and the page works", async () => {
  const { page } = await open(lab, "#lab=1.AAAA");
  expect(await page.getByRole("alert").first().textContent()).toContain("cannot be opened");
  expect(await page.locator(SEQUENCE).count()).toBe(1);
});

test("a scenario that was downloaded opens as the same run", async () => {
  const { page } = await open(lab, "#preset=blanton-allman-2002/burst");
  const { toml, hash } = await taken(page, 0);
  const { page: other, wrong } = await open(lab);
  await afterwards(other, async () => {
    await bring(other, "mine.toml", toml);
  });
  expect((await taken(other, 0)).hash).toBe(hash);
  expect(wrong).toEqual([]);
});

test("a seed that is none is refused with what is allowed", async () => {
  const { page } = await open(lab);
  await page.fill("#seed", "-1");
  await page.keyboard.press("Tab");
  expect(await page.locator(".notice.bad").textContent()).toMatch(/found "-1"\. Allowed: a whole number from 0/);
});

test("a file that the engine refuses gives one message that says where, and the page stays as it was", async () => {
  const { page, wrong } = await open(lab);
  const before = await page.title();
  await bring(page, "odd.toml", "# mine\n[run]\nduration = '1 s'\nlink = 5\n");
  expect(await page.locator(".notice.bad").textContent()).toMatch(/^odd\.toml: line 4: key `run\.link`: found/);
  expect(await page.title()).toBe(before);
  expect(wrong).toEqual([]);
});

test("a trace that was downloaded opens as the same graph", async () => {
  const { page, wrong } = await open(lab);
  await page.keyboard.press("d");
  const csv = await saved(page, ".csv", () => page.getByRole("button", { name: "Trace (CSV)" }).click());
  const parquet = await saved(page, ".parquet", () => page.getByRole("button", { name: "Trace (Parquet)" }).click());
  await page.keyboard.press("Escape");
  const counted = async (of: Page) => ({
    needed: await values(of, "needed retransmissions"),
    refused: await values(of, "refused retransmissions"),
    needless: await values(of, "needless retransmissions"),
    timeouts: await values(of, "timeouts"),
    stall: await values(of, "longest stall"),
  });
  const before = await counted(page);
  const { page: other } = await open(lab, "#preset=paths/bundle");
  for (const [name, content] of [["mine.csv", csv] as const, ["mine.parquet", parquet] as const]) {
    await afterwards(other, () => bring(other, name, content));
    expect(await counted(other)).toEqual(before);
    expect(await other.locator(".note").textContent()).toContain(name);
  }
  await bring(other, "bad.csv", "a,b\n");
  await other.waitForSelector(".notice.bad");
  expect(await other.locator(".notice.bad").textContent()).toContain("bad.csv: line 1");
  await afterwards(other, () => other.keyboard.press("r"));
  expect(wrong).toEqual([]);
});

test("a file that is no scenario gives one message that says where", async () => {
  const { page } = await open(lab);
  await bring(page, "bad.toml", "a = 1\nb = [");
  expect(await page.locator(".notice.bad").textContent()).toContain("bad.toml: line 2");
});

test("a bad value is refused in its field with what is allowed, and a good one runs", async () => {
  const { page } = await open(lab, "#preset=paths/satellite");
  const field = page.locator('.field[data-key$=".bad_loss"]');
  await enter(field.locator("input[type=text]"), "1.5");
  await page.waitForSelector("html[data-lab=refused]");
  expect(await field.locator(".refusal").textContent()).toMatch(/Found 1\.5\. Allowed: .*0.*1/);
  expect(await field.locator("input[type=text]").getAttribute("aria-invalid")).toBe("true");
  await afterwards(page, () => enter(field.locator("input[type=text]"), "0.9"));
  expect(await field.locator(".refusal").isVisible()).toBe(false);
});

test("a combination of components that makes no sense says why, and is mended in one click", async () => {
  const { page } = await open(lab, "#preset=hoe-1995/fig5-7");
  await page.locator(".stack .slots > summary").click();
  await page.locator(".slot", { hasText: "Fast recovery" }).locator("> summary").click();
  await page.locator('.field[data-key="recovery"] select').selectOption("prr");
  await page.waitForSelector("html[data-lab=refused]");
  const message = await page.locator(".stack .refusal:not([hidden])").allTextContents();
  expect(message.join(" ")).toMatch(/only|together|SACK|sack/);
  const repair = page.locator(".note").getByRole("button", { name: /^Switch on SACK/ });
  await afterwards(page, () => repair.click());
  expect(await page.locator(".stack .refusal:not([hidden])").count()).toBe(0);
});

test("who chooses by the keyboard stays where the choice was made", async () => {
  const { page } = await open(lab, "#preset=hoe-1995/fig5-7");
  const stack = page.locator(".stack select").first();
  await stack.focus();
  await afterwards(page, () => stack.selectOption("newreno"));
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Stack 1");
  const add = page.locator("details.card[open] select.add").first();
  await add.focus();
  await afterwards(page, () => add.selectOption("bernoulli"));
  expect(await page.evaluate(() => document.querySelector("#panel")?.contains(document.activeElement))).toBe(true);
  expect(await page.locator('.field[data-key$="elements[0].p"]').count()).toBe(1);
});

test("everything that can be operated has a name, in dark and on a phone too", async () => {
  const { page } = await open(lab, "", { viewport: { width: 390, height: 844 }, colorScheme: "dark" });
  const nameless = await page.evaluate(() => {
    const all = document.querySelectorAll<HTMLElement>("button, input, select, textarea, [role=application]");
    const named = (e: HTMLElement) =>
      e.getAttribute("aria-label") || e.textContent?.trim() || (e as HTMLInputElement).labels?.length || e.title;
    return [...all].filter((e) => !named(e)).map((e) => e.outerHTML.slice(0, 120));
  });
  expect(nameless).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test("the tour goes through its steps, each with a picture", async () => {
  const { page, wrong } = await open(lab);
  await afterwards(page, () => page.getByRole("button", { name: "Tour" }).click());
  const tour = page.getByRole("region", { name: "Tour" });
  while ((await tour.getByRole("button", { name: "Done" }).count()) === 0) {
    await afterwards(page, () => tour.getByRole("button", { name: "Next" }).click());
  }
  expect(await page.locator(SEQUENCE).count()).toBe(3);
  await tour.getByRole("button", { name: "Done" }).click();
  expect(await tour.count()).toBe(0);
  expect(wrong).toEqual([]);
});
