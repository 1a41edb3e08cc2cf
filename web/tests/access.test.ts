/** Everyone can use the page: axe finds nothing on it, and the keyboard alone does everything. */
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { afterwards, choose, open, SWAPS, sharedLab } from "./browser";

const lab = sharedLab();

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const DESKTOP = { viewport: { width: 1280, height: 800 } };

/** The findings of axe: the rule, and the place. */
async function found(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (window as unknown as { axe: { run: () => Promise<AxeResults> } }).axe.run(),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary ?? ""}`),
  );
}

for (const [name, size] of [
  ["desktop", DESKTOP],
  ["phone", PHONE],
] as const)
  for (const colorScheme of ["light", "dark"] as const)
    test(`axe finds nothing on a ${name}, ${colorScheme}`, async () => {
      const options = { ...size, colorScheme, reducedMotion: "reduce" } as const;
      const { page } = await open(lab, "#preset=hoe-1995/fig5-7", options);
      expect(await found(page), "the page").toEqual([]);
      await page
        .locator(".stack .slots > summary")
        .first()
        .evaluate((e) => (e as HTMLElement).click());
      await page.locator('.ak-panel[data-view="sequence"]').first().focus();
      await page.keyboard.press("n");
      await page.keyboard.press(".");
      expect(await found(page), "a packet and a pause told").toEqual([]);
      // Sheets use the page's colours, so each is checked in one of the two themes.
      const sheets = (name === "desktop") === (colorScheme === "light");
      const keys = { e: "experiments", d: "downloads", "?": "help" };
      for (const [key, what] of Object.entries(sheets ? keys : {})) {
        await page.keyboard.press(key);
        expect(await found(page), what).toEqual([]);
        await page.keyboard.press("Escape");
      }
      await page.locator('.ak-panel[data-view="sequence"]').first().focus();
      await page.keyboard.press("Enter");
      expect(await found(page), "the menu of a packet").toEqual([]);
      await page.keyboard.press("Escape");
      const field = page.locator('.field[data-key$=".rate"] input[type=text]').first();
      await field.evaluate((e) => {
        (e as HTMLInputElement).value = "no rate";
        e.dispatchEvent(new Event("change"));
      });
      await page.waitForSelector("html[data-lab=refused]");
      expect(await found(page), "a refusal").toEqual([]);
      await page.context().close();
    });

test("axe finds nothing in the tour and beside a capture", async () => {
  const { page } = await open(lab, "", { ...DESKTOP, reducedMotion: "reduce" });
  await afterwards(page, () => page.getByRole("button", { name: "Tour" }).click());
  expect(await found(page), "the tour").toEqual([]);
  await page.getByRole("button", { name: "End the tour" }).click();
  await choose(page, SWAPS);
  expect(await found(page), "a capture").toEqual([]);
  const context = await lab.browser.newContext({ ...PHONE });
  const first = await context.newPage();
  await first.goto(lab.served.url);
  await first.waitForSelector("html[data-lab=shown]");
  expect(await found(first), "a first visit").toEqual([]);
  await context.close();
});

/** Moves by Tab, forwards or backwards, to the first element that matches a selector. */
async function tabTo(page: Page, selector: string, key = "Tab"): Promise<void> {
  for (let i = 0; i < 300; i++) {
    await page.keyboard.press(key);
    if (await page.evaluate((s) => document.activeElement?.matches(s) ?? false, selector)) return;
  }
  throw new Error(`Tab does not lead to ${selector}`);
}

test("the keyboard alone opens an experiment, changes a rate and a packet, folds a graph and takes it all back", async () => {
  const { page, wrong } = await open(lab, "", DESKTOP);
  await tabTo(page, ".preset-button");
  await page.keyboard.press("Enter");
  await page.keyboard.type("single loss");
  await afterwards(page, () => page.keyboard.press("Enter"));
  expect(await page.title()).toContain("Figure 5.5");
  await page.waitForTimeout(500); // edits that follow each other faster count as one

  await tabTo(page, '.field[data-key$=".rate"] input[type=text]');
  await page.keyboard.press("Control+a");
  await page.keyboard.type("100 kB/s");
  await afterwards(page, () => page.keyboard.press("Enter"));
  expect(await page.title()).toContain("800 kbps");
  await page.waitForTimeout(500); // likewise

  await tabTo(page, '[data-fold="sequence"] > summary');
  await page.keyboard.press("Enter");
  expect(await page.locator('.ak-panel[data-view="sequence"]').first().isVisible()).toBe(false);
  await page.keyboard.press("Enter");
  await tabTo(page, '.ak-panel[data-view="sequence"]');
  for (let i = 0; i < 3; i++) await page.keyboard.press("n");
  expect(await page.locator(".ak-tip").isVisible()).toBe(true);
  await page.keyboard.press("Enter");
  expect(await page.locator('[role="menuitem"]').first().textContent()).toBe("Drop it");
  await afterwards(page, () => page.keyboard.press("Enter"));
  expect(await page.locator(".deed").count()).toBe(1);

  await afterwards(page, () => page.keyboard.press("Control+z"));
  expect(await page.locator(".deed").count()).toBe(0);
  await afterwards(page, () => page.keyboard.press("Control+z"));
  expect(await page.title()).toContain("Figure 5.5: recovery from a single loss");
  expect(wrong).toEqual([]);
});
