//! One record of a run.

use ackclock_sim::fate::Verdict;
use ackclock_sim::watch::{DropWhy, Side};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::event::{Event, Slot};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::Time;

/// One event: with its packet while it is stored, with a reference to it (`Row<&Segment>`) while it is passed on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<S = Segment> {
    /// When it happened.
    pub at: Time,
    /// The flow (position in the scenario), and the end where this happened, or the destination of a dropped packet. `None`
    /// for events that belong to no flow.
    pub end: Option<(u32, Side)>,
    /// The number of the packet that was sent, dropped or delivered, among all packets of its end, from 0.
    pub packet: Option<u32>,
    /// The event.
    pub what: What<S>,
}

/// The kinds of record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What<S = Segment> {
    /// A host sent a packet to its link.
    Sent {
        /// The packet.
        seg: S,
        /// Bytes on the wire.
        wire: u32,
        /// How often the same data has been sent, this time included (1 = first); 0 for a segment without sequence space.
        sends: u8,
        /// The verdict on a retransmission; `None` for other packets, and while open.
        verdict: Option<Verdict>,
        /// The part of the stack that requested it, and its episode, if the engine reported it.
        by: Option<(Slot, u32)>,
    },
    /// A packet was dropped.
    Dropped {
        /// The packet.
        seg: S,
        /// Element that dropped it.
        element: u32,
        /// 0-based number of its arrival there.
        nth: u64,
        /// The reason.
        why: DropWhy,
    },
    /// A packet reached a host.
    Delivered {
        /// The packet.
        seg: S,
        /// Bytes on the wire.
        wire: u32,
    },
    /// A host's TCP discarded a packet that had reached it, or some of its bytes.
    Refused {
        /// The packet.
        seg: S,
        /// How often its data had been sent when it was sent (1 = first); 0 for a segment without sequence space.
        sends: u8,
        /// The reason.
        why: Refusal,
        /// The part of the packet's sequence space that the host does not have.
        missing: u32,
    },
    /// A packet entered a directed link's queue.
    Queue {
        /// The directed link.
        link: u32,
        /// Packets waiting and in service at that time, this one included.
        packets: u32,
        /// Their bytes on the wire.
        bytes: u64,
    },
    /// An event inside a sender. [`Event::Sent`] is not recorded separately: it is `by` of [`What::Sent`].
    Tcp(Event),
}

impl Row {
    /// The record without a copy of its packet.
    pub fn by_ref(&self) -> Row<&Segment> {
        Row { at: self.at, end: self.end, packet: self.packet, what: self.what.map_ref(|seg| seg) }
    }
}

impl Row<&Segment> {
    /// The record with its packet.
    pub fn owned(&self) -> Row {
        Row { at: self.at, end: self.end, packet: self.packet, what: self.what.map_ref(|seg| **seg) }
    }
}

impl<S> What<S> {
    fn map_ref<'a, T>(&'a self, f: impl FnOnce(&'a S) -> T) -> What<T> {
        match self {
            What::Sent { seg, wire, sends, verdict, by } => {
                What::Sent { seg: f(seg), wire: *wire, sends: *sends, verdict: *verdict, by: *by }
            }
            What::Dropped { seg, element, nth, why } => {
                What::Dropped { seg: f(seg), element: *element, nth: *nth, why: *why }
            }
            What::Delivered { seg, wire } => What::Delivered { seg: f(seg), wire: *wire },
            What::Refused { seg, sends, why, missing } => {
                What::Refused { seg: f(seg), sends: *sends, why: *why, missing: *missing }
            }
            What::Queue { link, packets, bytes } => What::Queue { link: *link, packets: *packets, bytes: *bytes },
            What::Tcp(e) => What::Tcp(*e),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_row_takes_at_most_128_bytes() {
        assert!(size_of::<super::Row>() <= 128, "{}", size_of::<super::Row>());
    }
}
