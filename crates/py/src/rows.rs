//! Rows of tables from the JSON of runs, as it was stored.

use crate::arrow::{refused, Table};
use crate::tables::{Cell, Columns};
use arrow_array::{ArrayRef, Float64Array, StringArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;

/// A float with every digit of its text: serde_json's own reading may miss the last bit.
struct Exact(f64);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(from)?.get();
        text.parse().map(Exact).map_err(|_| D::Error::custom(format!("{text} is no number")))
    }
}

impl Cell for Option<Exact> {
    fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(cells.map(|cell| cell.as_ref().map(|exact| exact.0)).collect::<Float64Array>())
    }
}

impl Cell for Cow<'_, str> {
    fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef
    where
        Self: 'a,
    {
        Arc::new(cells.map(Some).collect::<StringArray>())
    }
}

/// The parts of a run that a table shows.
#[derive(Deserialize)]
struct Run<'a> {
    duration_s: Option<Exact>,
    #[serde(borrow)]
    identity: Cow<'a, str>,
    #[serde(borrow)]
    trace_hash: Cow<'a, str>,
    flows: Vec<Flow<'a>>,
}

/// Declares a flow with its numbers, none of which must be there, and their columns.
macro_rules! flow {
    ($($number:ident: $of:ty,)*) => {
        #[derive(Deserialize)]
        struct Flow<'a> {
            #[serde(borrow)]
            stack: Cow<'a, str>,
            #[serde(borrow)]
            name: Cow<'a, str>,
            $($number: Option<$of>,)*
        }

        fn add_numbers(columns: &mut Columns, flows: &[&Flow<'_>]) {
            $(columns.add(stringify!($number), flows.iter().map(|flow| &flow.$number));)*
        }
    };
}

flow! {
    start_s: Exact,
    finish_s: Exact,
    acked_bytes: i64,
    throughput_bytes_per_s: Exact,
    goodput_bytes_per_s: Exact,
    data_packets_sent: i64,
    retransmissions: i64,
    needed_retransmissions: i64,
    refused_retransmissions: i64,
    needless_retransmissions: i64,
    needless_fast_retransmissions: i64,
    needless_recovery_retransmissions: i64,
    needless_probe_retransmissions: i64,
    needless_timeout_retransmissions: i64,
    data_drops: i64,
    ack_drops: i64,
    timeouts: i64,
    fast_recoveries: i64,
    dupthresh_max: i64,
    dupthresh_mean: Exact,
    dupthresh_after_timeout_max: i64,
    dupthresh_of_ceiling_max: Exact,
    transfers: i64,
    transfer_median_s: Exact,
    transfer_p95_s: Exact,
}

/// A row for each flow of runs, given as the JSON of each: the run's position among them (`run`), and what
/// [`tables::frame`](crate::tables::frame) shows, apart from the seed.
#[pyfunction]
pub(crate) fn rows_of_runs(runs: &Bound<'_, PyList>) -> PyResult<Table> {
    let texts: Vec<Bound<'_, PyString>> = runs.extract()?;
    let runs: Vec<Run<'_>> = texts.iter().map(parsed).collect::<PyResult<_>>()?;
    let flows: Vec<&Flow<'_>> = runs.iter().flat_map(|run| &run.flows).collect();
    let places: Vec<usize> = runs.iter().enumerate().flat_map(|(at, run)| vec![at; run.flows.len()]).collect();
    let mut columns = Columns::default();
    columns.add("run", places.iter());
    columns.add("stack", flows.iter().map(|flow| &flow.stack));
    columns.add("flow", flows.iter().map(|flow| &flow.name));
    columns.add("duration_s", places.iter().map(|&at| &runs[at].duration_s));
    add_numbers(&mut columns, &flows);
    columns.add("identity", places.iter().map(|&at| &runs[at].identity));
    columns.add("trace_hash", places.iter().map(|&at| &runs[at].trace_hash));
    columns.table().map_err(refused)
}

fn parsed<'a>(run: &'a Bound<'_, PyString>) -> PyResult<Run<'a>> {
    serde_json::from_str(run.to_str()?).map_err(|e| PyValueError::new_err(format!("not the JSON of a run: {e}")))
}
