//! Data that arrived out of order: disjoint ranges, and which of them was touched last.
//!
//! Ranges that touch are one range. Usually only a few are held, in a list. If there are more, they move into [`Trees`], so
//! that a segment costs a few logarithmic steps, whatever a peer sends. They stay in the trees until nothing is held.
//!
//! The number of ranges is limited, so that a peer that sends every second byte cannot make the bookkeeping exceed a
//! fraction of the window. A segment beyond the limit counts as not arrived, as RFC 9293 §3.10.7.4 allows ("should" hold,
//! not must).

mod trees;

use crate::outcome::Outcome;
use crate::seq::Offset;
use crate::units::Bytes;
use std::iter::successors;
use trees::Trees;

/// The most ranges that are searched linearly (decision 0122).
const FEW: usize = 32;

/// All data above `rcv_nxt` that has arrived.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    /// Left and right edges, in the order of their last segments, the newest last (RFC 2018 §4 reports that first).
    few: Vec<(Offset, Offset)>,
    /// End of the last range of the list: most segments begin there and join no other range.
    few_end: Offset,
    /// All ranges, if there are more than a few; made when that first happens.
    many: Option<Box<Trees>>,
    limit: usize,
}

impl Reassembly {
    /// For a receive window of at most `window` bytes: allows 64 ranges and one more for every 128 bytes, at most 2¹⁶ in
    /// all.
    pub(super) fn new(window: Bytes) -> Self {
        let limit = (64 + window / 128).min(1 << 16) as usize;
        Self { few: Vec::new(), few_end: Offset(0), many: None, limit }
    }

    /// Whether nothing is held.
    pub(super) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many().is_none()
    }

    /// The trees, while they hold the ranges.
    #[inline]
    fn many(&self) -> Option<&Trees> {
        self.many.as_deref().filter(|many| !many.is_empty())
    }

    /// The first of the few that reaches beyond `at`.
    fn first_beyond(&self, at: Offset) -> Option<(Offset, Offset)> {
        if at >= self.few_end {
            return None;
        }
        self.few.iter().filter(|r| r.1 > at).min().copied()
    }

    /// The held ranges from `at` on, in sequence order; the first range may begin before `at`.
    pub(super) fn from(&self, at: Offset) -> impl Iterator<Item = (Offset, Offset)> + '_ {
        successors(self.first_beyond(at), |r| self.first_beyond(r.1))
            .chain(self.many().into_iter().flat_map(move |many| many.from(at)))
    }

    /// Reports at most `room` ranges, in the order of their last segments, the newest first.
    #[inline]
    pub(super) fn newest_first(&self, room: usize, mut tell: impl FnMut(Offset, Offset)) {
        match self.many() {
            None => self.few.iter().rev().take(room).for_each(|r| tell(r.0, r.1)),
            Some(many) => many.newest_first().take(room).for_each(|r| tell(r.0, r.1)),
        }
    }

    /// Whether `left..right` neither touches nor overlaps either of the two ranges touched last, if there are two.
    pub(super) fn lies_apart(&self, left: Offset, right: Offset) -> bool {
        let mut apart = 0;
        self.newest_first(2, |l, r| apart += u8::from(right < l || r < left));
        apart == 2
    }

    /// The offset after the last held byte.
    pub(super) fn end(&self) -> Option<Offset> {
        if self.few.is_empty() {
            self.many()?.end()
        } else {
            Some(self.few_end)
        }
    }

    /// The first part of `left..right` that is held.
    pub(super) fn first_overlap(&self, left: Offset, right: Offset) -> Option<(Offset, Offset)> {
        // Only one of the two, few or many, is ever in use.
        let (l, e) = match self.many() {
            None if left >= self.few_end => None,
            // Usually none overlaps, so the first is not looked for among all behind `left`.
            None => self.few.iter().filter(|r| left < r.1 && r.0 < right).min().copied(),
            Some(many) => many.from(left).next(),
        }?;
        let (l, e) = (l.max(left), e.min(right));
        (l < e).then_some((l, e))
    }

    /// The part of `left..right` that is not held. Visits each held range in between, because an insertion would join them
    /// all.
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

    /// Holds `left..right` (not empty), joined with ranges that it overlaps or touches; returns whether there was room for
    /// it.
    pub(super) fn insert(&mut self, left: Offset, right: Offset) -> bool {
        if let Some(many) = self.many.as_deref_mut().filter(|many| !many.is_empty()) {
            return many.insert(left, right, self.limit);
        }
        let end = self.few_end;
        self.few_end = end.max(right);
        let joined = match self.few.last_mut() {
            Some(newest) if newest.1 == end && newest.0 <= left && left <= end => {
                newest.1 = newest.1.max(right);
                return true;
            }
            Some(_) if left <= end => self.join(left, right),
            _ => (left, right),
        };
        self.few.push(joined);
        if self.few.len() > FEW {
            self.plant();
        }
        true
    }

    /// Removes from the few the ranges that overlap or touch `left..right`; returns their union with it.
    fn join(&mut self, left: Offset, right: Offset) -> (Offset, Offset) {
        let mut joined = (left, right);
        self.few.retain(|r| {
            let joins = r.0 <= right && left <= r.1;
            if joins {
                joined = (joined.0.min(r.0), joined.1.max(r.1));
            }
            !joins
        });
        joined
    }

    /// Moves the ranges into the trees, since they are more than a few.
    #[cold]
    fn plant(&mut self) {
        self.few_end = Offset(0);
        let many = self.many.get_or_insert_default();
        for (left, right) in self.few.drain(..) {
            many.insert(left, right, self.limit);
        }
    }

    /// Makes the range that contains `at` the newest.
    pub(super) fn touch(&mut self, at: Offset) {
        match self.few.iter().position(|r| r.0 <= at && at < r.1) {
            Some(i) => self.few[i..].rotate_left(1),
            None => self.many.iter_mut().for_each(|many| many.touch(at)),
        }
    }

    /// Everything before `upto` has arrived in order: returns the offset up to which nothing is missing now.
    pub(super) fn advance(&mut self, upto: Offset) -> Offset {
        let mut end = upto;
        self.few.retain(|r| {
            let reached = r.0 <= upto;
            if reached {
                end = end.max(r.1);
            }
            !reached
        });
        if self.few.is_empty() {
            self.few_end = Offset(0);
            return self.many.as_mut().map_or(end, |many| many.advance(end));
        }
        end
    }
}

#[cfg(test)]
mod tests;
