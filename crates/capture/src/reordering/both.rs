//! The reordering between two points of a path: two captures of one way of a connection.
//!
//! Idea: a packet that was captured at both points is known by its identification, sequence number, length and timestamp. The order
//! at the first point is the order of sending, exactly. Packets that are alike in all four are taken in their order. One that
//! comes once more, and left once, was doubled on its way.

use super::{since, Reordered, Told};
use crate::seen::Seen;
use ackclock_sim::reordering::Reordering;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Packets that have left and may still come. Of more, the oldest are taken for lost.
const MOST: usize = 1 << 20;
/// A packet that comes again is known by so many arrivals.
const REMEMBERED: usize = 1 << 12;

/// The packets of one way between two points.
#[derive(Clone, Debug, Default)]
pub struct Between {
    /// Those under way, with their numbers.
    under_way: BTreeSet<(Key, u64)>,
    by_number: BTreeMap<u64, Key>,
    /// Those that came last, with their numbers, and the order in which they came.
    came: BTreeMap<Key, u64>,
    lately: VecDeque<(Key, u64)>,
    next: u64,
    first: Option<i64>,
    order: Reordering,
    strangers: u64,
}

/// What knows a packet: sequence number, length, flags, timestamp and identification.
type Key = (u64, u32, u8, Option<(u32, u32)>, Option<u16>);

fn key(seen: &Seen) -> Key {
    (seen.seq, seen.len, seen.flags, seen.timestamps.map(|t| (t.value, t.echo)), seen.id)
}

impl Between {
    /// A packet left the first point.
    pub fn sent(&mut self, seen: &Seen) {
        if self.by_number.len() >= MOST {
            if let Some((number, key)) = self.by_number.pop_first() {
                self.under_way.remove(&(key, number));
            }
        }
        self.under_way.insert((key(seen), self.next));
        self.by_number.insert(self.next, key(seen));
        self.next += 1;
    }

    /// A packet came to the second point. Answers its number in the order of sending; `None` if it did not pass the first.
    pub fn arrived(&mut self, seen: &Seen) -> Option<u64> {
        let first = *self.first.get_or_insert(seen.at);
        let key = key(seen);
        let found = self.under_way.range((key, 0)..=(key, u64::MAX)).next().map(|k| k.1);
        let Some(number) = found.or_else(|| self.came.get(&key).copied()) else {
            self.strangers += 1;
            return None;
        };
        self.under_way.remove(&(key, number));
        self.by_number.remove(&number);
        self.order.arrive(since(first, seen.at), number, seen.len);
        self.remember(key, number);
        Some(number)
    }

    fn remember(&mut self, key: Key, number: u64) {
        if self.lately.len() >= REMEMBERED {
            if let Some((old, number)) = self.lately.pop_front() {
                if self.came.get(&old) == Some(&number) {
                    self.came.remove(&old);
                }
            }
        }
        self.came.insert(key, number);
        self.lately.push_back((key, number));
    }

    /// Packets that came and had not been seen to leave: the first capture missed them.
    pub fn strangers(&self) -> u64 {
        self.strangers
    }

    /// What is known by now; `None` if nothing left.
    pub fn finish(self) -> Option<Reordered> {
        (self.next > 0).then_some(Reordered { told: Told::Sender, order: self.order })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_comes_again_is_known_for_a_while() {
        let packet = |n: u64| Seen { seq: 1000 * n, len: 1000, ..Seen::default() };
        let mut between = Between::default();
        let all = 0..REMEMBERED as u64 + 1;
        all.clone().for_each(|n| between.sent(&packet(n)));
        all.for_each(|n| assert_eq!(between.arrived(&packet(n)), Some(n)));
        assert_eq!((between.arrived(&packet(1)), between.arrived(&packet(0))), (Some(1), None));
        assert_eq!((between.came.len(), between.lately.len()), (REMEMBERED, REMEMBERED));
    }

    #[test]
    fn packets_are_numbered_as_they_left_and_counted_as_they_came() {
        let packet = |n: u64, copy: u16| Seen {
            seq: 1000 * n,
            len: 1000,
            id: Some(10 * n as u16 + copy),
            at: 7,
            ..Seen::default()
        };
        let mut between = Between::default();
        // 2 is sent again behind 4; the copies overtake each other.
        let sent = [packet(0, 0), packet(1, 0), packet(2, 0), packet(3, 0), packet(4, 0), packet(2, 1), packet(5, 0)];
        sent.iter().for_each(|p| between.sent(p));
        let came = [0, 1, 3, 5, 4, 2, 6].map(|i: usize| between.arrived(&sent[i]));
        assert_eq!(came, [0, 1, 3, 5, 4, 2, 6].map(Some));
        assert_eq!((between.arrived(&packet(9, 0)), between.strangers()), (None, 1), "it never left");
        assert_eq!((between.arrived(&sent[0]), between.strangers()), (Some(0), 1), "the path doubled it");
        let found = between.finish().unwrap();
        assert_eq!(found.order.duplicates(), 1);
        let extents: Vec<_> = found.order.late().extents.clone().into_iter().collect();
        assert_eq!((found.told, extents), (Told::Sender, vec![(1, 1), (3, 1)]));
    }
}
