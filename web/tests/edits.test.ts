/** Each edit is an entry of the browser's history: undone, redone, and left by Back. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { afterwards, dropIt, enter, follow, open, parameter, SEQUENCE, select, setSeed, sharedLab } from "./browser";

const lab = sharedLab();

/** The edited value, as the page shows it. */
async function shown(page: Page) {
  return {
    seed: await page.inputValue("#seed"),
    stack: await page.locator(".stack select").first().inputValue(),
    delay: await parameter(page, "link[1].delay").inputValue(),
    deeds: await page.locator(".deed").count(),
    goodput: await page.locator(".ak-table td[data-value]").first().getAttribute("data-value"),
  };
}

/** Waits until the edit is the n-th entry. */
async function written(page: Page, n: number): Promise<void> {
  await page.waitForFunction((at) => history.state?.at === at, n);
}

test("each edit of path, stack, seed and single packets is undone and done again: by keys, by buttons, by Back", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-5");
  const undo = page.getByRole("button", { name: "Undo", exact: true });
  const redo = page.getByRole("button", { name: "Redo" });
  expect(await undo.isDisabled()).toBe(true);
  await page.locator("summary", { hasText: "→" }).nth(1).click();
  const field = parameter(page, "link[1].delay");
  if (!(await field.isVisible())) await page.locator("summary", { hasText: "→" }).nth(1).click();
  const edits = [
    () => enter(field, "77 ms"),
    () => page.locator(".stack select").first().selectOption("newreno"),
    () => setSeed(page, "5"),
    async () => {
      await select(page, 3);
      await dropIt(page);
    },
  ];
  const states = [await shown(page)];
  for (const [i, edit] of edits.entries()) {
    await afterwards(page, edit);
    await written(page, i + 1);
    states.push(await shown(page));
  }
  expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(5);
  const ways = [
    () => page.keyboard.press("Control+z"),
    () => undo.click(),
    () => page.evaluate(() => history.back()),
    () => page.keyboard.press("Control+z"),
  ];
  for (const [i, way] of ways.entries()) {
    await afterwards(page, way);
    expect(await shown(page), `back ${i}`).toEqual(states[3 - i]);
  }
  expect(await undo.isDisabled()).toBe(true);
  await afterwards(page, () => page.keyboard.press("Control+Shift+z"));
  expect(await shown(page)).toEqual(states[1]);
  await afterwards(page, () => redo.click());
  expect(await shown(page)).toEqual(states[2]);
  // A new edit replaces the edits that could have been redone.
  await afterwards(page, () => setSeed(page, "9"));
  await written(page, 3);
  expect(await redo.isDisabled()).toBe(true);
  expect(wrong).toEqual([]);
  await page.context().close();
});

test("text that is not taken yet is the browser's to undo, and a link that is followed is left by Back", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-5");
  await afterwards(page, () => setSeed(page, "5"));
  await written(page, 1);
  await page.locator("#seed").focus();
  await page.keyboard.type("77");
  await page.keyboard.press("Control+z");
  await page.waitForTimeout(100);
  expect(await page.evaluate(() => history.state.at)).toBe(1);
  await page.fill("#seed", "5");
  await afterwards(page, () => follow(page, "preset=paths/bundle"));
  expect(await page.locator(SEQUENCE).count()).toBe(4);
  await afterwards(page, () => page.evaluate(() => history.back()));
  expect(await page.locator(SEQUENCE).count()).toBe(1);
  expect(await page.inputValue("#seed")).toBe("5");
  expect(wrong).toEqual([]);
  await page.context().close();
});
