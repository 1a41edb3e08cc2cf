//! The parts of a scenario, with the numbers that a trace uses for them.

use ackclock_lab::scenario::Plan;
use ackclock_sim::scenario::{DirectionSpec, FlowSpec, LinkSpec, QueueLimit, QueueSpec, Scenario, SplitPath};
use serde_json::{json, Value};

/// `links` (two for each link of the scenario, then the paths of splits, so that a link's number is its position),
/// `elements` (with their numbers, which continue after those of the links), `flows`, and the duration.
pub(crate) fn of(plan: &Plan) -> Value {
    let s = &plan.scenario;
    let Scenario { name, duration, nodes: _, links: _, flows, background } = s;
    let lanes = lanes(s);
    let mut number = lanes.len();
    let mut elements = Vec::new();
    for (link, lane) in lanes.iter().enumerate() {
        for e in &lane.way.elements {
            elements.push(json!({ "number": number, "link": link, "kind": e.kind() }));
            number += 1;
        }
    }
    json!({
        "name": name,
        "durationS": duration.as_secs_f64(),
        "seeds": plan.seeds,
        "links": lanes.iter().map(|l| l.json(s)).collect::<Vec<_>>(),
        "elements": elements,
        "flows": flows.iter().map(|f| flow(plan, f)).collect::<Vec<_>>(),
        "background": background.len(),
    })
}

/// A directed link, or a path of a split one.
struct Lane<'a> {
    from: u32,
    to: u32,
    /// Counted from 1.
    path: Option<usize>,
    way: &'a DirectionSpec,
}

impl Lane<'_> {
    fn json(&self, s: &Scenario) -> Value {
        // Elements are listed separately; the form and the queue's convention do not affect the picture.
        let DirectionSpec { rate, delay, queue, elements: _, form: _ } = self.way;
        let QueueSpec { limit, limit_counts_service: _ } = queue;
        let limit = match *limit {
            QueueLimit::Packets(n) => Some(n),
            QueueLimit::Unlimited | QueueLimit::Bytes(_) => None,
        };
        json!({
            "from": s.nodes[self.from as usize],
            "to": s.nodes[self.to as usize],
            "path": self.path,
            "rateBps": rate.map(|r| r.0),
            "delayS": delay.as_secs_f64(),
            "limitPackets": limit,
        })
    }
}

/// Both directions, with their ends.
fn both(link: &LinkSpec) -> [(u32, u32, &DirectionSpec); 2] {
    let LinkSpec { from, to, forward, back } = link;
    [(*from, *to, forward), (*to, *from, back)]
}

/// In the order of `ackclock_sim::scenario::Scenario`'s numbers.
fn lanes(s: &Scenario) -> Vec<Lane<'_>> {
    let ends = s.links.iter().flat_map(both);
    let mut lanes: Vec<Lane<'_>> = ends.map(|(from, to, way)| Lane { from, to, path: None, way }).collect();
    for link in 0..lanes.len() {
        let (from, to, way) = (lanes[link].from, lanes[link].to, lanes[link].way);
        let paths = way.split().into_iter().flat_map(|split| &split.paths);
        let ways = paths.map(|SplitPath { weight: _, way }| way);
        lanes.extend(ways.enumerate().map(|(i, way)| Lane { from, to, path: Some(i + 1), way }));
    }
    lanes
}

fn flow(plan: &Plan, f: &FlowSpec) -> Value {
    let node = |n: u32| &plan.scenario.nodes[n as usize];
    let FlowSpec { name, from, to, stack, mss, window, ack: _, peer: _, handshake: _, wire: _, app: _, after: _ } = f;
    let stack = &plan.stacks[*stack as usize].name;
    json!({ "name": name, "from": node(*from), "to": node(*to), "stack": stack, "mss": mss, "window": window })
}
