//! Plans to summaries: on many threads, or, if algorithms in Python take part, one after the other on Python's own.

use crate::scenario_error;
use crate::slots::{Fault, Finder, Watch};
use ackclock_lab::error::ScenarioError;
use ackclock_lab::many::{run_many, Job};
use ackclock_lab::run::{run, RunError};
use ackclock_lab::scenario::outside::Workshop;
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_lab::summary::Summary;
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often progress is told, at most, of runs that are made one after the other.
const TOLD_TIMES: u64 = 1000;

/// What a function of the module is asked to run.
pub(crate) struct Asked {
    first: Plan,
    others: Vec<Plan>,
    watch: Arc<Watch>,
}

impl Asked {
    /// Reads a scenario file, or its text, once for each stack (without any once with its own).
    pub(crate) fn read(
        py: Python<'_>,
        file: &str,
        text: Option<&str>,
        stacks: Vec<String>,
        set: &[(String, String)],
        (seed, seeds): (Option<u64>, Option<u64>),
    ) -> PyResult<Self> {
        if let Some(twice) = stacks.iter().enumerate().find_map(|(i, s)| stacks[..i].contains(s).then_some(s)) {
            let e = ScenarioError::option("--stack", format!("\"{twice}\" a second time"), "each stack once");
            return Err(scenario_error(py, &e));
        }
        let watch = Arc::new(Watch::default());
        let workshop: Arc<dyn Workshop> = Arc::new(Finder { folder: folder(file), watch: Arc::clone(&watch) });
        let plan = |stack: Option<String>| {
            let overrides = Overrides { stack, set: set.to_vec(), seed, seeds, workshop: Some(Arc::clone(&workshop)) };
            let plan = match text {
                Some(text) => Plan::parse(file, text, &overrides),
                None => Plan::load(Path::new(file), &overrides),
            };
            plan.map_err(|e| scenario_error(py, &e))
        };
        let mut stacks = stacks.into_iter();
        let (first, others) = (plan(stacks.next())?, stacks.map(|s| plan(Some(s))).collect::<PyResult<_>>()?);
        Ok(Asked { first, others, watch })
    }

    /// The plan with the first stack.
    pub(crate) fn first(&self) -> &Plan {
        &self.first
    }

    /// Runs everything; the first run of all is traced. `progress` is told the share that is done.
    pub(crate) fn simulate(
        &self,
        py: Python<'_>,
        trace: Option<&str>,
        threads: Option<usize>,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<Vec<Summary>> {
        let mut jobs = Job::all(&self.first, trace.map(Path::new));
        jobs.extend(self.others.iter().flat_map(|plan| Job::all(plan, None)));
        let in_python = |job: &Job<'_>| job.plan.outside.iter().any(|tables| !tables.is_empty());
        if jobs.iter().any(in_python) {
            in_turn(py, &jobs, &self.watch, progress)
        } else {
            on_threads(py, &jobs, threads, progress)
        }
    }
}

/// Where the relative sources of a scenario begin: beside its file; for a text in the current folder.
fn folder(file: &str) -> PathBuf {
    let path = Path::new(file);
    path.parent().filter(|_| path.is_file()).map(Path::to_owned).unwrap_or_default()
}

/// What a person wants meanwhile: to interrupt, and to see how far it is.
fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, share: f64) -> PyResult<()> {
    py.check_signals()?;
    progress.map_or(Ok(()), |p| p.call1(py, (share,)).map(drop))
}

/// Runs all jobs without holding Python's lock.
fn on_threads(
    py: Python<'_>,
    jobs: &[Job<'_>],
    threads: Option<usize>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Vec<Summary>> {
    let mut raised = None;
    let runs = py.detach(|| {
        run_many(jobs, threads.unwrap_or(0), |share| match Python::attach(|py| tell(py, progress, share)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => {
                raised = Some(e);
                ControlFlow::Break(())
            }
        })
    });
    match (runs, raised) {
        (_, Some(e)) => Err(e),
        (Ok(runs), None) => Ok(runs),
        (Err(e), None) => Err(run_error(py, e)),
    }
}

/// Runs all jobs here, one after the other: algorithms in Python need its lock anyway, and an interruption reaches them.
fn in_turn(py: Python<'_>, jobs: &[Job<'_>], watch: &Watch, progress: Option<&Py<PyAny>>) -> PyResult<Vec<Summary>> {
    let total = jobs.iter().fold(0u64, |sum, j| sum.saturating_add(j.plan.scenario.duration.0)).max(1);
    let (mut done, mut untold) = (0u64, 0u64);
    let mut summaries = Vec::with_capacity(jobs.len());
    for job in jobs {
        watch.begin();
        let mut raised = None;
        let summary = run(job.plan, job.seed, job.trace, &mut |slice| {
            (done, untold) = (done.saturating_add(slice.0), untold.saturating_add(slice.0));
            let asked = match watch.take() {
                Some(fault) => Err(algorithm_error(py, fault, job.seed)),
                None if untold >= total / TOLD_TIMES => {
                    untold = 0;
                    py.detach(|| ()); // other threads of Python may have their turn
                    tell(py, progress, done as f64 / total as f64)
                }
                None => py.check_signals(),
            };
            match asked {
                Ok(()) => ControlFlow::Continue(()),
                Err(e) => {
                    raised = Some(e);
                    ControlFlow::Break(())
                }
            }
        });
        match (summary, raised) {
            (_, Some(e)) => return Err(e),
            (Err(e), None) => return Err(run_error(py, e)),
            (Ok(summary), None) => summaries.push(summary),
        }
    }
    Ok(summaries)
}

fn run_error(py: Python<'_>, e: RunError) -> PyErr {
    match e {
        RunError::Scenario(e) => scenario_error(py, &e),
        RunError::Trace(e) => PyOSError::new_err(e.to_string()),
        e @ RunError::Stopped => PyRuntimeError::new_err(e.to_string()),
    }
}

/// An algorithm's error as `ackclock.errors.AlgorithmError`; what is no error but an end (an interruption) as it is.
fn algorithm_error(py: Python<'_>, fault: Fault, seed: u64) -> PyErr {
    if !fault.error.is_instance_of::<PyException>(py) {
        return fault.error;
    }
    let make = || {
        let class = py.import("ackclock.errors")?.getattr("AlgorithmError")?;
        fault.error.value(py).setattr("__traceback__", fault.error.traceback(py))?;
        let at = fault.at;
        let error = class.call_method1(
            "of",
            (fault.error.value(py), fault.algorithm.as_str(), fault.method, at.as_secs_f64(), at.to_string(), seed),
        )?;
        PyResult::Ok(PyErr::from_value(error))
    };
    let error = make().unwrap_or_else(|failed| failed);
    error.set_cause(py, Some(fault.error));
    error
}
