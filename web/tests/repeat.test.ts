/** The runs repeated on several seeds, in the page and by the command. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { afterwards, commandRun, enter, open, saved, setSeed, sharedLab } from "./browser";

const lab = sharedLab();

/** The means of each flow of `ackclock run --seeds`. */
type Means = { flows: Record<string, { n: number; mean: number; half_width_95: number }>[] };

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
  const toml = await saved(page, ".toml", () => button.click());
  await page.keyboard.press("Escape");
  return toml.toString();
}

test("means and intervals over seeds are those of `ackclock run --seeds`", async () => {
  const { page, wrong } = await open(lab, "#preset=paths/satellite");
  await afterwards(page, () => setSeed(page, "3"));
  const columns = await page.locator(".ak-table thead th").count();
  await enter(page.locator("#seeds"), "5");
  await page.waitForSelector("td[data-half]");
  const lines: [string, string][] = [
    ["goodput", "goodput_bytes_per_s"],
    ["needless retransmissions", "needless_retransmissions"],
    ["timeouts", "timeouts"],
  ];
  for (let i = 0; i < columns; i++) {
    const [flow] = commandRun<Means>(await scenario(page, i), "--seed", "3", "--seeds", "5").flows;
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
  await enter(page.locator("#seeds"), "1");
  expect(await page.locator(".notice.bad").textContent()).toMatch(/found "1"\. Allowed: a whole number from 2 to 1000/);
  expect(wrong).toEqual([]);
  await page.context().close();
});
