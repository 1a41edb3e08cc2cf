//! The meter of a directed link.

use super::LinkMetering;
use crate::histogram::Histogram;
use crate::next_event::MAX_TIME;
use ackclock_tcp::units::Bytes;

/// The counts of a link. With its transit it fills two cache lines. Neighbouring counts would be added as a vector, which takes
/// twice as many instructions.
#[derive(Default)]
#[repr(C)]
pub struct LaneMeter {
    /// Packets that entered it together with the links fused before it.
    pub(super) packets: u64,
    /// Times of packets that waited.
    pub(super) wait: Histogram,
    /// The bytes of these packets on the wire.
    pub(super) bytes: Bytes,
    /// How long the packet waited whose transmission began last, for a link whose departures are events.
    pub(super) last: u64,
}

impl LinkMetering for LaneMeter {
    const ON: bool = true;

    #[inline(always)]
    fn waited(&mut self, wait: u64) {
        if wait > 0 {
            self.wait.record(wait);
        }
    }

    #[inline(always)]
    fn carried(&mut self, wire: u32) {
        // One that carries on may have been taken back before.
        self.packets = self.packets.wrapping_add(1);
        self.bytes = self.bytes.wrapping_add(u64::from(wire));
    }

    #[cold]
    fn carries_still(&mut self, wire: u32) {
        self.packets = self.packets.wrapping_sub(1);
        self.bytes = self.bytes.wrapping_sub(u64::from(wire));
    }

    #[inline(always)]
    fn serves(&mut self, wait: u64, wire: u32) {
        self.last = wait;
        self.waited(wait);
        self.carried(wire);
    }

    #[cold]
    fn waits_still(&mut self, wait: u64) {
        if (1..MAX_TIME).contains(&wait) {
            self.wait.take_back(wait);
        }
    }

    #[cold]
    fn serves_still(&mut self, wire: u32) -> u64 {
        self.packets -= 1;
        self.bytes -= u64::from(wire);
        self.waits_still(self.last);
        self.last
    }
}
