//! Plans to summaries: on many threads, or, if algorithms in Python take part, one after another on Python's own.

use crate::scenario_error;
use crate::slots::{Fault, Finder, Watch};
use ackclock_lab::capturing::Capturing;
use ackclock_lab::error::ScenarioError;
use ackclock_lab::many::{run_many, Job};
use ackclock_lab::run::{run_recorded, RunError};
use ackclock_lab::scenario::outside::Workshop;
use ackclock_lab::scenario::{AskedSeeds, Overrides, Plan};
use ackclock_lab::summary::Summary;
use ackclock_tcp::time::Nanos;
use ackclock_trace::Events;
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError, PySystemExit};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The maximum number of progress reports for runs that are made one after another.
const MAX_REPORTS: u64 = 1000;

/// The seeds that Python requests: a number of them, or a list.
#[derive(Clone, FromPyObject)]
pub(crate) enum Seeds {
    Count(u64),
    Listed(Vec<u64>),
}

impl From<Seeds> for AskedSeeds {
    fn from(seeds: Seeds) -> Self {
        match seeds {
            Seeds::Count(count) => AskedSeeds::Count(count),
            Seeds::Listed(seeds) => AskedSeeds::Listed(seeds),
        }
    }
}

/// The runs requested from a function of the module.
pub(crate) struct Request {
    first: Plan,
    others: Vec<Plan>,
    watch: Arc<Watch>,
}

impl Request {
    /// Reads a scenario file, or its text, once for each stack (or once with its own stacks, if none is given).
    pub(crate) fn read(
        py: Python<'_>,
        file: &str,
        text: Option<&str>,
        stacks: Vec<String>,
        set: &[(String, String)],
        (seed, seeds): (Option<u64>, Option<Seeds>),
    ) -> PyResult<Self> {
        if let Some(twice) = stacks.iter().enumerate().find_map(|(i, s)| stacks[..i].contains(s).then_some(s)) {
            let e = ScenarioError::option("--stack", format!("\"{twice}\" a second time"), "each stack once");
            return Err(scenario_error(py, &e));
        }
        let watch = Arc::new(Watch::default());
        let workshop: Arc<dyn Workshop> = Arc::new(Finder { folder: folder(file), watch: Arc::clone(&watch) });
        let plan = |stack: Option<String>| {
            let (seeds, workshop) = (seeds.clone().map(AskedSeeds::from), Some(Arc::clone(&workshop)));
            let overrides = Overrides { stack, set: set.to_vec(), seed, seeds, workshop };
            let plan = match text {
                Some(text) => Plan::parse(file, text, &overrides),
                None => Plan::load(Path::new(file), &overrides),
            };
            plan.map_err(|e| watch.take().map_or_else(|| scenario_error(py, &e), |fault| fault.error))
        };
        let mut stacks = stacks.into_iter();
        let (first, others) = (plan(stacks.next())?, stacks.map(|s| plan(Some(s))).collect::<PyResult<_>>()?);
        Ok(Request { first, others, watch })
    }

    /// An existing plan, without external algorithms.
    pub(crate) fn of(first: Plan) -> Self {
        Request { first, others: Vec::new(), watch: Arc::new(Watch::default()) }
    }

    /// The plan with the first stack.
    pub(crate) fn first(&self) -> &Plan {
        &self.first
    }

