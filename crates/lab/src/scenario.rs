//! TOML with units in, a checked [`Plan`] out, or one [`ScenarioError`]. Each key is read in one place below this module and
//! described in one, [`crate::schema`], from which `docs/scenario.md` is generated.

mod assign;
mod background;
mod chosen;
mod dumbbell;
mod flow;
mod graph;
mod link;
pub mod outside;
mod overrides;
mod table;
mod write;

pub use chosen::own_parameters;
pub use overrides::{stack_of, AskedSeeds, Overrides};

use crate::bounded;
use crate::chains;
use crate::error::ScenarioError;
use crate::file::{self, SeedRange, Seeds};
use crate::form::{blame, Form};
use crate::reader::{Node, Source};
use crate::schema;
use ackclock_sim::scenario::{Gap, Scenario};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use graph::Graph;
use std::ops::Range;
use std::path::Path;

/// The maximum number of flows in a file; it is well below the simulator's limit of 2^24 elements.
const MOST_FLOWS: u64 = 1 << 16;
/// The largest first seed of a sequence of seeds.
const LAST_FIRST_SEED: u64 = u64::MAX >> 2;
/// The maximum number of bins of a run.
const MOST_BINS: u64 = 10_000;
/// The maximum number of seeds in a file.
const MOST_SEEDS: u64 = 1_000_000;

/// The contents of a scenario file: one run for each seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The file's name as given.
    pub file: String,
    /// The network and its flows.
    pub scenario: Scenario,
    /// The stacks that [`ackclock_sim::scenario::FlowSpec::stack`] refers to.
    pub stacks: Vec<Stack>,
    /// For each of these, the tables of its external algorithms, as written.
    pub outside: Vec<outside::Tables>,
    /// One run each.
    pub seeds: Vec<u64>,
    /// Whether a summary includes the reordering of each flow's packets. Not part of a run's identity.
    pub reordering: bool,
    /// Parameters that the file sets for its flows' own stacks, and that the stack chosen instead lacks. Not part of a run's
    /// identity.
    pub unused: Vec<String>,
    /// Whether and how a run is measured. Not part of a run's identity.
    pub measures: Option<Measuring>,
    /// Whether a summary includes the stalls of each flow. Not part of a run's identity, and not of a scenario file.
    pub stalls: bool,
}

/// How a run is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measuring {
    /// The length of each period that is reported in addition to the whole run.
    pub bins: Option<Nanos>,
}

impl Plan {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// The fault in it, and its place.
    pub fn load(path: &Path, overrides: &Overrides) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        let refuse = |line, found: String, allowed: &str| ScenarioError {
            file: name.clone(),
            line,
            key: None,
            found,
            allowed: allowed.to_owned(),
            hint: None,
        };
        let unread = |e| refuse(None, format!("no readable file ({e})"), "the path of a scenario file in TOML");
        let bytes = bounded::read(path).map_err(unread)?;
        if bytes.len() as u64 > bounded::LARGEST {
            return Err(refuse(None, "more than 16 MiB".to_owned(), "a scenario file of at most 16 MiB"));
        }
        let text = std::str::from_utf8(&bytes).map_err(|e| {
            let line = 1 + bytes[..e.valid_up_to()].iter().filter(|b| **b == b'\n').count() as u32;
            refuse(Some(line), format!("the byte 0x{:02x}", bytes[e.valid_up_to()]), "text in UTF-8")
        })?;
        Plan::parse(&name, text, overrides)
    }

    /// Reads the text of a scenario; `file` is its name in errors.
    ///
    /// # Errors
    /// The fault in it, and its place.
    pub fn parse(file: &str, text: &str, overrides: &Overrides) -> Result<Self, ScenarioError> {
        let src = Source { file, text };
        let root = src.parse()?;
        let (span, value) = (0..0, toml::de::DeValue::Table(root.into_inner()));
        let root = Node { src, path: String::new(), span, value: &value };
        let file::Scenario { name, run, link, flow, background, dumbbell } = Form::new(schema::form()).read(&root)?;
        let file::Run { duration, seed, seeds, reordering, measures } = run;
        let run = root.get("run").unwrap_or_else(|| root.clone());
        above_zero(&run, "duration", duration)?;
        let measures = measuring(&run, measures, duration)?;
        let seeds = overrides.seeds(self::seeds(&run, seed, seeds)?)?;
        let mut graph = Graph::new(duration);
        for (node, link) in root.list("link").iter().zip(link.into_iter().flatten()) {
            graph.link(node, link, overrides)?;
        }
        for (node, keys) in root.list("flow").iter().zip(flow.into_iter().flatten()) {
            flow::add(node, keys, &mut graph, overrides)?;
        }
        if let (Some(node), Some(dumbbell)) = (root.get("dumbbell"), dumbbell) {
            dumbbell::read(&node, dumbbell, &mut graph, overrides)?;
        }
        let background = background::list(&root.list("background"), background, &mut graph, overrides)?;
        let Graph { nodes, links, flows, stacks, outside, unused, .. } = graph;
        let name = name.unwrap_or_else(|| stem(file));
        let scenario = Scenario { name, duration, nodes, links, flows, background };
        let reordering = reordering.unwrap_or(false);
        let unused = unused.into_iter().collect();
        Ok(Plan {
            file: file.to_owned(),
            scenario,
            stacks,
            outside,
            seeds,
            reordering,
            measures,
            stalls: false,
            unused,
        })
    }
}

