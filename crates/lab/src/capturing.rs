//! The selection of simulated runs whose packets are captured, and the destinations of the captures.

use crate::error::{listed, nearest, ScenarioError};
use crate::scenario::Plan;
use ackclock_sim::scenario::Scenario;
use ackclock_sim::topology::nodes_between;
use ackclock_trace::captures::{SNAP, SNAPS};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The captures requested for one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capturing {
    /// The folder for `sender.pcapng`, `receiver.pcapng` and `truth.csv`; it is created if necessary.
    pub folder: PathBuf,
    /// The name of a node between the ends, whose capture is `middle.pcapng`.
    pub at: Option<String>,
    /// Bytes kept of each packet.
    pub snap: u32,
}

impl Capturing {
    /// Captures in `folder`, also at the node `at` if given. `snap` bytes are kept of each packet. Default: 96.
    ///
    /// # Errors
    /// A snap length that truncates headers, or exceeds every packet.
    pub fn new(folder: &Path, at: Option<&str>, snap: Option<u32>) -> Result<Self, ScenarioError> {
        let snap = snap_length(snap.unwrap_or(SNAP))?;
        Ok(Capturing { folder: folder.to_owned(), at: at.map(str::to_owned), snap })
    }

    /// One for each run of `plans`, in the order of plans and seeds. A single run uses the folder itself; several runs get a
    /// subfolder each, named after the stack, if plans differ in it, and the seed: `linux-2025-seed-1`.
    pub fn of_runs(&self, plans: &[&Plan]) -> Vec<Capturing> {
        let runs = plans.iter().flat_map(|plan| plan.seeds.iter().map(move |seed| (*plan, *seed)));
        if runs.clone().nth(1).is_none() {
            return vec![self.clone()];
        }
        let mut taken = BTreeSet::new();
        let one = |(plan, seed): (&Plan, u64)| {
            let stack = plan.stacks.first().filter(|_| plans.len() > 1);
            let name = stack.map_or_else(|| format!("seed-{seed}"), |s| format!("{}-seed-{seed}", plain(&s.name)));
            // Two names may be equal without their special characters.
            let others = (2..).map(|n| format!("{name}-{n}"));
            let name = std::iter::once(name.clone()).chain(others).find(|name| taken.insert(name.clone()));
            Capturing { folder: self.folder.join(name.unwrap_or_default()), ..self.clone() }
        };
        runs.map(one).collect()
    }

    /// The number of the node between the ends. The scenario must be valid for a run.
    ///
    /// # Errors
    /// A node that no flow passes.
    pub fn middle(&self, scenario: &Scenario) -> Result<Option<u32>, ScenarioError> {
        let Some(at) = &self.at else { return Ok(None) };
        let between = nodes_between(scenario).unwrap_or_default();
        let found = between.iter().find(|node| scenario.nodes[**node as usize] == *at);
        if let Some(node) = found {
            return Ok(Some(*node));
        }
        let names: Vec<&str> = between.iter().map(|node| scenario.nodes[*node as usize].as_str()).collect();
        let allowed = match names.is_empty() {
            true => "nothing, since no flow of this scenario passes a node between its ends".to_owned(),
            false => format!("a node between a flow's ends: {}", listed(&names)),
        };
        let hint = nearest(at, names.iter().copied()).map(str::to_owned);
        Err(ScenarioError::option("--pcap-at", format!("\"{at}\""), allowed).with_hint(hint))
    }
}

/// The snap length of a capture, if it is valid.
///
/// # Errors
/// A length that truncates headers, or exceeds every packet.
pub fn snap_length(snap: u32) -> Result<u32, ScenarioError> {
    if SNAPS.contains(&snap) {
        return Ok(snap);
    }
    let allowed = format!("{} (all headers) to {} bytes", SNAPS.start(), SNAPS.end());
    Err(ScenarioError::option("--pcap-snap", snap.to_string(), allowed))
}

/// A stack's name in a form that can be part of a folder's name.
fn plain(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    name.chars().map(keep).collect()
}
