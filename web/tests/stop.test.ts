/** A run goes on in its worker: its progress is shown, and it ends on request. */
import { expect, test } from "vitest";
import { encode } from "../src/scenario/state";
import { fromToml } from "../src/scenario/toml";
import { afterwards, follow, LONG, OWN, open, sharedLab } from "./browser";

const lab = sharedLab();

test("a long run shows how far it is, can be stopped at once, and the next one runs", async () => {
  const { page, wrong } = await open(lab);
  const state = { scenario: fromToml(LONG), stacks: OWN, seed: 1 };
  const fragment = await encode(state);
  await follow(page, fragment);
  await expect.poll(() => page.locator("button.run").getAttribute("title")).toMatch(/^Stop/);
  const bar = page.getByRole("progressbar");
  await expect
    .poll(async () => Number(await bar.getAttribute("aria-valuenow")), { timeout: 30_000 })
    .toBeGreaterThan(0);
  expect(page.workers().length).toBeGreaterThan(0);
  const before = page.workers().length;
  await page.keyboard.press("Escape");
  await expect.poll(() => page.locator("button.run").getAttribute("title")).toMatch(/^Run/);
  // A browser gives a busy worker a moment.
  await expect.poll(() => page.workers().length, { timeout: 20_000 }).toBe(before - 1);
  await afterwards(page, () => follow(page, "preset=hoe-1995/fig5-7"));
  expect(wrong).toEqual([]);
});
