//! The links of a scenario in real time: packets with their bytes go in at one end of a flow and come out at the other when the
//! simulator's own elements, with the same luck, let them.
//!
//! [`Path`] is the network; here are the bytes that belong to its packets. Its clock is the caller's, so that deadlines follow
//! from arrivals alone: what is taken out late in real time makes nothing else late.

mod copies;
mod reading;

pub use copies::Copies;
pub use reading::Reading;

use ackclock_lab::scenario::Plan;
use ackclock_sim::engine::outside::{Entering, Path};
use ackclock_sim::error::Impossible;
use ackclock_sim::results::Results;
use ackclock_sim::watch::{DropWhy, Side, Watch};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::event::Event;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Time;
use ackclock_trace::{Both, UnderWay};

/// A scenario's path with the bytes of the packets on it.
pub struct Emulator<W: Watch> {
    path: Path<Both<Desk, W>>,
}

/// A packet that has come out.
#[derive(Debug)]
pub struct Leaving {
    /// When it came out.
    pub at: Time,
    /// Its flow.
    pub flow: u32,
    /// The end to which it came.
    pub to: Side,
    /// What the path saw of it. [`Segment::CE`] says that a queue has marked it.
    pub seg: Segment,
    /// How often its data had been sent (1 = first); 0 for a pure ACK.
    pub sends: u8,
    /// It, as it went in.
    pub bytes: Vec<u8>,
}

impl<W: Watch> Emulator<W> {
    /// Lays out the path of `plan`. All luck comes from `seed`.
    ///
    /// # Errors
    /// What makes the scenario impossible to run.
    pub fn new(plan: &Plan, seed: u64, watch: W) -> Result<Self, Impossible> {
        let under_way = UnderWay::new(plan.scenario.flows.len() as u32);
        let desk = Desk { under_way, leaving: None, sends: 0 };
        let path = Path::outside(&plan.scenario, &plan.stacks, seed, Both(desk, watch))?;
        Ok(Emulator { path })
    }

    /// Puts a packet in at `now`. What was due before must have been taken out: [`Emulator::next`] has answered `None`. After the
    /// end of the run it disappears.
    pub fn put(&mut self, now: Time, flow: u32, from: Side, packet: Entering, bytes: &[u8]) {
        // Its first element may drop it at once, so it has to lie there before.
        let number = self.path.watch().0.under_way.put(flow, from, bytes);
        match self.path.put(now, flow, from, packet) {
            Some(given) => debug_assert_eq!(given, number, "packets are numbered one after the other"),
            None => self.path.watch().0.under_way.drop_one(flow, other(from), number),
        }
    }

    /// The next packet that has come out up to `now`.
    pub fn next(&mut self, now: Time) -> Option<Leaving> {
        while self.path.step(now) {
            if let Some(leaving) = self.path.watch().0.leaving.take() {
                return Some(leaving);
            }
        }
        self.path.run_until(now);
        None
    }

    /// The TCP to which the packet that has just come out was handed threw it away, or some of it: of its sequence space it does
    /// not have `missing`.
    pub fn refused(&mut self, packet: &Leaving, why: Refusal, missing: &[(Offset, Offset)]) {
        let Leaving { flow, to, seg, sends, .. } = packet;
        self.path.refused(*flow, *to, why, seg, *sends, missing);
    }

    /// Takes the bytes of a packet back, so that they need not be allocated again.
    pub fn give_back(&mut self, bytes: Vec<u8>) {
        self.path.watch().0.under_way.give_back(bytes);
    }

    /// When something happens next on the path.
    pub fn next_event(&self) -> Option<Time> {
        self.path.next_event()
    }

    /// What the application at a flow's sender has done: when it begins, once that is known, and the bytes that it has written
    /// (`u64::MAX` for everything at once).
    pub fn application(&self, flow: u32) -> (Option<Time>, u64) {
        self.path.application(flow)
    }

    /// Whether the sender of a flow has begun and is not at its end.
    pub fn is_busy(&self, flow: u32) -> bool {
        self.path.is_busy(flow)
    }

    /// The listener.
    pub fn watch(&mut self) -> &mut W {
        &mut self.path.watch().1
    }

    /// The counts so far.
    pub fn results(&self) -> Results {
        self.path.results()
    }

    /// Packets on their way.
    pub fn under_way(&mut self) -> usize {
        self.path.watch().0.under_way.len()
    }

    /// Ends the run and hands back the listener.
    pub fn into_watch(self) -> W {
        self.path.into_watch().1
    }
}

/// Keeps the bytes of the packets that are on their way.
struct Desk {
    under_way: UnderWay,
    leaving: Option<Leaving>,
    /// Of the call before [`Watch::arrived`].
    sends: u8,
}

fn other(side: Side) -> Side {
    match side {
        Side::Sender => Side::Receiver,
        Side::Receiver => Side::Sender,
    }
}

impl Watch for Desk {
    fn tcp(&mut self, _: Time, _: u32, _: Side, _: Event) {}
    fn sent(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32, _: u8) {}
    fn dropped(&mut self, _: Time, _: u32, _: Side, _: u32, _: u64, _: DropWhy, _: &Segment, _: u8) {}
    fn queue(&mut self, _: Time, _: u32, _: u32, _: u64) {}

    fn delivered(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32, sends: u8) {
        self.sends = sends;
    }

    fn arrived(&mut self, at: Time, flow: u32, to: Side, number: u32, seg: &Segment) {
        let sends = self.sends;
        let bytes = self.under_way.take(flow, to, number);
        self.leaving = bytes.map(|bytes| Leaving { at, flow, to, seg: *seg, sends, bytes });
    }

    fn lost(&mut self, flow: u32, to: Side, number: u32) {
        self.under_way.drop_one(flow, to, number);
    }

    fn copied(&mut self, flow: u32, to: Side, number: u32) {
        self.under_way.double(flow, to, number);
    }
}
