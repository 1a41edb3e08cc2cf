//! Rows of tables from the JSON of runs, as it was stored.

use crate::arrow::{refused, Table};
use crate::tables::Columns;
use ackclock_lab::summary::FlowSummary;
use ackclock_table::{Cell, Kind, Row};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt::Display;

/// The parts of a run that a table shows; any of a flow's numbers may be missing.
#[derive(Deserialize)]
struct Run<'a> {
    #[serde(borrow)]
    duration_s: Option<&'a RawValue>,
    identity: String,
    trace_hash: String,
    #[serde(borrow)]
    flows: Vec<HashMap<&'a str, &'a RawValue>>,
}

/// A row for each flow of runs, given as the JSON of each: the run's position among them (`run`), and what
/// [`tables::frame`](crate::tables::frame) shows, apart from the seed.
#[pyfunction]
pub(crate) fn rows_of_runs(runs: &Bound<'_, PyList>) -> PyResult<Table> {
    let texts: Vec<Bound<'_, PyString>> = runs.extract()?;
    let runs: Vec<Run<'_>> = texts.iter().map(parsed).collect::<PyResult<_>>()?;
    let mut columns = Columns::default();
    let described = FlowSummary::columns();
    let places: Vec<usize> = runs.iter().enumerate().flat_map(|(at, run)| vec![at; run.flows.len()]).collect();
    let durations: Vec<Cell> = runs.iter().map(|run| cell(Kind::Real, run.duration_s)).collect::<Result<_, _>>()?;
    let flows = runs.iter().flat_map(|run| &run.flows);
    let flows = flows.map(|flow| described.iter().map(|c| cell(c.kind, flow.get(&*c.name).copied())).collect());
    let flows: Vec<Vec<Cell>> = flows.collect::<Result<_, _>>()?;
    columns.add("run", places.iter());
    for (name, of) in [("stack", "stack"), ("flow", "name")] {
        let i = described.iter().position(|c| c.name == of).unwrap_or_default();
        columns.put(name, Kind::Text, flows.iter().map(|flow| &flow[i]));
    }
    columns.put("duration_s", Kind::Real, places.iter().map(|&at| &durations[at]));
    columns.add_cells::<FlowSummary>(&flows, &["name", "stack"]);
    columns.add("identity", places.iter().map(|&at| &runs[at].identity));
    columns.add("trace_hash", places.iter().map(|&at| &runs[at].trace_hash));
    columns.table().map_err(refused)
}

fn parsed<'a>(run: &'a Bound<'_, PyString>) -> PyResult<Run<'a>> {
    serde_json::from_str(run.to_str()?).map_err(not_a_run)
}

fn not_a_run(e: impl Display) -> PyErr {
    PyValueError::new_err(format!("not the JSON of a run: {e}"))
}

/// A value of a column. A float has every digit of its text: serde_json's own reading may miss the last bit.
fn cell(kind: Kind, value: Option<&RawValue>) -> PyResult<Cell> {
    let Some(text) = value.map(RawValue::get).filter(|text| *text != "null") else { return Ok(Cell::None) };
    match kind {
        Kind::Int => text.parse().map(Cell::Int).map_err(|_| not_a_run(format!("{text} is no whole number"))),
        Kind::Real => text.parse().map(Cell::Real).map_err(|_| not_a_run(format!("{text} is no number"))),
        Kind::Bool => serde_json::from_str(text).map(Cell::Bool).map_err(not_a_run),
        Kind::Text => serde_json::from_str(text).map(Cell::Text).map_err(not_a_run),
        Kind::List(_) | Kind::Map(_) | Kind::Row(_) => Ok(Cell::None),
    }
}
