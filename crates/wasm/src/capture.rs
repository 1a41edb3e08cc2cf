//! Captures for a page: the same flows and verdicts as in `ackclock capture`, and one flow as columns to draw.
//!
//! The file stays on the other side, which returns the requested pieces; only one piece is in memory at a time.

mod drawn;

use crate::border::{Border, Pieces};
use crate::picture;
use ackclock_capture::fit::{fit, Observer};
use ackclock_capture::graph::{ends, Closely};
use ackclock_capture::place::Side;
use ackclock_capture::read::{read, Contents};
use ackclock_capture::rows::details::CapturedRetransmission;
use ackclock_capture::rows::flow::CapturedFlow;
use ackclock_capture::rows::{self, FlowRow, OneFile};
use ackclock_capture::stalls::{Facts, Stall};
use ackclock_capture::survey::Survey;
use ackclock_capture::{Analysis, Flows, Input, Traffic, Wanted};
use serde::Deserialize;
use serde_json::{json, Value};

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
        let mut survey = Survey::new(Wanted { at: self.at.map(side), each: false, densities: false }, LISTED, None);
        let (contents, traffic) = analysed(border, self.size, &mut survey)?;
        let file = OneFile { name: self.file.clone(), contents, traffic, found: survey.finish() };
        Ok(rows::json(&[file], &[], false).to_string())
    }
}

impl OneFlow {
    /// The flow as in the list, each retransmission and stall, and the flow as columns: `Captured` in
    /// `web/src/engine/capture.ts`.
    pub(crate) fn drawn(&self, border: &mut dyn Border) -> Result<String, String> {
        let wanted = Wanted { at: self.at.map(side), each: true, densities: false };
        let mut closely = Closely::new(self.connection, self.flow.as_str(), wanted, DRAWN);
        let (contents, traffic) = analysed(border, self.size, &mut closely)?;
        let missing = || format!("found no flow {} in connection {}", self.flow, self.connection);
        let (found, way, graph) = closely.finish().ok_or_else(missing)?;
        let file = OneFile { name: self.file.clone(), contents, traffic, found };
        let connection = file.found.connections.first().ok_or_else(missing)?;
        let row = FlowRow { file: &file, receiver_file: None, connection, way };
        let each: Vec<_> =
            row.retransmissions().take(EXPLAINED).map(|r| CapturedRetransmission::of((&row, r))).collect();
        let columns = drawn::columns(&row, &graph, border);
        Ok(json!({
            "flow": CapturedFlow::of((&row, false)),
            "retransmissions": each,
            "likely": rows::likely(row.record().retransmissions.likely),
            "stalls": row.course().stalls.kept.iter().map(|s| stall(&file, s)).collect::<Vec<_>>(),
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
        analysed(border, self.size, &mut observer)?;
        let found = fit(&observer.finish())?;
        Ok(found.json(&self.stack, None).to_string())
    }
}

/// Reads the file that came with the request.
fn analysed<A: Analysis>(border: &mut dyn Border, size: f64, analysis: &mut A) -> Result<(Contents, Traffic), String> {
    let mut flows = Flows::new(analysis, LIMIT);
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
