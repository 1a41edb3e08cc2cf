//! One run: its captures, as files in memory, their verdicts, and the truth.

use crate::paths::{Hosts, Path, Sender};
use crate::score::Point;
use ackclock_capture::pair::match_ends;
use ackclock_capture::survey::{Survey, Surveyed};
use ackclock_capture::{verdict, Flows, Input, Wanted, Way};
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_lab::summary::ReorderingSummary;
use ackclock_sim::engine::Sim;
use ackclock_sim::reordering::Order;
use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Time;
use ackclock_trace::captures::{leaving, Captures, Places, SNAP};
use ackclock_trace::truth::Retransmission;
use ackclock_trace::{Both, Truth};
use std::convert::Infallible;

/// The node in the middle.
const MIDDLE: &str = "M";

pub(crate) struct Case {
    pub(crate) truth: Vec<Retransmission>,
    /// The results for the captures of the sender's side, of the receiver's and of the middle.
    pub(crate) found: [Surveyed; 3],
    /// The results for the first two together.
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

/// The reordering on the data's path.
pub(crate) struct Orders {
    pub(crate) ledger: Option<ReorderingSummary>,
    pub(crate) receiver: Option<ReorderingSummary>,
    pub(crate) both: Option<ReorderingSummary>,
}

/// The captures of a run: of the sender's side, the receiver's and the middle.
pub(crate) struct Files {
    pub(crate) files: [Vec<u8>; 3],
    pub(crate) truth: Vec<Retransmission>,
    order: Order,
    /// Whether a host refused a segment for its timestamp.
    pub(crate) refused: bool,
}

#[derive(Default)]
struct Refusals(bool);

impl Watch for Refusals {
    fn refused(&mut self, _: Time, _: u32, _: Side, why: Refusal, _: &Segment, _: u8, _: &[(Offset, Offset)]) {
        self.0 |= why == Refusal::Paws;
    }
}

pub(crate) fn run(path: &Path, hosts: &Hosts, sender: &Sender, segments: u32, seed: u64) -> Files {
    let overrides = Overrides { stack: Some(sender.stack.to_owned()), set: hosts.set(sender), ..Overrides::default() };
    let plan = Plan::parse(path.name, &hosts.scenario(path, segments), &overrides).unwrap_or_else(|e| panic!("{e}"));
    let s = &plan.scenario;
    let node = s.nodes.iter().position(|name| name == MIDDLE).expect("each path has a middle") as u32;
    let places = Places { sender: Vec::new(), receiver: Vec::new(), middle: Some((node, Vec::new())) };
    let captures = Captures::new(s, seed, SNAP, places).expect("memory takes it");
    let truth = Truth::new(1).with_middle(leaving(s, node));
    let watch = Both(Both(captures, truth), Both(Order::default(), Refusals::default()));
    let mut sim = Sim::new(s, &plan.stacks, seed, watch).unwrap_or_else(|e| panic!("{}: {e}", path.name));
    let results = sim.run();
    assert!(results.flows[0].finished.is_some(), "{} {}: the transfer is not over", path.name, sender.stack);
    let Both(Both(captures, truth), Both(order, refusals)) = sim.into_watch();
    let Places { sender, receiver, middle } = captures.finish().expect("memory takes it");
    let middle = middle.expect("it was asked for").1;
    Files { files: [sender, receiver, middle], truth: truth.finish(), order, refused: refusals.0 }
}

pub(crate) fn judge(run: Files) -> Case {
    let Files { files: [sender, receiver, middle], truth, order, .. } = run;
    let found = [&sender, &receiver, &middle].map(|file| survey(file));
    let received = found[1].ways[Way::Out as usize].reordering.as_ref();
    let matched = matched(&sender, &receiver);
    let reordering = Orders {
        ledger: order.at(0, Side::Receiver).map(ReorderingSummary::of),
        receiver: received.map(|r| ReorderingSummary::of(&r.order)),
        both: matched.ways[Way::Out as usize].reordering.as_ref().map(|r| ReorderingSummary::of(&r.order)),
    };
    Case { truth, found, both: matched.retransmissions, reordering }
}

/// The one connection of a capture.
pub(crate) fn survey(file: &[u8]) -> Surveyed {
    let mut survey = Survey::new(Wanted { at: None, each: true, densities: true }, 10, None);
    let mut flows = Flows::new(&mut survey, 10);
    ackclock_capture::read::read(Input::Bytes(file), |frame| flows.frame(frame)).expect("a capture");
    flows.finish();
    let mut found = survey.finish().connections;
    assert_eq!(found.len(), 1, "one connection");
    found.remove(0)
}

/// The connection as both captures together show it; the sent data is that of the sender's capture.
pub(crate) fn matched(sender: &[u8], receiver: &[u8]) -> Surveyed {
    let files = [sender, receiver];
    let mut found = files.map(|file| [survey(file)]);
    let mut all: Vec<&mut [Surveyed]> = found.iter_mut().map(|f| &mut f[..]).collect();
    let wanted = Wanted { at: None, each: true, densities: true };
    let remarks = match_ends(&mut all, &["sender", "receiver"], wanted, |file, mut survey| {
        let mut flows = Flows::new(&mut survey, 10);
        ackclock_capture::read::read(Input::Bytes(files[file]), |frame| flows.frame(frame)).expect("a capture");
        flows.finish();
        Ok::<_, Infallible>(survey.finish().connections)
    });
    assert_eq!(remarks, Ok(Vec::new()));
    let [[sent], [arrived]] = found;
    let beside = sent.beside.expect("both ends are there");
    assert_eq!((beside.sent_here, arrived.beside.map(|b| b.sent_here)), (Way::Out, Some(Way::Back)));
    assert_eq!(beside.arrived, beside.known, "every packet that came was seen to leave");
    sent
}
