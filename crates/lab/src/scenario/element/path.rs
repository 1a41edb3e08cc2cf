//! Elements that make a path reorder or change with time.

use super::place;
use crate::error::ScenarioError;
use crate::reader::{Keys, Node};
use crate::scenario::link::{direction, DIRECTION};
use crate::scenario::LARGEST_FILE;
use ackclock_sim::scenario::{
    BadRow, BelowZero, DeliveriesSpec, DemoteSpec, DirectionSpec, Distribution, Draws, ElementSpec, NetemSpec, PathRow,
    PathTraceSpec, Place, QueueLimit, RedrawnDelaySpec, SplitChoice, SplitPath, SplitSpec,
};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Packets;
use std::io::Read;
use std::path::Path;

/// `{ kind = "redrawn-delay", mean = "200 ms", deviation = "66.7 ms", every = "50 ms" }`
pub(super) fn redrawn_delay(node: &Node<'_>) -> Result<ElementSpec, ScenarioError> {
    let keys = node.keys(&["kind", "mean", "deviation", "every", "below_zero", "overtaking", "draws"])?;
    let mean = keys.need("mean", "a time, as in \"200 ms\"")?.nanos_above_zero()?;
    let deviation = keys.need("deviation", "a time, as in \"66.7 ms\"")?.nanos()?;
    let every = keys.need("every", "a time, as in \"50 ms\"")?.nanos_above_zero()?;
    let below_zero = [("again", BelowZero::Again), ("zero", BelowZero::Zero)];
    let draws = [("own", Draws::Own), ("link", Draws::Link)];
    Ok(ElementSpec::RedrawnDelay(RedrawnDelaySpec {
        mean,
        deviation,
        every,
        below_zero: keys.get("below_zero").map_or(Ok(BelowZero::Again), |n| n.choice(&below_zero))?,
        overtaking: keys.get("overtaking").map_or(Ok(true), |n| n.flag())?,
        draws: keys.get("draws").map_or(Ok(Draws::Own), |n| n.choice(&draws))?,
    }))
}

/// `{ kind = "split", paths = [{ weight = 1, delay = "50 ms" }, { weight = 3, rate = "1 Mbps" }] }`: what a path does not say is
/// as in `own`, the link's own direction.
pub(super) fn split(node: &Node<'_>, own: &DirectionSpec) -> Result<ElementSpec, ScenarioError> {
    let keys = node.keys(&["kind", "paths", "choice"])?;
    let choices = [("turns", SplitChoice::Turns), ("random", SplitChoice::Random), ("flows", SplitChoice::Flows)];
    let choice = keys.get("choice").map_or(Ok(SplitChoice::Turns), |n| n.choice(&choices))?;
    let allowed = "a list of paths, as in [{ weight = 1 }, { weight = 3, delay = \"50 ms\" }]";
    let list = keys.need("paths", allowed)?;
    let path = |node: &Node<'_>| {
        let keys = node.keys(&[&["weight"], &DIRECTION[..]].concat())?;
        let weight = keys.need("weight", "a whole number from 0 to 1000000")?.whole(0..=1_000_000)? as u32;
        Ok(SplitPath { weight, way: direction(&keys, Some(own))? })
    };
    let paths = list.items(allowed)?.iter().map(path).collect::<Result<Vec<_>, ScenarioError>>()?;
    if paths.iter().all(|p| p.weight == 0) {
        return Err(list.refuse_as("no path with a weight above 0", "at least one"));
    }
    Ok(ElementSpec::Split(SplitSpec { paths, choice }))
}

/// `{ kind = "demote", interval = 8 }`, with `device = "100 packets"`
pub(super) fn demote(node: &Node<'_>) -> Result<ElementSpec, ScenarioError> {
    let keys = node.keys(&["kind", "interval", "device"])?;
    let interval = keys.need("interval", "a whole number of packets, as in 8")?.whole(1..=1_000_000)? as u32;
    let device = keys.get("device").map(|n| packets(&n)).transpose()?;
    Ok(ElementSpec::Demote(DemoteSpec { interval, device }))
}

