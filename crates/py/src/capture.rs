//! Captures: files in, tables and JSON out; Python's lock is released meanwhile.

pub(crate) mod fitted;
pub(crate) mod written;

use crate::arrow::{refused, Table};
use crate::tables;
use ackclock_capture::flows::Traffic;
use ackclock_capture::packets::Packets;
use ackclock_capture::pair::apart::apart;
use ackclock_capture::pair::match_ends;
use ackclock_capture::place::Side;
use ackclock_capture::read::{open, Contents};
use ackclock_capture::reordering::OrderSource;
use ackclock_capture::rows::answers::answers_about;
use ackclock_capture::rows::parts::{settle, split};
use ackclock_capture::rows::tables::{table, TABLES};
use ackclock_capture::rows::{self, OneFile};
use ackclock_capture::survey::{Everything, Survey, Surveyed};
use ackclock_capture::{Analysis, Flows, Unreadable, Wanted};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::net::SocketAddr;
use std::path::Path;

/// Packets between two checks for Ctrl-C and updates of the progress bar.
const LOOK_EVERY: u64 = 1 << 16;

/// The contents of captures.
#[pyclass(frozen, module = "ackclock._native")]
pub(crate) struct Capture {
    files: Vec<OneFile>,
    /// Remarks about connections that are in several files.
    remarks: Vec<String>,
}

#[pymethods]
impl Capture {
    /// The table with this name.
    fn table(&self, name: &str) -> PyResult<Table> {
        let unknown = || PyValueError::new_err(format!("table: found {name:?}, allowed: {}", TABLES.join(", ")));
        let found = table(name, &self.files).ok_or_else(unknown)?;
        tables::rows(&found.columns, found.rows).map_err(refused)
    }

    /// The frames of late packets; `None` if no capture shows arrivals.
    fn late(&self) -> Option<Vec<u64>> {
        let reordered = rows::flows(&self.files).filter_map(|f| f.course().reordering.as_ref());
        let mut shown = reordered.filter(|r| r.source != OrderSource::Acks).peekable();
        shown.peek()?;
        let mut frames: Vec<u64> = shown.flat_map(|r| r.late.iter().copied()).collect();
        frames.sort_unstable();
        frames.dedup();
        Some(frames)
    }

    /// What the capture says about chosen connections and, in their order, transfers; each given by its file and number.
    fn answers(&self, connections: Vec<(String, u64)>, transfers: Vec<(String, u64)>) -> Vec<String> {
        answers_about(&self.files, &connections, &transfers)
    }

    /// The complete results; with `details`, each retransmission and each stall, too.
    fn json(&self, details: bool) -> String {
        rows::json(&self.files, &self.remarks, details).to_string()
    }
}

