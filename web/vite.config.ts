import { defineConfig } from "vitest/config";

// Relative addresses: the built folder works from any host and any sub-folder.
export default defineConfig({
  base: "./",
  worker: { format: "es" },
  // Never inlined, so that the engine is a plain file that a browser can compile while it loads.
  assetsInclude: ["**/*.wasm"],
  build: { target: "es2022", assetsInlineLimit: 0 },
  test: { include: ["src/**/*.test.ts"] },
});
