//! The meaning of `[[background]]`: traffic beside the flows.

use super::flow::{connection, size};
use super::graph::Graph;
use super::overrides::Overrides;
use super::{gap, within};
use crate::error::ScenarioError;
use crate::file::background::{Background, Size as Sizes, When};
use crate::reader::Node;
use ackclock_sim::scenario::{BackgroundKind, BackgroundSpec, Size, SourceSpec, TransfersSpec};

/// Reads all tables, in order. Overrides of the command line apply to the flows, not to the background.
pub(super) fn list(
    nodes: &[Node<'_>],
    tables: Vec<Background>,
    graph: &mut Graph,
    overrides: &Overrides,
) -> Result<Vec<BackgroundSpec>, ScenarioError> {
    let overrides = Overrides { workshop: overrides.workshop.clone(), ..Overrides::default() };
    nodes.iter().zip(tables).map(|(node, table)| one(node, table, graph, &overrides)).collect()
}

fn one(
    node: &Node<'_>,
    table: Background,
    graph: &mut Graph,
    overrides: &Overrides,
) -> Result<BackgroundSpec, ScenarioError> {
    let (when, kind) = match table {
        Background::Transfers { when, gap: every, size, most, connection: keys } => {
            let flow = connection(node, *keys, graph, overrides)?;
            gap(node, "gap", every)?;
            let size = mean(&node.get("size").unwrap_or_else(|| node.clone()), &size, flow.mss)?;
            (when, BackgroundKind::Transfers(TransfersSpec { gap: every, size, most, flow }))
        }
        Background::Source { when, rate, packet, on, off } => {
            let packet = size(node, "packet", packet, 1..=65_535)?;
            let on_off = on.zip(off);
            if let Some((on, off)) = on_off {
                gap(node, "on", on)?;
                gap(node, "off", off)?;
            }
            (when, BackgroundKind::Source(SourceSpec { rate, packet, on_off }))
        }
    };
    let When { from, to, start, stop } = when;
    let (from, to) = graph.ends(node, &from, &to)?;
    within(node, "start", start, graph.duration)?;
    if stop.is_some_and(|stop| stop <= start) {
        return Err(node.refuse_in("stop", format!("a time after the start (\"{start}\")")));
    }
    Ok(BackgroundSpec { from, to, start, stop, kind })
}

/// The largest mean of a transfer's size.
const LARGEST: u64 = 1 << 50;

fn mean(node: &Node<'_>, sizes: &Sizes, mss: u32) -> Result<Size, ScenarioError> {
    let Sizes { constant, exponential, pareto, shape } = *sizes;
    let (key, bytes) = match (constant, exponential, pareto) {
        (Some(n), _, _) => ("constant", n),
        (_, Some(n), _) => ("exponential", n),
        (None, None, n) => ("pareto", n.ok_or_else(|| node.refuse("one of constant, exponential, pareto"))?),
    };
    let bytes = bytes.bytes(mss);
    if bytes > LARGEST {
        return Err(node.refuse_in(key, "at most 2^50 B"));
    }
    Ok(match (key, shape) {
        ("constant", _) => Size::Constant(bytes),
        (_, Some(shape)) => Size::Pareto { mean: bytes, shape },
        (_, None) => Size::Exponential(bytes),
    })
}
