//! Data that arrived before what precedes it: disjoint ranges in sequence order, each with the time of its last segment.
//!
//! Ranges that touch are one range. Every call takes a number of steps that is logarithmic in the number of ranges,
//! and so does each range that a call removes; a range is removed once. Whatever a peer sends, a segment costs no more.
//!
//! The number of ranges is limited, so that a peer that sends every second byte cannot make the receiver keep more than
//! a fraction of its window in book-keeping: a range takes 45 bytes, in half-empty nodes up to 100. A segment beyond the
//! limit counts as not arrived, as RFC 9293 §3.10.7.4 allows ("should" hold, not must).

use crate::outcome::Outcome;
use crate::seq::Offset;
use crate::units::Bytes;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included};

/// Where a held range ends.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// Exclusive.
    right: Offset,
    /// Larger than that of every range whose last segment came earlier (RFC 2018 §4 reports the newest first).
    touched: u64,
}

/// Everything above `rcv_nxt` that has arrived.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    /// By left edge.
    ranges: BTreeMap<Offset, Reach>,
    /// The left edges by `touched`.
    newest: BTreeMap<u64, Offset>,
    clock: u64,
    limit: usize,
}

impl Reassembly {
    /// For a receive window of at most `window` bytes: 64 ranges, and one more for every 128 bytes, at most 2¹⁶ in all.
    pub(super) fn new(window: Bytes) -> Self {
        let limit = (64 + window / 128).min(1 << 16) as usize;
        Self { ranges: BTreeMap::new(), newest: BTreeMap::new(), clock: 0, limit }
    }

    /// What is held of `at` and above it, in sequence order; the first range may begin before `at`.
    pub(super) fn from(&self, at: Offset) -> impl Iterator<Item = (Offset, Offset)> + '_ {
        let before = self.ranges.range(..at).next_back().filter(|(_, r)| r.right > at);
        before.into_iter().chain(self.ranges.range(at..)).map(|(&left, r)| (left, r.right))
    }

    /// In the order of their last segments, the newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = (Offset, Offset)> + '_ {
        self.newest.values().rev().filter_map(|left| Some((*left, self.ranges.get(left)?.right)))
    }

    /// The offset after the last held byte.
    pub(super) fn end(&self) -> Option<Offset> {
        self.ranges.last_key_value().map(|(_, r)| r.right)
    }

    /// The first part of `left..right` that is held.
    pub(super) fn first_overlap(&self, left: Offset, right: Offset) -> Option<(Offset, Offset)> {
        if self.end()? <= left {
            return None;
        }
        let (l, e) = self.from(left).next()?;
        let (l, e) = (l.max(left), e.min(right));
        (l < e).then_some((l, e))
    }

    /// What of `left..right` is not held. Looks at each held range in between, all of which an insertion would join.
    pub(super) fn lacking(&self, left: Offset, right: Offset) -> Outcome {
        let mut found = Outcome::NOTHING;
        let mut add = |from: Offset, to: Offset| {
            if from < to {
                found.from = if found.bytes == 0 { from } else { found.from };
                found.bytes += (to - from) as u32;
            }
        };
        let mut at = left;
        for (from, to) in self.from(left).take_while(|(from, _)| *from < right) {
            add(at, from);
            at = to;
        }
        add(at, right);
        found
    }

    /// Holds `left..right` (not empty), joined with what it overlaps or touches; says whether there was room for it.
    pub(super) fn insert(&mut self, left: Offset, right: Offset) -> bool {
        let before = self.ranges.range_mut(..=left).next_back().filter(|(_, r)| left <= r.right);
        let Some((&at, r)) = before else { return self.insert_apart(left, right) };
        let Reach { right: end, touched } = *r;
        r.right = end.max(right);
        self.renew(at, touched);
        if end < right {
            self.swallow(at, right);
        }
        true
    }

    /// The same where no range begins at or before `left` and reaches it.
    fn insert_apart(&mut self, left: Offset, right: Offset) -> bool {
        if self.ranges.len() >= self.limit && self.ranges.range(left..=right).next().is_none() {
            return false;
        }
        self.clock += 1;
        self.ranges.insert(left, Reach { right, touched: self.clock });
        self.newest.insert(self.clock, left);
        self.swallow(left, right);
        true
    }

    /// Joins the range at `at` with the ranges that begin behind it, up to `right`.
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

    /// Everything before `upto` has arrived in order: gives the offset up to which nothing is missing now.
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

#[cfg(test)]
mod tests;
