//! Captures for a page: the same flows and verdicts as in `ackclock capture`, and one flow as columns to draw.
//!
//! The file stays on the other side, which returns the requested pieces; only one piece is in memory at a time.

mod drawn;

use crate::border::{Border, Pieces};
use crate::picture;
use ackclock_capture::fit::{fit, Observer};
use ackclock_capture::graph::{ends, Closely};
use ackclock_capture::pair::apart::apart;
use ackclock_capture::pair::match_ends;
use ackclock_capture::place::Side;
use ackclock_capture::read::{read, Contents};
use ackclock_capture::rows::details::CapturedRetransmission;
use ackclock_capture::rows::flow::CapturedFlow;
use ackclock_capture::rows::parts::{settle, split};
use ackclock_capture::rows::{self, FlowRow, OneFile};
use ackclock_capture::stalls::{Facts, Stall};
use ackclock_capture::survey::Survey;
use ackclock_capture::{Analysis, Flows, Input, Traffic, Wanted};
use serde::Deserialize;
use serde_json::{json, Value};
use std::net::SocketAddr;

/// Most connections in memory at a time, as in `ackclock capture`.
const LIMIT: usize = 10_000;
/// The number of connections listed: those with the most bytes.
const LISTED: usize = 1000;
/// Most segments, acknowledgments and SACK blocks drawn for a flow.
const DRAWN: usize = 4_000_000;
/// The number of retransmissions whose evidence is included.
const EXPLAINED: usize = 100_000;

/// The file that comes with a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Whole {
    /// Its name.
    file: String,
    /// Its size in bytes.
    size: f64,
    /// The place of capture, relative to the data. Default: detected.
    #[serde(default)]
    at: Option<At>,
}

/// One of its flows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneFlow {
    file: String,
    size: f64,
    #[serde(default)]
    at: Option<At>,
    /// The interface at which its sender was captured, if the file holds both ends.
    #[serde(default)]
    interface: Option<u32>,
    /// Its connection's number.
    connection: u64,
    /// `A:p > B:p`.
    flow: String,
}

/// The flow to which a path is fitted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fitted {
    /// Size in bytes.
    size: f64,
    #[serde(default)]
    at: Option<At>,
    /// As of one flow.
    #[serde(default)]
    interface: Option<u32>,
    /// `A:p > B:p`.
    flow: String,
    /// The sender's stack in the scenario.
    stack: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum At {
    Sender,
    Receiver,
    Middle,
}

impl Whole {
    /// The output of `ackclock capture --json`, without each retransmission and each stall.
    pub(crate) fn flows(&self, border: &mut dyn Border) -> Result<String, String> {
        let wanted = Wanted { at: self.at.map(side), each: false, densities: false };
        let (files, remarks) = surveyed(border, (&self.file, self.size), wanted, None)?;
        Ok(rows::json(&files, &remarks, false).to_string())
    }
}

impl OneFlow {
    /// The flow as in the list, each retransmission and stall, and the flow as columns: `Captured` in
    /// `web/src/engine/capture.ts`.
    pub(crate) fn drawn(&self, border: &mut dyn Border) -> Result<String, String> {
        let wanted = Wanted { at: self.at.map(side), each: true, densities: false };
        let mut closely = Closely::new(self.connection, self.flow.as_str(), wanted, DRAWN);
        let (contents, traffic) = analysed(border, self.size, self.interface, &mut closely)?;
        let missing = || format!("found no flow {} in connection {}", self.flow, self.connection);
        let (found, way, graph) = closely.finish().ok_or_else(missing)?;
        let files = match self.interface {
            None => vec![OneFile { name: self.file.clone(), contents, traffic, found, part: None }],
            Some(_) => surveyed(border, (&self.file, self.size), wanted, ends(&self.flow))?.0,
        };
        let is_it = |f: &FlowRow<'_>| f.connection.number == self.connection && f.name() == self.flow;
        let row = rows::flows(&files).find(is_it).ok_or_else(missing)?;
        debug_assert_eq!(row.way, way);
        let file = row.file;
        let each: Vec<_> =
            row.retransmissions().take(EXPLAINED).map(|r| CapturedRetransmission::of((&row, r))).collect();
        let columns = drawn::columns(&row, &graph, border);
        Ok(json!({
            "flow": CapturedFlow::of((&row, false)),
            "retransmissions": each,
            "likely": rows::likely(row.record().retransmissions.likely),
            "stalls": row.course().stalls.kept.iter().map(|s| stall(file, s)).collect::<Vec<_>>(),
            "leftOut": graph.left_out,
            "drawn": columns,
        })
        .to_string())
    }
}

