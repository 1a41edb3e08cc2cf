//! Round-trip times: the smallest, the median, the 95th percentile.
//!
//! Up to 64 samples are kept exactly. From the 65th on they are counted in classes, 32 to each power of two, so that the
//! error of a quantile is at most 1.6 %; the smallest stays exact.

use crate::octaves::{middle, Counts};

/// Samples that are kept individually.
const EXACT: usize = 64;
/// Classes in a power of two, as a power of two.
const FINE: u32 = 5;

/// The distribution of a duration, in nanoseconds. Negative values are ignored.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    count: u64,
    smallest: Option<i64>,
    samples: Samples,
}

#[derive(Clone, Debug)]
enum Samples {
    Few(Vec<i64>),
    Many(Counts<FINE>),
}

impl Default for Samples {
    fn default() -> Self {
        Samples::Few(Vec::new())
    }
}

/// Its summary. Nanoseconds; `None` without samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Summary {
    /// The number of samples.
    pub samples: u64,
    /// The smallest, exactly.
    pub min: Option<i64>,
    /// The median; with more than 64 samples, with an error of at most 1.6 %.
    pub median: Option<i64>,
    /// The 95th percentile, with the same error.
    pub p95: Option<i64>,
}

impl Durations {
    /// Adds a sample.
    #[inline(always)]
    pub fn add(&mut self, nanos: i64) {
        if nanos < 0 {
            return;
        }
        self.count += 1;
        self.smallest = Some(self.smallest.map_or(nanos, |s| s.min(nanos)));
        match &mut self.samples {
            Samples::Many(counts) => counts.add(nanos),
            Samples::Few(few) => {
                if few.len() < EXACT {
                    few.push(nanos);
                } else {
                    self.samples = counted(few, nanos);
                }
            }
        }
    }

    /// The smallest so far.
    #[inline]
    pub fn smallest(&self) -> Option<i64> {
        self.smallest
    }

    /// The summary.
    pub fn summary(&self) -> Summary {
        Summary { samples: self.count, min: self.smallest, median: self.quantile(1, 2), p95: self.quantile(19, 20) }
    }

    /// The sample such that `part` of `whole` of all samples are at or below it.
    fn quantile(&self, part: u64, whole: u64) -> Option<i64> {
        let rank = (self.count * part).div_ceil(whole).checked_sub(1)?;
        let counts = match &self.samples {
            Samples::Many(counts) => counts,
            Samples::Few(few) => {
                let mut sorted = few.clone();
                sorted.sort_unstable();
                return sorted.get(rank as usize).copied();
            }
        };
        let mut left = rank;
        for (i, n) in counts.iter() {
            match left.checked_sub(u64::from(n)) {
                Some(rest) => left = rest,
                None => return Some(middle::<FINE>(i).max(self.smallest?)),
            }
        }
        self.smallest
    }
}

#[cold]
#[inline(never)]
fn counted(few: &[i64], one_more: i64) -> Samples {
    let mut counts = Counts::default();
    few.iter().chain([&one_more]).for_each(|n| counts.add(*n));
    Samples::Many(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::octaves::{class, classes, HIGH, LOW};

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
