//! `[[background]]`: traffic beside the flows.

use super::element::{gap, GAP};
use super::graph::Graph;
use super::overrides::Overrides;
use super::{flow, within, MOST_FLOWS};
use crate::error::ScenarioError;
use crate::reader::{Keys, Node};
use ackclock_sim::scenario::{BackgroundKind, BackgroundSpec, Size, SourceSpec, TransfersSpec};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Rate;

/// Keys of both kinds.
const COMMON: [&str; 5] = ["kind", "from", "to", "start", "stop"];

/// All of it, in order. What the command line overrides is meant for the flows: the background stays what it is.
pub(super) fn list(
    keys: &Keys<'_>,
    graph: &mut Graph,
    overrides: &Overrides,
) -> Result<Vec<BackgroundSpec>, ScenarioError> {
    let overrides = Overrides { workshop: overrides.workshop.clone(), ..Overrides::default() };
    let Some(list) = keys.get("background") else { return Ok(Vec::new()) };
    let tables = list.items("one or more tables [[background]]")?;
    tables.iter().map(|node| one(node, graph, &overrides)).collect()
}

fn one(node: &Node<'_>, graph: &mut Graph, overrides: &Overrides) -> Result<BackgroundSpec, ScenarioError> {
    let allowed = "one of transfers, source";
    let entries = node.entries("a table [[background]]")?;
    let Some((_, kind)) = entries.iter().find(|(k, _)| k == "kind") else {
        return Err(node.src.error(node.span.start, Some(format!("{}.kind", node.path)), "nothing", allowed));
    };
    let (keys, kind) = match kind.choice(&[("transfers", true), ("source", false)])? {
        true => transfers(node, graph, overrides)?,
        false => source(node)?,
    };
    let (from, to) = graph.ends(&keys)?;
    let start = keys.get("start").map_or(Ok(Nanos::ZERO), |n| within(&n, graph.duration))?;
    let stop = match keys.get("stop") {
        None => None,
        Some(n) => match n.nanos()? {
            early if early <= start => return Err(n.refuse(format!("a time after the start (\"{start}\")"))),
            stop => Some(stop),
        },
    };
    Ok(BackgroundSpec { from, to, start, stop, kind })
}

/// Arrivals, sizes, and the keys of a flow for what each transfer is like.
fn transfers<'a>(
    node: &Node<'a>,
    graph: &mut Graph,
    overrides: &Overrides,
) -> Result<(Keys<'a>, BackgroundKind), ScenarioError> {
    let besides: [&[&str]; 2] = [&COMMON, &["gap", "size", "most"]];
    let read = flow::read(node, &besides, graph, overrides)?;
    let keys = read.keys;
    let gap = gap(&keys.need("gap", GAP)?, Nanos(1))?;
    let size = size(&keys.need("size", SIZE)?, read.spec.mss)?;
    let most = keys.get("most").map_or(Ok(100), |n| n.whole(1..=MOST_FLOWS / 2))? as u32;
    Ok((keys, BackgroundKind::Transfers(TransfersSpec { gap, size, most, flow: read.spec })))
}

const SIZE: &str = "{ constant = \"100 kB\" }, { exponential = \"100 kB\" } or { pareto = \"100 kB\", shape = 1.2 }";

fn size(node: &Node<'_>, mss: u32) -> Result<Size, ScenarioError> {
    let keys = node.keys(&["constant", "exponential", "pareto", "shape"])?;
    let mean = |n: Node<'_>| match n.amount(mss)? {
        huge if huge > 1 << 50 => Err(n.refuse("at most 2^50 B")),
        mean => Ok(mean),
    };
    let shape = keys.get("shape");
    match (keys.get("constant"), keys.get("exponential"), keys.get("pareto")) {
        (Some(n), None, None) if shape.is_none() => Ok(Size::Constant(mean(n)?)),
        (None, Some(n), None) if shape.is_none() => Ok(Size::Exponential(mean(n)?)),
        (None, None, Some(n)) => {
            let shape = keys.need("shape", "a number above 1, as in 1.2")?;
            let found = shape.value.as_float().and_then(|f| f.as_str().parse::<f64>().ok());
            let found = found.or_else(|| shape.value.as_integer().and_then(|i| i.as_str().parse().ok()));
            let number = found.filter(|s| *s > 1.0 && s.is_finite());
            let shape = number.ok_or_else(|| shape.refuse("a number above 1, as in 1.2"))?;
            Ok(Size::Pareto { mean: mean(n)?, shape })
        }
        _ => Err(node.refuse(SIZE)),
    }
}

/// A rate, and perhaps times of sending and silence.
fn source<'a>(node: &Node<'a>) -> Result<(Keys<'a>, BackgroundKind), ScenarioError> {
    let keys = node.keys(&[&COMMON as &[&str], &["rate", "packet", "on", "off"]].concat())?;
    let rate: Rate = {
        let n = keys.need("rate", "a rate, as in \"1 Mbps\"")?;
        n.rate()?.ok_or_else(|| n.refuse("a rate, as in \"1 Mbps\""))?
    };
    let packet = keys.get("packet").map_or(Ok(1000), |n| n.bytes(1..=65_535))? as u32;
    let on_off = match (keys.get("on"), keys.get("off")) {
        (None, None) => None,
        _ => Some((gap(&keys.need("on", GAP)?, Nanos(1))?, gap(&keys.need("off", GAP)?, Nanos(1))?)),
    };
    Ok((keys, BackgroundKind::Source(SourceSpec { rate, packet, on_off })))
}