    /// Runs everything. The first run is traced, and all are captured. `progress` is called with the share that is done.
    pub(crate) fn simulate(
        &self,
        py: Python<'_>,
        trace: Option<&str>,
        pcap: Option<&Capturing>,
        threads: Option<usize>,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<Vec<Summary>> {
        let plans: Vec<&Plan> = std::iter::once(&self.first).chain(&self.others).collect();
        let jobs = Job::all(&plans, trace.map(Path::new), pcap);
        if jobs.iter().any(|job| job.plan.is_from_outside()) {
            in_turn(py, &jobs, &self.watch, progress)
        } else {
            let mut reporter = Reporter::new(progress);
            let runs = py.detach(|| {
                run_many(&jobs, threads.unwrap_or(0), |share| Python::attach(|py| reporter.tell(py, share)))
            });
            reporter.or_raise(py, runs)
        }
    }

    /// Runs the first plan with `seed`, and keeps its events.
    pub(crate) fn record(
        &self,
        py: Python<'_>,
        seed: u64,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<(Summary, Events)> {
        let plan = &self.first;
        if plan.is_from_outside() {
            let mut turn = Turn::new(py, &self.watch, progress, plan.scenario.duration.0);
            return turn.take(seed, |reporter| run_recorded(plan, seed, reporter));
        }
        let (mut reporter, whole, mut done) = (Reporter::new(progress), plan.scenario.duration.0 as f64, 0);
        let ran = py.detach(|| {
            run_recorded(plan, seed, &mut |slice| {
                done += slice.0;
                Python::attach(|py| reporter.tell(py, done as f64 / whole))
            })
        });
        reporter.or_raise(py, ran)
    }

    /// Measures every run, even if the scenario does not ask for it.
    pub(crate) fn measure(&mut self) {
        for plan in std::iter::once(&mut self.first).chain(&mut self.others) {
            plan.measures.get_or_insert_default();
        }
    }

    /// Explains the stalls of every run.
    pub(crate) fn explain_stalls(&mut self) {
        for plan in std::iter::once(&mut self.first).chain(&mut self.others) {
            plan.stalls = true;
        }
    }

    /// The first plan, by value.
    pub(crate) fn into_first(self) -> Plan {
        self.first
    }
}

/// The base of a scenario's relative sources: the file's folder; for a text, the current folder.
fn folder(file: &str) -> PathBuf {
    let path = Path::new(file);
    path.parent().filter(|_| path.is_file()).map(Path::to_owned).unwrap_or_default()
}

/// The receivers of progress reports, and the exception that they raised.
pub(crate) struct Reporter<'a> {
    progress: Option<&'a Py<PyAny>>,
    raised: Option<PyErr>,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(progress: Option<&'a Py<PyAny>>) -> Self {
        Reporter { progress, raised: None }
    }

    /// Checks for signals, and calls `progress`; an exception ends the runs.
    pub(crate) fn tell(&mut self, py: Python<'_>, share: f64) -> ControlFlow<()> {
        let asked = py.check_signals().and_then(|()| self.progress.map_or(Ok(()), |p| p.call1(py, (share,)).map(drop)));
        self.obey(asked)
    }

    fn obey(&mut self, asked: PyResult<()>) -> ControlFlow<()> {
        match asked {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => {
                self.raised = Some(e);
                ControlFlow::Break(())
            }
        }
    }

    /// The exception raised, if any.
    pub(crate) fn raised(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }

    /// The result, or an exception.
    fn or_raise<T>(&mut self, py: Python<'_>, ran: Result<T, RunError>) -> PyResult<T> {
        match (ran, self.raised.take()) {
            (_, Some(e)) => Err(e),
            (Ok(out), None) => Ok(out),
            (Err(e), None) => Err(run_error(py, e)),
        }
    }
}

/// Runs made on this thread, one after another: algorithms in Python need its lock anyway, and an interruption reaches them.
struct Turn<'a, 'py> {
    py: Python<'py>,
    watch: &'a Watch,
    reporter: Reporter<'a>,
    /// Simulated time, ns, and the part of it not yet reported.
    done: u64,
    unreported: u64,
    total: u64,
}

impl<'a, 'py> Turn<'a, 'py> {
    fn new(py: Python<'py>, watch: &'a Watch, progress: Option<&'a Py<PyAny>>, total: u64) -> Self {
        Turn { py, watch, reporter: Reporter::new(progress), done: 0, unreported: 0, total: total.max(1) }
    }

    /// Makes one run.
    fn take<T>(
        &mut self,
        seed: u64,
        ran: impl FnOnce(&mut dyn FnMut(Nanos) -> ControlFlow<()>) -> Result<T, RunError>,
    ) -> PyResult<T> {
        self.watch.begin();
        let out = ran(&mut |slice| self.slice(slice, seed));
        self.reporter.or_raise(self.py, out)
    }

    fn slice(&mut self, slice: Nanos, seed: u64) -> ControlFlow<()> {
        (self.done, self.unreported) = (self.done.saturating_add(slice.0), self.unreported.saturating_add(slice.0));
        if let Some(fault) = self.watch.take() {
            return self.reporter.obey(Err(algorithm_error(self.py, fault, seed)));
        }
        if self.unreported < self.total / MAX_REPORTS {
            return self.reporter.obey(self.py.check_signals());
        }
        self.unreported = 0;
        self.py.detach(|| ()); // lets other threads of Python run
        self.reporter.tell(self.py, self.done as f64 / self.total as f64)
    }
}

fn in_turn(py: Python<'_>, jobs: &[Job<'_>], watch: &Watch, progress: Option<&Py<PyAny>>) -> PyResult<Vec<Summary>> {
    let total = jobs.iter().fold(0u64, |sum, j| sum.saturating_add(j.plan.scenario.duration.0));
    let mut turn = Turn::new(py, watch, progress, total);
    jobs.iter().map(|job| turn.take(job.seed, |reporter| job.run(reporter))).collect()
}

fn run_error(py: Python<'_>, e: RunError) -> PyErr {
    match e {
        RunError::Scenario(e) => scenario_error(py, &e),
        RunError::Trace(e) => PyOSError::new_err(e.to_string()),
        e @ RunError::Stopped => PyRuntimeError::new_err(e.to_string()),
    }
}

/// An algorithm's error as `ackclock.errors.AlgorithmError`, which includes an attempt to exit the program; an interruption
/// stays unchanged.
fn algorithm_error(py: Python<'_>, fault: Fault, seed: u64) -> PyErr {
    if !fault.error.is_instance_of::<PyException>(py) && !fault.error.is_instance_of::<PySystemExit>(py) {
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
