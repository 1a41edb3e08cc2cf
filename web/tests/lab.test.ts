/**
 * The page as a visitor finds it: the caption, the single choice of a flow, graphs that fold, sliders, runs that are
 * too large, and names that follow a change.
 */

import type { Page } from "playwright-core";
import { expect, expect as polled, test } from "vitest";
import { encode } from "../src/scenario/state";
import { fromToml } from "../src/scenario/toml";
import {
  afterwards,
  enter,
  follow,
  OWN,
  open,
  parameter,
  saved,
  setSeed,
  settled,
  sharedLab,
  shownRate,
} from "./browser";

const lab = sharedLab();

const fragmentOf = (page: Page) => new URL(page.url()).hash;
const caption = (page: Page) => page.locator(".caption").textContent();

/** Waits until the address holds the state. */
async function linked(page: Page): Promise<string> {
  await polled.poll(() => fragmentOf(page)).toMatch(/^#lab=/);
  await page.waitForTimeout(500); // it is written a moment after the last change
  return fragmentOf(page);
}

test("a caption says paper, figure and what to look for, in the link and after a reload as well", async () => {
  const { page } = await open(lab, "#preset=hoe-1995/fig5-8");
  const message = await caption(page);
  expect(message).toMatch(/Hoe.*Figure 5\.8: a false fast retransmit.*What to look for: After the timeout/s);
  const fragment = await linked(page);
  await page.reload();
  await settled(page);
  expect(await caption(page)).toBe(message);
  const { page: other } = await open(lab, fragment);
  expect(await caption(other)).toBe(message);
});

test("a title follows what is edited, and the caption says that it was", async () => {
  const { page } = await open(lab, "#preset=hoe-1995/fig5-8");
  expect(await page.title()).toContain("Figure 5.8: a false fast retransmit");
  await afterwards(page, () => enter(shownRate(page), "3 Mbps"));
  const title = await page.title();
  expect(title).toMatch(/^3 Mbps, .* one way.* \(was Figure 5\.8\)/);
  expect(title).not.toContain("a false fast retransmit");
  expect(await caption(page)).toContain("You have changed it since.");
});

test("a first visitor is invited to the tour once", async () => {
  const context = await lab.browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(lab.served.url);
  await settled(page);
  await page.getByRole("button", { name: "Show me around" }).click();
  expect(await page.getByRole("region", { name: "Tour" }).isVisible()).toBe(true);
  expect(await page.locator(".invitation").count()).toBe(0);
  await page.reload();
  await settled(page);
  expect(await page.locator(".invitation").count()).toBe(0);
  await context.close();
});

test("there is one choice of a flow, for graphs and results, and the link keeps it", async () => {
  const { page } = await open(lab, "#preset=wang-shin/fig6");
  const choices = page.locator("main select:visible");
  const flows = await choices.evaluateAll(
    (all) => all.filter((select) => (select as HTMLSelectElement).labels?.[0]?.textContent?.startsWith("Flow")).length,
  );
  expect(flows).toBe(1);
  const goodput = () => page.locator(".ak-table tbody tr").first().locator("td").first().getAttribute("data-value");
  const before = await goodput();
  await page.locator("#flow").selectOption("4");
  expect(await goodput()).not.toBe(before);
  const chosen = await goodput();
  const fragment = await linked(page);
  const { page: other } = await open(lab, fragment);
  expect(await other.inputValue("#flow")).toBe("4");
  expect(await other.locator(".ak-table tbody tr").first().locator("td").first().getAttribute("data-value")).toBe(
    chosen,
  );
});

test("results stand above the graphs, and the playback stays in sight over all of them", async () => {
  const { page } = await open(lab, "#preset=hoe-1995/fig5-7");
  const top = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((e) => e.getBoundingClientRect().top);
  expect(await top(".ak-table")).toBeLessThan(await top('.ak-panel[data-view="sequence"]'));
  expect(await top('.ak-panel[data-view="sequence"]')).toBeLessThan(600);
  const play = page.getByRole("button", { name: "play", exact: true });
  for (const view of ["sequence", "queue"]) {
    await page
      .locator(`.ak-panel[data-view="${view}"]`)
      .first()
      .evaluate((e) => e.scrollIntoView({ block: "end" }));
    const box = await play.boundingBox();
    expect(box?.y, view).toBeGreaterThan(40);
    expect(box?.y, view).toBeLessThan(760);
  }
});

test("a graph that is folded away stays so, is saved as a picture all the same, and opens again", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-7");
  const fold = page.locator('[data-fold="window"]');
  const panel = page.locator('.ak-panel[data-view="window"]');
  await fold.locator("summary").click();
  expect(await panel.isVisible()).toBe(false);
  await afterwards(page, () => page.keyboard.press("r"));
  expect(await panel.isVisible()).toBe(false);
  await page.reload();
  await settled(page);
  expect(await panel.isVisible()).toBe(false);
  await page.keyboard.press("d");
  await page.getByLabel("Graph").selectOption("window");
  await saved(page, ".svg", () => page.getByRole("button", { name: "SVG", exact: true }).click());
  await page.keyboard.press("Escape");
  await fold.locator("summary").click();
  expect(await panel.isVisible()).toBe(true);
  expect(wrong).toEqual([]);
});

