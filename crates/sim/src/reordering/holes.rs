//! The missing numbers, and the state at the moment when each was skipped.

use super::bump;
use ackclock_tcp::time::Time;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// The number of runs of missing numbers that are remembered; beyond it the oldest are forgotten.
const MOST: usize = 1 << 14;

/// The missing numbers below the highest arrival, and the gaps between the discontinuities among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Holes {
    /// In the order of their numbers, which is also the order of their positions.
    runs: VecDeque<Hole>,
    /// Numbers below this are no longer known.
    floor: u64,
    gaps: BTreeMap<u64, u64>,
    /// The last discontinuity before all holes.
    before: Option<u64>,
}

/// Numbers that one arrival skipped and that are still missing.
#[derive(Clone, Debug, PartialEq)]
struct Hole {
    numbers: Range<u64>,
    gap: Gap,
    /// Whether one of these packets has arrived, so that the arrival is a reordering discontinuity.
    discontinuity: bool,
    /// The first and the last discontinuity from its position up to that of the next hole. The gaps between them are
    /// settled.
    marks: Option<(u64, u64)>,
}

/// The record of a missing number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gap {
    /// The position of the arrival that skipped it.
    pub(super) position: u64,
    /// When that was.
    pub(super) at: Time,
    /// Bytes that arrived before it, and bytes of lower numbers since.
    pub(super) bytes: u64,
    /// The position after the last arrival with a lower number.
    pub(super) lower: u64,
}

/// Whether a number below the highest is new.
pub(super) enum Found {
    /// It had arrived.
    Here,
    /// Too old to be known.
    Forgotten,
    /// It was missing.
    Missing(Gap),
}

impl Holes {
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    pub(super) fn gaps(&self) -> &BTreeMap<u64, u64> {
        &self.gaps
    }

    /// The arrival at this position skipped these numbers, after `bytes` had arrived.
    pub(super) fn open(&mut self, numbers: Range<u64>, position: u64, at: Time, bytes: u64) {
        if self.runs.len() >= MOST {
            self.forget_oldest();
        }
        let gap = Gap { position, at, bytes, lower: position };
        // Most paths have few holes at a time.
        if self.runs.len() == self.runs.capacity() {
            self.runs.reserve_exact(1 + self.runs.len() / 2);
        }
        self.runs.push_back(Hole { numbers, gap, discontinuity: false, marks: None });
    }

    fn forget_oldest(&mut self) {
        if let Some(old) = self.runs.pop_front() {
            self.floor = old.numbers.end;
            self.before = old.marks.map(|m| m.1).or(self.before);
        }
    }

    /// Forgets the missing numbers below a number; no later arrival has a lower one.
    #[inline]
    pub(super) fn forget_below(&mut self, number: u64) {
        while self.runs.front().is_some_and(|h| h.numbers.end <= number) {
            self.forget_oldest();
        }
    }

    /// The numbers from `from` up to `to` arrived, at this position and with `bytes`. The first of them decides.
    pub(super) fn fill(&mut self, from: u64, to: u64, position: u64, bytes: u32) -> Found {
        if from < self.floor {
            return Found::Forgotten;
        }
        let k = self.runs.partition_point(|h| h.numbers.end <= from);
        let Some(gap) = self.runs.get(k).filter(|h| h.numbers.start <= from).map(|h| h.gap) else { return Found::Here };
        if !self.runs[k].discontinuity {
            self.mark(k);
        }
        for above in self.runs.range_mut(k + 1..) {
            above.gap.lower = position + 1;
            above.gap.bytes += u64::from(bytes);
        }
        let above = Gap { lower: position + 1, bytes: gap.bytes + u64::from(bytes), ..gap };
        self.take(k, from..to, above);
        Found::Missing(gap)
    }

    /// The record of a number, if it is missing.
    pub(super) fn at(&self, number: u64) -> Option<Gap> {
        let k = self.runs.partition_point(|h| h.numbers.end <= number);
        self.runs.get(k).filter(|h| h.numbers.start <= number).map(|h| h.gap)
    }

    /// These numbers are no longer missing, but their packets are not counted. The first of them was missing.
    pub(super) fn fill_unseen(&mut self, from: u64, to: u64) {
        let k = self.runs.partition_point(|h| h.numbers.end <= from);
        if let Some(gap) = self.runs.get(k).map(|h| h.gap) {
            self.take(k, from..to, gap);
        }
    }

    /// Takes numbers out of hole `k`, which contains the first of them; `above` is the new record of the rest above.
    fn take(&mut self, k: usize, numbers: Range<u64>, above: Gap) {
        let hole = &mut self.runs[k];
        let (start, end) = (hole.numbers.start, hole.numbers.end);
        if numbers.end < end {
            let upper = Hole { numbers: numbers.end..end, gap: above, ..hole.clone() };
            if start == numbers.start {
                *hole = upper;
                return;
            }
            hole.marks = None;
            hole.numbers.end = numbers.start;
            self.runs.insert(k + 1, upper);
        } else if start < numbers.start {
            hole.numbers.end = numbers.start;
        } else if let Some((first, last)) = self.runs.remove(k).and_then(|h| h.marks) {
            match k.checked_sub(1).and_then(|below| self.runs.get_mut(below)) {
                Some(below) => below.marks = Some((below.marks.map_or(first, |m| m.0), last)),
                None => self.before = Some(last),
            }
        }
    }

    /// The position of hole `k` becomes a discontinuity between its neighbours.
    fn mark(&mut self, k: usize) {
        let position = self.runs[k].gap.position;
        let before = self.runs.range(..k).rev().find_map(|h| h.marks).map(|m| m.1).or(self.before);
        let after = self.runs.range(k..).find_map(|h| h.marks).map(|m| m.0);
        if let Some(after) = after {
            let joined = before.map_or(0, |b| after - b);
            if let Some(count) = self.gaps.get_mut(&joined) {
                *count -= 1;
                if *count == 0 {
                    self.gaps.remove(&joined);
                }
            }
            bump(&mut self.gaps, after - position);
        }
        bump(&mut self.gaps, before.map_or(0, |b| position - b));
        let hole = &mut self.runs[k];
        hole.discontinuity = true;
        hole.marks = Some((position, hole.marks.map_or(position, |m| m.1)));
    }
}
