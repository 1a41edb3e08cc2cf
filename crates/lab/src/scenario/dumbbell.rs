//! `[dumbbell]`: Builds a dumbbell: S1 … Sn on one router, D1 … Dn on another, one bottleneck between the routers.

use super::flow;
use super::graph::Graph;
use super::link;
use super::overrides::Overrides;
use crate::error::ScenarioError;
use crate::file::{Both, Dumbbell};
use crate::reader::Node;
use ackclock_sim::scenario::{DirectionSpec, LinkSpec};

/// Reads the table. The bottleneck is the first link; the two access links of a flow follow each other.
pub(super) fn read(
    node: &Node<'_>,
    table: Dumbbell,
    graph: &mut Graph,
    overrides: &Overrides,
) -> Result<(), ScenarioError> {
    let Dumbbell { bottleneck, access, flow } = table;
    let (forward, back) = both(node, "bottleneck", bottleneck, overrides)?;
    let access = both(node, "access", access, overrides)?;
    let (r1, r2) = (graph.node("R1"), graph.node("R2"));
    graph.links.push(LinkSpec { from: r1, to: r2, forward, back });
    for (table, keys) in node.list("flow").iter().zip(flow) {
        let flow = flow::read(table, keys, graph, overrides)?;
        graph.add(flow, |graph, number| {
            let (s, d) = (graph.node(&format!("S{}", number + 1)), graph.node(&format!("D{}", number + 1)));
            let (forward, back) = access.clone();
            graph.links.push(LinkSpec { from: s, to: r1, forward, back });
            let (forward, back) = access.clone();
            graph.links.push(LinkSpec { from: r2, to: d, forward, back });
            (s, d)
        })?;
    }
    Ok(())
}

fn both(
    node: &Node<'_>,
    key: &str,
    link: Both,
    overrides: &Overrides,
) -> Result<(DirectionSpec, DirectionSpec), ScenarioError> {
    let Both { forward, back } = link;
    link::directions(&node.get(key).unwrap_or_else(|| node.clone()), forward, back, overrides.workshop.as_deref())
}
