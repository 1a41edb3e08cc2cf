/** A trace in Parquet, as `ackclock run --trace FILE.parquet` and this page write it, read as a run to draw: row by row as one in CSV. */
import { type Cells, NEEDED, NotTrace, Reader } from "./csv";
import type { RunTrace } from "./trace";

/** Reads the bytes of a file; rejects with `NotTrace`, or with what the format's reader finds wrong. */
export async function readParquet(file: ArrayBuffer): Promise<RunTrace> {
  const { parquetMetadata, parquetReadObjects } = await import("hyparquet");
  const metadata = parquetMetadata(file);
  const names = new Set(metadata.schema.map(({ name }) => name));
  for (const column of NEEDED) if (!names.has(column)) throw new NotTrace(1, `there is no column ${column}`);
  const reader = new Reader();
  let [rowStart, line] = [0, 1];
  // A group at a time: rows are large while they are objects.
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd });
    for (const row of rows) {
      const cells: Cells = (column) => written(row[column]);
      reader.row(cells, line);
      line += 1;
    }
    rowStart = rowEnd;
  }
  return reader.run();
}

/** A value as CSV has it. */
function written(value: unknown): string {
  if (value === null || value === undefined) return "";
  return value === Number.POSITIVE_INFINITY ? "inf" : String(value);
}
