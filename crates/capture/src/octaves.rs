//! Classes for durations, with the same number of classes in each power of two.

use std::hint::select_unpredictable;

/// All durations below 2^LOW nanoseconds (1 µs) form one class.
pub(crate) const LOW: u32 = 10;
/// All durations from 2^HIGH nanoseconds (137 s) on form one class.
pub(crate) const HIGH: u32 = 37;

/// The number of classes, with 2^`fine` to each power of two.
pub(crate) const fn classes(fine: u32) -> usize {
    ((HIGH - LOW) << fine) as usize + 2
}

/// The class of a non-negative duration in nanoseconds.
#[cfg(test)]
pub(crate) fn class<const FINE: u32>(nanos: i64) -> usize {
    let (octave, within) = place::<FINE>(nanos);
    if is_small(nanos) {
        0
    } else {
        (octave << FINE) + within + 1
    }
}

/// Its power of two, counted from 2^LOW on, and its class within that. Larger durations are in the last class.
#[inline(always)]
fn place<const FINE: u32>(nanos: i64) -> (usize, usize) {
    let n = nanos.clamp(1 << LOW, 1 << HIGH) as u64;
    let top = n.ilog2();
    ((top - LOW) as usize, ((n >> (top - FINE)) & ((1 << FINE) - 1)) as usize)
}

/// Whether a duration is in the smallest class.
#[inline(always)]
fn is_small(nanos: i64) -> bool {
    nanos < 1 << LOW
}

/// The middle of a class, nanoseconds.
pub(crate) fn middle<const FINE: u32>(class: usize) -> i64 {
    if class == 0 {
        return 1 << (LOW - 1);
    }
    if class == classes(FINE) - 1 {
        return 1 << HIGH;
    }
    let top = LOW + ((class - 1) >> FINE) as u32;
    let within = ((class - 1) & ((1 << FINE) - 1)) as i64;
    (1 << top) + (2 * within + 1) * (1 << (top - FINE - 1))
}

/// The count of durations in each class. The durations of one path are within a few powers of two, and only their
/// counts take memory; the smallest class is counted beside them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts<const FINE: u32> {
    /// All classes from the first power of two in use to the last.
    counts: Vec<u32>,
    first: u32,
    smallest: u32,
}

impl<const FINE: u32> Counts<FINE> {
    /// Adds a duration, nanoseconds.
    #[inline(always)]
    pub(crate) fn add(&mut self, nanos: i64) {
        let (octave, within) = place::<FINE>(nanos);
        // Below the first power of two, this index is beyond all counts.
        let count = self.counts.get_mut((octave.wrapping_sub(self.first as usize) << FINE) + within);
        match select_unpredictable(is_small(nanos), Some(&mut self.smallest), count) {
            Some(n) => *n = n.saturating_add(1),
            None => self.open(octave, within),
        }
    }

    /// Makes room for the class of a duration, and counts it.
    #[cold]
    #[inline(never)]
    fn open(&mut self, octave: usize, within: usize) {
        let begin = self.first as usize;
        let end = begin + (self.counts.len() >> FINE);
        let (first, end) =
            if self.counts.is_empty() { (octave, octave + 1) } else { (begin.min(octave), end.max(octave + 1)) };
        let mut counts = vec![0; (end - first) << FINE];
        let old = begin.saturating_sub(first) << FINE;
        counts[old..old + self.counts.len()].copy_from_slice(&self.counts);
        counts[((octave - first) << FINE) + within] += 1;
        *self = Counts { counts, first: first as u32, ..*self };
    }

    /// The classes with counts above zero, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let others = ((self.first as usize) << FINE..).map(|place| place + 1).zip(self.counts.iter().copied());
        [(0, self.smallest)].into_iter().chain(others).filter(|(_, n)| *n > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn each_class_has_as_many_as_came_in_whatever_order() {
        let (mut counts, mut model) = (Counts::<3>::default(), BTreeMap::new());
        for n in [70_000, 900, 4_000_000_000, 71_000, -1, 70_000, i64::MAX, 1024, 1 << 37] {
            counts.add(n);
            *model.entry(class::<3>(n)).or_insert(0) += 1;
            assert_eq!(counts.iter().collect::<Vec<_>>(), model.clone().into_iter().collect::<Vec<_>>());
        }
    }
}
