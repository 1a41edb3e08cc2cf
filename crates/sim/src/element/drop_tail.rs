//! The oldest queue discipline: a packet that does not fit on arrival is dropped.

use super::direction::{QueueLimit, QueueSpec};

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
            // ns-2 drops when `waiting + 1 >= limit`: limit − 1 packets wait, and one is in transmission.
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

/// The state of a limited queue whose departures are known when packets enter: a ring of departure times.
pub(crate) struct DropTail {
    limit: Limit,
    /// Keys of future departures, at positions `first .. end` modulo the ring's length, a power of two.
    leaving: Vec<u64>,
    /// Sizes at the same positions, if they are needed.
    sizes: Vec<u32>,
    /// Departed packets are removed up to here; some of the following ones may have departed, too.
    first: u32,
    end: u32,
    /// With fewer packets than this, departed ones included, an arriving packet fits, does not make the queue longer than ever
    /// before, and has a place in the ring, so nothing need be counted. 0 where bytes are counted.
    roomy: u32,
    bytes: u64,
    arrivals: u64,
    longest: u32,
    counts_bytes: bool,
}

impl DropTail {
    /// `watched`: a listener wants the number of waiting bytes, even if the limit does not.
    pub(crate) fn new(limit: Limit, watched: bool) -> Self {
        let counts_bytes = watched || matches!(limit, Limit::Bytes { .. });
        DropTail {
            limit,
            leaving: vec![0; 2],
            sizes: vec![0; 2],
            first: 0,
            end: 0,
            roomy: 0,
            bytes: 0,
            arrivals: 0,
            longest: 0,
            counts_bytes,
        }
    }

    /// A packet arrives. `so_far` is the greatest key whose event has begun: every departure up to that key has
    /// happened. Returns `true` if the packet fits; otherwise [`DropTail::take_off`] decides.
    #[inline(always)]
    pub(crate) fn has_room(&mut self, so_far: u64) -> bool {
        self.arrivals += 1;
        // Removing one for each arrival keeps up with a busy link, and needs no guess of their number.
        let i = self.first as usize & (self.leaving.len() - 1);
        let departed = (self.roomy > 0) & (self.first != self.end) & (self.leaving[i] <= so_far);
        self.first = self.first.wrapping_add(u32::from(departed));
        self.end.wrapping_sub(self.first) < self.roomy
    }

    /// Removes departed packets; returns whether a packet of `wire` bytes then fits.
    pub(crate) fn take_off(&mut self, so_far: u64, wire: u32) -> bool {
        let mask = self.leaving.len() - 1;
        while self.first != self.end && self.leaving[self.first as usize & mask] <= so_far {
            if self.counts_bytes {
                self.bytes -= u64::from(self.sizes[self.first as usize & mask]);
            }
            self.first = self.first.wrapping_add(1);
        }
        let len = self.end.wrapping_sub(self.first);
        let serving = if len == 0 { 0 } else { self.sizes[self.first as usize & mask] };
        self.limit.admits(len, self.bytes, serving, wire)
    }

    /// The departure of the packet just admitted has this key. `within`: it arrived before the end of the run.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: u64, wire: u32, within: bool) {
        let len = self.end.wrapping_sub(self.first);
        if len >= self.roomy {
            self.make_room(len, wire, within);
        }
        let i = self.end as usize & (self.leaving.len() - 1);
        self.leaving[i] = key;
        self.end = self.end.wrapping_add(1);
    }

    /// An arrival behind `len` packets, all of them still here, may need a longer ring or make the longest queue.
    #[inline(never)]
    fn make_room(&mut self, len: u32, wire: u32, within: bool) {
        if len as usize == self.leaving.len() {
            self.grow();
        }
        if within {
            self.longest = self.longest.max(len + 1);
        }
        if self.counts_bytes {
            let i = self.end as usize & (self.leaving.len() - 1);
            self.sizes[i] = wire;
            self.bytes += u64::from(wire);
        } else {
            self.roomy = self.longest.min(self.leaving.len() as u32);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let old = self.leaving.len();
        let first = self.first as usize & (old - 1);
        self.leaving.rotate_left(first);
        self.leaving.resize(2 * old, 0);
        self.sizes.rotate_left(first);
        self.sizes.resize(2 * old, 0);
        (self.first, self.end) = (0, old as u32);
    }

    /// Packets and bytes after the last arrival, the packet in transmission included.
    pub(crate) fn held(&self) -> (u32, u64) {
        (self.end.wrapping_sub(self.first), self.bytes)
    }

    /// The number of the latest arrival, from 0.
    pub(crate) fn nth(&self) -> u64 {
        self.arrivals - 1
    }

    /// The longest queue so far, the packet in transmission included.
    pub(crate) fn longest(&self) -> u32 {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::next_event::Keys;

    fn fits(q: &mut DropTail, so_far: u64, wire: u32) -> bool {
        q.has_room(so_far) || q.take_off(so_far, wire)
    }

    fn held_at_most(limit: QueueLimit, limit_counts_service: bool, wire: u32) -> usize {
        let keys = Keys::new(2);
        let mut q = DropTail::new(Limit::new(&QueueSpec { limit, limit_counts_service }), false);
        (0..1000)
            .filter(|_| {
                let fits = fits(&mut q, 0, wire);
                if fits {
                    q.push(keys.key(100, 0), wire, true);
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
        let key = |at, element| Keys::new(2).key(at, element);
        let mut q = DropTail::new(limit, true);
        assert!(fits(&mut q, key(0, 3), 40));
        q.push(key(10, 5), 40, true);
        assert!(!fits(&mut q, key(10, 4), 40));
        assert_eq!((q.nth(), q.held()), (1, (1, 40)));
        assert!(fits(&mut q, key(10, 6), 40));
        assert_eq!((q.held(), q.longest()), ((0, 0), 1));
    }
}
