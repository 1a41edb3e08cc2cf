/** Beside each other on one axis of time: two paths, a trace and a run, a capture and a run. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import {
  afterwards,
  choose,
  dropIt,
  enter,
  open,
  parameter,
  SEQUENCE,
  SWAPS,
  saved,
  select,
  sharedLab,
  values,
} from "./browser";

const lab = sharedLab();

const headings = (page: Page) => page.locator(".ak-table thead th").allTextContents();

async function write(page: Page, key: string, value: string): Promise<void> {
  const field = parameter(page, key);
  await field.evaluate((input) => {
    for (let at = input.parentElement; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
  });
  await enter(field, value);
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
  expect(await parameter(page, "link[1].delay").inputValue()).not.toBe("77 ms");
  // A packet that is dropped in the second column is dropped on the second path.
  await select(page, 3, page.locator(SEQUENCE).nth(1));
  await dropIt(page);
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
  const buffer = await saved(page, ".csv", () => page.getByRole("button", { name: "Trace (CSV)" }).click());
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
  await select(page, 1, page.locator(SEQUENCE).nth(1));
  await page.keyboard.press("Enter");
  expect(await page.locator(".notice").textContent()).toContain("recorded, not simulated");
  await afterwards(page, () => page.getByRole("button", { name: "Back to the run" }).click());
  expect(await page.locator(SEQUENCE).count()).toBe(1);
  expect(wrong).toEqual([]);
});

test("the sender that is tried on a fitted path stands beside the capture, and their first data is sent at one time", async () => {
  const { page, wrong } = await open(lab);
  await choose(page, SWAPS);
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
