//! Scenarios in the shape of a dumbbell: n senders, one shared link, n receivers.

use crate::scenario::{
    AppSpec, DirectionSpec, FlowSpec, LinkForm, LinkSpec, PeerSpec, QueueLimit, QueueSpec, Scenario, WireSpec,
};
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Rate;

/// A direction with an unlimited queue and no elements.
pub fn pipe(rate: Option<Rate>, delay: Nanos) -> DirectionSpec {
    DirectionSpec {
        rate,
        delay,
        queue: QueueSpec { limit: QueueLimit::Unlimited, limit_counts_service: false },
        elements: Vec::new(),
        form: LinkForm::Auto,
    }
}

/// A bulk flow from node 0 to node 1 from time 0: segments of 1460 bytes, 1500 on the wire, a window of 500 segments, an
/// ACK for each.
pub fn flow() -> FlowSpec {
    FlowSpec {
        name: "flow".to_owned(),
        from: 0,
        to: 1,
        stack: 0,
        mss: 1460,
        window: 500 * 1460,
        ack: AckSpec::Every,
        peer: PeerSpec::default(),
        handshake: false,
        wire: WireSpec::Ns2 { header: 40 },
        app: AppSpec { start: Nanos::ZERO, jitter: Nanos::ZERO, bytes: None, pieces: None },
        after: None,
    }
}

/// `flows` copies of `flow`, each between its own pair of nodes on `access` links, over one link `shared` between nodes
/// "R1" and "R2". Both directions are equal. Lasts 60 s.
///
/// The two access links of a flow are next to each other, so that a flow's transits are close together in memory.
pub fn dumbbell(flows: u32, access: &DirectionSpec, shared: &DirectionSpec, flow: &FlowSpec) -> Scenario {
    let link = |from, to, d: &DirectionSpec| LinkSpec { from, to, forward: d.clone(), back: d.clone() };
    let mut s = Scenario {
        name: format!("dumbbell of {flows}"),
        duration: Nanos::from_secs(60),
        nodes: vec!["R1".to_owned(), "R2".to_owned()],
        links: vec![link(0, 1, shared)],
        flows: Vec::new(),
        background: Vec::new(),
    };
    for i in 0..flows {
        let (from, to) = (2 + 2 * i, 3 + 2 * i);
        s.nodes.extend([format!("S{i}"), format!("D{i}")]);
        s.links.extend([link(from, 0, access), link(1, to, access)]);
        s.flows.push(FlowSpec { name: format!("{}{i}", flow.name), from, to, ..flow.clone() });
    }
    s
}
