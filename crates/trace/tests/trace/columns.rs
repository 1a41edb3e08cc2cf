//! Values that Parquet's own encodings must preserve.

use crate::files::{in_memory, meta, read_parquet, record, table, Folder};
use crate::play::{Call, What};
use crate::real::{run, scenario};
use ackclock_sim::watch::Side;
use ackclock_trace::schema::{Id, COLUMNS};
use ackclock_trace::Recorder;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Encoding;
use std::fs::File;

#[test]
fn a_file_of_a_run_with_losses_has_the_same_records_as_memory_for_stacks_of_every_kind() {
    let folder = Folder::new("run");
    let s = scenario(0.02, 0.1);
    for stack in ["reno", "sack-ff96", "rfc-today", "linux-2025", "quic-9002"] {
        let path = folder.0.join(format!("{stack}.parquet"));
        run(&s, stack, 1, Recorder::create(&path, meta(), 2).unwrap()).1.finish().unwrap();
        let (_, rows) = run(&s, stack, 1, Recorder::new(Vec::new(), 2)).1.close().unwrap();
        assert!(read_parquet(&path) == table(&rows), "{stack}");
    }
}

/// `n` arrivals at a queue, with these packets and bytes there.
fn arrivals(n: u64, packets: impl Fn(u64) -> u32, bytes: impl Fn(u64) -> u64) -> Vec<Call> {
    let what = |i| What::Queue { packets: packets(i), bytes: bytes(i) };
    (0..n).map(|i| Call { at: i * i, flow: 0, side: Side::Sender, what: what(i) }).collect()
}

#[test]
fn numbers_of_every_width_come_back_and_those_that_fit_no_column_are_empty() {
    let folder = Folder::new("widths");
    let noise = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for n in [1, 2, 17, 128, 129, 130, 161, 9999] {
        let path = folder.0.join(format!("{n}.parquet"));
        let calls = arrivals(n, |i| (noise(i) >> (32 + i / 100 % 32)) as u32, |i| noise(i) >> (i / 150 % 64));
        record(&path, &calls).unwrap();
        let rows = table(&in_memory(&calls));
        assert_eq!(read_parquet(&path), rows, "{n}");
        assert_eq!(rows[0][Id::QueueBytes as usize], "", "2⁶³ and more");
    }
}

#[test]
fn few_different_numbers_make_a_dictionary_and_one_too_many_makes_differences() {
    let folder = Folder::new("few");
    let path = folder.0.join("run.parquet");
    let calls = arrivals(5000, |i| (i % 16) as u32, |i| if i == 4000 { 99 } else { i % 16 });
    record(&path, &calls).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    let group = reader.metadata().row_group(0);
    let has = |column: Id, e| group.column(column as usize).encodings().any(|known| known == e);
    assert!(has(Id::QueuePackets, Encoding::RLE_DICTIONARY) && !has(Id::QueuePackets, Encoding::DELTA_BINARY_PACKED));
    assert!(has(Id::QueueBytes, Encoding::DELTA_BINARY_PACKED) && !has(Id::QueueBytes, Encoding::RLE_DICTIONARY));
    assert_eq!(read_parquet(&path), table(&in_memory(&calls)));
}

#[test]
fn a_row_group_knows_its_first_and_last_time_and_its_empty_columns_cost_next_to_nothing() {
    let folder = Folder::new("cost");
    let path = folder.0.join("run.parquet");
    record(&path, &arrivals(60_000, |i| i as u32, |i| i)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    let group = reader.metadata().row_group(0);
    let times = group.column(Id::Time as usize).statistics().unwrap();
    let bytes = |v: u64| v.to_le_bytes();
    assert_eq!(times.min_bytes_opt(), Some(&bytes(0)[..]));
    assert_eq!(times.max_bytes_opt(), Some(&bytes(59_999 * 59_999)[..]));
    for c in COLUMNS.iter().filter(|c| c.id > Id::Event && c.id < Id::Link) {
        let size = group.column(c.id as usize).compressed_size();
        assert!(size < 60, "{}: {size} bytes", c.name);
    }
}
