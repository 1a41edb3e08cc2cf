//! The parts of a scenario, with the numbers that a trace uses for them.

use ackclock_course::places::{elements, lanes, Element, Lane};
use ackclock_lab::scenario::Plan;
use ackclock_sim::scenario::{DirectionSpec, FlowSpec, QueueLimit, QueueSpec, Scenario};
use serde_json::{json, Value};

/// `links` (two for each link of the scenario, then the paths of splits, so that a link's number is its position),
/// `elements` (with their numbers, which continue after those of the links), `flows`, and the duration.
pub(crate) fn of(plan: &Plan) -> Value {
    let s = &plan.scenario;
    let Scenario { name, duration, nodes: _, links: _, flows, background } = s;
    let lanes = lanes(s);
    let element = |Element { number, link, kind }| json!({ "number": number, "link": link, "kind": kind });
    json!({
        "name": name,
        "durationS": duration.as_secs_f64(),
        "seeds": plan.seeds,
        "links": lanes.iter().map(|lane| link(lane, s)).collect::<Vec<_>>(),
        "elements": elements(&lanes).into_iter().map(element).collect::<Vec<_>>(),
        "flows": flows.iter().map(|f| flow(plan, f)).collect::<Vec<_>>(),
        "background": background.len(),
    })
}

fn link(Lane { from, to, path, way }: &Lane<'_>, s: &Scenario) -> Value {
    // Elements are listed separately; the form and the queue's convention do not affect the picture.
    let DirectionSpec { rate, delay, queue, elements: _, form: _ } = way;
    let QueueSpec { limit, limit_counts_service: _ } = queue;
    let limit = match *limit {
        QueueLimit::Packets(n) => Some(n),
        QueueLimit::Unlimited | QueueLimit::Bytes(_) => None,
    };
    json!({
        "from": s.nodes[*from as usize],
        "to": s.nodes[*to as usize],
        "path": path,
        "rateBps": rate.map(|r| r.0),
        "delayS": delay.as_secs_f64(),
        "limitPackets": limit,
    })
}

fn flow(plan: &Plan, f: &FlowSpec) -> Value {
    let node = |n: u32| &plan.scenario.nodes[n as usize];
    let FlowSpec { name, from, to, stack, mss, window, ack: _, peer: _, handshake: _, wire: _, app: _, after: _ } = f;
    let stack = &plan.stacks[*stack as usize].name;
    json!({ "name": name, "from": node(*from), "to": node(*to), "stack": stack, "mss": mss, "window": window })
}
