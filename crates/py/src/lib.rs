//! Python's interface to [`ackclock_lab`]: text in, JSON out. Everything that users see is in `python/ackclock`.

mod arrow;
mod capture;
mod conform;
mod live;
mod request;
mod rows;
mod runs;
mod slots;
mod stored;
mod tables;
mod views;

use ackclock_lab::capturing::Capturing;
use ackclock_lab::stats;
use ackclock_lab::{error::ScenarioError, identity::Identities, places, schema, stacks};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_tcp::units::parse_nanos;
use arrow::Table;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use request::{Request, Seeds};
use runs::Runs;
use std::path::PathBuf;

/// The extension module `ackclock._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{
        check, columns_json, events, identities, mean_interval, own_parameters, read_toml, run, run_json, run_rows,
        schema_json, seconds, show_toml, stack_names, stacks_json,
    };
    #[pymodule_export]
    use crate::views::{
        Ack, Advice, Board, Cause, Context, Cut, Episode, Fate, Flow, Gate, GiveBack, Ledger, Loss, Mistake, Newest,
        Packet, Phase, Prior, Rearm, Repair, Sample, Segment, Verdict, Window, Xmit,
    };

    #[pymodule_export]
    use crate::live::{live_bench, live_path, live_recv, live_send, live_shell};

    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::live::LiveRun;

    #[pymodule_export]
    use crate::conform::{conform_run, conform_scripts};

    #[pymodule_export]
    use crate::capture::{capture, capture_packets, fitted::capture_fit, written::capture_copy, Capture};

    #[pymodule_export]
    use crate::{
        arrow::Table,
        rows::rows_of_runs,
        runs::Runs,
        stored::{checksums, plain_identities},
    };

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name for it")]
    const results_revision: u32 = ackclock_lab::RESULTS_REVISION;
}

/// Runs a scenario file (or its text), once for each stack and seed. Without stacks, the file's are used. `pcap`: folder, node
/// between the ends, and snap length of captures. `measures`: measures even if the scenario does not ask for it.
/// `stalls`: explains the stalls of each flow.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of one Python function")]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
fn run(
    py: Python<'_>,
    file: &str,
    text: Option<&str>,
    stacks: Vec<String>,
    set: Vec<(String, String)>,
    seed: Option<u64>,
    seeds: Option<Seeds>,
    trace: Option<String>,
    pcap: Option<(PathBuf, Option<String>, Option<u32>)>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    measures: bool,
    stalls: bool,
) -> PyResult<Runs> {
    let capturing = |(folder, at, snap): (PathBuf, Option<String>, Option<u32>)| {
        Capturing::new(&folder, at.as_deref(), snap).map_err(|e| scenario_error(py, &e))
    };
    let pcap = pcap.map(capturing).transpose()?;
    let mut request = Request::read(py, file, text, stacks, &set, (seed, seeds))?;
    if measures {
        request.measure();
    }
    if stalls {
        request.explain_stalls();
    }
    let runs = request.simulate(py, trace.as_deref(), pcap.as_ref(), threads, progress.as_ref())?;
    Ok(Runs::new(request.into_first(), runs))
}

/// Runs a scenario as [`run`] does; the result is the JSON that `ackclock run --json` prints.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of one Python function")]
fn run_json(
    py: Python<'_>,
    file: &str,
    text: Option<&str>,
    stacks: Vec<String>,
    set: Vec<(String, String)>,
    seed: Option<u64>,
    seeds: Option<Seeds>,
    trace: Option<String>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    Ok(run(py, file, text, stacks, set, seed, seeds, trace, None, threads, progress, false, false)?.json())
}

/// The events of one run, and its trace hash.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
fn events(
    py: Python<'_>,
    file: &str,
    text: Option<&str>,
    stack: Option<String>,
    set: Vec<(String, String)>,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Table)> {
    let request = Request::read(py, file, text, stack.into_iter().collect(), &set, (Some(seed), None))?;
    let (summary, events) = request.record(py, seed, progress.as_ref())?;
    Ok((summary.trace_hash, Table::new(events.schema, events.batches)))
}

