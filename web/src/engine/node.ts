/** The engine without a page, for tests: the same module in this thread. */
import { readFileSync } from "node:fs";
import { load } from "../../../crates/wasm/ackclock.mjs";
import { type Engine, engine, rejection } from "./engine";
import { csvOf } from "./parquet";

const MODULE = new URL("../../generated/ackclock.wasm", import.meta.url);

export async function loadHere(): Promise<Engine> {
  const lab = await load(readFileSync(MODULE));
  return engine(async (request, options) => {
    try {
      const file = options?.file && (options.parquet ? await csvOf(options.file) : options.file);
      const bytes = file && new Uint8Array(await file.arrayBuffer());
      return await lab.ask(
        options?.parquet ? { ...request, size: file?.size } : request,
        options?.progress,
        bytes && ((from, length) => bytes.subarray(from, from + length)),
      );
    } catch (e) {
      const { message, details } = e as Error & { details?: unknown };
      throw rejection(message, details);
    }
  });
}
