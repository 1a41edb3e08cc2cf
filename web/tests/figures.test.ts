import { mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { afterwards, choose, open, SEQUENCE, SWAPS, select, sharedLab } from "./browser";

/** `tools/dev generate pictures` puts them where README and documents show them. */
const OUT = process.env.FIGURES ?? resolve(import.meta.dirname, "../../results/lab");
const MOST_BYTES = 400_000;

const lab = sharedLab();
beforeAll(() => void mkdirSync(OUT, { recursive: true }));

/** Takes a picture of the whole window. */
async function taken(page: Page, name: string): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(400); // marks fade in, the address is written
  const path = join(OUT, `${name}.png`);
  await page.screenshot({ path });
  expect(statSync(path).size).toBeLessThan(MOST_BYTES);
}

/** Scrolls to the first graph, below the pinned playback. */
async function toGraph(page: Page): Promise<void> {
  const graph = page.locator(SEQUENCE).first();
  await graph.evaluate((panel) => {
    panel.closest(".ak-fold")?.scrollIntoView();
    document.querySelector("main")?.scrollBy(0, -64);
  });
}

const SIZE: BrowserContextOptions = { viewport: { width: 1280, height: 1160 }, reducedMotion: "reduce" };

test("a figure of a stall, told in words", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-7", SIZE);
  await page.waitForFunction(() => document.querySelector(".stall .hint")?.textContent?.includes("long pause"));
  await page.keyboard.press(".");
  await taken(page, "lab-stall");
  expect(wrong).toEqual([]);
});

test("a figure of stacks side by side where packets overtake each other", async () => {
  const { page, wrong } = await open(lab, "", SIZE);
  await afterwards(page, () => page.getByRole("button", { name: "Tour" }).click());
  const tour = page.getByRole("region", { name: "Tour" });
  while ((await tour.getByRole("heading", { name: "A threshold that learns" }).count()) === 0) {
    await afterwards(page, () => tour.getByRole("button", { name: "Next" }).click());
  }
  await tour.getByRole("button", { name: "End the tour" }).click();
  await page.locator("main").evaluate((main) => main.scrollTo(0, 0));
  await taken(page, "lab-compare");
  expect(wrong).toEqual([]);
});

test("a figure of single packets, one of them told, in the dark", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-8", { ...SIZE, colorScheme: "dark" });
  await select(page, 12);
  await page.waitForSelector(".ak-tip:not([hidden])");
  await taken(page, "lab-packet");
  expect(wrong).toEqual([]);
});

test("a figure of a capture, a retransmission that nobody needed told with its evidence", async () => {
  const { page, wrong } = await open(lab, "", SIZE);
  await choose(page, SWAPS);
  await page.locator(SEQUENCE).focus();
  for (let i = 0; i < 6; i++) await page.keyboard.press("+");
  await page.locator(SEQUENCE).evaluate((panel) => {
    const reported = () => document.querySelector(".ak-tip em")?.textContent?.startsWith("needless");
    for (let i = 0; i < 5000 && !reported(); i++)
      panel.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true, cancelable: true }));
  });
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  await page.locator("main").evaluate((main) => main.scrollTo(0, 0));
  await page.keyboard.press("p");
  await page.keyboard.press("n");
  await taken(page, "lab-capture");
  expect(wrong).toEqual([]);
});

test("a figure of a run on a phone", async () => {
  const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-7", { ...phone, reducedMotion: "reduce" });
  await toGraph(page);
  await taken(page, "lab-phone");
  expect(wrong).toEqual([]);
});

test("a figure of a capture beside the sender that is tried on its path", async () => {
  const { page, wrong } = await open(lab, "", SIZE);
  await choose(page, SWAPS);
  await afterwards(page, () => page.getByRole("button", { name: "Try another sender" }).click());
  await page.locator(SEQUENCE).first().focus();
  for (let i = 0; i < 5; i++) await page.keyboard.press("+");
  await toGraph(page);
  await taken(page, "lab-beside");
  expect(wrong).toEqual([]);
});
