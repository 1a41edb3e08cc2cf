//! Captures: files in, tables and JSON out, without Python's lock meanwhile.

pub(crate) mod fitted;
mod tables;
pub(crate) mod written;

use crate::arrow::{refused, Table};
use ackclock_capture::place::Side;
use ackclock_capture::read::open;
use ackclock_capture::rows::{self, OneFile};
use ackclock_capture::survey::Survey;
use ackclock_capture::{Flows, Unreadable, Wanted};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::net::SocketAddr;
use std::path::Path;

/// Packets between two looks at Ctrl-C and the bar.
const LOOK_EVERY: u64 = 1 << 16;

/// What captures hold.
#[pyclass(frozen, module = "ackclock._native")]
pub(crate) struct Capture {
    files: Vec<OneFile>,
}

#[pymethods]
impl Capture {
    /// A row for each way with data of each connection.
    fn flows(&self) -> PyResult<Table> {
        tables::flows(&self.files).map_err(refused)
    }

    /// A row for each retransmission.
    fn retransmissions(&self) -> PyResult<Table> {
        tables::retransmissions(&self.files).map_err(refused)
    }

    /// A row for each way of which reordering is known.
    fn reordering(&self) -> PyResult<Table> {
        tables::reordering(&self.files).map_err(refused)
    }

    /// A row for each value of each density.
    fn densities(&self) -> PyResult<Table> {
        tables::densities(&self.files).map_err(refused)
    }

    /// A row for each stall that is kept.
    fn stalls(&self) -> PyResult<Table> {
        tables::stalls(&self.files).map_err(refused)
    }

    /// A row for each kind of packets that were not analysed.
    fn skipped(&self) -> PyResult<Table> {
        tables::skipped(&self.files).map_err(refused)
    }

    /// All of it; with `details` each retransmission and each stall, too.
    fn json(&self, details: bool) -> String {
        rows::json(&self.files, details).to_string()
    }
}

/// Reads captures; `-` is standard input. `chosen` are two ends; `progress` hears the share that is read.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it converted")]
pub(crate) fn capture(
    py: Python<'_>,
    files: Vec<String>,
    at: Option<&str>,
    limit: usize,
    chosen: Option<(String, String)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Capture> {
    let at = at.map(side).transpose()?;
    let chosen = chosen.map(|(a, b)| Ok::<_, PyErr>((end(&a)?, end(&b)?))).transpose()?;
    let sizes: Vec<u64> = files.iter().map(|f| std::fs::metadata(f).map_or(0, |m| m.len())).collect();
    let total = sizes.iter().sum::<u64>().max(1) as f64;
    let mut read = Vec::new();
    let mut before = 0;
    for (name, size) in files.into_iter().zip(sizes) {
        let told = |offset: u64| {
            let share = (before + offset.min(size)) as f64 / total;
            Python::attach(|py| {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(()), |p| p.call1(py, (share,)).map(drop))
            })
        };
        let file = py.detach(|| survey(name, Wanted { at, each: true }, limit, chosen, told));
        read.push(file.map_err(|refusal| match refusal {
            Refusal::Raised(e) => e,
            Refusal::Unreadable(name, e) => unreadable(py, &name, &e),
        })?);
        before += size;
    }
    Ok(Capture { files: read })
}

enum Refusal {
    Raised(PyErr),
    Unreadable(String, Unreadable),
}

fn survey(
    name: String,
    wanted: Wanted,
    limit: usize,
    chosen: Option<(SocketAddr, SocketAddr)>,
    told: impl Fn(u64) -> PyResult<()>,
) -> Result<OneFile, Refusal> {
    let mut survey = Survey::new(wanted, limit, chosen);
    let mut flows = Flows::new(&mut survey, limit);
    let mut raised = None;
    let read = open(Path::new(&name)).and_then(|mut file| {
        file.read(|frame| {
            if raised.is_some() {
                return;
            }
            if frame.number % LOOK_EVERY == 0 {
                raised = told(frame.offset).err();
            }
            flows.frame(frame);
        })
    });
    if let Some(e) = raised {
        return Err(Refusal::Raised(e));
    }
    match read {
        Err(e) => Err(Refusal::Unreadable(name, e)),
        Ok(contents) => {
            let traffic = flows.finish();
            Ok(OneFile { name, contents, traffic, found: survey.finish() })
        }
    }
}

fn side(name: &str) -> PyResult<Side> {
    match name {
        "sender" => Ok(Side::Sender),
        "receiver" => Ok(Side::Receiver),
        "middle" => Ok(Side::Middle),
        other => {
            Err(PyValueError::new_err(format!("at: found {other:?}, allowed: \"sender\", \"receiver\" or \"middle\"")))
        }
    }
}

fn end(text: &str) -> PyResult<SocketAddr> {
    text.trim().parse().map_err(|_| {
        PyValueError::new_err(format!(
            "flow: found {:?}, allowed: an address with a port, as in 10.0.0.1:5001 or [::1]:80",
            text.trim()
        ))
    })
}

/// A refusal, as `ackclock.errors.CaptureError`.
fn unreadable(py: Python<'_>, file: &str, e: &Unreadable) -> PyErr {
    let make = || {
        let class = py.import("ackclock.errors")?.getattr("CaptureError")?;
        class.call1((format!("{file}: {e}"), file))
    };
    make().map_or_else(|failed| failed, PyErr::from_value)
}
