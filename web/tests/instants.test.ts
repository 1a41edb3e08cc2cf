/** Instants are found, marked with notes that the link keeps, and measured between; all flows are on one graph. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { afterwards, dropIt, enter, open, SEQUENCE, select, sharedLab } from "./browser";

const lab = sharedLab();

const message = (page: Page) => page.locator(".instants .hint").textContent();

/** The content of the first graph, once it is drawn. */
const picture = (page: Page) =>
  page.evaluate(async (selector) => {
    for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
    return document.querySelector<HTMLCanvasElement>(`${selector} canvas`)?.toDataURL();
  }, SEQUENCE);

test("an event is found, and the next one; what names nothing is refused", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-7");
  await page.locator(SEQUENCE).focus();
  for (let i = 0; i < 8; i++) await page.keyboard.press("+");
  const before = await picture(page);
  await page.locator("#main").focus();
  await page.keyboard.press("/");
  await page.keyboard.type("timeout");
  await page.keyboard.press("Enter");
  expect(await message(page)).toMatch(/^1 of 1: [\d.]+ s, timeout$/);
  expect(await picture(page)).not.toBe(before);
  await enter(page.locator("#find"), "drop");
  expect(await message(page)).toMatch(/^1 of 22: .*packet \d+, data/);
  await page.getByRole("button", { name: "Find the next" }).click();
  expect(await message(page)).toMatch(/^2 of 22: /);
  await enter(page.locator("#find"), "fly");
  expect(await message(page)).toMatch(/^Found "fly"\. Allowed:/);
  expect(wrong).toEqual([]);
  await page.context().close();
});

test("a mark with its note is drawn, is in the link, and is undone", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-7");
  const plain = await picture(page);
  await enter(page.locator("#find"), "timeout");
  await page.locator("#main").focus();
  await page.keyboard.press("m");
  await page.waitForFunction(() => history.state?.at === 1);
  await page.keyboard.type("the timer fires");
  await page.keyboard.press("Enter");
  expect(await picture(page)).not.toBe(plain);
  await page.waitForFunction(() => history.state?.at === 2);
  const { page: other } = await open(lab, new URL(page.url()).hash);
  expect(await other.locator(".marks input").inputValue()).toBe("the timer fires");
  expect(await other.locator(".marks button").first().textContent()).toBe(
    await page.locator(".marks button").first().textContent(),
  );
  const undo = page.getByRole("button", { name: "Undo", exact: true });
  await afterwards(page, () => undo.click());
  expect(await page.locator(".marks input").inputValue()).toBe("");
  await afterwards(page, () => undo.click());
  expect(await page.locator(".marks input").count()).toBe(0);
  expect(wrong).toEqual([]);
  await page.context().close();
});

test("between two packets there are time, bytes and a rate", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-5");
  await page.locator("#main").focus();
  await page.keyboard.press("b");
  await page.locator(SEQUENCE).focus();
  const reported = async (steps: number) => {
    for (let i = 0; i < steps; i++) await page.keyboard.press("n");
    const text = (await page.locator(".ak-tip dl").textContent()) ?? "";
    await page.keyboard.press("Enter");
    return Number(text.match(/data([\d\u2009]+) to/)?.[1]?.replaceAll("\u2009", ""));
  };
  const [first, second] = [await reported(2), await reported(9)];
  const bytes = (await message(page))
    ?.replaceAll("\u2009", "")
    .match(/^Δt .* · Δ (\d+) B · [\d.]+ kB\/s \([\d.]+ Mbps\)$/)?.[1];
  expect(Number(bytes)).toBe(second - first);
  // Done: Enter changes packets again.
  await page.getByRole("button", { name: "Measure" }).click();
  await select(page, 1);
  await page.keyboard.press("Enter");
  expect(await page.getByRole("menuitem", { name: "Drop it" }).count()).toBe(1);
  expect(wrong).toEqual([]);
  await page.context().close();
});

test("all flows stand on one graph with their shares and Jain's index, and a packet of any can be dropped", async () => {
  const { page, wrong } = await open(lab, "#preset=wang-shin/fig6");
  const flows = page.locator('.ak-panel[data-view="flows"]');
  await flows.first().scrollIntoViewIfNeeded();
  const cells = await page
    .locator(".ak-shares tbody tr")
    .evaluateAll((all) =>
      all.map((row) =>
        [...row.querySelectorAll<HTMLElement>("td[data-value]")].map(({ dataset }) => Number(dataset.value)),
      ),
    );
  const [index] = cells.at(-1) ?? [];
  const rates = cells.slice(0, -1).map(([rate]) => rate ?? 0);
  const shares = cells.slice(0, -1).map(([, share]) => share ?? 0);
  expect(rates.length).toBeGreaterThan(2);
  expect(shares.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9);
  const sum = rates.reduce((a, b) => a + b, 0);
  expect(index).toBeCloseTo(sum ** 2 / (rates.length * rates.reduce((a, b) => a + b * b, 0)), 9);
  await select(page, 1);
  await dropIt(page);
  expect(await page.locator(".deed").textContent()).toMatch(/^Drop data packet \d+ of flow 1$/);
  expect(wrong).toEqual([]);
  await page.context().close();
});
