//! The oldest queue discipline: what does not fit when it comes is dropped.

use crate::next_event::key;
use crate::scenario::{QueueLimit, QueueSpec};
use std::collections::VecDeque;

/// When a queue is full. `len` and `bytes` below always count waiting packets and the one in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    None,
    /// Packets, the one in transmission included.
    Packets(u32),
    /// Bytes, with the packet in transmission or without it.
    Bytes {
        most: u64,
        counts_service: bool,
    },
}

impl Limit {
    pub(crate) fn new(q: &QueueSpec) -> Self {
        match q.limit {
            QueueLimit::Unlimited => Limit::None,
            // ns-2 drops when `waiting + 1 >= limit`: limit − 1 wait, and one is in transmission.
            QueueLimit::Packets(n) => Limit::Packets(if q.limit_counts_service { n } else { n.saturating_add(1) }),
            QueueLimit::Bytes(most) => Limit::Bytes { most, counts_service: q.limit_counts_service },
        }
    }

    /// Whether a packet of `wire` bytes still fits; `serving` is the size of the packet in transmission.
    #[inline]
    pub(crate) fn admits(self, len: u32, bytes: u64, serving: u32, wire: u32) -> bool {
        match self {
            Limit::None => true,
            Limit::Packets(most) => len < most,
            Limit::Bytes { most, counts_service: true } => bytes + u64::from(wire) <= most,
            Limit::Bytes { most, counts_service: false } => {
                len == 0 || bytes - u64::from(serving) + u64::from(wire) <= most
            }
        }
    }
}

/// The state of a limited queue whose departures are known when packets enter: a ring of them.
pub(crate) struct DropTail {
    limit: Limit,
    /// (key of the departure, size)
    leaving: VecDeque<(u64, u32)>,
    bytes: u64,
    arrivals: u64,
    longest: u32,
}

impl DropTail {
    pub(crate) fn new(limit: Limit) -> Self {
        DropTail { limit, leaving: VecDeque::new(), bytes: 0, arrivals: 0, longest: 0 }
    }

    /// A packet comes. `so_far` is the greatest key whose event has begun: whatever departs up to there has departed.
    /// `Err` if it does not fit: the how manieth arrival (from 0) it is.
    #[inline]
    pub(crate) fn admit(&mut self, so_far: u64, wire: u32) -> Result<(), u64> {
        while let Some(&(at, size)) = self.leaving.front() {
            if at > so_far {
                break;
            }
            self.bytes -= u64::from(size);
            self.leaving.pop_front();
        }
        let nth = self.arrivals;
        self.arrivals += 1;
        let serving = self.leaving.front().map_or(0, |f| f.1);
        if self.limit.admits(self.leaving.len() as u32, self.bytes, serving, wire) {
            Ok(())
        } else {
            Err(nth)
        }
    }

    /// The packet just admitted will leave link `link` at `at`.
    #[inline]
    pub(crate) fn push(&mut self, at: u64, link: u32, wire: u32) {
        self.leaving.push_back((key(at, link), wire));
        self.bytes += u64::from(wire);
        self.longest = self.longest.max(self.leaving.len() as u32);
    }

    /// Packets and bytes, the one in transmission included, when the last packet had come.
    pub(crate) fn held(&self) -> (u32, u64) {
        (self.leaving.len() as u32, self.bytes)
    }

    /// The most packets that were ever here, the one in transmission included.
    pub(crate) fn longest(&self) -> u32 {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_at_most(limit: QueueLimit, limit_counts_service: bool, wire: u32) -> usize {
        let mut q = DropTail::new(Limit::new(&QueueSpec { limit, limit_counts_service }));
        (0..1000)
            .filter(|_| {
                let fits = q.admit(0, wire).is_ok();
                if fits {
                    q.push(100, 0, wire);
                }
                fits
            })
            .count()
    }

    #[test]
    fn limit_b_means_b_minus_1_waiting_and_1_in_service_in_ns_2s_convention_and_b_waiting_otherwise() {
        assert_eq!(held_at_most(QueueLimit::Packets(65), true, 1500), 65);
        assert_eq!(held_at_most(QueueLimit::Packets(65), false, 1500), 66);
        assert_eq!(held_at_most(QueueLimit::Bytes(6000), true, 1500), 4);
        assert_eq!(held_at_most(QueueLimit::Bytes(6000), false, 1500), 5);
        assert_eq!(held_at_most(QueueLimit::Bytes(100), false, 1500), 1);
    }

    #[test]
    fn a_departure_at_this_instant_has_happened_if_the_event_is_not_before_it_in_the_order_of_elements() {
        let limit = Limit::new(&QueueSpec { limit: QueueLimit::Packets(1), limit_counts_service: true });
        let mut q = DropTail::new(limit);
        assert_eq!(q.admit(key(0, 3), 40), Ok(()));
        q.push(10, 5, 40);
        assert_eq!(q.admit(key(10, 4), 40), Err(1));
        assert_eq!(q.admit(key(10, 6), 40), Ok(()));
        assert_eq!((q.held(), q.longest()), ((0, 0), 1));
    }
}
