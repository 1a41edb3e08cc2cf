//! The lengths of the last reordering events, and what they say: a percentile, or a mean and so many deviations.

use std::collections::VecDeque;

/// The last so many lengths, in order of arrival and in order of size.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    arrived: VecDeque<u32>,
    sorted: Vec<u32>,
}

impl Histogram {
    /// Takes a length; of more than `limit` the oldest is forgotten.
    pub(super) fn push(&mut self, length: u32, limit: u32) {
        if self.arrived.len() >= limit as usize {
            if let Some(old) = self.arrived.pop_front() {
                let at = self.sorted.partition_point(|l| *l < old);
                self.sorted.remove(at);
            }
        }
        self.arrived.push_back(length);
        let at = self.sorted.partition_point(|l| *l < length);
        self.sorted.insert(at, length);
    }

    /// The smallest length that the share `ratio` of all does not exceed; `None` without any.
    pub(super) fn percentile(&self, ratio: f64) -> Option<u32> {
        // A share such as 0.55 of 100 lies a little above 55 in binary.
        let rank = libm::ceil(ratio * self.sorted.len() as f64 - 1e-9) as usize;
        self.sorted.get(rank.saturating_sub(1).min(self.sorted.len().saturating_sub(1))).copied()
    }

    /// Mean and standard deviation; `None` without any length.
    pub(super) fn mean_and_deviation(&self) -> Option<(f64, f64)> {
        if self.sorted.is_empty() {
            return None;
        }
        let n = self.sorted.len() as f64;
        let mean = self.sorted.iter().map(|l| f64::from(*l)).sum::<f64>() / n;
        let square = self.sorted.iter().map(|l| (f64::from(*l) - mean) * (f64::from(*l) - mean)).sum::<f64>() / n;
        Some((mean, libm::sqrt(square)))
    }
}

/// The standard normal distribution's quantile, by halving: it is asked once for each event.
pub(super) fn normal_quantile(ratio: f64) -> f64 {
    let below = |x: f64| 0.5 * libm::erfc(-x / core::f64::consts::SQRT_2);
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        *(if below(middle) < ratio { &mut low } else { &mut high }) = middle;
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn of(lengths: &[u32], limit: u32) -> Histogram {
        let mut h = Histogram::default();
        lengths.iter().for_each(|l| h.push(*l, limit));
        h
    }

    #[test]
    fn a_percentile_is_the_smallest_length_that_the_share_does_not_exceed() {
        let h = of(&[20, 1, 8, 2, 3, 2, 5, 9, 12, 8], 1000);
        assert_eq!([0.1, 0.5, 0.9, 1.0].map(|r| h.percentile(r)), [1, 5, 12, 20].map(Some));
        assert_eq!(Histogram::default().percentile(0.9), None);
        let hundred = of(&Vec::from_iter(1..=100), 1000);
        for n in 1..=100 {
            assert_eq!(hundred.percentile(f64::from(n) / 100.0), Some(n));
        }
    }

    #[test]
    fn of_more_than_the_limit_the_oldest_is_forgotten() {
        let h = of(&[50, 1, 2, 3, 3], 4);
        assert_eq!((h.percentile(1.0), h.percentile(0.25)), (Some(3), Some(1)));
    }

    #[test]
    fn mean_deviation_and_quantile_are_those_of_the_textbook() {
        assert_eq!(of(&[2, 4, 4, 4, 5, 5, 7, 9], 8).mean_and_deviation(), Some((5.0, 2.0)));
        for (ratio, x) in [(0.5, 0.0), (0.9, 1.281_551_565_5), (0.99, 2.326_347_874), (0.01, -2.326_347_874)] {
            assert!((normal_quantile(ratio) - x).abs() < 1e-9, "{ratio}");
        }
    }
}