/// Reads captures; `-` is standard input. `chosen` are two ends; `densities` says whether to compute RFC 5236's densities;
/// `progress` is called with the share that has been read.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
pub(crate) fn capture(
    py: Python<'_>,
    files: Vec<String>,
    at: Option<&str>,
    limit: usize,
    chosen: Option<(String, String)>,
    densities: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Capture> {
    let at = at.map(side).transpose()?;
    let chosen = chosen.map(|(a, b)| Ok::<_, PyErr>((end(&a)?, end(&b)?))).transpose()?;
    let sizes: Vec<u64> = files.iter().map(|f| std::fs::metadata(f).map_or(0, |m| m.len())).collect();
    let total = sizes.iter().sum::<u64>().max(1) as f64;
    let wanted = Wanted { at, each: true, densities };
    let mut read = Vec::new();
    let mut before = 0;
    for (name, size) in files.into_iter().zip(&sizes) {
        let report = |offset: u64| tell(progress.as_ref(), (before + offset.min(*size)) as f64 / total);
        let new = || Survey::new(wanted, limit, chosen);
        let file = py.detach(|| survey_file((&name, None), new(), limit, report));
        let (contents, traffic, found) = file.map_err(|refusal| refusal.raise(py, &name))?;
        let parts = match at.is_none() && name != "-" {
            true => py.detach(|| {
                apart(&contents, |one| Ok(survey_file((&name, Some(one)), new(), limit, |_| tell(None, 0.0))?.2))
            }),
            false => Ok(None),
        };
        let parts = parts.map_err(|refusal: Refusal| refusal.raise(py, &name))?;
        let mut traffic = traffic;
        traffic.numbered.retain(|n| chosen.is_none_or(|(a, b)| n.ends == [a, b] || n.ends == [b, a]));
        let whole = OneFile { name, contents, traffic, found, part: None };
        match parts {
            Some(parts) => read.extend(split(&whole, parts)),
            None => read.push(whole),
        }
        before += size;
    }
    let mut remarks = if at.is_none() { pairs(py, &mut read, wanted, limit, progress.as_ref())? } else { Vec::new() };
    remarks.splice(0..0, settle(&mut read));
    Ok(Capture { files: read, remarks })
}

/// Analyses connections with both ends captured once more.
fn pairs(
    py: Python<'_>,
    files: &mut [OneFile],
    wanted: Wanted,
    limit: usize,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Vec<String>> {
    let places: Vec<_> = files.iter().map(|f| (f.name.clone(), f.part.map(|part| part.interface))).collect();
    let names: Vec<String> = files.iter().map(OneFile::part_name).collect();
    // Standard input cannot be read again.
    let mut found: Vec<&mut [Surveyed]> =
        files.iter_mut().map(|f| if f.name == "-" { &mut [][..] } else { &mut f.found.connections[..] }).collect();
    let names_of: Vec<&str> = names.iter().map(String::as_str).collect();
    let total = 2.0 * names.len() as f64;
    let mut read = 0.0;
    py.detach(|| {
        match_ends(&mut found, &names_of, wanted, |file, survey| {
            let (name, interface) = &places[file];
            let size = std::fs::metadata(name).map_or(0, |m| m.len()).max(1);
            let report = |offset: u64| tell(progress, (read + offset as f64 / size as f64).min(total) / total);
            let (.., again) = survey_file((name, *interface), survey, limit, report)
                .map_err(|refusal| Python::attach(|py| refusal.raise(py, name)))?;
            read += 1.0;
            Ok(again.connections)
        })
    })
}

/// Reports the share that has been read, and checks for Ctrl-C.
fn tell(progress: Option<&Py<PyAny>>, share: f64) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        progress.map_or(Ok(()), |p| p.call1(py, (share,)).map(drop))
    })
}

enum Refusal {
    Raised(PyErr),
    Unreadable(Unreadable),
}

impl Refusal {
    fn raise(self, py: Python<'_>, file: &str) -> PyErr {
        match self {
            Refusal::Raised(e) => e,
            Refusal::Unreadable(e) => unreadable(py, file, &e),
        }
    }
}

/// Surveys a file, or one interface of it.
fn survey_file(
    (name, interface): (&str, Option<u32>),
    mut survey: Survey,
    limit: usize,
    report: impl Fn(u64) -> PyResult<()>,
) -> Result<(Contents, Traffic, Everything), Refusal> {
    let (contents, traffic) = analysed((name, interface), &mut survey, limit, report)?;
    Ok((contents, traffic, survey.finish()))
}

/// Reads a file, or one interface of it.
fn analysed<A: Analysis>(
    (name, interface): (&str, Option<u32>),
    analysis: &mut A,
    limit: usize,
    report: impl Fn(u64) -> PyResult<()>,
) -> Result<(Contents, Traffic), Refusal> {
    let mut flows = Flows::new(analysis, limit).at_interface(interface);
    let mut raised = None;
    let read = open(Path::new(name)).and_then(|mut file| {
        file.read(|frame| {
            if raised.is_some() {
                return;
            }
            if frame.number % LOOK_EVERY == 0 {
                raised = report(frame.offset).err();
            }
            flows.frame(frame);
        })
    });
    match (raised, read) {
        (Some(e), _) => Err(Refusal::Raised(e)),
        (None, Err(e)) => Err(Refusal::Unreadable(e)),
        (None, Ok(contents)) => Ok((contents, flows.finish())),
    }
}

/// The packets of one connection of a file, or of one interface of it, by its number. Packets sent by the end `source` are its own.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
pub(crate) fn capture_packets(
    py: Python<'_>,
    file: String,
    interface: Option<u32>,
    number: u64,
    source: &str,
    limit: usize,
) -> PyResult<Table> {
    let source = end(source)?;
    let mut packets = Packets::of(number);
    let read =
        py.detach(|| analysed((&file, interface), &mut packets, limit, |_| Python::attach(|py| py.check_signals())));
    let (_, traffic) = read.map_err(|refusal| refusal.raise(py, &file))?;
    let first = traffic.span.map_or(0, |span| span.0);
    let (packets, own) = packets.finish(source);
    let found = rows::tables::packets(&packets, own, first);
    tables::rows(&found.columns, found.rows).map_err(refused)
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
