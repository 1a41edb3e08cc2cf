//! Data that arrived before what precedes it: disjoint ranges in sequence order, each with the time of its last segment.
//!
//! Ranges that touch are one range. Their number is limited, so that a peer that sends every second byte cannot make the
//! receiver keep more than a fraction of its window in book-keeping; a segment beyond the limit counts as not arrived,
//! as RFC 9293 §3.10.7.4 allows ("should" hold, not must).

use crate::seq::Offset;
use crate::units::Bytes;

/// A held range; `right` is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) left: Offset,
    pub(super) right: Offset,
    /// Larger than that of every range whose last segment came earlier (RFC 2018 §4 reports the newest first).
    pub(super) touched: u64,
}

/// Everything above `rcv_nxt` that has arrived.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    ranges: Vec<Range>,
    clock: u64,
    limit: usize,
}

impl Reassembly {
    /// For a receive window of at most `window` bytes: 64 ranges, and one more for every 64 bytes, at most 2¹⁶ in all.
    pub(super) fn new(window: Bytes) -> Self {
        Self { ranges: Vec::new(), clock: 0, limit: (64 + window / 64).min(1 << 16) as usize }
    }

    /// In sequence order.
    pub(super) fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// The offset after the last held byte.
    pub(super) fn end(&self) -> Option<Offset> {
        self.ranges.last().map(|r| r.right)
    }

    /// The first part of `left..right` that is held.
    pub(super) fn first_overlap(&self, left: Offset, right: Offset) -> Option<(Offset, Offset)> {
        if self.end()? <= left {
            return None;
        }
        let r = self.ranges.get(self.ranges.partition_point(|r| r.right <= left))?;
        let (l, e) = (r.left.max(left), r.right.min(right));
        (l < e).then_some((l, e))
    }

    /// Holds `left..right` (not empty), joined with what it overlaps or touches.
    pub(super) fn insert(&mut self, left: Offset, right: Offset) {
        match self.ranges.last_mut() {
            // Mostly it goes on with the last.
            Some(last) if last.left <= left && left <= last.right => {
                self.clock += 1;
                (last.right, last.touched) = (last.right.max(right), self.clock);
            }
            _ => self.insert_below(left, right),
        }
    }

    fn insert_below(&mut self, left: Offset, right: Offset) {
        let from = self.ranges.partition_point(|r| r.right < left);
        let to = from + self.ranges[from..].partition_point(|r| r.left <= right);
        if from == to && self.ranges.len() >= self.limit {
            return;
        }
        self.clock += 1;
        let mut new = Range { left, right, touched: self.clock };
        if from == to {
            self.ranges.insert(from, new);
            return;
        }
        new.left = left.min(self.ranges[from].left);
        new.right = right.max(self.ranges[to - 1].right);
        self.ranges[from] = new;
        if to - from > 1 {
            self.ranges.drain(from + 1..to);
        }
    }

    /// Makes the range that contains `at` the newest.
    pub(super) fn touch(&mut self, at: Offset) {
        let i = self.ranges.partition_point(|r| r.right <= at);
        if let Some(r) = self.ranges.get_mut(i).filter(|r| r.left <= at) {
            self.clock += 1;
            r.touched = self.clock;
        }
    }

    /// Everything before `upto` has arrived in order: gives the offset up to which nothing is missing now.
    pub(super) fn advance(&mut self, upto: Offset) -> Offset {
        let gone = self.ranges.iter().take_while(|r| r.left <= upto).count();
        let Some(last) = self.ranges[..gone].last() else { return upto };
        let end = last.right.max(upto);
        self.ranges.drain(..gone);
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(parts: &[(u64, u64)]) -> Reassembly {
        let mut r = Reassembly::new(1 << 16);
        for &(a, b) in parts {
            r.insert(Offset(a), Offset(b));
        }
        r
    }

    fn show(r: &Reassembly) -> Vec<(u64, u64)> {
        r.ranges().iter().map(|r| (r.left.0, r.right.0)).collect()
    }

    #[test]
    fn ranges_that_touch_or_overlap_become_one() {
        for (parts, want) in [
            (&[(10, 20), (30, 40)][..], &[(10, 20), (30, 40)][..]),
            (&[(30, 40), (10, 20)], &[(10, 20), (30, 40)]),
            (&[(10, 20), (20, 30)], &[(10, 30)]),
            (&[(20, 30), (10, 20)], &[(10, 30)]),
            (&[(10, 20), (30, 40), (50, 60), (15, 50)], &[(10, 60)]),
            (&[(10, 20), (30, 40), (50, 60), (20, 30)], &[(10, 40), (50, 60)]),
            (&[(10, 20), (12, 15)], &[(10, 20)]),
            (&[(12, 15), (10, 20)], &[(10, 20)]),
        ] {
            assert_eq!(show(&held(parts)), want, "{parts:?}");
        }
    }

    #[test]
    fn advancing_swallows_every_range_that_it_reaches() {
        for (upto, end, left) in
            [(5, 5, &[(10, 20), (30, 40)][..]), (10, 20, &[(30, 40)]), (35, 40, &[]), (50, 50, &[])]
        {
            let mut r = held(&[(10, 20), (30, 40)]);
            assert_eq!((r.advance(Offset(upto)), show(&r).as_slice()), (Offset(end), left), "{upto}");
        }
    }

    #[test]
    fn the_number_of_ranges_is_limited_by_the_window() {
        let mut r = Reassembly::new(640);
        for i in 0..200 {
            r.insert(Offset(10 + 2 * i), Offset(11 + 2 * i));
        }
        assert_eq!(r.ranges().len(), 74);
        r.insert(Offset(11), Offset(12));
        assert_eq!(r.ranges().len(), 73, "what joins held ranges is always taken");
    }
}
