/** Beside each other on one axis of time: two paths, a trace and a run, a capture and a run. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { afterwards, type Lab, open, start } from "./browser";

const SEQUENCE = '.ak-panel[data-view="sequence"]';
const CAPTURE = resolve(import.meta.dirname, "../../tests/captures/kernel/cubic-swap12-sender.pcapng.gz");

let lab: Lab;
beforeAll(async () => {
  lab = await start();
});
afterAll(() => lab.close());

/** The exact values in a line of the table of results. */
function values(page: Page, line: string): Promise<number[]> {
  const cells = page.locator(".ak-table tbody tr", { has: page.locator("th", { hasText: line }) }).locator("td");
  return cells.evaluateAll((all) => all.map((cell) => Number((cell as HTMLElement).dataset.value)));
}

const headings = (page: Page) => page.locator(".ak-table thead th").allTextContents();

async function write(page: Page, key: string, value: string): Promise<void> {
  const field = page.locator(`.field[data-key="${key}"] input[type=text]`);
  await field.evaluate((input) => {
    for (let at = input.parentElement; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
  });
  await field.fill(value);
  await field.press("Enter");
}

test("two variants of a path run beside each other; each is edited alone, and a link holds both", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-5");
  const [before] = await values(page, "goodput");
  await afterwards(page, () => page.getByRole("button", { name: "Compare with a second path" }).click());
  expect(await page.locator(SEQUENCE).count()).toBe(2);
  expect(await values(page, "goodput")).toEqual([before, before]);
  await afterwards(page, () => write(page, "link[1].delay", "77 ms"));
  const [first, second] = await values(page, "goodput");
  expect(first).toBe(before);
  expect(second).not.toBe(before);
  expect((await headings(page)).map((name) => name.split(" · ").at(-1))).toEqual(["path A", "path B"]);
  await page.getByRole("button", { name: "Path A" }).click();
  expect(await page.locator('.field[data-key="link[1].delay"] input[type=text]').inputValue()).not.toBe("77 ms");
  // A packet that is dropped in the second column is dropped on the second path.
  await page.locator(SEQUENCE).nth(1).focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press("n");
  await page.keyboard.press("Enter");
  await afterwards(page, () => page.getByRole("menuitem", { name: "Drop it" }).click());
  const [still, changed] = await values(page, "goodput");
  expect(still).toBe(before);
  expect(changed).not.toBe(second);
  await page.waitForTimeout(600);
  const { page: other } = await open(lab, new URL(page.url()).hash);
  expect(await values(other, "goodput")).toEqual([still, changed]);
  await page.getByRole("button", { name: "Path B" }).click();
  await afterwards(page, () => page.getByRole("button", { name: "Remove this path" }).click());
  expect(await values(page, "goodput")).toEqual([before]);
  expect(wrong).toEqual([]);
});

test("a trace that is dropped on the page is drawn alone or beside the run", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-5");
  const [timeouts] = await values(page, "timeouts");
  const [needed] = await values(page, "needed retransmissions");
  await page.keyboard.press("d");
  const button = page.getByRole("button", { name: "Trace (CSV)" });
  const named = (download: { suggestedFilename: () => string }) => download.suggestedFilename().endsWith(".csv");
  const [download] = await Promise.all([page.waitForEvent("download", named), button.click()]);
  const buffer = readFileSync(await download.path());
  await page.keyboard.press("Escape");
  await afterwards(page, () => page.locator(".stack select").first().selectOption("rfc-6675"));
  const [ours] = await values(page, "needed retransmissions");
  await afterwards(page, () =>
    page.locator("input[type=file]").setInputFiles({ name: "mine.csv", mimeType: "text/csv", buffer }),
  );
  expect(await values(page, "timeouts")).toEqual([timeouts]);
  await afterwards(page, () => page.getByRole("button", { name: "Beside the run" }).click());
  expect(await page.locator(SEQUENCE).count()).toBe(2);
  expect(await values(page, "needed retransmissions")).toEqual([ours, needed]);
  expect((await headings(page))[1]).toBe("mine.csv");
  // A new run takes the place of the old one; the trace stays.
  await afterwards(page, () => page.locator(".stack select").first().selectOption("newreno"));
  expect((await values(page, "needed retransmissions"))[1]).toBe(needed);
  await page.locator(SEQUENCE).nth(1).focus();
  await page.keyboard.press("n");
  await page.keyboard.press("Enter");
  expect(await page.locator(".notice").textContent()).toContain("recorded, not simulated");
  await afterwards(page, () => page.getByRole("button", { name: "Back to the run" }).click());
  expect(await page.locator(SEQUENCE).count()).toBe(1);
  expect(wrong).toEqual([]);
});

test("the sender that is tried on a fitted path stands beside the capture, and their first data is sent at one time", async () => {
  const { page, wrong } = await open(lab);
  await afterwards(page, () => page.locator("input[type=file]").setInputFiles(CAPTURE));
  const [captured] = await values(page, "goodput");
  await afterwards(page, () => page.getByRole("button", { name: "Try another sender" }).click());
  expect(await page.locator(SEQUENCE).count()).toBe(2);
  expect((await values(page, "goodput"))[1]).toBe(captured);
  // One after the other: both use the page's one keyboard.
  const sent = async (i: number) => {
    await page.locator(SEQUENCE).nth(i).focus();
    await page.keyboard.press("0");
    await page.keyboard.press("n");
    return (await page.locator(".ak-tip dl").textContent())?.match(/(?:sent|captured)([\d.]+ s)/)?.[1];
  };
  const [runs, captures] = [await sent(0), await sent(1)];
  expect(runs).toBeDefined();
  expect(captures).toBe(runs);
  expect((await headings(page))[1]).toMatch(/ > .*\(shifted by [+−][\d.]+ s\)/);
  expect(wrong).toEqual([]);
});
