import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { DIST, open, start } from "./browser";

const debug = existsSync(resolve(import.meta.dirname, "../generated/debug"));
if (debug)
  process.stderr.write("SKIPPED: the size of the first load, which a release measures: this is the tests' engine\n");

test.skipIf(debug)("the first load is less than 2 MB compressed", async () => {
  const lab = await start();
  const loaded: string[] = [];
  const { page } = await open(lab);
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await page.reload();
  await page.waitForSelector("html[data-lab=shown]");
  await lab.close();
  const files = [...new Set(loaded)].filter((path) => path !== "/").map((path) => join(DIST, path));
  expect(files.some((file) => extname(file) === ".wasm")).toBe(true);
  const bytes = [join(DIST, "index.html"), ...files].map((file) => gzipSync(readFileSync(file)).length);
  expect(bytes.reduce((a, b) => a + b, 0)).toBeLessThan(2e6);
});

test("the page names no other host", () => {
  const texts = readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter((f) => /\.(html|css)$/.test(f));
  for (const file of texts)
    expect(readFileSync(join(DIST, file), "utf8"), file).not.toMatch(/(src|href|url)\W+https?:/);
});
