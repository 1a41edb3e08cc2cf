//! Runs as columns. The type of a column is that of its description, even if all values are missing.

use crate::arrow::Table;
use ackclock_lab::stats::Interval;
use ackclock_lab::summary::{means, FlowMeans, FlowSummary, ReorderingSummary, Summary};
use ackclock_table::{Cell, Column, Field, Kind, Row};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Schema};
use std::sync::Arc;

/// Values of this type as an array; cells of any other type are missing.
fn array<'a>(kind: Kind, cells: impl Iterator<Item = &'a Cell>) -> ArrayRef {
    match kind {
        Kind::Int => {
            Arc::new(cells.map(|c| if let Cell::Int(n) = c { Some(*n) } else { None }).collect::<Int64Array>())
        }
        Kind::Real => Arc::new(cells.map(Cell::number).collect::<Float64Array>()),
        Kind::Bool => {
            Arc::new(cells.map(|c| if let Cell::Bool(yes) = c { Some(*yes) } else { None }).collect::<BooleanArray>())
        }
        Kind::Text | Kind::List(_) | Kind::Map(_) | Kind::Row(_) => {
            Arc::new(cells.map(|c| if let Cell::Text(text) = c { Some(text) } else { None }).collect::<StringArray>())
        }
    }
}

/// Rows of a batch, whose cells are in memory at the same time.
const BATCH: usize = 1 << 16;

/// A table of rows with these columns, without the columns of JSON alone.
pub(crate) fn rows(columns: &[Column], mut rows: impl Iterator<Item = Vec<Cell>>) -> Result<Table, ArrowError> {
    let flat: Vec<_> = columns.iter().enumerate().filter(|(_, column)| column.kind.is_flat()).collect();
    let batch = |cells: &[Vec<Cell>]| {
        flat.iter().map(|(i, column)| array(column.kind, cells.iter().map(|row| &row[*i]))).collect::<Vec<_>>()
    };
    let fields = flat
        .iter()
        .zip(batch(&[]))
        .map(|((_, c), of)| arrow_schema::Field::new(&*c.name, of.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let mut batches = Vec::new();
    loop {
        let cells: Vec<_> = rows.by_ref().take(BATCH).collect();
        batches.push(RecordBatch::try_new(schema.clone(), batch(&cells))?);
        if cells.len() < BATCH {
            return Ok(Table::new(schema, batches));
        }
    }
}

/// A table under construction.
#[derive(Default)]
pub(crate) struct Columns {
    fields: Vec<arrow_schema::Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    /// A column with these values.
    pub(crate) fn add<'a, F: Field + 'a>(&mut self, name: &str, values: impl Iterator<Item = &'a F>) {
        let (mut columns, mut cells) = (Vec::new(), Vec::new());
        F::columns(Column::new("", ""), &mut columns);
        values.for_each(|value| value.cells(&mut cells));
        self.put(name, columns[0].kind, cells.iter());
    }

    /// The columns of a kind of row, except these and the columns that only JSON has.
    pub(crate) fn add_rows<'a, R: Row + 'a>(&mut self, rows: impl Iterator<Item = &'a R>, but: &[&str]) {
        self.add_cells::<R>(&rows.map(Row::cells).collect::<Vec<_>>(), but);
    }

    /// The same for rows that are already cells.
    pub(crate) fn add_cells<R: Row>(&mut self, rows: &[Vec<Cell>], but: &[&str]) {
        for (i, column) in R::columns().into_iter().enumerate() {
            if column.kind.is_flat() && !but.contains(&&*column.name) {
                self.put(&column.name, column.kind, rows.iter().map(|row| &row[i]));
            }
        }
    }

    /// A column of cells.
    pub(crate) fn put<'a>(&mut self, name: &str, kind: Kind, cells: impl Iterator<Item = &'a Cell>) {
        let array = array(kind, cells);
        self.fields.push(arrow_schema::Field::new(name, array.data_type().clone(), true));
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
    // `stack` and `flow` are there already.
    columns.add_rows(rows.iter().map(|(_, row)| *row), &["name", "stack"]);
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
    columns.add("runs", rows.iter().map(|row| &row.runs));
    columns.add("finished_runs", rows.iter().map(|row| &row.finished_runs));
    for (i, (column, _)) in rows.first().map_or(&[][..], |row| &row.means).iter().enumerate() {
        columns.means(&column.name, rows.iter().map(|row| row.means[i].1));
    }
    columns.table()
}

/// A row for each run and stall, if every run has them.
pub(crate) fn stalls(runs: &[Summary]) -> Option<Result<Table, ArrowError>> {
    let mut rows = Vec::new();
    for run in runs {
        rows.extend(run.stalls.as_ref()?.iter().map(|stall| (run, stall)));
    }
    let mut columns = Columns::default();
    columns.add("seed", rows.iter().map(|(run, _)| &run.seed));
    columns.add_rows(rows.iter().map(|(_, stall)| *stall), &[]);
    Some(columns.table())
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
    columns.add_rows(rows.iter().map(|(_, row)| *row), &[]);
    columns.table()
}

/// A row for each run and kind of background traffic.
pub(crate) fn background(runs: &[Summary]) -> Result<Table, ArrowError> {
    let (mut columns, rows) = parts(runs, "background", |run| &run.background);
    columns.add_rows(rows.iter().map(|(_, row)| *row), &[]);
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
    columns.add_rows(rows.iter().map(|(_, row)| *row), &[]);
    columns.table()
}
