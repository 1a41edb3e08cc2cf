/** A page of the lab in headless Chromium, watched for errors and for requests that it must not make. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { type Served, serve } from "./serve";

export const DIST = resolve(import.meta.dirname, "../dist");
export const ROOT = resolve(import.meta.dirname, "../..");
const PYTHON = process.env.ACKCLOCK_PYTHON ?? join(ROOT, ".venv/bin/python");
/** The time-sequence graphs. */
export const SEQUENCE = '.ak-panel[data-view="sequence"]';
/** Kernels' captures, and one of them: packets that overtake each other, seen by the sender. */
export const KERNEL = join(ROOT, "tests/captures/kernel");
export const SWAPS = join(KERNEL, "cubic-swap12-sender.pcapng.gz");
/** The stack of the scenario itself, as the page's state has it. */
export const OWN = [{ name: null, set: {} }];
/** A run of nearly as many segments as the page takes: seconds. */
export const LONG = `
  [run]
  duration = "900 s"
  [[link]]
  from = "A"
  to = "B"
  rate = "50 Mbps"
  delay = "1 ms"
  elements = [{ kind = "bernoulli", p = 0.001 }]
  [[flow]]
  from = "A"
  to = "B"
  stack = "rfc-6675"
`;

export interface Lab {
  browser: Browser;
  served: Served;
  close: () => Promise<void>;
}

export async function start(launched: () => Promise<Browser> = () => chromiumHere()): Promise<Lab> {
  const served = await serve(DIST);
  const browser = await launched();
  const close = async () => {
    await browser.close();
    await served.close();
  };
  return { browser, served, close };
}

/** A lab for all tests of a file. */
export function sharedLab(): Lab {
  const lab = {} as Lab;
  beforeAll(async () => void Object.assign(lab, await start()));
  afterAll(() => lab.close());
  return lab;
}

/** Chromium with these flags of its JavaScript engine. */
export function chromiumHere(flags?: string): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const limits = flags === undefined ? [] : [`--js-flags=${flags}`];
  // As root, in a container, Chromium's own sandbox cannot be set up; the pages are ours.
  return chromium.launch({ executablePath, args: ["--no-sandbox", ...limits] });
}

export interface Watched {
  page: Page;
  /** Requests beyond the page's origin, and all errors in the console. */
  wrong: string[];
}

/** Opens the page at `#fragment`, as a returning visitor, and waits for its picture. */
export async function open(lab: Lab, fragment = "", options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await lab.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  await context.addInitScript(() => localStorage.setItem("ackclock-visited", "yes"));
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(lab.served.url)) wrong.push(request.url());
  });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") wrong.push(message.text());
  });
  page.on("pageerror", (error) => wrong.push(String(error)));
  await page.goto(lab.served.url + fragment);
  await settled(page);
  return { page, wrong };
}

/** Waits until no run is in progress and a picture has been drawn. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector("html[data-lab=shown]", { timeout: 30_000 });
}

/** Performs an action that leads to a run, and waits for its picture. */
export async function afterwards(page: Page, act: () => Promise<unknown>): Promise<void> {
  const before = await page.evaluate(() => document.documentElement.dataset.runs);
  await act();
  await page.waitForFunction((n) => document.documentElement.dataset.runs !== n, before, { timeout: 30_000 });
  await settled(page);
}

/** Follows a link of the page, `hash`, without waiting for a picture. */
export async function follow(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
}

/** Writes into a field, and leaves it by Enter. */
export async function enter(field: Locator, text: string): Promise<void> {
  await field.fill(text);
  await field.press("Enter");
}

export async function setSeed(page: Page, seed: string): Promise<void> {
  await page.fill("#seed", seed);
  await page.keyboard.press("Tab");
}

/** The field of the parameter at this path. */
export function parameter(page: Page, path: string): Locator {
  return page.locator(`.field[data-key="${path}"] input[type=text]`);
}

/** The first rate whose field is not folded away. */
export function shownRate(page: Page): Locator {
  return page.locator('.field[data-key$=".rate"] input[type=text]:visible').first();
}

/** Selects the n-th packet of a time-sequence graph by the keyboard. */
export async function select(page: Page, nth: number, graph = page.locator(SEQUENCE).first()): Promise<void> {
  await graph.focus();
  for (let i = 0; i < nth; i++) await page.keyboard.press("n");
}

/** Drops the packet that is selected, and waits for the picture. */
export async function dropIt(page: Page): Promise<void> {
  await page.keyboard.press("Enter");
  await afterwards(page, () => page.getByRole("menuitem", { name: "Drop it" }).click());
}

/** The exact values in a line of the table of results. */
export function values(page: Page, line: string): Promise<number[]> {
  const cells = page.locator(".ak-table tbody tr", { has: page.locator("th", { hasText: line }) }).locator("td");
  return cells.evaluateAll((all) => all.map((cell) => Number((cell as HTMLElement).dataset.value)));
}

/** Opens a file of this machine, and waits for its picture. */
export function choose(page: Page, file: string): Promise<void> {
  return afterwards(page, () => page.locator("input[type=file]").setInputFiles(file));
}

/** A file that a click saves; a trace in CSV comes with its description. */
export async function saved(page: Page, ending: string, click: () => Promise<unknown>): Promise<Buffer> {
  const [download] = await Promise.all([
    page.waitForEvent("download", (one) => one.suggestedFilename().endsWith(ending)),
    click(),
  ]);
  return readFileSync(await download.path());
}

/** What `ackclock` prints as JSON. */
export function command<T>(...words: string[]): T {
  const args = ["-m", "ackclock", ...words, "--json"];
  return JSON.parse(execFileSync(PYTHON, args, { encoding: "utf8", maxBuffer: 1 << 28 })) as T;
}

/** What `ackclock run` reports of a scenario's text. */
export function commandRun<T>(toml: string, ...words: string[]): T {
  const folder = mkdtempSync(join(tmpdir(), "ackclock-"));
  const file = join(folder, "scenario.toml");
  writeFileSync(file, toml);
  const report = command<T>("run", file, ...words);
  rmSync(folder, { recursive: true });
  return report;
}
