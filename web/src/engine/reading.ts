/** Reads trace files in a worker. */
import type { RunTrace } from "./trace";

/** `room` is the memory for what is read, bytes. */
export type ReadToWorker = { file: Blob; kind: "csv" | "parquet"; room: number };
/** The worker's messages: shares of the file, then the run or an error. */
export type ReadFromWorker = { share: number } | { run: RunTrace } | { error: string };

/** Largest trace file, bytes: a browser's strings hold little more. */
export const MOST_TRACE_BYTES = 400e6;

/** The share of a browser's limit that reading may use; the garbage of the rows read last is beside it. */
const SHARE = 0.7;

/** The memory for the rows of a file, bytes, where the browser names its limit: Chromium alone does. */
function room(file: Blob): number {
  const { memory } = performance as Performance & { memory?: { jsHeapSizeLimit: number } };
  return memory ? SHARE * memory.jsHeapSizeLimit - file.size : Number.POSITIVE_INFINITY;
}

interface Watch {
  signal?: AbortSignal;
  /** Called with the fraction of the file that is read, 0 to 1. */
  progress?: (share: number) => void;
}

/** Reads a trace. Rejects with the fault and its place, or with the signal's reason. */
export function readTrace(file: File, kind: ReadToWorker["kind"], { signal, progress }: Watch = {}): Promise<RunTrace> {
  if (file.size > MOST_TRACE_BYTES) {
    const [found, allowed] = [file.size, MOST_TRACE_BYTES].map((bytes) => `${Math.round(bytes / 1e6)} MB`);
    return Promise.reject(new Error(`found ${found}, allowed: traces up to ${allowed}`));
  }
  const worker = new Worker(new URL("./traceReader.ts", import.meta.url), { type: "module" });
  const read = new Promise<RunTrace>((resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    worker.onmessage = ({ data }: MessageEvent<ReadFromWorker>) => {
      if ("share" in data) progress?.(data.share);
      else if ("run" in data) resolve(data.run);
      else reject(new Error(data.error));
    };
    worker.onerror = (event) => reject(new Error(`the reader failed: ${event.message}`));
    worker.postMessage({ file, kind, room: room(file) } satisfies ReadToWorker);
  });
  return read.finally(() => worker.terminate());
}

/** The memory of all columns in an answer, which is moved and not copied; each once, though several columns may share it. */
export function columnsOf(answer: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const seek = (value: unknown) => {
    if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(seek);
  };
  seek(answer);
  return [...found];
}
