/** The views as a browser draws them: linked in time, moved by wheel, drag, keys and play, saved as pictures. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { open, saved, sharedLab } from "./browser";

const lab = sharedLab();

const PRESET = "#preset=wang-shin/fig6";

/** The drawings of all runs' panels of a view, below and above, once drawing has finished. */
async function drawn(page: Page, view: string): Promise<string> {
  await page.locator(`.ak-panel[data-view=${view}]`).first().scrollIntoViewIfNeeded();
  return page.evaluate(async (name) => {
    for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame);
    const panels = document.querySelectorAll<HTMLCanvasElement>(`.ak-panel[data-view=${name}] canvas:first-child`);
    return [...panels].map((canvas) => canvas.toDataURL()).join("\n");
  }, view);
}

/** Puts the pointer on the first time-sequence graph, at a share of its width. */
async function point(page: Page, share: number): Promise<{ x: number; y: number }> {
  const panel = page.locator(".ak-panel[data-view=sequence]").first();
  await panel.scrollIntoViewIfNeeded();
  const box = await panel.boundingBox();
  if (!box) throw new Error("no graph");
  const at = { x: box.x + share * box.width, y: box.y + box.height / 2 };
  await page.mouse.move(at.x, at.y);
  return at;
}

const LINKED = ["sequence", "window", "rto", "queue"];

test("what moves one graph in time moves all, and a double click shows everything again", async () => {
  const { page, wrong } = await open(lab, PRESET);
  const all = async () => {
    const seen: string[] = [];
    for (const view of LINKED) seen.push(await drawn(page, view));
    return seen;
  };
  const before = await all();
  await point(page, 0.5);
  await page.mouse.wheel(0, -800);
  const zoomed = await all();
  for (let i = 0; i < LINKED.length; i++) expect(zoomed[i], LINKED[i]).not.toBe(before[i]);
  const { x, y } = await point(page, 0.5);
  await page.mouse.down();
  await page.mouse.move(x - 80, y, { steps: 4 });
  await page.mouse.up();
  const moved = await all();
  for (let i = 0; i < LINKED.length; i++) expect(moved[i], LINKED[i]).not.toBe(zoomed[i]);
  const again = await point(page, 0.5);
  await page.mouse.dblclick(again.x, again.y);
  await page.keyboard.press("Escape");
  // The page may begin with a part of the run; two resets are alike.
  const whole = await all();
  await page.keyboard.press("+");
  await page.keyboard.press("0");
  expect(await all()).toEqual(whole);
  expect(wrong).toEqual([]);
  await page.context().close();
});

test("graphs inside the window are drawn before those outside it, and all are drawn", async () => {
  const { page } = await open(lab, PRESET);
  const inside = await page.evaluate(async () => {
    const order: Element[] = [];
    const { clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...box) {
      const panel = this.canvas.closest(".ak-panel");
      if (panel && !order.includes(panel)) order.push(panel);
      clearRect.apply(this, box);
    };
    const panels = () => [...document.querySelectorAll(".ak-panel")];
    const before = panels();
    document.querySelector<HTMLElement>(".run")?.click();
    while (panels().some((panel) => before.includes(panel) || !order.includes(panel)))
      await new Promise(requestAnimationFrame);
    return order.map((panel) => panel.getBoundingClientRect().top < window.innerHeight);
  });
  expect(inside).toContain(true);
  expect(inside).toContain(false);
  expect(inside).toEqual(inside.toSorted((a, b) => Number(b) - Number(a)));
});

test("packets play forwards and backwards", async () => {
  const { page } = await open(lab, PRESET);
  const now = async () => Number.parseFloat((await page.locator(".ak-now").textContent()) ?? "");
  const play = page.getByRole("button", { name: "play", exact: true });
  const back = page.getByRole("button", { name: "play backwards" });
  await play.scrollIntoViewIfNeeded();
  await play.click();
  await page.waitForFunction(() => Number.parseFloat(document.querySelector(".ak-now")?.textContent ?? "0") > 0.02);
  await back.click();
  const turned = await now();
  await page.waitForFunction(
    (from) => Number.parseFloat(document.querySelector(".ak-now")?.textContent ?? "9") < from,
    turned - 0.005,
  );
  await back.click();
  const still = await now();
  await page.evaluate(() => new Promise((later) => setTimeout(later, 200)));
  expect(await now()).toBe(still);
  await page.context().close();
});

test("a switch of the legend takes its layer out of the graph and brings it back", async () => {
  const { page } = await open(lab, PRESET);
  const legend = page.locator(".ak-view[data-view=sequence] .ak-legend");
  const before = await drawn(page, "sequence");
  await legend.getByRole("button", { name: "acknowledged" }).click();
  expect(await drawn(page, "sequence")).not.toBe(before);
  expect(await legend.getByRole("button", { name: "acknowledged" }).getAttribute("aria-pressed")).toBe("false");
  await legend.getByRole("button", { name: "acknowledged" }).click();
  expect(await drawn(page, "sequence")).toBe(before);
  await page.context().close();
});

test("of several flows each can be shown", async () => {
  const { page } = await open(lab, PRESET);
  const before = await drawn(page, "sequence");
  await page.locator("#flow").selectOption({ index: 4 });
  expect(await drawn(page, "sequence")).not.toBe(before);
  await page.context().close();
});

test("every graph is saved as vectors with its axes' titles, and as a picture of dots", async () => {
  const { page, wrong } = await open(lab, PRESET);
  await page.keyboard.press("d");
  const wanted: Readonly<Record<string, string>> = {
    sequence: "sequence (kB)",
    window: "window (kB)",
    dupthresh: "dupthresh (segments)",
    rto: "RTO (ms)",
    queue: "queue of R1 → R2 (packets)",
    path: "800 kbps",
    table: "longest stall",
  };
  for (const [view, text] of Object.entries(wanted)) {
    await page.getByLabel("Graph").selectOption(view);
    const save = (kind: string) =>
      saved(page, kind.toLowerCase(), () => page.getByRole("button", { name: kind, exact: true }).click());
    const svg = (await save("SVG")).toString("utf8");
    expect(svg, view).toContain(text);
    expect(svg, view).not.toMatch(/<image|NaN|Infinity|undefined/);
    const parsed = await page.evaluate((source) => {
      const found = new DOMParser().parseFromString(source, "image/svg+xml");
      return {
        wrong: found.querySelectorAll("parsererror").length,
        drawn: found.querySelectorAll("path, text").length,
      };
    }, svg);
    expect(parsed.wrong, view).toBe(0);
    expect(parsed.drawn, view).toBeGreaterThan(5);
    // A browser stops a page after ten files.
    if (view !== "sequence" && view !== "path") continue;
    const png = await save("PNG");
    expect(png.subarray(1, 4).toString("latin1"), view).toBe("PNG");
    expect(png.length, view).toBeGreaterThan(5_000);
  }
  expect(wrong).toEqual([]);
  await page.context().close();
});
