/** A page of the lab in headless Chromium, watched for errors and for requests that it must not make. */
import { resolve } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { type Served, serve } from "./serve";

export const DIST = resolve(import.meta.dirname, "../dist");

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
