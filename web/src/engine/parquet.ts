/** A trace in Parquet, as `ackclock run --trace FILE.parquet` and this page write it, read as a run to draw: row by row as one in CSV. */
import { type Cells, NEEDED, Reader } from "./csv";
import type { RunTrace } from "./trace";

/** Reads the bytes of a file. Rejects with the fault and its place. `progress` is called with the fraction that is read, 0 to 1. */
export async function readParquet(file: ArrayBuffer, progress: (share: number) => void = () => {}): Promise<RunTrace> {
  const { parquetMetadata, parquetReadObjects } = await import("hyparquet");
  const metadata = parquetMetadata(file);
  const names = new Set(metadata.schema.map(({ name }) => name));
  for (const column of NEEDED) if (!names.has(column)) throw new Error(`there is no column ${column}`);
  const reader = new Reader("record");
  let [rowStart, record] = [0, 1];
  // One row group at a time, because rows are large as objects.
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd });
    for (const row of rows) {
      const cells: Cells = (column) => written(row[column]);
      reader.row(cells, record);
      record += 1;
    }
    rowStart = rowEnd;
    progress(rowEnd / Number(metadata.num_rows));
  }
  return reader.run();
}

/** A value as in CSV. */
function written(value: unknown): string {
  if (value === null || value === undefined) return "";
  return value === Number.POSITIVE_INFINITY ? "inf" : String(value);
}
