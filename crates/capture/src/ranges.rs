//! Sorted, disjoint ranges of sequence numbers; there are only a few.

/// The ranges, as (left, right) with `right` exclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of ranges.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The ranges in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().copied()
    }

    /// The highest range.
    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.0.last().copied()
    }

    /// The count of numbers in all ranges.
    pub(crate) fn total(&self) -> u64 {
        self.iter().map(|(left, right)| right - left).sum()
    }

    /// Whether all of `left..right` is covered.
    pub(crate) fn covers(&self, left: u64, right: u64) -> bool {
        let i = self.0.partition_point(|r| r.1 <= left);
        left >= right || self.0.get(i).is_some_and(|r| r.0 <= left && right <= r.1)
    }

    /// Whether a part of `left..right` is covered.
    pub(crate) fn touches(&self, left: u64, right: u64) -> bool {
        let i = self.0.partition_point(|r| r.1 <= left);
        left < right && self.0.get(i).is_some_and(|r| r.0 < right)
    }

    /// Adds `left..right`; calls `new` with each part that is new, in order.
    pub(crate) fn add(&mut self, left: u64, right: u64, mut new: impl FnMut(u64, u64)) {
        if left >= right {
            return;
        }
        // Ranges that overlap or touch it.
        let from = self.0.partition_point(|r| r.1 < left);
        let to = from + self.0[from..].partition_point(|r| r.0 <= right);
        let mut at = left;
        for &(l, r) in &self.0[from..to] {
            if at < l {
                new(at, l);
            }
            at = at.max(r);
        }
        if at < right {
            new(at, right);
        }
        let joined = match self.0.get(from..to) {
            Some([first, .., last]) => (first.0.min(left), last.1.max(right)),
            Some([one]) => (one.0.min(left), one.1.max(right)),
            _ => (left, right),
        };
        if from == to {
            self.0.insert(from, joined);
        } else {
            self.0[from] = joined;
            self.0.drain(from + 1..to);
        }
    }

    /// Removes `left..right`.
    pub(crate) fn remove(&mut self, left: u64, right: u64) {
        let from = self.0.partition_point(|r| r.1 <= left);
        let to = from + self.0[from..].partition_point(|r| r.0 < right);
        if left >= right || from == to {
            return;
        }
        let (first, last) = (self.0[from], self.0[to - 1]);
        let rest = [(first.0, left), (right, last.1)];
        self.0.splice(from..to, rest.into_iter().filter(|r| r.0 < r.1));
    }

    /// Removes everything below `at`.
    #[inline]
    pub(crate) fn forget_below(&mut self, at: u64) {
        if self.0.first().is_some_and(|r| r.0 < at) {
            self.remove(0, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_a_set_of_numbers() {
        // A linear congruential generator instead of random numbers.
        let mut state = 1u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut ranges, mut model) = (Ranges::default(), [false; 64]);
        for _ in 0..20_000 {
            let (left, right) = (draw(64), draw(64));
            if draw(3) == 0 {
                ranges.remove(left, right);
                model.iter_mut().take(right as usize).skip(left as usize).for_each(|m| *m = false);
            } else {
                let mut new = Vec::new();
                ranges.add(left, right, |l, r| new.extend(l..r));
                let expected: Vec<u64> = (left..right).filter(|n| !model[*n as usize]).collect();
                assert_eq!(new, expected);
                model.iter_mut().take(right as usize).skip(left as usize).for_each(|m| *m = true);
            }
            let all: Vec<u64> = ranges.iter().flat_map(|(l, r)| l..r).collect();
            let expected: Vec<u64> = (0..64).filter(|n| model[*n as usize]).collect();
            assert_eq!(all, expected);
            assert!(ranges.0.windows(2).all(|w| w[0].1 < w[1].0), "apart: {ranges:?}");
            let (l, r) = (draw(64), draw(64));
            assert_eq!(ranges.covers(l, r), (l..r).all(|n| model[n as usize]));
            assert_eq!(ranges.touches(l, r), (l..r).any(|n| model[n as usize]));
        }
    }
}
