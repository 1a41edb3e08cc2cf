//! `ackclock live path`: a scenario with real TCPs at its ends, with Python's lock released.

use super::live_error;
use crate::arrow::Table;
use crate::request::{Reporter, Request};
use crate::runs::Runs;
use crate::scenario_error;
use ackclock_lab::capturing::snap_length;
use ackclock_lab::error::ScenarioError;
use ackclock_lab::run::{meta, summary};
use ackclock_live::namespace::become_root;
use ackclock_live::path::{prepare, run, Choice, Options, Place, Prepared, Ran};
use ackclock_live::{report, LiveError};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::parse_nanos;
use ackclock_trace::{ArrowSink, Both, Events, Recorder, TraceError, TraceHash};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The results of a live run.
#[pyclass(frozen, module = "ackclock._native")]
pub(crate) struct LiveRun {
    runs: Py<Runs>,
    about: String,
    hash: String,
    events: Events,
    prepared: Prepared,
    seed: u64,
}

#[pymethods]
impl LiveRun {
    /// The run's numbers, as for a simulated one.
    #[getter]
    fn runs(&self, py: Python<'_>) -> Py<Runs> {
        self.runs.clone_ref(py)
    }

    /// The results that only a live run has, as JSON.
    #[getter]
    fn about(&self) -> &str {
        &self.about
    }

    /// The trace hash and the events.
    fn events(&self) -> (String, Table) {
        (self.hash.clone(), Table::new(self.events.schema.clone(), self.events.batches.clone()))
    }

    /// Runs the same scenario in the simulator, with `seeds` seeds from the run's own on.
    fn simulate(&self, py: Python<'_>, seeds: u64, progress: Option<Py<PyAny>>) -> PyResult<Runs> {
        let request = Request::of(self.prepared.simulated(self.seed, seeds));
        let runs = request.simulate(py, None, None, None, progress.as_ref())?;
        Ok(Runs::new(request.into_first(), runs))
    }

    /// The trace hash and the events of one run of [`LiveRun::simulate`].
    fn simulated_events(&self, py: Python<'_>, seed: u64) -> PyResult<(String, Table)> {
        let (summary, events) = Request::of(self.prepared.simulated(seed, 1)).record(py, seed, None)?;
        Ok((summary.trace_hash, Table::new(events.schema, events.batches)))
    }
}

/// Runs a scenario live. `say` is called with the first line before it begins.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of one Python function")]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
pub(crate) fn live_path(
    py: Python<'_>,
    file: &str,
    text: Option<&str>,
    set: Vec<(String, String)>,
    senders: Vec<String>,
    receiver: String,
    seconds: Option<&str>,
    seed: Option<u64>,
    sysctls: Vec<(String, String)>,
    trace: Option<PathBuf>,
    pcap: Option<PathBuf>,
    snap: Option<u32>,
    realtime: bool,
    say: Py<PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<LiveRun> {
    let refused = |e: LiveError| live_error(py, &e);
    let duration = seconds.map(|text| time(py, text)).transpose()?;
    let choice = Choice { senders, receiver: Some(receiver), duration, sysctls };
    let stacks = choice.stacks().map_err(refused)?;
    if let (true, Some((path, _))) = (stacks.is_empty(), set.first()) {
        let e =
            ScenarioError::option("--set", format!("\"{path}\" without a stack"), "also a --sender that is a stack");
        return Err(scenario_error(py, &e));
    }
    let plan = Request::read(py, file, text, Vec::new(), &[], (seed, None))?.into_first();
    let mut with = BTreeMap::new();
    for stack in stacks {
        let plan = Request::read(py, file, text, vec![stack.clone()], &set, (seed, None))?.into_first();
        with.insert(stack, plan);
    }
    let mut prepared = prepare(plan, &with, &choice).map_err(refused)?;
    let seed = prepared.plan.seeds[0];
    prepared.plan.seeds = vec![seed];
    become_root().map_err(refused)?;
    let snap = snap.map(snap_length).transpose().map_err(|e| scenario_error(py, &e))?;
    let options = Options { realtime, pcap, snap };
    let (mut reporter, mut done, whole) =
        (Reporter::new(progress.as_ref()), 0, prepared.plan.scenario.duration.0.max(1) as f64);
    let ran = py.detach(|| {
        let first = |place: &Place| Python::attach(|py| drop(say.call1(py, (place.to_string(),))));
        let tell = |slice: Nanos| {
            done += slice.0;
            Python::attach(|py| reporter.tell(py, done as f64 / whole))
        };
        record(&prepared, seed, &options, trace.as_deref(), first, tell)
    });
    reporter.raised()?;
    let (ran, hash, events) = ran.map_err(|e| match e {
        Failed::Live(e) => live_error(py, &e),
        Failed::Trace(e) => trace_error(py, &e),
    })?;
    let run = summary(&prepared.plan, seed, &ran.tally, &ran.results, hash);
    let about = report::about(&prepared, &ran).to_string();
    let hash = run.trace_hash.clone();
    let runs = Py::new(py, Runs::new(prepared.plan.clone(), vec![run]))?;
    Ok(LiveRun { runs, about, hash, events, prepared, seed })
}

enum Failed {
    Live(LiveError),
    Trace(TraceError),
}

/// Runs, and keeps the events in memory, and also in the file `trace` if given.
fn record(
    prepared: &Prepared,
    seed: u64,
    options: &Options,
    trace: Option<&Path>,
    mut first: impl FnMut(&Place),
    mut tell: impl FnMut(Nanos) -> ControlFlow<()>,
) -> Result<(Ran, TraceHash, Events), Failed> {
    let (meta, flows) = (meta(&prepared.plan, seed), prepared.plan.scenario.flows.len() as u32);
    let memory = Recorder::new(ArrowSink::new(meta.clone()), flows);
    let (ran, memory) = match trace {
        None => run(prepared, seed, options, memory, &mut first, &mut tell).map_err(Failed::Live)?,
        Some(path) => {
            let file = Recorder::create(path, meta, flows).map_err(Failed::Trace)?;
            let (ran, Both(memory, file)) =
                run(prepared, seed, options, Both(memory, file), &mut first, &mut tell).map_err(Failed::Live)?;
            file.finish().map_err(Failed::Trace)?;
            (ran, memory)
        }
    };
    let (hash, events) = memory.close().map_err(|e| Failed::Trace(TraceError::io(Path::new("memory"), e)))?;
    Ok((ran, hash, events))
}

/// An unknown ending is an error of the caller.
fn trace_error(py: Python<'_>, e: &TraceError) -> PyErr {
    match e {
        TraceError::Format { path, allowed } => {
            let allowed = format!("a file name that ends in {}", allowed.join(" or "));
            scenario_error(py, &ScenarioError::option("--trace", format!("{path:?}"), allowed))
        }
        TraceError::Io { .. } | TraceError::Capture { .. } => PyOSError::new_err(e.to_string()),
    }
}

/// Seconds, or a time with its unit.
fn time(py: Python<'_>, text: &str) -> PyResult<Nanos> {
    let with_unit = parse_nanos(text).or_else(|_| parse_nanos(&format!("{} s", text.trim())));
    with_unit.ok().filter(|t| *t > Nanos::ZERO).ok_or_else(|| {
        let allowed = "seconds above 0, or a time with its unit, as in 10 or \"500 ms\"";
        scenario_error(py, &ScenarioError::option("--seconds", format!("\"{text}\""), allowed))
    })
}
