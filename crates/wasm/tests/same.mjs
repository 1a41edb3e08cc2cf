// Proves that WebAssembly and the native build have the same results: node same.mjs MODULE.wasm < cases.json
//
// Cases are a JSON list of {"scenario": FILE, "stack": NAME or null, "seed": N, "trace_hash": "xxh3-128:…"}, as
// `cargo run -p ackclock-wasm --example expected -- FILE…` prints them. Any difference, a refusal, or no case at all fails.

import { readFileSync } from "node:fs";
import { load } from "../ackclock.mjs";

const [module] = process.argv.slice(2);
if (module === undefined) {
  console.error("usage: node same.mjs MODULE.wasm < cases.json");
  process.exit(2);
}
const lab = await load(readFileSync(module));
const cases = JSON.parse(readFileSync(0, "utf8"));

async function difference({ scenario, stack, seed, trace_hash: expected }) {
  if (!/^xxh3-128:[0-9a-f]{32}$/.test(expected)) return `the case has no trace hash: ${expected}`;
  try {
    const report = await lab.run(readFileSync(scenario, "utf8"), { stack: stack ?? undefined, seed });
    const found = report.runs[0].trace_hash;
    return found === expected ? null : `WebAssembly ${found}, native ${expected}`;
  } catch (e) {
    return e.message;
  }
}

let failed = 0;
for (const c of cases) {
  const wrong = await difference(c);
  failed += wrong === null ? 0 : 1;
  const what = `${c.scenario} ${c.stack ?? "(its own stack)"} seed ${c.seed}`;
  console.log(wrong === null ? `same     ${what}` : `DIFFERS  ${what}: ${wrong}`);
}
console.log(`${cases.length - failed} passed, ${failed} failed`);
if (cases.length === 0) console.error("there was no case to compare");
process.exit(failed > 0 || cases.length === 0 ? 1 : 0);
