//! The results of a run: numbers for each flow and each link.

use crate::measures::{BackgroundMeasures, FlowBin, FlowMeasures, GroupMeasures, LinkBin, LinkMeasures, Measures};
pub use crate::results::{BackgroundSummary, FlowSummary, LinkSummary, ReorderingSummary};
use crate::stalls::{StallSentence, StallSummary};
use crate::stats::Interval;
use ackclock_table::{Column, Described, Row};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// One run in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The run's seed.
    pub seed: u64,
    /// The run's identity: see [`crate::identity`].
    pub identity: String,
    /// The hash of its events: see `ackclock-trace`.
    pub trace_hash: String,
    /// Simulated time, seconds.
    pub duration_s: f64,
    /// In the scenario's order.
    pub flows: Vec<FlowSummary>,
    /// Background traffic, in the scenario's order.
    pub background: Vec<BackgroundSummary>,
    /// Two for each link of the scenario: its own direction, then `back`.
    pub links: Vec<LinkSummary>,
    /// Parameters that the scenario sets for its own stack, and that the stack chosen instead lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused_parameters: Vec<String>,
    /// Totals, delays, completion times and the links' loads, if the scenario requests them (`run.measures`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measures: Option<Measures>,
    /// The stalls of all flows, the longest first, if they are requested ([`crate::scenario::Plan::stalls`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Vec<StallSummary>>,
}

/// One flow over several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowMeans {
    /// The flow's name.
    pub name: String,
    /// Its stack's name.
    pub stack: String,
    /// The number of runs.
    pub runs: usize,
    /// The number of runs in which it finished.
    pub finished_runs: usize,
    /// The means of those columns of [`FlowSummary`] that are averaged; `None` if no run has the number.
    pub means: Vec<(Column, Option<Interval>)>,
}

impl Serialize for FlowMeans {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("stack", &self.stack)?;
        for (column, mean) in self.means.iter().filter(|(column, mean)| mean.is_some() || !column.sparse) {
            map.serialize_entry(&column.name, mean)?;
        }
        map.end()
    }
}

/// The means of each flow over runs of one scenario; empty without runs.
pub fn means(runs: &[Summary]) -> Vec<FlowMeans> {
    let flows = runs.first().map_or(&[][..], |run| &run.flows);
    flows.iter().enumerate().map(|(i, first)| flow_means(first, runs.iter().filter_map(|r| r.flows.get(i)))).collect()
}

fn flow_means<'a>(first: &FlowSummary, flow: impl Iterator<Item = &'a FlowSummary>) -> FlowMeans {
    let runs: Vec<_> = flow.collect();
    let cells: Vec<_> = runs.iter().map(|row| row.cells()).collect();
    let columns = FlowSummary::columns().into_iter().enumerate().filter(|(_, column)| column.averaged);
    let mean = |i: usize| Interval::of(&cells.iter().filter_map(|row| row[i].number()).collect::<Vec<_>>());
    FlowMeans {
        name: first.name.clone(),
        stack: first.stack.clone(),
        runs: runs.len(),
        finished_runs: runs.iter().filter(|row| row.finish_s.is_some()).count(),
        means: columns.map(|(i, column)| (column, mean(i))).collect(),
    }
}

/// The kinds of rows of a run, by the names that Python uses.
pub fn described() -> Vec<(&'static str, Described)> {
    vec![
        ("flow", Described::of::<FlowSummary>()),
        ("reordering", Described::of::<ReorderingSummary>()),
        ("background", Described::of::<BackgroundSummary>()),
        ("link", Described::of::<LinkSummary>()),
        ("stall", Described::of::<StallSummary>()),
        ("stall_sentence", Described::of::<StallSentence>()),
        ("measured_group", Described::of::<GroupMeasures>()),
        ("measured_flow", Described::of::<FlowMeasures>()),
        ("measured_background", Described::of::<BackgroundMeasures>()),
        ("measured_link", Described::of::<LinkMeasures>()),
        ("flow_bin", Described::of::<FlowBin>()),
        ("link_bin", Described::of::<LinkBin>()),
    ]
}
