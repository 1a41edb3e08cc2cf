//! Many held ranges, indexed by position and by time.
//!
//! Every call takes time logarithmic in the number of ranges, plus as much for each range that it removes; a range is
//! removed only once. A range takes 45 bytes, or up to 100 in half-empty nodes.

use crate::seq::Offset;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included};

/// The end of a held range, and when it was touched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// Exclusive.
    right: Offset,
    /// Larger than that of every range whose last segment arrived earlier (RFC 2018 §4 reports the newest first).
    touched: u64,
}

/// The ranges of [`super::Reassembly`].
#[derive(Clone, Debug, Default)]
pub(super) struct Trees {
    /// By left edge.
    pub(super) ranges: BTreeMap<Offset, Reach>,
    /// Left edges by `touched`.
    pub(super) newest: BTreeMap<u64, Offset>,
    clock: u64,
}

impl Trees {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The held ranges from `at` on, in sequence order; the first range may begin before `at`.
    pub(super) fn from(&self, at: Offset) -> impl Iterator<Item = (Offset, Offset)> + '_ {
        let before = self.ranges.range(..at).next_back().filter(|(_, r)| r.right > at);
        before.into_iter().chain(self.ranges.range(at..)).map(|(&left, r)| (left, r.right))
    }

    /// The ranges in the order of their last segments, the newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = (Offset, Offset)> + '_ {
        self.newest.values().rev().filter_map(|left| Some((*left, self.ranges.get(left)?.right)))
    }

    /// The offset after the last held byte.
    pub(super) fn end(&self) -> Option<Offset> {
        self.ranges.last_key_value().map(|(_, r)| r.right)
    }

    /// Holds `left..right` (not empty), joined with ranges that it overlaps or touches, if that makes at most `limit`
    /// ranges; returns whether it does.
    pub(super) fn insert(&mut self, left: Offset, right: Offset, limit: usize) -> bool {
        let before = self.ranges.range_mut(..=left).next_back().filter(|(_, r)| left <= r.right);
        let Some((&at, r)) = before else { return self.insert_apart(left, right, limit) };
        let Reach { right: end, touched } = *r;
        r.right = end.max(right);
        self.renew(at, touched);
        if end < right {
            self.swallow(at, right);
        }
        true
    }

    /// The same, if no range begins at or before `left` and reaches it.
    fn insert_apart(&mut self, left: Offset, right: Offset, limit: usize) -> bool {
        if self.ranges.len() >= limit && self.ranges.range(left..=right).next().is_none() {
            return false;
        }
        self.clock += 1;
        self.ranges.insert(left, Reach { right, touched: self.clock });
        self.newest.insert(self.clock, left);
        self.swallow(left, right);
        true
    }

    /// Joins the range at `at` with the ranges that begin after it, up to `right`.
    fn swallow(&mut self, at: Offset, right: Offset) {
        let mut end = right;
        while let Some(next) = self.ranges.range((Excluded(at), Included(right))).next().map(|(&l, _)| l) {
            end = end.max(self.forget(next).unwrap_or(end));
        }
        if let (true, Some(r)) = (end > right, self.ranges.get_mut(&at)) {
            r.right = end;
        }
    }

    /// Makes the range at `left`, which was touched at `touched`, the newest.
    fn renew(&mut self, left: Offset, touched: u64) {
        if touched == self.clock {
            return;
        }
        self.clock += 1;
        self.newest.remove(&touched);
        self.newest.insert(self.clock, left);
        if let Some(r) = self.ranges.get_mut(&left) {
            r.touched = self.clock;
        }
    }

    /// Removes the range that begins at `left`; returns where it ended.
    fn forget(&mut self, left: Offset) -> Option<Offset> {
        let gone = self.ranges.remove(&left)?;
        self.newest.remove(&gone.touched);
        Some(gone.right)
    }

    /// Makes the range that contains `at` the newest.
    pub(super) fn touch(&mut self, at: Offset) {
        let found = self.ranges.range(..=at).next_back().filter(|(_, r)| at < r.right);
        if let Some((&left, &Reach { touched, .. })) = found {
            self.renew(left, touched);
        }
    }

    /// Everything before `upto` has arrived in order: returns the offset up to which nothing is missing now.
    pub(super) fn advance(&mut self, upto: Offset) -> Offset {
        let mut end = upto;
        while let Some(first) = self.ranges.first_entry().filter(|r| *r.key() <= upto) {
            let gone = first.remove();
            self.newest.remove(&gone.touched);
            end = end.max(gone.right);
        }
        end
    }
}
