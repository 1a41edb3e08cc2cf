/** A tab that is closed, slow or frozen: nothing is lost beyond it, and a run ends once it may go on. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { afterwards, type Lab, open, settled, start } from "./browser";

const PRESET = "preset=hoe-1995/fig5-5";

let lab: Lab;
beforeAll(async () => {
  lab = await start();
});
afterAll(() => lab.close());

/** Follows a link to a preset, and returns without waiting for its picture. */
const follow = (hash: string) => {
  location.hash = hash;
};

test("a tab that is closed during a run leaves other tabs of the page alone", async () => {
  const { page, wrong } = await open(lab);
  const other = await page.context().newPage();
  await other.goto(lab.served.url);
  await other.evaluate(follow, PRESET);
  await other.close();
  await afterwards(page, () => page.evaluate(follow, PRESET));
  expect(await page.title()).toContain("Figure 5.5");
  expect(wrong).toEqual([]);
});

test("a page on a processor that is twenty times slower shows a run", async () => {
  const { page, wrong } = await open(lab);
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 20 });
  await afterwards(page, () => page.evaluate(follow, PRESET));
  expect(await page.title()).toContain("Figure 5.5");
  expect(wrong).toEqual([]);
});

test("a tab that the browser freezes during a run shows it when it may go on", async () => {
  const { page, wrong } = await open(lab);
  const session = await page.context().newCDPSession(page);
  await page.evaluate(follow, PRESET);
  await session.send("Page.setWebLifecycleState", { state: "frozen" });
  await new Promise((later) => setTimeout(later, 500));
  await session.send("Page.setWebLifecycleState", { state: "active" });
  await page.waitForFunction(() => document.title.includes("Figure 5.5"));
  await settled(page);
  expect(wrong).toEqual([]);
});
