/** The engine without a page, for tests: the same module in this thread. */
import { readFileSync } from "node:fs";
import { load } from "../../../crates/wasm/ackclock.mjs";
import { type Engine, engine, rejection } from "./engine";

const MODULE = new URL("../../generated/ackclock.wasm", import.meta.url);

export async function loadHere(): Promise<Engine> {
  const lab = await load(readFileSync(MODULE));
  return engine(async (request, options) => {
    try {
      const bytes = options?.file && new Uint8Array(await options.file.arrayBuffer());
      return await lab.ask(
        request,
        options?.progress,
        bytes && ((from, length) => bytes.subarray(from, from + length)),
      );
    } catch (e) {
      const { message, details } = e as Error & { details?: unknown };
      throw rejection(message, details);
    }
  });
}
