/** A trace in Parquet, as `ackclock run --trace FILE.parquet` and this page write it, read as a run to draw: row by row as one in CSV. */
import { NEEDED, Reader } from "./csv";
import { unpacker } from "./snappy";
import type { RunTrace } from "./trace";

/** Memory of a value of the row group that is being read, bytes. */
const VALUE_BYTES = 50;

/**
 * Reads the bytes of a file. Rejects with the fault and its place. `progress` is called with the fraction that is read, 0 to 1.
 * `room` is the memory for what is read, bytes.
 */
export async function readParquet(
  file: ArrayBuffer,
  progress: (share: number) => void = () => {},
  room = Number.POSITIVE_INFINITY,
): Promise<RunTrace> {
  const { parquetMetadata, parquetReadObjects, parquetSchema, snappyUncompress } = await import("hyparquet");
  const compressors = { SNAPPY: unpacker(snappyUncompress) };
  // A trace has no places on a map, and a column with -1 children would make hyparquet look for them without end.
  const metadata = parquetMetadata(file, { geoparquet: false });
  const names = parquetSchema(metadata).children.map(({ element }) => element.name);
  for (const column of NEEDED) if (!names.includes(column)) throw new Error(`there is no column ${column}`);
  const reader = new Reader("record", room);
  let [rowStart, record] = [0, 1];
  // One row group at a time, to bound the memory.
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    reader.fits(Number(group.num_rows) * names.length * VALUE_BYTES, record);
    const columns = new Map<string, unknown[]>();
    // One column at a time: if several are damaged, hyparquet rejects each, and only the first rejection could be caught.
    for (const name of names) {
      const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd, columns: [name], compressors });
      columns.set(
        name,
        rows.map((row) => row[name]),
      );
    }
    const count = columns.get("time_ns")?.length ?? 0;
    for (let at = 0; at < count; at++) {
      reader.row((column) => written(columns.get(column)?.[at]), record);
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
