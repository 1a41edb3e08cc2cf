//! The links of a scenario in real time: packets with their bytes enter at one end of a flow and leave at the other when the
//! simulator's own elements, with the same random numbers, let them.
//!
//! [`Path`] is the network; this module keeps the bytes of its packets. The caller owns the clock, so deadlines depend only on
//! arrivals: a packet that is taken out late in real time does not delay any other.

mod copies;
mod reading;

pub use copies::Copies;
pub use reading::Reading;

use ackclock_lab::scenario::Plan;
use ackclock_sim::engine::outside::{Entering, Path};
use ackclock_sim::error::Impossible;
use ackclock_sim::results::Results;
use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Time;
use ackclock_trace::{Both, UnderWay};
use std::collections::VecDeque;

/// A scenario's path with the bytes of the packets on it.
pub struct Emulator<W: Watch> {
    path: Path<Both<Desk, W>>,
    /// Packets that left before the last packet entered and have not been taken out.
    waiting: VecDeque<Leaving>,
}

/// A packet that has left the path.
#[derive(Debug)]
pub struct Leaving {
    /// When it left.
    pub at: Time,
    /// Its flow.
    pub flow: u32,
    /// The end that it reached.
    pub to: Side,
    /// The packet as the path sees it. [`Segment::CE`] means that a queue has marked it.
    pub seg: Segment,
    /// How often its data had been sent (1 = first); 0 for a pure ACK.
    pub sends: u8,
    /// Its bytes as they entered.
    pub bytes: Vec<u8>,
}

impl<W: Watch> Emulator<W> {
    /// Lays out the path of `plan`. `seed` determines all random numbers.
    ///
    /// # Errors
    /// The reason why the scenario cannot be run.
    pub fn new(plan: &Plan, seed: u64, watch: W) -> Result<Self, Impossible> {
        let under_way = UnderWay::new(plan.scenario.flows.len() as u32);
        let desk = Desk { under_way, leaving: None, sends: 0 };
        let path = Path::outside(&plan.scenario, &plan.stacks, seed, Both(desk, watch))?;
        Ok(Emulator { path, waiting: VecDeque::new() })
    }

    /// Puts a packet in at `now`. Packets that leave up to then can still be taken out.
    /// After the end of the run the packet disappears.
    pub fn put(&mut self, now: Time, flow: u32, from: Side, packet: Entering, bytes: &[u8]) {
        while self.path.now() < now {
            match self.step(now) {
                Some(leaving) => self.waiting.push_back(leaving),
                None => break,
            }
        }
        // Its first element may drop it immediately, so its bytes must be stored before.
        let number = self.path.watch().0.under_way.put(flow, from, bytes);
        match self.path.put(now, flow, from, packet) {
            Some(given) => debug_assert_eq!(given, number, "packets are numbered one after the other"),
            None => self.path.watch().0.under_way.drop_one(flow, other(from), number),
        }
    }

    /// The next packet that has left up to `now`.
    pub fn next(&mut self, now: Time) -> Option<Leaving> {
        self.waiting.pop_front().or_else(|| self.step(now))
    }

    fn step(&mut self, now: Time) -> Option<Leaving> {
        while self.path.step(now) {
            if let Some(leaving) = self.path.watch().0.leaving.take() {
                return Some(leaving);
            }
        }
        self.path.run_until(now);
        None
    }

    /// The TCP that received the last packet taken out threw away some or all of it: it does not have the parts `missing` of its
    /// sequence space.
    pub fn refused(&mut self, packet: &Leaving, why: Refusal, missing: &[(Offset, Offset)]) {
        let Leaving { flow, to, seg, sends, .. } = packet;
        self.path.refused(*flow, *to, why, seg, *sends, missing);
    }

    /// Takes back the bytes of a packet for reuse.
    pub fn give_back(&mut self, bytes: Vec<u8>) {
        self.path.watch().0.under_way.give_back(bytes);
    }

    /// When the next event on the path happens.
    pub fn next_event(&self) -> Option<Time> {
        self.waiting.front().map(|leaving| leaving.at).or_else(|| self.path.next_event())
    }

    /// The state of the application at a flow's sender: when it begins, once that is known, and the bytes that it has written
    /// (`u64::MAX` for everything at once).
    pub fn application(&self, flow: u32) -> (Option<Time>, u64) {
        self.path.application(flow)
    }

    /// Whether the sender of a flow has begun and has not finished.
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

    /// The number of packets in flight.
    pub fn under_way(&mut self) -> usize {
        self.path.watch().0.under_way.len()
    }

    /// Ends the run and returns the listener.
    pub fn into_watch(self) -> W {
        self.path.into_watch().1
    }
}

/// Keeps the bytes of the packets in flight.
struct Desk {
    under_way: UnderWay,
    leaving: Option<Leaving>,
    /// The value from the call before [`Watch::arrived`].
    sends: u8,
}

fn other(side: Side) -> Side {
    match side {
        Side::Sender => Side::Receiver,
        Side::Receiver => Side::Sender,
    }
}

impl Watch for Desk {
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