/// Runs a scenario as [`run_json`] does, with one stack: one JSON text for each run, an object as in that report's `runs`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of one Python function")]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
fn run_rows(
    py: Python<'_>,
    file: &str,
    text: Option<&str>,
    stack: Option<String>,
    set: Vec<(String, String)>,
    seed: Option<u64>,
    seeds: Option<Seeds>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<String>> {
    let request = Request::read(py, file, text, stack.into_iter().collect(), &set, (seed, seeds))?;
    let runs = request.simulate(py, None, None, threads, progress.as_ref())?;
    let text = |run| serde_json::to_string(run).map_err(|e| PyRuntimeError::new_err(e.to_string()));
    runs.iter().map(text).collect()
}

/// Checks whether a scenario file (or its text) can be run, without running it.
#[pyfunction]
fn check(py: Python<'_>, file: &str, text: Option<&str>) -> PyResult<()> {
    let request = Request::read(py, file, text, Vec::new(), &[], (None, None))?;
    ackclock_lab::run::check(request.first()).map_err(|e| scenario_error(py, &e))
}

/// Any TOML document as JSON, `{"value": …, "lines": {path: line}}`.
#[pyfunction]
fn read_toml(py: Python<'_>, file: &str, text: &str) -> PyResult<String> {
    places::read(file, text).map(|v| v.to_string()).map_err(|e| scenario_error(py, &e))
}

/// A scenario file (or its text) with every default written out, as TOML for the same runs.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
fn show_toml(
    py: Python<'_>,
    file: &str,
    text: Option<&str>,
    stack: Option<String>,
    set: Vec<(String, String)>,
    seed: Option<u64>,
    seeds: Option<Seeds>,
) -> PyResult<String> {
    let request = Request::read(py, file, text, stack.into_iter().collect(), &set, (seed, seeds))?;
    Ok(request.first().to_toml())
}

/// The identity of each run that [`run_json`] would make of a scenario and one stack, without running it.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
fn identities(
    py: Python<'_>,
    file: &str,
    text: Option<&str>,
    stack: Option<String>,
    set: Vec<(String, String)>,
    seed: Option<u64>,
    seeds: Option<Seeds>,
) -> PyResult<Vec<String>> {
    let request = Request::read(py, file, text, stack.into_iter().collect(), &set, (seed, seeds))?;
    let plan = request.first();
    let identities = Identities::of(plan);
    Ok(plan.seeds.iter().map(|&seed| identities.with(seed)).collect())
}

/// Every stack as a JSON list of objects.
#[pyfunction]
fn stacks_json() -> String {
    stacks::json()
}

/// The JSON Schema of scenario files.
#[pyfunction]
fn schema_json() -> String {
    schema::json()
}

/// The columns of every kind of row, by its name: an object with `name`, `about` and `columns` for each.
#[pyfunction]
fn columns_json() -> String {
    let captured = ackclock_capture::rows::tables::described();
    ackclock_table::description(&[ackclock_lab::summary::described(), captured].concat())
}

/// The names of the stacks.
#[pyfunction]
fn stack_names() -> Vec<&'static str> {
    Stack::names().collect()
}

/// Mean and half the width of its confidence interval (None for one value).
#[pyfunction]
#[pyo3(name = "interval", signature = (values, confidence = 0.95))]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
fn mean_interval(values: Vec<f64>, confidence: f64) -> PyResult<(f64, Option<f64>)> {
    stats::interval(&values, confidence).ok_or_else(|| pyo3::exceptions::PyValueError::new_err("no values"))
}

/// The explicit parameters in the text of a stack, as in `rack-tlp,rto.min=200 ms`: paths and values.
#[pyfunction]
fn own_parameters(stack: &str) -> Vec<(String, String)> {
    let own = ackclock_lab::scenario::own_parameters(stack).into_iter();
    own.map(|(path, value)| (path.to_owned(), value.to_owned())).collect()
}

/// The seconds in a time with its unit, as in `1.2 s`, given for the option `option`.
#[pyfunction]
fn seconds(py: Python<'_>, option: &str, text: &str) -> PyResult<f64> {
    let time = parse_nanos(text).map_err(|_| {
        let allowed = "a time: a number and one of ns, us, ms, s, min, as in \"1.2 s\"";
        scenario_error(py, &ScenarioError::option(option, format!("\"{text}\""), allowed))
    })?;
    Ok(Time(time.0).as_secs_f64())
}

/// A refusal as `ackclock.errors.ScenarioError`.
fn scenario_error(py: Python<'_>, e: &ScenarioError) -> PyErr {
    let make = || {
        let class = py.import("ackclock.errors")?.getattr("ScenarioError")?;
        class.call1((e.to_string(), &e.file, e.line, &e.key, &e.found, &e.allowed, &e.hint))
    };
    make().map_or_else(|failed| failed, PyErr::from_value)
}
