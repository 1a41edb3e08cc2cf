//! One run: its captures, as files in memory, what they are found to show, and the truth.

use crate::paths::{Path, Sender};
use crate::score::Point;
use ackclock_capture::reordering::both::Between;
use ackclock_capture::survey::{Survey, Surveyed};
use ackclock_capture::{place, verdict, Analysis, Connection, Ended, Flow, Flows, Input, Seen, Wanted, Way};
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_lab::summary::ReorderingSummary;
use ackclock_sim::engine::Sim;
use ackclock_sim::reordering::Order;
use ackclock_sim::watch::Side;
use ackclock_tcp::segment::Segment;
use ackclock_trace::captures::{leaving, Captures, Places, SNAP};
use ackclock_trace::truth::Retransmission;
use ackclock_trace::{Both, Truth};

/// The node in the middle.
const MIDDLE: &str = "M";

pub(crate) struct Case {
    pub(crate) truth: Vec<Retransmission>,
    /// What the captures of the sender's side, of the receiver's and of the middle show.
    pub(crate) found: [Surveyed; 3],
    /// What the first two show together.
    both: Vec<verdict::Retransmission>,
    pub(crate) reordering: Orders,
}

impl Case {
    pub(crate) fn at(&self, point: Point) -> &[verdict::Retransmission] {
        match point {
            Point::Sender => &self.found[0].retransmissions,
            Point::Receiver => &self.found[1].retransmissions,
            Point::Middle => &self.found[2].retransmissions,
            Point::Both => &self.both,
        }
    }
}

/// The reordering of the data's way.
pub(crate) struct Orders {
    pub(crate) ledger: Option<ReorderingSummary>,
    pub(crate) receiver: Option<ReorderingSummary>,
    pub(crate) both: Option<ReorderingSummary>,
}

pub(crate) fn run(path: &Path, sender: &Sender, segments: u32, seed: u64) -> Case {
    let set = sender.set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let overrides = Overrides { stack: Some(sender.stack.to_owned()), set, ..Overrides::default() };
    let plan = Plan::parse(path.name, &path.scenario(segments), &overrides).unwrap_or_else(|e| panic!("{e}"));
    let s = &plan.scenario;
    let node = s.nodes.iter().position(|name| name == MIDDLE).expect("each path has a middle") as u32;
    let places = Places { sender: Vec::new(), receiver: Vec::new(), middle: Some((node, Vec::new())) };
    let captures = Captures::new(s, seed, SNAP, places).expect("memory takes it");
    let truth = Truth::new(1).with_middle(leaving(s, node));
    let watch = Both(Both(captures, truth), Order::default());
    let mut sim = Sim::new(s, &plan.stacks, seed, watch).unwrap_or_else(|e| panic!("{}: {e}", path.name));
    let results = sim.run();
    assert!(results.flows[0].finished.is_some(), "{} {}: the transfer is not over", path.name, sender.stack);
    let Both(Both(captures, truth), order) = sim.into_watch();
    let Places { sender, receiver, middle } = captures.finish().expect("memory takes it");
    let middle = middle.expect("it was asked for").1;
    let found = [&sender, &receiver, &middle].map(|file| survey(file));
    let received = found[1].ways[Way::Out as usize].reordering.as_ref();
    let reordering = Orders {
        ledger: order.at(0, Side::Receiver).map(ReorderingSummary::of),
        receiver: received.map(|r| ReorderingSummary::of(&r.order)),
        both: between(&sender, &receiver),
    };
    let both = both(&sender, &receiver);
    Case { truth: truth.finish(), found, both, reordering }
}

/// The one connection of a capture.
pub(crate) fn survey(file: &[u8]) -> Surveyed {
    let mut survey = Survey::new(Wanted { at: None, each: true }, 10, None);
    let mut flows = Flows::new(&mut survey, 10);
    ackclock_capture::read::read(Input::Bytes(file), |frame| flows.frame(frame)).expect("a capture");
    flows.finish();
    let mut found = survey.finish().connections;
    assert_eq!(found.len(), 1, "one connection");
    found.remove(0)
}

/// One connection, as it is told to look at it.
struct Told {
    next: Option<Connection>,
    done: Option<Connection>,
}

impl Analysis for Told {
    type State = Connection;

    fn begin(&mut self, _: &Flow) -> Connection {
        self.next.take().expect("one connection")
    }

    fn segment(&mut self, flow: &Flow, connection: &mut Connection, seen: &Seen) {
        if let (true, Some(syn)) = (seen.has(Segment::SYN), &flow.syns[seen.way as usize]) {
            connection.on_syn(seen.way, &syn.options);
        }
        connection.on(seen);
    }

    fn end(&mut self, _: &Flow, connection: Connection, _: Ended) {
        self.done = Some(connection);
    }
}

/// Retransmissions in the sender's capture, with the receiver's beside it.
pub(crate) fn both(sender: &[u8], receiver: &[u8]) -> Vec<verdict::Retransmission> {
    let look = |file: &[u8], connection| {
        let mut told = Told { next: Some(connection), done: None };
        let mut flows = Flows::new(&mut told, 10);
        ackclock_capture::read::read(Input::Bytes(file), |frame| flows.frame(frame)).expect("a capture");
        flows.finish();
        told.done.expect("one connection")
    };
    let at = |side, each| Wanted { at: Some(side), each };
    let there = look(receiver, Connection::noting_arrivals(at(place::Side::Receiver, false)));
    let arrivals = there.finish_noting().1.expect("they were noted");
    look(sender, Connection::knowing_arrivals(at(place::Side::Sender, true), arrivals)).finish().retransmissions
}

/// The segments of the data's way.
#[derive(Default)]
struct Segments(Vec<Seen>);

impl Analysis for Segments {
    type State = ();
    fn begin(&mut self, _: &Flow) {}
    fn end(&mut self, _: &Flow, (): (), _: Ended) {}
    fn segment(&mut self, _: &Flow, (): &mut (), seen: &Seen) {
        if seen.way == Way::Out {
            self.0.push(*seen);
        }
    }
}

fn between(sender: &[u8], receiver: &[u8]) -> Option<ReorderingSummary> {
    let [sent, came] = [sender, receiver].map(|file| {
        let mut segments = Segments::default();
        let mut flows = Flows::new(&mut segments, 10);
        ackclock_capture::read::read(Input::Bytes(file), |frame| flows.frame(frame)).expect("a capture");
        flows.finish();
        segments.0
    });
    let mut between = Between::default();
    let mut sent = sent.iter().peekable();
    for seen in &came {
        while let Some(s) = sent.next_if(|s| s.at <= seen.at) {
            between.sent(s);
        }
        between.arrived(seen);
    }
    between.finish().map(|r| ReorderingSummary::of(&r.order))
}
