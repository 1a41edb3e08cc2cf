import { defineConfig } from "vitest/config";

// The built page in a browser: one after the other, on one server.
export default defineConfig({
  test: { include: ["tests/*.test.ts"], fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000 },
});
