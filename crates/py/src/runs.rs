//! The results of runs, until they are requested as a table or as text.

use crate::arrow::{refused, Table};
use crate::tables;
use ackclock_lab::report;
use ackclock_lab::scenario::Plan;
use ackclock_lab::summary::Summary;
use pyo3::prelude::*;

/// The runs of a scenario, stack by stack, a run for each seed.
#[pyclass(frozen, module = "ackclock._native")]
pub(crate) struct Runs {
    /// The plan of the first stack.
    plan: Plan,
    /// At least one: a plan has a seed.
    runs: Vec<Summary>,
}

impl Runs {
    pub(crate) fn new(plan: Plan, runs: Vec<Summary>) -> Self {
        Runs { plan, runs }
    }
}

#[pymethods]
impl Runs {
    /// The output of `ackclock run --json`.
    pub(crate) fn json(&self) -> String {
        report::json(&self.plan, &self.runs)
    }

    /// A row for each stack, seed and flow.
    fn frame(&self) -> PyResult<Table> {
        tables::frame(&self.runs).map_err(refused)
    }

    /// Means over the seeds: a row for each stack and flow.
    fn summary(&self) -> PyResult<Table> {
        tables::summary(&self.runs, self.plan.seeds.len()).map_err(refused)
    }

    /// A row for each stack, seed and direction of a link.
    fn links(&self) -> PyResult<Table> {
        tables::links(&self.runs).map_err(refused)
    }

    /// A row for each stack, seed and kind of background traffic.
    fn background(&self) -> PyResult<Table> {
        tables::background(&self.runs).map_err(refused)
    }

    /// Two rows for each stack, seed and flow, if reordering was measured.
    fn reordering(&self) -> PyResult<Table> {
        tables::reordering(&self.runs).map_err(refused)
    }

    /// A row for each value of each density, if reordering was measured.
    fn densities(&self) -> PyResult<Table> {
        tables::densities(&self.runs).map_err(refused)
    }

    /// A row for each stack, seed and stall; `None` if they were not requested.
    fn stalls(&self) -> PyResult<Option<Table>> {
        tables::stalls(&self.runs).transpose().map_err(refused)
    }

    /// The scenario's name.
    #[getter]
    fn scenario(&self) -> &str {
        &self.plan.scenario.name
    }

    /// Simulated time of each run, seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.plan.scenario.duration.as_secs_f64()
    }

    /// The seed and the trace hash of the first run.
    #[getter]
    fn first(&self) -> (u64, &str) {
        (self.runs[0].seed, &self.runs[0].trace_hash)
    }

    fn __len__(&self) -> usize {
        self.runs.len()
    }
}
