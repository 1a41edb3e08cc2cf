//! Runs as columns. The type of a column is that of its field, even if all values are missing. Every field of a summary is
//! named here once; a missing field is a compile error.

use crate::arrow::Table;
use ackclock_lab::stats::Interval;
use ackclock_lab::summary::{means, FlowMeans, FlowSummary, ReorderingSummary, Summary};
use ackclock_table::{Kind, Row};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Field, Schema};
use std::sync::Arc;

/// A value of a column. Counters are signed, so that differences of columns work in every tool.
pub(crate) trait Cell {
    fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef
    where
        Self: 'a;
}

macro_rules! cells {
    ($($of:ty => $array:ident, $cell:pat => $value:expr;)*) => {
        $(impl Cell for $of {
            fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
                Arc::new($array::from_iter(cells.map(|$cell| $value)))
            }
        })*
    };
}

cells! {
    String => StringArray, text => Some(text);
    &'static str => StringArray, text => Some(text);
    f64 => Float64Array, x => Some(*x);
    Option<f64> => Float64Array, x => *x;
    i64 => Int64Array, n => Some(*n);
    u64 => Int64Array, n => i64::try_from(*n).ok();
    usize => Int64Array, n => i64::try_from(*n).ok();
    Option<i64> => Int64Array, n => *n;
    Option<u32> => Int64Array, n => n.map(i64::from);
    Option<u64> => Int64Array, n => n.and_then(|n| i64::try_from(n).ok());
    Option<String> => StringArray, text => text.as_deref();
    bool => BooleanArray, yes => Some(*yes);
    Option<bool> => BooleanArray, yes => *yes;
}

/// Values of this type as an array; cells of any other type are missing.
fn array<'a>(kind: Kind, cells: impl Iterator<Item = &'a ackclock_table::Cell>) -> ArrayRef {
    use ackclock_table::Cell;
    match kind {
        Kind::Int => Arc::new(Int64Array::from_iter(cells.map(|c| if let Cell::Int(n) = c { Some(*n) } else { None }))),
        Kind::Real => Arc::new(cells.map(Cell::number).collect::<Float64Array>()),
        Kind::Bool => {
            Arc::new(BooleanArray::from_iter(cells.map(|c| if let Cell::Bool(yes) = c { Some(*yes) } else { None })))
        }
        Kind::Text | Kind::List(_) | Kind::Map(_) | Kind::Row(_) => {
            Arc::new(StringArray::from_iter(cells.map(|c| if let Cell::Text(text) = c { Some(text) } else { None })))
        }
    }
}

/// A table under construction.
#[derive(Default)]
pub(crate) struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    pub(crate) fn add<'a, C: Cell + 'a>(&mut self, name: &str, cells: impl Iterator<Item = &'a C>) {
        self.put(name, C::column(cells));
    }

    /// The columns of a kind of row, without columns that only JSON has.
    pub(crate) fn add_rows<'a, R: Row + 'a>(&mut self, rows: impl Iterator<Item = &'a R>) {
        let cells: Vec<_> = rows.map(Row::cells).collect();
        for (i, column) in R::columns().into_iter().enumerate().filter(|(_, column)| column.kind.is_flat()) {
            self.put(&column.name, array(column.kind, cells.iter().map(|row| &row[i])));
        }
    }

    fn put(&mut self, name: &str, array: ArrayRef) {
        self.fields.push(Field::new(name, array.data_type().clone(), true));
        self.arrays.push(array);
    }

    /// Means, and half the widths of their 95 % confidence intervals.
    fn means(&mut self, name: &str, cells: impl Iterator<Item = Option<Interval>>) {
        let cells = cells.map(|i| i.map_or((None, None), |i| (Some(i.mean), i.half_width_95)));
        let (means, halves): (Vec<_>, Vec<_>) = cells.unzip();
        self.add(name, means.iter());
        self.add(&format!("{name}_ci95"), halves.iter());
    }

    pub(crate) fn table(self) -> Result<Table, ArrowError> {
        let schema = Arc::new(Schema::new(self.fields));
        let batch = RecordBatch::try_new(schema.clone(), self.arrays)?;
        Ok(Table::new(schema, vec![batch]))
    }
}

