//! Conformance scripts: files in, verdicts as JSON out; Python's lock is released meanwhile.

use crate::live::live_error;
use crate::scenario_error;
use ackclock_conform::engine::System;
use ackclock_conform::run::Report;
use ackclock_conform::suite::{run_files, scripts, Setup, Subject};
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

/// Runs scripts against the engine, the TCP of a library, or that of a command behind a TUN device: a list of objects as JSON,
/// in the order of the files.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
pub(crate) fn conform_run(
    py: Python<'_>,
    files: Vec<PathBuf>,
    freebsd: bool,
    stack: Option<String>,
    library: Option<PathBuf>,
    tun: Option<(String, Vec<String>)>,
    threads: usize,
) -> PyResult<String> {
    let system = if freebsd { System::FreeBsd } else { System::Linux };
    // On real time each script takes seconds.
    let at_once = if tun.is_some() { threads.max(1) } else { AT_ONCE };
    let subject: Box<dyn Subject> = match (tun, library) {
        (Some((device, command)), _) => started(py, &device, command, system)?,
        (None, Some(library)) => loaded(&library, system)?,
        (None, None) => {
            let stack = stack.as_deref().map(stack_of).transpose().map_err(|e| scenario_error(py, &e))?;
            Box::new(Setup { system, stack, stack_of: |text| stack_of(text).ok() })
        }
    };
    let mut all = Vec::with_capacity(files.len());
    for some in files.chunks(at_once) {
        let reports = py.detach(|| run_files(some, &*subject, threads));
        let reports = reports.map_err(|(path, why)| unreadable(&path, &why))?;
        all.extend(some.iter().zip(&reports).map(|(path, report)| row(path, report)));
        py.check_signals()?;
    }
    Ok(Value::Array(all).to_string())
}

#[cfg(target_os = "linux")]
fn started(py: Python<'_>, device: &str, command: Vec<String>, system: System) -> PyResult<Box<dyn Subject>> {
    use ackclock_live::{conform::Programs, namespace::become_root};
    let programs = become_root().and_then(|()| py.detach(|| Programs::new(device, command, system)));
    Ok(Box::new(programs.map_err(|e| live_error(py, &e))?))
}

#[cfg(not(target_os = "linux"))]
fn started(py: Python<'_>, _device: &str, _command: Vec<String>, _system: System) -> PyResult<Box<dyn Subject>> {
    let why = ackclock_live::supported().err();
    Err(why.map_or_else(|| PyOSError::new_err("a TUN device needs Linux"), |e| live_error(py, &e)))
}

#[cfg(unix)]
fn loaded(library: &Path, system: System) -> PyResult<Box<dyn Subject>> {
    let library = ackclock_conform::library::Library::load(library, system).map_err(PyOSError::new_err)?;
    Ok(Box::new(library))
}

#[cfg(not(unix))]
fn loaded(library: &Path, _system: System) -> PyResult<Box<dyn Subject>> {
    Err(PyOSError::new_err(format!("{}: a library of a TCP can be loaded on Unix alone", library.display())))
}

fn row(path: &Path, report: &Report) -> Value {
    let (result, fault) = match &report.verdict {
        Verdict::Pass => ("pass", None),
        Verdict::Fail(fault) => ("fail", Some(fault)),
        Verdict::NotUnderstood(fault) => ("not understood", Some(fault)),
    };
    let talk =
        report.talk.iter().map(|message| json!({ "ns": message.at.0, "line": message.line, "text": message.text }));
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
