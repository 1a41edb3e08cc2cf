// Makes the parts of the page that come from the rest of the repository, in web/generated: the engine as WebAssembly, and presets.
// With --debug the engine has the checks of the tests' profile, and is quicker to build.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { presets } from "./presets.mjs";

const web = dirname(dirname(fileURLToPath(import.meta.url)));
const root = dirname(web);
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
const profile = process.argv.includes("--debug") ? "dev" : "web";
const args = [
  "build",
  "--quiet",
  "-p",
  "ackclock-wasm",
  "--locked",
  "--target",
  "wasm32-unknown-unknown",
  "--profile",
  profile,
];
execFileSync("cargo", args, { cwd: root, stdio: "inherit" });
const built = join(target, "wasm32-unknown-unknown", profile === "dev" ? "debug" : profile, "ackclock_wasm.wasm");
const out = join(web, "generated");
mkdirSync(out, { recursive: true });
copyFileSync(built, join(out, "ackclock.wasm"));
// Tells the tests of the page which engine they have.
if (profile === "dev") writeFileSync(join(out, "debug"), "");
else rmSync(join(out, "debug"), { force: true });
writeFileSync(join(out, "presets.json"), JSON.stringify(presets(root)));