/// Adds a column for each field before `but`. Together with the fields after it, these are all fields.
macro_rules! add_fields {
    ($to:ident, $rows:ident: $of:ident { $($field:ident),* $(,)? } but { $($other:ident),* }) => {
        let _all = |$of { $($field: _,)* $($other: _,)* }: $of| ();
        $($to.add(stringify!($field), $rows.iter().map(|(_, row)| &row.$field));)*
    };
}

/// Stack, flow and seed of flows.
fn flows<T>(columns: &mut Columns, rows: &[((&Summary, &FlowSummary), T)]) {
    columns.add("stack", rows.iter().map(|((_, flow), _)| &flow.stack));
    columns.add("flow", rows.iter().map(|((_, flow), _)| &flow.name));
    columns.add("seed", rows.iter().map(|((run, _), _)| &run.seed));
}

/// A row for each run and flow.
pub(crate) fn frame(runs: &[Summary]) -> Result<Table, ArrowError> {
    let rows: Vec<_> = runs.iter().flat_map(|run| run.flows.iter().map(move |flow| ((run, flow), flow))).collect();
    let mut columns = Columns::default();
    flows(&mut columns, &rows);
    columns.add("duration_s", rows.iter().map(|((run, _), _)| &run.duration_s));
    add_fields!(columns, rows: FlowSummary {
        start_s, finish_s, acked_bytes, throughput_bytes_per_s, goodput_bytes_per_s, data_packets_sent,
        retransmissions, needed_retransmissions, refused_retransmissions, needless_retransmissions,
        needless_fast_retransmissions, needless_recovery_retransmissions, needless_probe_retransmissions,
        needless_timeout_retransmissions, data_drops, ack_drops, timeouts, fast_recoveries, dupthresh_max, dupthresh_mean,
        dupthresh_after_timeout_max, dupthresh_of_ceiling_max, transfers, transfer_median_s, transfer_p95_s,
    } but { name, stack, transfer_times_s, reordering, ack_reordering });
    columns.add("identity", rows.iter().map(|((run, _), _)| &run.identity));
    columns.add("trace_hash", rows.iter().map(|((run, _), _)| &run.trace_hash));
    columns.table()
}

/// A row for each stack and flow; `seeds` consecutive runs have the same stack.
pub(crate) fn summary(runs: &[Summary], seeds: usize) -> Result<Table, ArrowError> {
    let rows: Vec<FlowMeans> = runs.chunks(seeds.max(1)).flat_map(means).collect();
    let mut columns = Columns::default();
    columns.add("stack", rows.iter().map(|row| &row.stack));
    columns.add("flow", rows.iter().map(|row| &row.name));
    let counts: Vec<usize> = rows.iter().map(|row| row.throughput_bytes_per_s.n).collect();
    columns.add("runs", counts.iter());
    let finished: Vec<usize> = rows.iter().map(|row| row.finish_s.map_or(0, |i| i.n)).collect();
    columns.add("finished_runs", finished.iter());
    macro_rules! add_means {
        ($($field:ident),* $(,)?) => {
            let _all = |FlowMeans { name: _, stack: _, $($field: _),* }: FlowMeans| ();
            $(columns.means(stringify!($field), rows.iter().map(|row| row.$field.into()));)*
        };
    }
    add_means!(
        throughput_bytes_per_s,
        goodput_bytes_per_s,
        data_packets_sent,
        retransmissions,
        needed_retransmissions,
        refused_retransmissions,
        needless_retransmissions,
        needless_fast_retransmissions,
        needless_recovery_retransmissions,
        needless_probe_retransmissions,
        needless_timeout_retransmissions,
        data_drops,
        timeouts,
        fast_recoveries,
        finish_s,
        transfers,
        transfer_median_s,
        transfer_p95_s,
    );
    columns.table()
}

