//! TOML with units in, a checked [`Plan`] out, or one [`ScenarioError`]. Each key is read in one place below this module and
//! described in one, [`crate::schema`], from which `docs/scenario.md` comes.

mod background;
mod dumbbell;
mod element;
mod flow;
mod graph;
mod link;
pub mod outside;
mod overrides;
mod write;

pub use overrides::Overrides;

use crate::error::ScenarioError;
use crate::quantity::LONGEST;
use crate::reader::{Keys, Node, Source};
use ackclock_sim::scenario::Scenario;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use graph::Graph;
use std::io::Read;
use std::path::Path;

/// The largest scenario file that is read, bytes.
const LARGEST_FILE: u64 = 16 << 20;
/// The most flows that a file may ask for; the simulator's 2^17 elements end well before.
const MOST_FLOWS: u64 = 1 << 16;
/// The most seeds that a file may ask for.
const MOST_SEEDS: u64 = 1_000_000;

/// Everything that a scenario file asks for: one run for each seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The file as it was named.
    pub file: String,
    /// The network and its flows.
    pub scenario: Scenario,
    /// What [`ackclock_sim::scenario::FlowSpec::stack`] refers to.
    pub stacks: Vec<Stack>,
    /// For each of these the tables of its algorithms from outside, as they were written.
    pub outside: Vec<outside::Tables>,
    /// One run each.
    pub seeds: Vec<u64>,
    /// Whether a summary says how much each flow's packets were reordered. Not part of a run's identity.
    pub reordering: bool,
}

impl Plan {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
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
        let mut bytes = Vec::new();
        let read = std::fs::File::open(path).and_then(|f| f.take(LARGEST_FILE + 1).read_to_end(&mut bytes));
        read.map_err(|e| refuse(None, format!("no readable file ({e})"), "the path of a scenario file in TOML"))?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(refuse(None, "more than 16 MiB".to_owned(), "a scenario file of at most 16 MiB"));
        }
        let text = std::str::from_utf8(&bytes).map_err(|e| {
            let line = 1 + bytes[..e.valid_up_to()].iter().filter(|b| **b == b'\n').count() as u32;
            refuse(Some(line), format!("the byte 0x{:02x}", bytes[e.valid_up_to()]), "text in UTF-8")
        })?;
        Plan::parse(&name, text, overrides)
    }

    /// Reads the text of a scenario; `file` is the name under which errors speak of it.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(file: &str, text: &str, overrides: &Overrides) -> Result<Self, ScenarioError> {
        let src = Source { file, text };
        let root = src.parse()?;
        let (span, value) = (0..0, toml::de::DeValue::Table(root.into_inner()));
        let root = Node { src, path: String::new(), span, value: &value };
        let keys = root.keys(&["name", "run", "dumbbell", "link", "flow", "background"])?;
        let name = match keys.get("name") {
            Some(n) => n.str("a name in quotes")?.to_owned(),
            None => stem(file),
        };
        let run = keys.need("run", "a table with the keys duration, seeds")?.keys(&[
            "duration",
            "seed",
            "seeds",
            "reordering",
        ])?;
        let duration = run.need("duration", "a time, as in \"600 s\"")?.nanos_above_zero()?;
        let seeds = seeds(&run)?;
        let reordering = run.get("reordering").map_or(Ok(false), |n| n.flag())?;
        let mut graph = graph(&keys, duration, overrides)?;
        let background = background::list(&keys, &mut graph, overrides)?;
        let Graph { nodes, links, flows, stacks, outside, .. } = graph;
        let scenario = Scenario { name, duration, nodes, links, flows, background };
        let seeds = overrides.seeds(seeds)?;
        Ok(Plan { file: file.to_owned(), scenario, stacks, outside, seeds, reordering })
    }
}

/// A file's name without folder and ending.
fn stem(file: &str) -> String {
    Path::new(file).file_stem().map_or_else(|| file.to_owned(), |s| s.to_string_lossy().into_owned())
}

/// `seed = 1`, `seeds = [1, 2]` or `seeds = { first = 1, count = 30 }`; without any, seed 1.
fn seeds(run: &Keys<'_>) -> Result<Vec<u64>, ScenarioError> {
    let any = 0..=i64::MAX as u64;
    match (run.get("seed"), run.get("seeds")) {
        (None, None) => Ok(vec![1]),
        (Some(_), Some(s)) => Err(s.refuse_as("both `seed` and `seeds`", "one of them")),
        (Some(s), None) => Ok(vec![s.whole(any)?]),
        (None, Some(s)) if s.value.is_array() => {
            let mut all = Vec::new();
            for item in s.items("a list of whole numbers")? {
                let seed = item.whole(any.clone())?;
                if all.contains(&seed) {
                    return Err(item.refuse("each seed once"));
                }
                all.push(seed);
            }
            if all.is_empty() {
                return Err(s.refuse("at least one seed, as in [1, 2, 3]"));
            }
            Ok(all)
        }
        (None, Some(s)) if s.value.is_table() => {
            let keys = s.keys(&["first", "count"])?;
            let first = keys.get("first").map_or(Ok(1), |n| n.whole(0..=u64::MAX >> 2))?;
            let count = keys.need("count", "a whole number, as in 30")?.whole(1..=MOST_SEEDS)?;
            Ok((first..first + count).collect())
        }
        (None, Some(s)) => Err(s.refuse("{ first = 1, count = 30 } or a list, as in [1, 2, 3]; or the key `seed`")),
    }
}

/// Links and flows, from `[dumbbell]` or from `[[link]]` and `[[flow]]`.
fn graph(keys: &Keys<'_>, duration: Nanos, overrides: &Overrides) -> Result<Graph, ScenarioError> {
    let mut graph = Graph::new(duration);
    if let Some(dumbbell) = keys.get("dumbbell") {
        if let Some(other) = keys.get("link").or_else(|| keys.get("flow")) {
            let found = format!("`{}` beside `dumbbell`", other.path);
            return Err(other.refuse_as(found, "either [dumbbell], or [[link]] and [[flow]]"));
        }
        dumbbell::read(&dumbbell, &mut graph, overrides)?;
        return Ok(graph);
    }
    let links = "one or more tables [[link]], or a table [dumbbell]";
    for link in keys.need("link", links)?.items(links)? {
        graph.link(&link)?;
    }
    let flows = "one or more tables [[flow]]";
    for flow in keys.need("flow", flows)?.items(flows)? {
        graph.flow(&flow, overrides)?;
    }
    if graph.flows.is_empty() {
        return Err(keys.node.src.error(0, Some("flow".to_owned()), "no flow", flows));
    }
    Ok(graph)
}

/// A time within the run.
fn within(node: &Node<'_>, duration: Nanos) -> Result<Nanos, ScenarioError> {
    let at = node.nanos()?;
    debug_assert!(duration <= LONGEST);
    if at >= duration {
        return Err(node.refuse(format!("a time before the end of the run (run.duration = \"{duration}\")")));
    }
    Ok(at)
}