test("a slider redraws while it is dragged, and what is drawn last is its last value", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-7");
  const field = page.locator('.field[data-key$=".rate"]:visible').first();
  const box = await field.locator("input[type=range]").boundingBox();
  if (!box) throw new Error("no slider");
  const runs = async () => Number(await page.evaluate(() => document.documentElement.dataset.runs));
  const before = await runs();
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
  await page.mouse.down();
  // Without a pause as long as the delay after a typed value.
  for (let step = 0; step < 60; step++) {
    await page.mouse.move(box.x + box.width * (0.3 - step / 400), box.y + box.height / 2);
    await page.waitForTimeout(25);
  }
  const during = await runs();
  await page.mouse.up();
  expect(during - before).toBeGreaterThanOrEqual(2);
  await polled.poll(() => page.locator(".views.stale").count()).toBe(0);
  await settled(page);
  const rate = await field.locator("input[type=text]").inputValue();
  expect(await page.title()).toContain(rate);
  expect(wrong).toEqual([]);
});

test("graphs of the run before a change are marked until the new run is there", async () => {
  const { page } = await open(lab, "#preset=hoe-1995/fig5-7");
  expect(await page.locator(".views.stale").count()).toBe(0);
  const field = shownRate(page);
  await enter(field, "no rate");
  await page.waitForSelector("html[data-lab=refused]");
  expect(await page.locator(".views.stale .old").textContent()).toBe(
    "Graphs and results of the run before your change",
  );
  await afterwards(page, () => enter(field, "2 Mbps"));
  expect(await page.locator(".views.stale").count()).toBe(0);
  expect(await page.locator(".old").isVisible()).toBe(false);
});

const LARGE = `
  [run]
  duration = "30000 s"
  [[link]]
  from = "A"
  to = "B"
  rate = "50 Mbps"
  delay = "1 ms"
  [[flow]]
  from = "A"
  to = "B"
  stack = "rfc-6675"
`;

test("a run that is too large is refused with its size, and a shorter one is a click away", async () => {
  const { page, wrong } = await open(lab);
  const fragment = await encode({ scenario: fromToml(LARGE), stacks: OWN, seed: 1 });
  await follow(page, fragment);
  await page.waitForSelector("html[data-lab=refused]");
  const note = page.locator(".note");
  expect(await note.textContent()).toMatch(
    /This run of 30000 s would send about \d+,000,000 segments, and the page can draw up to 4,000,000/,
  );
  const offer = note.getByRole("button");
  const shorter = (await offer.textContent())?.match(/^Run (\d+) s instead$/)?.[1];
  expect(Number(shorter)).toBeGreaterThan(300);
  expect(Number(shorter)).toBeLessThan(1500);
  // The run itself takes seconds; a tenth of it shows that the run has the requested length.
  await offer.click();
  await page.waitForSelector("html[data-lab=running]");
  expect(await parameter(page, "run.duration").inputValue()).toBe(`${shorter} s`);
  await page.keyboard.press("Escape");
  expect(wrong).toEqual([]);
});

test("a unit that is written in another way is told with the one that is meant, and a decimal comma is explained", async () => {
  const { page } = await open(lab, "#preset=hoe-1995/fig5-7");
  const field = page.locator('.field[data-key$=".rate"]:visible').first();
  const refused = async (text: string) => {
    await enter(field.locator("input[type=text]"), text);
    await page.waitForSelector("html[data-lab=refused]");
    return field.locator(".refusal").textContent();
  };
  expect(await refused("100 KB/s")).toContain('did you mean "100 kB/s"?');
  await afterwards(page, () => enter(field.locator("input[type=text]"), "100 kB/s"));
  expect(await field.locator("input[type=range]").isDisabled()).toBe(false);
  expect(await refused("1,5 Mbps")).toMatch(/a comma: write decimals with a point.*did you mean "1\.5 Mbps"\?/);
});

test("what the seed's field said wrong goes when it is mended", async () => {
  const { page } = await open(lab);
  await page.fill("#seed", "1,5");
  await page.keyboard.press("Tab");
  expect(await page.locator(".notice.bad").count()).toBe(1);
  await afterwards(page, () => setSeed(page, "15"));
  expect(await page.locator(".notice.bad").count()).toBe(0);
  expect(await page.locator("#seed").getAttribute("aria-invalid")).toBe("false");
});

test("a link with null in it is refused with its place", async () => {
  const { page, wrong } = await open(lab);
  const scenario = { ...fromToml(LARGE), link: [{ from: "A", to: "B", rate: null, delay: "1 ms" }] };
  const fragment = await encode({ scenario, stacks: OWN, seed: 1 } as never);
  await afterwards(page, () => follow(page, fragment));
  expect(await page.locator(".notice.bad").textContent()).toContain("no value at `link[0].rate` (found null)");
  expect(wrong).toEqual([]);
});

