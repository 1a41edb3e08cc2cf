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
use ackclock_trace::Both;
use std::collections::HashMap;

/// A scenario's path with the bytes of the packets on it.
pub struct Emulator<W: Watch> {
    path: Path<Both<Desk, W>>,
    spare: Vec<Vec<u8>>,
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
        let hosts = 2 * plan.scenario.flows.len();
        let desk = Desk { kept: vec![HashMap::new(); hosts], put: vec![0; hosts], ..Desk::default() };
        let path = Path::outside(&plan.scenario, &plan.stacks, seed, Both(desk, watch))?;
        Ok(Emulator { path, spare: Vec::new() })
    }

    /// Puts a packet in at `now`. What was due before must have been taken out: [`Emulator::next`] has answered `None`. After the
    /// end of the run it disappears.
    pub fn put(&mut self, now: Time, flow: u32, from: Side, packet: Entering, bytes: &[u8]) {
        let host = host(flow, from);
        let desk = &mut self.path.watch().0;
        let mut copy = self.spare.pop().or_else(|| desk.spare.pop()).unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        // Its first element may drop it at once, so it has to lie there before.
        let number = desk.put[host];
        desk.kept[host].insert(number, Kept { bytes: copy, copies: 1 });
        match self.path.put(now, flow, from, packet) {
            Some(given) => {
                debug_assert_eq!(given, number, "packets are numbered one after the other");
                self.path.watch().0.put[host] = number.wrapping_add(1);
            }
            None => drop(self.path.watch().0.kept[host].remove(&number)),
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
        self.spare.push(bytes);
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
        self.path.watch().0.kept.iter().map(HashMap::len).sum()
    }

    /// Ends the run and hands back the listener.
    pub fn into_watch(self) -> W {
        self.path.into_watch().1
    }
}

/// Keeps the bytes of the packets that are on their way.
#[derive(Default)]
struct Desk {
    /// By sending host, by number.
    kept: Vec<HashMap<u32, Kept>>,
    /// The number of each host's next packet.
    put: Vec<u32>,
    leaving: Option<Leaving>,
    /// Of the call before [`Watch::arrived`].
    sends: u8,
    spare: Vec<Vec<u8>>,
}

#[derive(Clone, Debug)]
struct Kept {
    bytes: Vec<u8>,
    /// More than one where the network has doubled it.
    copies: u32,
}

/// The place of one end of a flow.
fn host(flow: u32, side: Side) -> usize {
    2 * flow as usize + usize::from(side == Side::Receiver)
}

fn other(side: Side) -> Side {
    match side {
        Side::Sender => Side::Receiver,
        Side::Receiver => Side::Sender,
    }
}

/// Sets the two bits of a packet that a queue has marked (RFC 3168 §5).
pub fn mark_congestion(packet: &mut [u8]) {
    match packet {
        [first, class, ..] if *first >> 4 == 6 => {
            // The traffic class lies across two bytes; ECN's bits are in the second.
            *class |= 0x30;
        }
        [first, tos, rest @ ..] if *first >> 4 == 4 && rest.len() >= 10 => {
            let before = u16::from_be_bytes([*first, *tos]);
            *tos |= 3;
            let after = u16::from_be_bytes([*first, *tos]);
            // RFC 1624 §3: HC' = ~(~HC + ~m + m').
            let old = u16::from_be_bytes([rest[8], rest[9]]);
            let mut sum = u32::from(!old) + u32::from(!before) + u32::from(after);
            sum = (sum & 0xffff) + (sum >> 16);
            sum = (sum & 0xffff) + (sum >> 16);
            rest[8..10].copy_from_slice(&(!(sum as u16)).to_be_bytes());
        }
        _ => {}
    }
}

impl Desk {
    /// One of the packets of this number is no longer on its way.
    fn take(&mut self, flow: u32, to: Side, number: u32) -> Option<Vec<u8>> {
        let kept = &mut self.kept[host(flow, other(to))];
        let one = kept.get_mut(&number)?;
        one.copies -= 1;
        if one.copies > 0 {
            return Some(one.bytes.clone());
        }
        kept.remove(&number).map(|k| k.bytes)
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
        self.leaving = self.take(flow, to, number).map(|bytes| Leaving { at, flow, to, seg: *seg, sends, bytes });
    }

    fn lost(&mut self, flow: u32, to: Side, number: u32) {
        let bytes = self.take(flow, to, number);
        self.spare.extend(bytes);
    }

    fn copied(&mut self, flow: u32, to: Side, number: u32) {
        if let Some(kept) = self.kept[host(flow, other(to))].get_mut(&number) {
            kept.copies += 1;
        }
    }
}
