//! One record of a run, as it is kept until its chunk is written.

use ackclock_sim::watch::{DropWhy, Side};
use ackclock_tcp::event::{Event, Slot};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::Time;

/// One thing that happened. Records are kept whole and made into columns when a chunk is written: most columns mean
/// nothing for most records, and writing forty of them for every packet would cost more than the packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// When.
    pub at: Time,
    /// The flow (position in the scenario), and its end at which this happened or for which a dropped packet was meant.
    /// `None` for what belongs to no flow.
    pub end: Option<(u32, Side)>,
    /// What.
    pub what: What,
}

/// The kinds of record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// A host handed a packet to its link.
    Sent {
        /// The packet.
        seg: Segment,
        /// Bytes on the wire.
        wire: u32,
        /// How often the same data have now been sent (1 = first); 0 for a segment without sequence space.
        sends: u8,
        /// For retransmissions whether an earlier copy of all of it was not lost; `None` for the rest, and while open.
        needless: Option<bool>,
        /// Who asked for it and in which episode, where the engine said so.
        by: Option<(Slot, u32)>,
    },
    /// A packet was dropped.
    Dropped {
        /// The packet.
        seg: Segment,
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
        seg: Segment,
        /// Bytes on the wire.
        wire: u32,
    },
    /// A packet came to a directed link's queue.
    Queue {
        /// The directed link.
        link: u32,
        /// Packets then waiting and in service, this one included.
        packets: u32,
        /// Their bytes on the wire.
        bytes: u64,
    },
    /// Something happened inside a sender. [`Event::Sent`] is not recorded on its own: it is `by` of [`What::Sent`].
    Tcp(Event),
}

impl Row {
    /// The packet that the record is about.
    pub fn seg(&self) -> Option<&Segment> {
        match &self.what {
            What::Sent { seg, .. } | What::Dropped { seg, .. } | What::Delivered { seg, .. } => Some(seg),
            What::Queue { .. } | What::Tcp(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_row_takes_at_most_120_bytes() {
        assert!(size_of::<super::Row>() <= 120, "{}", size_of::<super::Row>());
    }
}
