/** The page's tables on a window of 1280 px. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { afterwards, choose, open, SWAPS, sharedLab } from "./browser";

const WINDOW = { viewport: { width: 1280, height: 800 } };

const lab = sharedLab();

/** Cells of tables, except those for screen readers, that have no width, lose text, or leave a box that scrolls or clips. */
function cut(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const table of document.querySelectorAll("table")) {
      if (!table.checkVisibility() || table.closest(".ak-listing")) continue;
      for (const cell of table.querySelectorAll("th, td")) {
        const { left, right, width } = cell.getBoundingClientRect();
        const says = `${table.className}: ${cell.textContent}`;
        if (width < 1) found.push(`${says}: hidden`);
        if (cell.scrollWidth > cell.clientWidth + 1) found.push(`${says}: its text is cut`);
        for (let box = cell.parentElement; box; box = box.parentElement) {
          const { overflowX } = getComputedStyle(box);
          const edges = box.getBoundingClientRect();
          if (box !== document.documentElement && overflowX === "visible") continue;
          if (left < edges.left - 1 || right > edges.right + 1)
            found.push(`${says}: outside ${box.className || box.tagName}`);
        }
      }
    }
    return found;
  });
}

const columns = (page: Page, table: string) => page.locator(`${table} tr`).first().locator("th, td").count();

test("at 1280 px no column of the results is hidden or cut, with two stacks on two paths and several flows", async () => {
  const { page, wrong } = await open(lab, "#preset=wang-shin/droptail", WINDOW);
  expect(await cut(page)).toEqual([]);
  await afterwards(page, () => page.getByRole("button", { name: "Compare with a second path" }).click());
  expect(await columns(page, ".ak-table")).toBeGreaterThan(2);
  expect(await cut(page)).toEqual([]);
  expect(wrong).toEqual([]);
});

test("at 1280 px no column of four stacks' results, with their intervals, is hidden or cut", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/losses", WINDOW);
  expect(await columns(page, ".ak-table")).toBe(5);
  await page.getByRole("button", { name: "Repeat", exact: true }).click();
  await page.waitForFunction(() => document.querySelector(".ak-table")?.textContent?.includes("±"), undefined, {
    timeout: 60_000,
  });
  expect(await cut(page)).toEqual([]);
  expect(wrong).toEqual([]);
});

test("at 1280 px no column of a capture's flows is hidden or cut", async () => {
  const { page, wrong } = await open(lab, "", WINDOW);
  await choose(page, SWAPS);
  expect(await page.locator(".capture table").count()).toBeGreaterThan(0);
  expect(await cut(page)).toEqual([]);
  expect(wrong).toEqual([]);
});