impl Fitted {
    /// The output of `ackclock capture --fit --json`, with the scenarios.
    pub(crate) fn fit(&self, border: &mut dyn Border) -> Result<String, String> {
        let chosen = ends(&self.flow).ok_or_else(|| format!("found the flow {}, allowed: A:p > B:p", self.flow))?;
        let mut observer = Observer::new(self.at.map(side), Some(chosen));
        analysed(border, self.size, self.interface, &mut observer)?;
        let found = fit(&observer.finish())?;
        Ok(found.json(&self.stack, None).to_string())
    }
}

/// Surveys the file that came with the request, each interface alone if it holds both ends. Returns sentences about that, too.
fn surveyed(
    border: &mut dyn Border,
    (name, size): (&str, f64),
    wanted: Wanted,
    chosen: Option<(SocketAddr, SocketAddr)>,
) -> Result<(Vec<OneFile>, Vec<String>), String> {
    let mut read = |interface, mut survey: Survey| {
        let (contents, traffic) = analysed(border, size, interface, &mut survey)?;
        Ok::<_, String>((contents, traffic, survey.finish()))
    };
    let new = || Survey::new(wanted, LISTED, chosen);
    let (contents, traffic, found) = read(None, new())?;
    let whole = OneFile { name: name.to_owned(), contents, traffic, found, part: None };
    let parts = match wanted.at {
        Some(_) => None,
        None => apart(&whole.contents, |one| Ok::<_, String>(read(Some(one), new())?.2))?,
    };
    let Some(parts) = parts else { return Ok((vec![whole], Vec::new())) };
    let mut files = split(&whole, parts);
    let interfaces: Vec<_> = files.iter().map(|file| file.part.map(|part| part.interface)).collect();
    let names: Vec<String> = files.iter().map(OneFile::part_name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut found: Vec<_> = files.iter_mut().map(|file| &mut file.found.connections[..]).collect();
    let again = |file: usize, survey| Ok::<_, String>(read(interfaces[file], survey)?.2.connections);
    let mut remarks = match_ends(&mut found, &names, wanted, again)?;
    remarks.splice(0..0, settle(&mut files));
    Ok((files, remarks))
}

/// Reads the file that came with the request, or one interface of it.
fn analysed<A: Analysis>(
    border: &mut dyn Border,
    size: f64,
    interface: Option<u32>,
    analysis: &mut A,
) -> Result<(Contents, Traffic), String> {
    let mut flows = Flows::new(analysis, LIMIT).at_interface(interface);
    let mut pieces = Pieces::of(border, size);
    let contents = read(Input::Stream(&mut pieces), |frame| flows.frame(frame)).map_err(|e| e.to_string())?;
    Ok((contents, flows.finish()))
}

fn side(at: At) -> Side {
    match at {
        At::Sender => Side::Sender,
        At::Receiver => Side::Receiver,
        At::Middle => Side::Middle,
    }
}

/// A stall as those of a run's flow.
fn stall(file: &OneFile, stall: &Stall) -> Value {
    let Facts { from, to, .. } = stall.facts;
    let explained = ackclock_course::stall::Stall {
        from: file.seconds(from),
        to: file.seconds(to),
        cause: stall.cause,
        title: stall.title(),
        sentences: stall.sentences(|at| file.seconds(at)),
    };
    picture::stall(explained)
}

#[cfg(test)]
mod tests;
