import { defineConfig } from "vitest/config";

// Measurements, not tests: they depend on the machine.
export default defineConfig({
  test: { include: ["tests/*.bench.ts"], fileParallelism: false, testTimeout: 300_000, hookTimeout: 60_000 },
});
