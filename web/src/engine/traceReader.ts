/** Reads trace files away from the page. */
import { readCsv } from "./csv";
import { readParquet } from "./parquet";
import { columnsOf, type ReadFromWorker, type ReadToWorker } from "./reading";

self.addEventListener("message", async ({ data: { file, kind, room } }: MessageEvent<ReadToWorker>) => {
  const say = (what: ReadFromWorker, move: Transferable[] = []) => self.postMessage(what, { transfer: move });
  const progress = (share: number) => say({ share });
  try {
    const run =
      kind === "csv"
        ? readCsv(await file.text(), progress, room)
        : await readParquet(await file.arrayBuffer(), progress, room);
    say({ run }, columnsOf(run));
  } catch (error) {
    say({ error: error instanceof Error ? error.message : String(error) });
  }
});
