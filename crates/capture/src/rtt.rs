//! How long round trips took: the smallest, the median, the 95th percentile.
//!
//! Up to 64 samples are kept as they are. From the 65th on they are counted in classes, 32 to each power of two, so that a
//! quantile is at most 1.6 % off; the smallest stays exact.

use crate::octaves::{middle, place, HIGH, LOW};
use std::num::NonZeroU8;

/// Samples that are kept one by one.
const EXACT: usize = 64;
/// Classes to a power of two, as a power of two.
const FINE: u32 = 5;
/// What is below, the powers of two, what is above.
const OCTAVES: usize = (HIGH - LOW) as usize + 2;

/// The distribution of a duration, in nanoseconds. What is negative does not count.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    few: Vec<i64>,
    classes: Option<Box<Classes>>,
    count: u64,
    smallest: Option<i64>,
}

/// How many samples each class has. Durations of one path lie within a few powers of two: only their counts take memory.
#[derive(Clone, Debug, Default)]
struct Classes {
    /// Which of the counts are those of a power of two, plus one.
    places: [Option<NonZeroU8>; OCTAVES],
    counts: Vec<[u32; 1 << FINE]>,
}

impl Classes {
    #[inline(never)]
    fn add(&mut self, nanos: i64) {
        let (octave, within) = place::<FINE>(nanos);
        let place = match self.places[octave] {
            Some(place) => usize::from(place.get()) - 1,
            None => self.open(octave),
        };
        let n = &mut self.counts[place][within];
        *n = n.saturating_add(1);
    }

    #[cold]
    fn open(&mut self, octave: usize) -> usize {
        self.counts.reserve_exact(1);
        self.counts.push([0; 1 << FINE]);
        self.places[octave] = NonZeroU8::new(self.counts.len() as u8);
        self.counts.len() - 1
    }

    /// The classes that have samples, in order.
    fn iter(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let some = self.places.iter().enumerate().filter_map(|(octave, place)| Some((octave, (*place)?)));
        some.flat_map(|(octave, place)| {
            let first = octave.checked_sub(1).map_or(0, |o| 1 + (o << FINE));
            let counts = self.counts[usize::from(place.get()) - 1].iter().enumerate();
            counts.filter(|(_, n)| **n > 0).map(move |(within, n)| (first + within, *n))
        })
    }
}

/// What is left of it. Nanoseconds; `None` without samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Summary {
    /// How many samples.
    pub samples: u64,
    /// The smallest, exactly.
    pub min: Option<i64>,
    /// The median; of more than 64 samples at most 1.6 % off.
    pub median: Option<i64>,
    /// The 95th percentile, likewise.
    pub p95: Option<i64>,
}

impl Durations {
    /// One more.
    #[inline(always)]
    pub fn add(&mut self, nanos: i64) {
        if nanos < 0 {
            return;
        }
        self.count += 1;
        self.smallest = Some(self.smallest.map_or(nanos, |s| s.min(nanos)));
        match &mut self.classes {
            Some(classes) => classes.add(nanos),
            None => self.add_few(nanos),
        }
    }

    /// The smallest so far.
    #[inline]
    pub fn smallest(&self) -> Option<i64> {
        self.smallest
    }

    /// What is left of it.
    pub fn summary(&self) -> Summary {
        Summary { samples: self.count, min: self.smallest, median: self.quantile(1, 2), p95: self.quantile(19, 20) }
    }

    #[inline(never)]
    fn add_few(&mut self, nanos: i64) {
        self.few.push(nanos);
        if self.few.len() > EXACT {
            let mut classes = Classes::default();
            self.few.drain(..).for_each(|n| classes.add(n));
            self.few = Vec::new();
            self.classes = Some(Box::new(classes));
        }
    }

    /// The sample with `part` of `whole` of all below it or at it.
    fn quantile(&self, part: u64, whole: u64) -> Option<i64> {
        let rank = (self.count * part).div_ceil(whole).checked_sub(1)?;
        let Some(classes) = &self.classes else {
            let mut sorted = self.few.clone();
            sorted.sort_unstable();
            return sorted.get(rank as usize).copied();
        };
        let mut left = rank;
        for (i, n) in classes.iter() {
            match left.checked_sub(u64::from(n)) {
                Some(rest) => left = rest,
                None => return Some(middle::<FINE>(i).max(self.smallest?)),
            }
        }
        self.smallest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::octaves::{class, classes};

    #[test]
    fn few_samples_have_exact_quantiles() {
        let mut d = Durations::default();
        assert_eq!(d.summary(), Summary::default());
        (1..=20).rev().for_each(|n| d.add(n));
        d.add(-5);
        assert_eq!(d.summary(), Summary { samples: 20, min: Some(1), median: Some(10), p95: Some(19) });
    }

    #[test]
    fn quantiles_of_many_samples_are_within_1_6_percent() {
        for scale in [2_000, 77_000, 1_000_003, 90_000_001] {
            let mut d = Durations::default();
            (1..=1000).for_each(|n| d.add(n * scale));
            let s = d.summary();
            assert_eq!((s.samples, s.min), (1000, Some(scale)));
            for (got, want) in [(s.median, 500 * scale), (s.p95, 950 * scale)] {
                let off = (got.unwrap() - want).abs() as f64 / want as f64;
                assert!(off <= 0.016, "{got:?} for {want}: {off}");
            }
        }
    }

    #[test]
    fn every_duration_has_a_class_and_lies_near_its_middle() {
        for shift in LOW..HIGH {
            for n in [1i64 << shift, (1 << shift) + (1 << (shift - 1)), (2 << shift) - 1] {
                let off = (middle::<FINE>(class::<FINE>(n)) - n).abs() as f64 / n as f64;
                assert!(off <= 0.016, "{n}: {off}");
            }
        }
        assert_eq!([class::<FINE>(0), class::<FINE>(1023), class::<FINE>(i64::MAX)], [0, 0, classes(FINE) - 1]);
    }
}
