//! The promises of the elements that reorder, observed at the hosts and measured by RFC 4737's metrics.

mod clocked;
mod demote;
mod netem;
mod redrawn_delay;
mod split;
mod swap;
mod trace;

use ackclock_sim::engine::{Network, Sim};
use ackclock_sim::reordering::{Order, Reordering};
use ackclock_sim::results::Results;
use ackclock_sim::scenario::*;
use ackclock_sim::topology::dumbbell::{flow, pipe};
use ackclock_sim::watch::Side;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{Packets, Rate};
use clocked::Clocked;

/// S, R1, R2, D with `forward` from R1 to R2, all else 100 Mb/s; a flow of 1500-byte packets for 20 s with this window.
fn line(forward: DirectionSpec, window_segs: u64) -> Scenario {
    let access = pipe(Some(Rate(100_000_000)), Nanos::from_millis(5));
    let link = |from, to, forward: DirectionSpec| LinkSpec { from, to, forward, back: access.clone() };
    Scenario {
        name: "line".to_owned(),
        duration: Nanos::from_secs(20),
        nodes: ["S", "R1", "R2", "D"].map(String::from).into(),
        links: vec![link(0, 1, access.clone()), link(1, 2, forward), link(2, 3, access.clone())],
        flows: vec![FlowSpec { from: 0, to: 3, window: window_segs * 1460, ..flow() }],
        background: Vec::new(),
    }
}

fn with(element: ElementSpec, d: DirectionSpec) -> DirectionSpec {
    DirectionSpec { elements: vec![element], ..d }
}

/// A run of a sender that nothing disturbs; returns the arrivals at the receiver.
fn run(s: &Scenario, seed: u64) -> (Results, Reordering) {
    let mut network = Network::with_endpoints(s, seed, Order::default(), Clocked::new).expect("a possible scenario");
    let results = network.run();
    (results, network.into_watch().at(0, Side::Receiver).expect("data arrived").clone())
}

/// A run of a TCP, for paths that lose packets.
fn tcp(s: &Scenario) -> Results {
    let stack = Stack::named("rfc-6675").expect("a named stack");
    Sim::new(s, &[stack], 1, ()).expect("a scenario that can be run").run()
}

fn refused(s: &Scenario) -> String {
    let stack = Stack::named("rfc-6675").expect("a named stack");
    Sim::new(s, &[stack], 1, ()).err().map(|e| e.to_string()).unwrap_or_default()
}

#[test]
fn who_listens_changes_nothing() {
    let s = split::bundle([1, 1]);
    let alone = Network::with_endpoints(&s, 1, (), Clocked::new).unwrap().run();
    let (watched, _) = run(&s, 1);
    assert_eq!((alone.flows, alone.links), (watched.flows, watched.links));
}
