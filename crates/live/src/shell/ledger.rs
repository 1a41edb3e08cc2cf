//! The fate of the packets in each direction.

use ackclock_sim::reordering::Reordering;
use ackclock_sim::watch::{DropWhy, Dropped, Side, Watch};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::Time;

/// The fate of the packets in one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Way {
    /// Packets that entered.
    pub sent: u64,
    /// Their bytes, with all headers.
    pub bytes: u64,
    /// Packets that left; a packet that the path duplicated counts twice.
    pub arrived: u64,
    /// Dropped at a full queue.
    pub queue_drops: u64,
    /// Dropped by a loss model or an interruption.
    pub loss_drops: u64,
    /// Dropped early (RED).
    pub early_drops: u64,
    /// Dropped by the scenario's script.
    pub script_drops: u64,
    /// Packets that the path duplicated.
    pub doubled: u64,
    /// Packets that a queue marked (ECN).
    pub marked: u64,
    /// The order in which packets left (RFC 4737); each packet once.
    pub order: Reordering,
}

impl Way {
    /// Packets that the path dropped.
    pub fn lost(&self) -> u64 {
        self.queue_drops + self.loss_drops + self.early_drops + self.script_drops
    }

    /// Packets still in flight.
    pub fn under_way(&self) -> u64 {
        self.sent + self.doubled - self.lost() - self.arrived
    }
}

/// Counts the fates of packets.
#[derive(Default)]
pub(super) struct Ledger {
    /// From the program to its peer, and back.
    pub(super) ways: [Way; 2],
}

impl Ledger {
    /// The direction of a packet to this end.
    fn to(&mut self, to: Side) -> &mut Way {
        &mut self.ways[usize::from(to == Side::Sender)]
    }
}

impl Watch for Ledger {
    fn sent(&mut self, _: Time, _: u32, from: Side, _: &Segment, wire: u32, _: u8) {
        let way = &mut self.ways[usize::from(from == Side::Receiver)];
        way.sent += 1;
        way.bytes += u64::from(wire);
    }

    fn dropped(&mut self, Dropped { to, why, .. }: Dropped<'_>) {
        let way = self.to(to);
        let drops = match why {
            DropWhy::Queue => &mut way.queue_drops,
            DropWhy::Loss => &mut way.loss_drops,
            DropWhy::Early => &mut way.early_drops,
            DropWhy::Script => &mut way.script_drops,
        };
        *drops += 1;
    }

    fn delivered(&mut self, _: Time, _: u32, to: Side, seg: &Segment, _: u32, _: u8) {
        let way = self.to(to);
        way.arrived += 1;
        way.marked += u64::from(seg.opts & Segment::CE != 0);
    }

    fn doubled(&mut self, _: Time, _: u32, to: Side, _: &Segment, _: u8) {
        self.to(to).doubled += 1;
    }
}