impl Plan {
    /// The flows as users see them: a row of transfers on separate connections is one flow. Each has its name and its
    /// positions in the scenario.
    pub fn rows(&self) -> Vec<(&str, Range<usize>)> {
        let flows = &self.scenario.flows;
        let name = |row: &Range<usize>| match row.len() {
            1 => flows[row.start].name.as_str(),
            _ => chains::name(&flows[row.start].name),
        };
        chains::chains(flows).into_iter().map(|row| (name(&row), row)).collect()
    }

    /// Whether an external algorithm or path element takes part.
    pub fn is_from_outside(&self) -> bool {
        let links = self.scenario.links.iter();
        self.outside.iter().any(|tables| !tables.is_empty())
            || links.flat_map(|l| [&l.forward, &l.back]).any(outside::stands_on)
    }
}

/// A file's name without folder and ending.
fn stem(file: &str) -> String {
    Path::new(file).file_stem().map_or_else(|| file.to_owned(), |s| s.to_string_lossy().into_owned())
}

/// `measures = true` or `measures = { bins = "1 s" }`.
fn measuring(
    run: &Node<'_>,
    asked: Option<file::Measures>,
    duration: Nanos,
) -> Result<Option<Measuring>, ScenarioError> {
    let bins = match asked {
        None | Some(file::Measures::Whole(false)) => return Ok(None),
        Some(file::Measures::Whole(true)) => None,
        Some(file::Measures::Binned(file::Bins { bins })) => Some(bins),
    };
    if bins.is_some_and(|bins| bins.0 == 0 || duration.0.div_ceil(bins.0) > MOST_BINS) {
        let least = Nanos(duration.0.div_ceil(MOST_BINS));
        let table = run.get("measures").unwrap_or_else(|| run.clone());
        return Err(table.refuse_in("bins", format!("a time from \"{least}\" on: at most {MOST_BINS} bins in a run")));
    }
    Ok(Some(Measuring { bins }))
}

/// `seed = 1`, `seeds = [1, 2]` or `seeds = { first = 1, count = 30 }`. Default: seed 1.
fn seeds(run: &Node<'_>, seed: Option<u64>, seeds: Option<Seeds>) -> Result<Vec<u64>, ScenarioError> {
    match (seed, seeds) {
        (None, None) => Ok(vec![1]),
        (Some(seed), _) => Ok(vec![seed]),
        (None, Some(Seeds::List(all))) => Ok(all),
        (None, Some(Seeds::Range(SeedRange { first, count }))) => {
            let first = first.unwrap_or(1);
            if first > LAST_FIRST_SEED {
                let range = run.get("seeds").unwrap_or_else(|| run.clone());
                return Err(range.refuse_in("first", format!("a whole number from 0 to {LAST_FIRST_SEED}")));
            }
            Ok((first..first + count).collect())
        }
    }
}

/// Refuses a time of zero or less.
fn above_zero(node: &Node<'_>, key: &str, time: Nanos) -> Result<(), ScenarioError> {
    match time {
        Nanos::ZERO => Err(node.refuse_in(key, "a time above zero, as in \"200 ms\"")),
        _ => Ok(()),
    }
}

/// Refuses a time between events that is out of range.
fn gap(node: &Node<'_>, key: &str, gap: Gap) -> Result<(), ScenarioError> {
    gap.fault(key).map_or(Ok(()), |fault| Err(blame(node, fault)))
}

/// Refuses a time that is not within the run.
fn within(node: &Node<'_>, key: &str, at: Nanos, duration: Nanos) -> Result<(), ScenarioError> {
    if at >= duration {
        let allowed = format!("a time before the end of the run (run.duration = \"{duration}\")");
        return Err(node.refuse_in(key, allowed));
    }
    Ok(())
}
