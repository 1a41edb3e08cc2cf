/** The page under a finger: real touch events on a screen of 390 px. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { afterwards, enter, open, SEQUENCE, settled, sharedLab } from "./browser";

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

const lab = sharedLab();

/** One finger touches a place of the window and lifts again, as Chromium gets it from the screen. */
async function tap(page: Page, x: number, y: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] });
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await session.detach();
}

/** Two fingers part sideways. */
async function part(page: Page, x: number, y: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const points = (by: number) => [
    { x: x - by, y, id: 1 },
    { x: x + by, y, id: 2 },
  ];
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: points(30) });
  for (const by of [40, 60, 80, 100])
    await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: points(by) });
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await session.detach();
}

async function tapOn(page: Page, selector: string): Promise<void> {
  const target = page.locator(selector);
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  if (!box) throw new Error(`no ${selector}`);
  await tap(page, box.x + box.width / 2, box.y + box.height / 2);
}

/** Taps on several places of the graph until a packet is described. */
async function tapAPacket(page: Page): Promise<void> {
  await page.locator(SEQUENCE).first().scrollIntoViewIfNeeded();
  const box = await page.locator(SEQUENCE).first().boundingBox();
  if (!box) throw new Error("no graph");
  for (let share = 0.2; share < 0.9; share += 0.06) {
    await tap(page, box.x + box.width * share, box.y + box.height * (0.95 - 0.75 * share));
    if (await page.locator(".ak-tip").isVisible()) return;
  }
  throw new Error("no packet under a finger");
}

const runs = (page: Page) => page.evaluate(() => document.documentElement.dataset.runs);

test("a tap on a packet tells about it and changes nothing; the button in what is told opens what can be done", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-5", PHONE);
  const before = await runs(page);
  await tapAPacket(page);
  const tip = page.locator(".ak-tip");
  expect(await tip.textContent()).toMatch(/^(Packet|ACK) \d+/);
  expect(await page.getByRole("menu").count()).toBe(0);
  await tapOn(page, ".ak-tip button");
  expect(await page.getByRole("menu").count()).toBe(1);
  expect(await tip.isVisible()).toBe(false);
  expect(await runs(page)).toBe(before);
  await afterwards(page, () => tapOn(page, 'dialog.menu [role="menuitem"]:first-child'));
  expect(await page.locator(".deed .label").textContent()).toMatch(/^Drop /);
  expect(wrong).toEqual([]);
});

test("two fingers zoom the graph in", async () => {
  const { page } = await open(lab, "#preset=hoe-1995/fig5-5", PHONE);
  await page.locator(SEQUENCE).first().scrollIntoViewIfNeeded();
  const box = await page.locator(SEQUENCE).first().boundingBox();
  if (!box) throw new Error("no graph");
  const seen = () => page.evaluate(() => location.hash);
  await expect.poll(seen).toMatch(/^#lab=/);
  const before = await seen();
  await part(page, box.x + box.width / 2, box.y + box.height / 2);
  await expect.poll(seen).not.toBe(before);
});

test("tour, file, download, help and seed are in a menu where there is no room", async () => {
  const { page, wrong } = await open(lab, "", PHONE);
  expect(await page.getByRole("button", { name: "Tour" }).count()).toBe(0);
  await tapOn(page, "button.more");
  const items = page.getByRole("menuitem");
  expect(await items.allTextContents()).toEqual(["Tour", "Open a file", "Download", "Share", "Dark or light", "Help"]);
  await afterwards(page, () => enter(page.locator("#seed-more"), "7"));
  expect(await page.inputValue("#seed")).toBe("7");
  expect(await page.getByRole("menu").count()).toBe(0);
  await tapOn(page, "button.more");
  await tapOn(page, 'dialog.menu [role="menuitem"]:has-text("Help")');
  expect(await page.getByRole("dialog", { name: "Keyboard and gestures" }).isVisible()).toBe(true);
  expect(wrong).toEqual([]);
});

test("the results of four runs are read without scrolling sideways, in letters of 11 px at least", async () => {
  const { page } = await open(lab, "#preset=paths/bundle", PHONE);
  await settled(page);
  const found = await page.locator('.ak-view[data-view="table"]').evaluate((view) => {
    const cells = [...view.querySelectorAll("th, td, .ak-change")];
    const sizes = cells.map((cell) => Number.parseFloat(getComputedStyle(cell).fontSize));
    return {
      over: view.scrollWidth - view.clientWidth,
      least: Math.min(...sizes),
      runs: view.querySelectorAll("thead th").length,
    };
  });
  expect(found.runs).toBe(4);
  expect(found.over).toBeLessThanOrEqual(0);
  expect(found.least).toBeGreaterThanOrEqual(11);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test("the panel opens as a drawer, a finger drags a slider in it, and a tap beside it closes it", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-5", PHONE);
  const field = page.locator('.field[data-key$=".rate"]').first();
  expect(await field.isVisible()).toBe(false);
  await tapOn(page, ".drawer-button");
  await field.locator("input[type=range]").scrollIntoViewIfNeeded();
  const box = await field.locator("input[type=range]").boundingBox();
  if (!box) throw new Error("no slider");
  const before = await field.locator("input[type=text]").inputValue();
  const session = await page.context().newCDPSession(page);
  const at = (share: number) => [{ x: box.x + share * box.width, y: box.y + box.height / 2 }];
  await afterwards(page, async () => {
    await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: at(0.3) });
    for (const share of [0.35, 0.4, 0.45, 0.5])
      await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: at(share) });
    await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  });
  expect(await field.locator("input[type=text]").inputValue()).not.toBe(before);
  await tap(page, 380, 600);
  await expect.poll(() => field.isVisible()).toBe(false);
  expect(wrong).toEqual([]);
});
