/** The runs repeated on several seeds, in the page and by the command. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { afterwards, type Lab, open, start } from "./browser";

const PYTHON = process.env.ACKCLOCK_PYTHON ?? resolve(import.meta.dirname, "../../.venv/bin/python");

let lab: Lab;
beforeAll(async () => {
  lab = await start();
});
afterAll(() => lab.close());

type Interval = { n: number; mean: number; half_width_95: number };

/** The means of each flow of `ackclock run --seeds`. */
function command(toml: string, seed: number, seeds: number): Record<string, Interval>[] {
  const folder = mkdtempSync(join(tmpdir(), "ackclock-"));
  const file = join(folder, "scenario.toml");
  writeFileSync(file, toml);
  const args = ["-m", "ackclock", "run", file, "--seed", String(seed), "--seeds", String(seeds), "--json"];
  const message = execFileSync(PYTHON, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  rmSync(folder, { recursive: true });
  return (JSON.parse(message) as { flows: Record<string, Interval>[] }).flows;
}

/** Means and halves of their intervals in a line of the table. */
function cells(page: Page, line: string): Promise<{ mean: number; half: number }[]> {
  const found = page.locator(".ak-table tbody tr", { has: page.locator("th", { hasText: line }) }).locator("td");
  return found.evaluateAll((all) =>
    all.map((cell) => {
      const { value, half } = (cell as HTMLElement).dataset;
      return { mean: Number(value), half: Number(half) };
    }),
  );
}

/** The scenario of a column, as it is downloaded. */
async function scenario(page: Page, i: number): Promise<string> {
  await page.locator("#main").focus(); // leaves the field
  await page.keyboard.press("d");
  const button = page.getByRole("button", { name: "Scenario (TOML)" }).nth(i);
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  await page.keyboard.press("Escape");
  return readFileSync(await download.path(), "utf8");
}

test("means and intervals over seeds are those of `ackclock run --seeds`", async () => {
  const { page, wrong } = await open(lab, "#preset=paths/satellite");
  await afterwards(page, async () => {
    await page.fill("#seed", "3");
    await page.keyboard.press("Tab");
  });
  const columns = await page.locator(".ak-table thead th").count();
  await page.fill("#seeds", "5");
  await page.keyboard.press("Enter");
  await page.waitForSelector("td[data-half]");
  const lines: [string, string][] = [
    ["goodput", "goodput_bytes_per_s"],
    ["needless retransmissions", "needless_retransmissions"],
    ["timeouts", "timeouts"],
  ];
  for (let i = 0; i < columns; i++) {
    const [flow] = command(await scenario(page, i), 3, 5);
    for (const [line, key] of lines) {
      const { mean, half } = (await cells(page, line))[i] ?? {};
      expect(mean, line).toBe(flow?.[key]?.mean);
      // The quantile of Student's t comes from logarithms, whose last digits are the machine's.
      expect(Math.abs(half / (flow?.[key]?.half_width_95 || 1) - 1) < 1e-12 || half === 0, line).toBe(true);
    }
  }
  expect(await page.locator(".repeat .hint[role=status]").textContent()).toContain("seeds 3 to 7");
  await page.getByRole("button", { name: "This seed" }).click();
  expect(await page.locator("td[data-half]").count()).toBe(0);
  expect(wrong).toEqual([]);
  await page.context().close();
});

test("a repetition shows how far it is and can be stopped; a number that is none is refused", async () => {
  const { page, wrong } = await open(lab, "#preset=paths/satellite");
  await page.fill("#seeds", "1000");
  await page.getByRole("button", { name: "Repeat", exact: true }).click();
  await page.waitForFunction(() =>
    /^[1-9]\d* of \d+ runs$/.test(document.querySelector(".repeat .hint[role=status]")?.textContent ?? ""),
  );
  await page.getByRole("button", { name: "Stop repeating" }).click();
  await page.getByRole("button", { name: "Repeat", exact: true }).waitFor();
  expect(await page.locator("td[data-half]").count()).toBe(0);
  await page.fill("#seeds", "1");
  await page.keyboard.press("Enter");
  expect(await page.locator(".notice.bad").textContent()).toMatch(/found "1"\. Allowed: a whole number from 2 to 1000/);
  expect(wrong).toEqual([]);
  await page.context().close();
});
