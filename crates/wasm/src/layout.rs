//! What a scenario consists of, under the numbers by which a trace speaks of it.

use ackclock_lab::scenario::Plan;
use ackclock_sim::scenario::{DirectionSpec, FlowSpec, QueueLimit, Scenario};
use serde_json::{json, Value};

/// `links` (two for each link of the scenario, then the paths of splits, so that a link's number is its position),
/// `elements` (with their numbers, which go on after those of the links), `flows`, and how long.
pub(crate) fn of(plan: &Plan) -> Value {
    let s = &plan.scenario;
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
        "name": s.name,
        "durationS": s.duration.as_secs_f64(),
        "seeds": plan.seeds,
        "links": lanes.iter().map(|l| l.json(s)).collect::<Vec<_>>(),
        "elements": elements,
        "flows": s.flows.iter().map(|f| flow(plan, f)).collect::<Vec<_>>(),
        "background": s.background.len(),
    })
}

/// A directed link, or a path of a split one.
struct Lane<'a> {
    from: u32,
    to: u32,
    /// 1 is the first.
    path: Option<usize>,
    way: &'a DirectionSpec,
}

impl Lane<'_> {
    fn json(&self, s: &Scenario) -> Value {
        let limit = match self.way.queue.limit {
            QueueLimit::Packets(n) => Some(n),
            QueueLimit::Unlimited | QueueLimit::Bytes(_) => None,
        };
        json!({
            "from": s.nodes[self.from as usize],
            "to": s.nodes[self.to as usize],
            "path": self.path,
            "rateBps": self.way.rate.map(|r| r.0),
            "delayS": self.way.delay.as_secs_f64(),
            "limitPackets": limit,
        })
    }
}

/// In the order of `ackclock_sim::scenario::Scenario`'s numbers.
fn lanes(s: &Scenario) -> Vec<Lane<'_>> {
    let ends = s.links.iter().flat_map(|l| [(l.from, l.to, &l.forward), (l.to, l.from, &l.back)]);
    let mut lanes: Vec<Lane<'_>> = ends.map(|(from, to, way)| Lane { from, to, path: None, way }).collect();
    for link in 0..lanes.len() {
        let (from, to, way) = (lanes[link].from, lanes[link].to, lanes[link].way);
        let paths = way.split().into_iter().flat_map(|s| &s.paths);
        lanes.extend(paths.enumerate().map(|(i, p)| Lane { from, to, path: Some(i + 1), way: &p.way }));
    }
    lanes
}

fn flow(plan: &Plan, f: &FlowSpec) -> Value {
    let node = |n: u32| &plan.scenario.nodes[n as usize];
    let stack = &plan.stacks[f.stack as usize].name;
    json!({ "name": f.name, "from": node(f.from), "to": node(f.to), "stack": stack, "mss": f.mss, "window": f.window })
}
