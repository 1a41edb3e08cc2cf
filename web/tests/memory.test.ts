/** A browser with little memory: a run or a trace that needs more is refused in one sentence, and the page goes on. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encode } from "../src/scenario/state";
import { fromToml } from "../src/scenario/toml";
import { afterwards, chromiumHere, follow, type Lab, LONG, OWN, open, start } from "./browser";

/** Pages of 64 KiB for the engine: enough for the experiments of the page. */
const PAGES = 1000;
/** Rows of a trace that needs three times that memory. */
const ROWS = 2_000_000;

async function within(flags: string, act: (lab: Lab) => Promise<void>): Promise<void> {
  const lab = await start(() => chromiumHere(flags));
  await act(lab).finally(() => lab.close());
}

test("a run that needs more memory than the browser gives the engine is refused in a sentence, and the next one is shown", async () => {
  await within(`--wasm-max-mem-pages=${PAGES}`, async (lab) => {
    const { page, wrong } = await open(lab);
    const hash = await encode({ scenario: fromToml(LONG), stacks: OWN, seed: 1 });
    await follow(page, hash);
    const message = page.getByText(
      /^The run failed: the engine stopped: it needs more memory than it is given here; \S/,
    );
    await message.waitFor({ timeout: 50_000 });
    await afterwards(page, () => follow(page, "preset=hoe-1995/fig5-5"));
    expect(await page.title()).toContain("Figure 5.5");
    expect(wrong).toEqual([]);
  });
});

test("a trace that needs more memory than the engine has is refused in a sentence, and the tab lives on", async () => {
  const folder = await mkdtemp(join(tmpdir(), "ackclock-memory-"));
  const file = join(folder, "large.csv");
  const rows = Array.from({ length: ROWS }, (_, i) => `${1000 + i},0,sender,sent,${i},${1 + 1000 * i},1000\n`);
  await writeFile(file, `time_ns,flow,side,event,packet,seq,len\n${rows.join("")}`);
  await within(`--wasm-max-mem-pages=${PAGES}`, async (lab) => {
    const { page, wrong } = await open(lab);
    await page.locator("input[type=file]").setInputFiles(file);
    const refusal = page.locator(".notice.bad");
    await refusal.waitFor({ timeout: 50_000 });
    expect(await refusal.textContent()).toMatch(
      /^large\.csv: the engine stopped: it needs more memory than it is given here; /,
    );
    await afterwards(page, () => follow(page, "preset=hoe-1995/fig5-5"));
    expect(wrong).toEqual([]);
  }).finally(() => rm(folder, { recursive: true }));
});
