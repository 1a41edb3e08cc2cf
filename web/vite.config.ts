import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** hyparquet's lines that fill a page by the length of a run, and the same lines with the end of the page as a bound. */
const RUNS: [string, string][] = [
  [
    "readRle(reader, count, width, output, seen)",
    "readRle(reader, Math.min(count, output.length - seen), width, output, seen)",
  ],
  ["let count = header >> 1 << 3", "let count = Math.min(8 * (header >>> 1), (output.length - seen + 7) & -8)"],
];

/** Bounds the runs of a damaged page: hyparquet writes a run of 2^30 values though the page has 1000 (decision 0291). */
const boundedRuns: Plugin = {
  name: "bounded-runs",
  transform(code, id) {
    if (!/hyparquet\/src\/encoding\.js/.test(id)) return;
    for (const [line, bounded] of RUNS) {
      if (code.split(line).length !== 2)
        this.error(`hyparquet has changed: it no longer has the line \`${line}\` once`);
      code = code.replace(line, bounded);
    }
    return { code, map: null };
  },
};

// Relative addresses: the built folder works from any host and any sub-folder.
export default defineConfig({
  base: "./",
  plugins: [boundedRuns],
  optimizeDeps: { exclude: ["hyparquet"] },
  worker: { format: "es" },
  // Never inlined, so that the engine is a plain file that a browser can compile while it loads.
  assetsInclude: ["**/*.wasm"],
  build: { target: "es2022", assetsInlineLimit: 0 },
  // No test is about time, and a busy machine takes longer than the 5 s that are usual.
  test: { include: ["src/**/*.test.ts"], server: { deps: { inline: ["hyparquet"] } }, testTimeout: 60_000 },
});
