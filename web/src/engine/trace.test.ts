import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PHASES, SLOTS, WHYS } from "./trace";

test("the words are those of docs/trace.md", () => {
  const page = readFileSync(new URL("../../../docs/trace.md", import.meta.url), "utf8");
  for (const word of [...PHASES, ...SLOTS, ...WHYS]) expect(page).toContain(`\`${word}\``);
});