/** A table is filled a second after its graph is drawn. */
const FILLED = { timeout: 10_000 };

/** What a screen reader finds about the first time-sequence graph. */
async function listed(page: Page): Promise<{ sentence: string; rows: string[] }> {
  const panel = page.locator('.ak-panel[data-view="sequence"]').first();
  const [sentence, packets] = await Promise.all(
    ["aria-describedby", "aria-details"].map((name) => panel.getAttribute(name)),
  );
  return {
    sentence: (await page.locator(`.ak-listing:not([aria-busy]) #${sentence}`).allTextContents()).join(),
    rows: await page.locator(`#${packets} tbody tr`).allTextContents(),
  };
}

test("a screen reader has a table of what the time-sequence graph shows", async () => {
  const { page } = await open(lab, "#preset=hoe-1995/fig5-7");
  const panel = page.locator('.ak-panel[data-view="sequence"]').first();
  await polled
    .poll(async () => (await listed(page)).sentence, FILLED)
    .toMatch(/^From .* to .*: [\d,]+ segments, \d+ retransmissions?, \d+ drops?, 1 timeout\./);
  const all = await listed(page);
  expect(all.rows.length).toBeGreaterThan(10);
  expect(all.rows.some((row) => /dropped at .* by /.test(row))).toBe(true);
  await panel.focus();
  for (let i = 0; i < 6; i++) await page.keyboard.press("+");
  await polled.poll(async () => (await listed(page)).sentence, FILLED).not.toBe(all.sentence);
  const part = await listed(page);
  const count = Number(part.sentence.match(/: ([\d,]+) segments?/)?.[1]);
  expect(part.rows).toHaveLength(count);
});

test("the table that served another run has the rows of a new one", async () => {
  const { page } = await open(lab, "#preset=paths/satellite");
  await polled.poll(async () => (await listed(page)).sentence, FILLED).not.toBe("");
  const before = await listed(page);
  for (const seed of ["2", "3"]) await afterwards(page, () => setSeed(page, seed));
  await polled.poll(async () => (await listed(page)).sentence, FILLED).not.toBe("");
  const { page: other } = await open(lab, page.url().slice(lab.served.url.length));
  await polled.poll(async () => (await listed(other)).sentence, FILLED).not.toBe("");
  const after = await listed(page);
  expect(after.rows).not.toEqual(before.rows);
  expect(after).toEqual(await listed(other));
});

test("a large trace is read away from the page, with progress, and can be stopped", async () => {
  const { page, wrong } = await open(lab, "#preset=hoe-1995/fig5-7");
  // Rows of one flow: sent, delivered, acknowledged.
  const taken = await page.evaluate(async () => {
    const head = "time_ns,flow,side,event,packet,seq,len,sends,ack,rwnd,flags\n";
    const piece = (from: number, rows: number) => {
      let text = "";
      for (let i = from; i < from + rows; i++)
        text += `${i * 1000},0,sender,${i % 2 ? "delivered" : "sent"},${i >> 1},${1 + 1000 * (i >> 1)},1000,1,,,\n`;
      return text;
    };
    const parts = [head];
    for (let i = 0; i < 20; i++) parts.push(piece(i * 60_000, 60_000));
    const data = new DataTransfer();
    data.items.add(new File(parts, "large.csv"));
    const bar = document.querySelector("[role=progressbar]");
    const shares = new Set<string>();
    let longest = 0;
    let last = performance.now();
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    const { dataset } = document.documentElement;
    const began = last;
    while (shares.size < 4 && performance.now() - began < 20_000) {
      await new Promise((later) => setTimeout(later, 2));
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      if (dataset.lab === "running") shares.add(bar?.getAttribute("aria-valuenow") ?? "");
    }
    return { shares: [...shares].map(Number), longest };
  });
  expect(taken.shares).toEqual([...taken.shares].sort((a, b) => a - b));
  expect(taken.shares.length).toBe(4);
  // The page's own thread is free meanwhile: reading all of it there would block it for seconds.
  expect(taken.longest).toBeLessThan(1000);
  await page.keyboard.press("Escape");
  expect(await page.locator(".note:not([hidden])").count()).toBe(0);
  expect(await page.locator("button.run").getAttribute("title")).toMatch(/^Run/);
  await page.waitForTimeout(300);
  expect(await page.evaluate(() => document.documentElement.dataset.lab)).toBe("idle");
  expect(wrong).toEqual([]);
});

test("a failure that nobody expected is said, and the page goes on", async () => {
  const { page } = await open(lab, "#preset=hoe-1995/fig5-7");
  await page.evaluate(() => {
    void Promise.reject(new Error("of a test"));
  });
  await page.waitForSelector(".notice.bad");
  expect(await page.locator(".notice.bad").textContent()).toContain("Something went wrong in the page: of a test");
  await afterwards(page, () => page.keyboard.press("r"));
});