/// `{ kind = "netem", delay = "10 ms", reorder = 0.25, gap = 5 }`
pub(super) fn netem(node: &Node<'_>) -> Result<ElementSpec, ScenarioError> {
    let keys = node.keys(&[
        "kind",
        "delay",
        "jitter",
        "jitter_correlation",
        "distribution",
        "reorder",
        "reorder_correlation",
        "gap",
        "rate",
        "limit",
    ])?;
    let default = NetemSpec::default();
    let share = |key| keys.get(key).map_or(Ok(0.0), |n| n.probability());
    let distributions = [("uniform", Distribution::Uniform), ("normal", Distribution::Normal)];
    let delay = keys.get("delay").map_or(Ok(default.delay), |n| n.nanos())?;
    // `reorder` alone: tc sets the gap to 1. `gap` alone: the kernel takes the probability as 1.
    let (reorder, gap) = (keys.get("reorder"), keys.get("gap"));
    if let (Some(n), Nanos::ZERO) = (reorder.as_ref().or(gap.as_ref()), delay) {
        return Err(n.refuse_as("reordering without a delay", "the key `delay` with it, above zero"));
    }
    let gap_packets = gap.as_ref().map(|n| n.whole(1..=1_000_000)).transpose()?;
    let jitter = keys.get("jitter").map_or(Ok(default.jitter), |n| match n.nanos()? {
        long if long.0 >= 1 << 31 => Err(n.refuse("a time of at most \"2147483647 ns\"")),
        jitter => Ok(jitter),
    })?;
    Ok(ElementSpec::Netem(NetemSpec {
        delay,
        jitter,
        jitter_correlation: share("jitter_correlation")?,
        distribution: keys.get("distribution").map_or(Ok(Distribution::Uniform), |n| n.choice(&distributions))?,
        reorder: match (&reorder, gap_packets) {
            (None, Some(_)) => 1.0,
            _ => share("reorder")?,
        },
        reorder_correlation: share("reorder_correlation")?,
        gap: gap_packets.unwrap_or(u64::from(reorder.is_some())) as u32,
        rate: keys.get("rate").map_or(Ok(None), |n| n.rate())?,
        limit: keys.get("limit").map_or(Ok(default.limit), |n| packets(&n))?,
    }))
}

/// `{ kind = "path-trace", file = "path.csv" }`
pub(super) fn path_trace(node: &Node<'_>) -> Result<ElementSpec, ScenarioError> {
    let keys = node.keys(&["kind", "file", "data", "repeat", "at"])?;
    let rows = table(&keys, PathRow::parse)?;
    let repeat = keys.get("repeat").map(|n| match (n.nanos()?, rows.last()) {
        (period, Some(last)) if period <= last.time => {
            Err(n.refuse(format!("a time after that of the trace's last row (\"{}\")", last.time)))
        }
        (period, _) => Ok(period),
    });
    Ok(ElementSpec::PathTrace(PathTraceSpec { repeat: repeat.transpose()?, rows, at: place(&keys, Place::Exit)? }))
}

/// `{ kind = "deliveries", file = "cell.trace" }`
pub(super) fn deliveries(node: &Node<'_>) -> Result<ElementSpec, ScenarioError> {
    let keys = node.keys(&["kind", "file", "data", "bytes"])?;
    let times = table(&keys, DeliveriesSpec::parse)?;
    let bytes = keys.get("bytes").map_or(Ok(1500), |n| n.bytes(1..=1 << 20))? as u32;
    Ok(ElementSpec::Deliveries(DeliveriesSpec { times, bytes }))
}

/// `"100 packets"`
fn packets(node: &Node<'_>) -> Result<Packets, ScenarioError> {
    match node.limit()? {
        QueueLimit::Packets(n) => Ok(Packets(n)),
        QueueLimit::Unlimited | QueueLimit::Bytes(_) => Err(node.refuse("a number of packets, as in \"100 packets\"")),
    }
}

/// A table from a file, whose path is relative to the scenario's, or from the scenario itself.
fn table<T>(keys: &Keys<'_>, parse: impl Fn(&str) -> Result<T, BadRow>) -> Result<T, ScenarioError> {
    match (keys.get("file"), keys.get("data")) {
        (Some(file), None) => from_file(&file, parse),
        (None, Some(data)) => from_text(&data, parse),
        (both, _) => {
            let found = if both.is_some() { "both `file` and `data`" } else { "neither `file` nor `data`" };
            Err(keys.node.refuse_as(found, "one of them: a file's path, or the table itself"))
        }
    }
}

fn from_file<T>(node: &Node<'_>, parse: impl Fn(&str) -> Result<T, BadRow>) -> Result<T, ScenarioError> {
    let path = Path::new(node.src.file).with_file_name(node.str("the path of a file, relative to the scenario's")?);
    let mut text = String::new();
    let read = std::fs::File::open(&path).and_then(|f| f.take(LARGEST_FILE + 1).read_to_string(&mut text));
    let allowed = "a text file of at most 16 MiB, its path relative to the scenario's; or the table under `data`";
    read.map_err(|e| node.refuse_as(format!("{} (no readable file: {e})", node.written()), allowed))?;
    if text.len() as u64 > LARGEST_FILE {
        return Err(node.refuse_as(format!("{} (more than 16 MiB)", node.written()), allowed));
    }
    parse(&text).map_err(|bad| ScenarioError {
        file: path.display().to_string(),
        line: Some(bad.line),
        key: bad.column.map(str::to_owned),
        found: bad.found,
        allowed: bad.allowed.to_owned(),
        hint: None,
    })
}

fn from_text<T>(node: &Node<'_>, parse: impl Fn(&str) -> Result<T, BadRow>) -> Result<T, ScenarioError> {
    let text = node.str("the table itself, in three quotes")?;
    parse(text).map_err(|bad| {
        let at = bad.column.map(|c| format!(", {c}")).unwrap_or_default();
        node.refuse_as(format!("{} in its line {}{at}", bad.found, bad.line), bad.allowed)
    })
}