/// The stacks of a run's flows, each once.
fn stacks(run: &Summary) -> String {
    let mut named: Vec<&str> = Vec::new();
    for flow in &run.flows {
        if !named.contains(&flow.stack.as_str()) {
            named.push(&flow.stack);
        }
    }
    named.join("+")
}

/// The stack, seed and position of parts of runs.
fn parts<'a, T>(
    runs: &'a [Summary],
    position: &str,
    of: impl Fn(&'a Summary) -> &'a [T],
) -> (Columns, Vec<(usize, &'a T)>) {
    let mut columns = Columns::default();
    let stacks: Vec<String> = runs.iter().flat_map(|run| vec![stacks(run); of(run).len()]).collect();
    columns.add("stack", stacks.iter());
    columns.add("seed", runs.iter().flat_map(|run| of(run).iter().map(move |_| &run.seed)));
    let rows: Vec<_> = runs.iter().flat_map(|run| of(run).iter().enumerate()).collect();
    columns.add(position, rows.iter().map(|(at, _)| at));
    (columns, rows)
}

/// A row for each run and direction of a link.
pub(crate) fn links(runs: &[Summary]) -> Result<Table, ArrowError> {
    let (mut columns, rows) = parts(runs, "link", |run| &run.links);
    columns.add_rows(rows.iter().map(|(_, row)| *row));
    columns.table()
}

/// A row for each run and kind of background traffic.
pub(crate) fn background(runs: &[Summary]) -> Result<Table, ArrowError> {
    let (mut columns, rows) = parts(runs, "background", |run| &run.background);
    columns.add_rows(rows.iter().map(|(_, row)| *row));
    columns.table()
}

/// Each way of each flow whose reordering was measured.
fn measured(runs: &[Summary]) -> impl Iterator<Item = (&'static str, ((&Summary, &FlowSummary), &ReorderingSummary))> {
    let every = runs.iter().flat_map(|run| run.flows.iter().map(move |flow| (run, flow)));
    every
        .flat_map(|at| [("data", at, &at.1.reordering), ("acks", at, &at.1.ack_reordering)])
        .filter_map(|(way, at, measured)| Some((way, (at, measured.as_ref()?))))
}

/// A row for each value of the two densities of each measured way.
pub(crate) fn densities(runs: &[Summary]) -> Result<Table, ArrowError> {
    let rows: Vec<_> = measured(runs)
        .flat_map(|(way, (at, r))| {
            let places = r.reorder_density.iter().map(|(k, share)| ("reorder", *k, *share));
            let held = r.buffer_occupancy_density.iter();
            let held = held.map(|(k, share)| ("buffer_occupancy", i64::try_from(*k).unwrap_or(i64::MAX), *share));
            places.chain(held).map(move |value| ((at, ()), (way, value)))
        })
        .collect();
    let (flows_of, rows): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let mut columns = Columns::default();
    flows(&mut columns, &flows_of);
    columns.add("direction", rows.iter().map(|(way, _)| way));
    columns.add("density", rows.iter().map(|(_, (density, _, _))| density));
    columns.add("packets", rows.iter().map(|(_, (_, packets, _))| packets));
    columns.add("share", rows.iter().map(|(_, (_, _, share))| share));
    columns.table()
}

/// Two rows for each run and flow whose reordering was measured.
pub(crate) fn reordering(runs: &[Summary]) -> Result<Table, ArrowError> {
    let (ways, rows): (Vec<_>, Vec<_>) = measured(runs).unzip();
    let mut columns = Columns::default();
    flows(&mut columns, &rows);
    columns.add("direction", ways.iter());
    add_fields!(columns, rows: ReorderingSummary {
        packets, duplicates, reordered, ratio, late_time_s, max_late_time_s, byte_offset_bytes, max_byte_offset_bytes,
        discontinuities, free_runs, free_run_packets, density_threshold,
    } but { extents, n_reordered, reorder_density, buffer_occupancy_density });
    columns.table()
}
