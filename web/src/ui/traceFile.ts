/** Reads a trace file with progress; a newer request ends it. */
import type { Engine } from "../engine/engine";
import type { RunTrace } from "../engine/trace";
import type { Progress } from "./session";

export class TraceFile {
  private reading: AbortController | undefined;

  constructor(
    private readonly engine: Pick<Engine, "opened">,
    private readonly progress: (progress: Progress) => void,
  ) {}

  /** Reads it. Returns undefined if it was stopped. Rejects with the fault of the file and its place. */
  async read(file: File, kind: "csv" | "parquet"): Promise<RunTrace | undefined> {
    this.stop();
    const mine = new AbortController();
    this.reading = mine;
    const { signal } = mine;
    const progress = (share: number) => {
      if (this.reading === mine) this.progress({ running: true, share });
    };
    progress(0);
    try {
      return await this.engine.opened({ file, kind }, { signal, progress });
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    } finally {
      if (this.reading === mine) this.progress({ running: false });
    }
  }

  stop(): void {
    this.reading?.abort();
    this.reading = undefined;
  }
}
