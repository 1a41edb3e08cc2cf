/** Runs requests in a worker: one module, whose instance serves one after the other. */
import { type Lab, load } from "../../../crates/wasm/ackclock.mjs";
import type { Answer } from "./engine";
import { csvOf } from "./parquet";
import { prepare } from "./prepare";
import { columnsOf } from "./transfer";

/** Messages to a worker: first the module, then requests, one after the other. */
export type ToWorker =
  | { module: WebAssembly.Module }
  | {
      request: Readonly<Record<string, unknown>>;
      file?: Blob | undefined;
      flow?: number | undefined;
      parquet?: boolean | undefined;
    };

/** Messages from it: fractions of a run, then a reply or an error. */
export type FromWorker = { share: number } | { answer: unknown } | { error: { message: string; details: unknown } };

/** The least time between two fractions, ms: a page draws no more often. */
const BEAT = 16;

let lab: Promise<Lab> | undefined;

self.addEventListener("message", async ({ data }: MessageEvent<ToWorker>) => {
  if ("module" in data) {
    lab = load(data.module);
    return;
  }
  const say = (what: FromWorker, move: Transferable[] = []) => self.postMessage(what, { transfer: move });
  let last = performance.now();
  const progress = (share: number) => {
    const now = performance.now();
    if (now - last < BEAT) return;
    last = now;
    say({ share });
  };
  try {
    const file = data.parquet && data.file ? await csvOf(data.file, (share) => progress(share / 2)) : data.file;
    const request = data.parquet ? { ...data.request, size: file?.size } : data.request;
    const reply = await (await lab)?.ask(
      request,
      data.parquet ? (share) => progress((1 + share) / 2) : progress,
      pieces(file),
    );
    const answer = data.flow === undefined ? reply : prepare(reply as Answer, data.flow);
    say({ answer }, columnsOf(answer));
  } catch (e) {
    const { message, details } = e as Error & { details?: unknown };
    say({ error: { message, details } });
  }
});

/** Reads a file piece by piece; only a worker may block on this. TypeScript has the class only in its library for workers. */
declare class FileReaderSync {
  readAsArrayBuffer(piece: Blob): ArrayBuffer;
}

function pieces(file: Blob | undefined): ((from: number, length: number) => Uint8Array) | undefined {
  if (!file) return undefined;
  const reader = new FileReaderSync();
  return (from, length) => new Uint8Array(reader.readAsArrayBuffer(file.slice(from, from + length)));
}
