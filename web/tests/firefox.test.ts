/** The page in Firefox, driven by WebDriver BiDi. If none is installed, the test is skipped with a message. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, firefox } from "playwright-core";
import { expect, test } from "vitest";
import { afterwards, open, start } from "./browser";

/** `FIREFOX`, or the first of the path. */
function installed(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return process.env.FIREFOX ?? folders.map((folder) => join(folder, "firefox")).find((path) => existsSync(path));
}

const executablePath = installed();
if (!executablePath) process.stderr.write("SKIPPED: the lab page in Firefox (none is installed; FIREFOX names one)\n");

test.skipIf(!executablePath)("Firefox draws a run, by pointer and by keyboard", async () => {
  // The channel of Mozilla's own builds speaks WebDriver BiDi.
  const launched = (): Promise<Browser> =>
    firefox.launch({ channel: "moz-firefox", ...(executablePath && { executablePath }) });
  const lab = await start(launched);
  try {
    const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-5");
    const panel = page.locator('.ak-panel[data-view="sequence"]').first();
    await panel.hover();
    await page.mouse.wheel(0, -600);
    await panel.focus();
    await page.keyboard.press("n");
    await page.waitForSelector(".ak-tip:not([hidden])");
    await page.keyboard.press("Enter");
    await afterwards(page, () => page.getByRole("menuitem", { name: "Drop it" }).click());
    expect(await page.locator(".deed").count()).toBe(1);
    expect(wrong).toEqual([]);
  } finally {
    await lab.close();
  }
});
