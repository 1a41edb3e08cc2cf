/** A tab that is closed, slow or frozen: nothing is lost beyond it, and a run ends once it may go on. */
import { expect, test } from "vitest";
import { afterwards, follow, open, settled, sharedLab } from "./browser";

const PRESET = "preset=hoe-1995/fig5-5";

const lab = sharedLab();

test("a tab that is closed during a run leaves other tabs of the page alone", async () => {
  const { page, wrong } = await open(lab);
  const other = await page.context().newPage();
  await other.goto(lab.served.url);
  await follow(other, PRESET);
  await other.close();
  await afterwards(page, () => follow(page, PRESET));
  expect(await page.title()).toContain("Figure 5.5");
  expect(wrong).toEqual([]);
});

test("a page on a processor that is twenty times slower shows a run", async () => {
  const { page, wrong } = await open(lab);
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 20 });
  await afterwards(page, () => follow(page, PRESET));
  expect(await page.title()).toContain("Figure 5.5");
  expect(wrong).toEqual([]);
});

test("a tab that the browser freezes during a run shows it when it may go on", async () => {
  const { page, wrong } = await open(lab);
  const session = await page.context().newCDPSession(page);
  await follow(page, PRESET);
  await session.send("Page.setWebLifecycleState", { state: "frozen" });
  await new Promise((later) => setTimeout(later, 500));
  await session.send("Page.setWebLifecycleState", { state: "active" });
  await page.waitForFunction(() => document.title.includes("Figure 5.5"));
  await settled(page);
  expect(wrong).toEqual([]);
});
