//! `[dumbbell]`: S1 … Sn on one router, D1 … Dn on another, one bottleneck between the routers.

use super::flow;
use super::graph::Graph;
use super::link::{self, DIRECTION};
use super::overrides::Overrides;
use crate::error::ScenarioError;
use crate::reader::Node;
use ackclock_sim::scenario::LinkSpec;

/// Reads the table; the bottleneck is the first link, the two access links of each flow lie together.
pub(super) fn read(node: &Node<'_>, graph: &mut Graph, overrides: &Overrides) -> Result<(), ScenarioError> {
    let keys = node.keys(&["bottleneck", "access", "flow"])?;
    let mut allowed = vec!["back"];
    allowed.extend(DIRECTION);
    let example = "a table, as in { rate = \"5 Mbps\", delay = \"50 ms\", queue = \"65 packets\" }";
    let read = |key: &str| link::directions(&keys.need(key, example)?.keys(&allowed)?);
    let (forward, back) = read("bottleneck")?;
    let access = read("access")?;
    let (r1, r2) = (graph.node("R1"), graph.node("R2"));
    graph.links.push(LinkSpec { from: r1, to: r2, forward, back });
    let flows = "one or more tables [[dumbbell.flow]]";
    let items = keys.need("flow", flows)?;
    let tables = items.items(flows)?;
    if tables.is_empty() {
        return Err(items.refuse(flows));
    }
    for table in tables {
        let flow = flow::read(&table, &[&flow::FLOW], graph, overrides)?;
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
