/** The engine for a page: workers around the module, one for each concurrent request. */

import address from "../../generated/ackclock.wasm?url";
import { type Ask, type Engine, engine, type Options, rejection } from "./engine";
import type { FromWorker, ToWorker } from "./worker";

/** Loads the module. A request whose signal aborts ends immediately, and its worker is terminated. */
export async function load(): Promise<Engine> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the engine cannot be loaded: ${response.status} ${response.statusText}`);
  // Some hosts serve the file with a type that compileStreaming does not accept.
  const module = await WebAssembly.compile(await response.arrayBuffer());
  const idle: Worker[] = [];
  const ask: Ask = (request, options = {}) => {
    const worker = idle.pop() ?? started(module);
    return asked(worker, request, options).finally(() => {
      if (!options.signal?.aborted) idle.push(worker);
    });
  };
  return engine(ask);
}

function started(module: WebAssembly.Module): Worker {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  worker.postMessage({ module } satisfies ToWorker);
  return worker;
}

function asked(worker: Worker, request: Readonly<Record<string, unknown>>, options: Options): Promise<unknown> {
  const { signal, progress } = options;
  return new Promise((resolve, reject) => {
    const abort = () => {
      worker.terminate();
      reject(signal?.reason);
    };
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    const end = (how: () => void) => {
      signal?.removeEventListener("abort", abort);
      worker.onmessage = worker.onerror = null;
      how();
    };
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if ("share" in data) progress?.(data.share);
      else if ("answer" in data) end(() => resolve(data.answer));
      else end(() => reject(rejection(data.error.message, data.error.details)));
    };
    worker.onerror = (e) => end(() => reject(new Error(`the engine's worker failed: ${e.message}`)));
    const { file, flow, parquet } = options;
    worker.postMessage({ request, file, flow, parquet } satisfies ToWorker);
  });
}
