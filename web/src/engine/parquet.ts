/** A trace in Parquet, as `ackclock run --trace FILE.parquet` and this page write it, as the text of one in CSV. */
import { unpacker } from "./snappy";

/** Resolves to the text. Rejects with the fault. `progress` is called with the fraction that is read, 0 to 1. */
export async function csvOf(trace: Blob, progress: (share: number) => void = () => {}): Promise<Blob> {
  const file = await trace.arrayBuffer();
  const { parquetMetadata, parquetReadObjects, parquetSchema, snappyUncompress } = await import("hyparquet");
  const compressors = { SNAPPY: unpacker(snappyUncompress) };
  // A trace has no places on a map, and a column with -1 children would make hyparquet look for them without end.
  const metadata = parquetMetadata(file, { geoparquet: false });
  const names = parquetSchema(metadata).children.map(({ element }) => element.name);
  const parts = [`${names.join()}\n`];
  let rowStart = 0;
  // One row group at a time, to bound the memory.
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const columns: string[][] = [];
    // One column at a time: if several are damaged, hyparquet rejects each, and only the first rejection could be caught.
    for (const name of names) {
      const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd, columns: [name], compressors });
      columns.push(rows.map((row) => written(row[name])));
    }
    const [first = []] = columns;
    parts.push(first.map((_, row) => `${columns.map((column) => column[row] ?? "").join()}\n`).join(""));
    rowStart = rowEnd;
    progress(rowEnd / Number(metadata.num_rows));
  }
  return new Blob(parts);
}

/** A value as in CSV. */
function written(value: unknown): string {
  if (value === null || value === undefined) return "";
  return value === Number.POSITIVE_INFINITY ? "inf" : String(value);
}
