//! Packets between the transmitter of a link and its far end, where elements may add to the delay.

use super::Delays;
use std::collections::VecDeque;

/// The packets in flight on a link, in the order of their arrivals.
#[derive(Default)]
pub(crate) struct Flight {
    /// The times of their arrivals, and the packets.
    packets: VecDeque<(u64, u32)>,
    /// Add to the link's delay.
    delays: Vec<Delays>,
}

impl Flight {
    /// From now on `more` adds to the link's delay.
    pub(crate) fn lengthen(&mut self, more: Delays) {
        self.delays.push(more);
    }

    /// Whether nothing adds to the link's delay, so packets arrive in the order of their departures.
    #[inline]
    pub(crate) fn keeps_order(&self) -> bool {
        self.delays.is_empty()
    }

    /// When the next packet arrives.
    #[inline]
    pub(crate) fn next(&self) -> Option<u64> {
        self.packets.front().map(|p| p.0)
    }

    /// `packet` leaves the transmitter of a link with this delay at `leaves`; these times must not go back. Packets that arrive at
    /// the same time keep their order. Returns whether it is the next to arrive.
    #[inline]
    pub(crate) fn begin(&mut self, packet: u32, leaves: u64, delay: u64) -> bool {
        let at = leaves + delay;
        if self.delays.is_empty() {
            debug_assert!(self.packets.back().is_none_or(|p| p.0 <= at), "a constant delay lets nothing overtake");
            self.packets.push_back((at, packet));
            return self.packets.len() == 1;
        }
        self.begin_longer(packet, leaves, at)
    }

    /// `at`: when it would arrive without the elements.
    #[inline(never)]
    fn begin_longer(&mut self, packet: u32, leaves: u64, at: u64) -> bool {
        let at = at + self.delays.iter_mut().map(|d| d.of(leaves)).sum::<u64>();
        // Most delays change seldom, and then few packets overtake.
        if self.packets.back().is_none_or(|p| p.0 <= at) {
            self.packets.push_back((at, packet));
            return self.packets.len() == 1;
        }
        let i = self.packets.partition_point(|p| p.0 <= at);
        self.packets.insert(i, (at, packet));
        i == 0
    }

    /// The packet that has arrived by `now`, if any.
    #[inline]
    pub(crate) fn land(&mut self, now: u64) -> Option<u32> {
        let due = self.packets.front().is_some_and(|p| p.0 <= now);
        due.then(|| self.packets.pop_front()).flatten().map(|p| p.1)
    }

    /// The packets in flight.
    pub(crate) fn count(&self) -> u32 {
        self.packets.len() as u32
    }
}
