//! Conformance scripts: files in, verdicts as JSON out; Python's lock is released meanwhile.

use crate::scenario_error;
use ackclock_conform::engine::System;
use ackclock_conform::run::Report;
use ackclock_conform::suite::{run_files, scripts, Setup};
use ackclock_conform::verdict::Verdict;
use ackclock_lab::scenario::stack_of;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use serde_json::{json, Value};
use std::path::{Path, PathBuf};

/// Scripts between two checks for Ctrl-C.
const AT_ONCE: usize = 64;

/// The scripts below a path, or the path itself.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
pub(crate) fn conform_scripts(path: PathBuf) -> PyResult<Vec<PathBuf>> {
    scripts(&path).map_err(|why| unreadable(&path, &why))
}

/// Runs scripts against the engine: a list of objects as JSON, in the order of the files.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
pub(crate) fn conform_run(
    py: Python<'_>,
    files: Vec<PathBuf>,
    freebsd: bool,
    stack: Option<String>,
    threads: usize,
) -> PyResult<String> {
    let stack = stack.as_deref().map(stack_of).transpose().map_err(|e| scenario_error(py, &e))?;
    let system = if freebsd { System::FreeBsd } else { System::Linux };
    let setup = Setup { system, stack, stack_of: |text| stack_of(text).ok() };
    let mut all = Vec::with_capacity(files.len());
    for some in files.chunks(AT_ONCE) {
        let reports = py.detach(|| run_files(some, &setup, threads));
        let reports = reports.map_err(|(path, why)| unreadable(&path, &why))?;
        all.extend(some.iter().zip(&reports).map(|(path, report)| row(path, report)));
        py.check_signals()?;
    }
    Ok(Value::Array(all).to_string())
}

fn row(path: &Path, report: &Report) -> Value {
    let (result, fault) = match &report.verdict {
        Verdict::Pass => ("pass", None),
        Verdict::Fail(fault) => ("fail", Some(fault)),
        Verdict::NotUnderstood(fault) => ("not understood", Some(fault)),
    };
    let talk = report.talk.iter().map(|said| json!({ "ns": said.at.0, "line": said.line, "text": said.text }));
    json!({
        "file": path,
        "result": result,
        "line": fault.map(|f| f.line),
        "reason": fault.map(|f| f.reason.name()),
        "text": fault.map(|f| &f.text),
        "talk": talk.collect::<Vec<_>>(),
    })
}

fn unreadable(path: &Path, why: &std::io::Error) -> PyErr {
    PyOSError::new_err(format!("{}: {why}", path.display()))
}
