//! Exact percentiles of the last values.

use std::collections::VecDeque;

/// The last values of a series: their percentiles, and the values in order of size.
///
/// Exact, by nearest rank: no rounding and no interpolation. A new value costs a search and moves all larger values by one place.
/// So it is meant for one value per event, not per packet: with 1000 values it moves 500 on average, 2 kB of `u32`. Memory grows
/// with the number of values, up to two copies of `limit` values.
///
/// ```
/// use ackclock_tcp::percentiles::Percentiles;
///
/// let mut lengths = Percentiles::new(4);
/// for n in [50, 1, 2, 3, 3] {
///     lengths.push(n);
/// }
/// // 50 has been dropped.
/// assert_eq!((lengths.get(0.25), lengths.get(0.5), lengths.get(1.0)), (Some(1), Some(2), Some(3)));
/// ```
#[derive(Clone, Debug)]
pub struct Percentiles<T> {
    limit: usize,
    arrived: VecDeque<T>,
    sorted: Vec<T>,
}

impl<T: Copy + Ord> Percentiles<T> {
    /// Keeps the last `limit` values, at least one.
    pub fn new(limit: usize) -> Self {
        Percentiles { limit: limit.max(1), arrived: VecDeque::new(), sorted: Vec::new() }
    }

    /// Adds a value; beyond the limit, the oldest is dropped.
    pub fn push(&mut self, value: T) {
        if self.arrived.len() >= self.limit
            && let Some(old) = self.arrived.pop_front()
        {
            self.sorted.remove(self.sorted.partition_point(|v| *v < old));
        }
        self.arrived.push_back(value);
        self.sorted.insert(self.sorted.partition_point(|v| *v < value), value);
    }

    /// The smallest value that a share `ratio` of the values does not exceed. 0 and less give the smallest value, 1 and more the
    /// largest; `None` if there are no values.
    pub fn get(&self, ratio: f64) -> Option<T> {
        // A share such as 0.55 of 100 is slightly above 55 in binary.
        let rank = libm::ceil(ratio * self.sorted.len() as f64 - 1e-9) as usize;
        self.sorted.get(rank.saturating_sub(1).min(self.sorted.len().saturating_sub(1))).copied()
    }

    /// The values, smallest first.
    pub fn sorted(&self) -> &[T] {
        &self.sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u32], limit: usize) -> Percentiles<u32> {
        let mut p = Percentiles::new(limit);
        values.iter().for_each(|v| p.push(*v));
        p
    }

    #[test]
    fn a_percentile_is_the_smallest_value_that_the_share_does_not_exceed() {
        let p = of(&[20, 1, 8, 2, 3, 2, 5, 9, 12, 8], 1000);
        assert_eq!([0.1, 0.5, 0.9, 1.0].map(|r| p.get(r)), [1, 5, 12, 20].map(Some));
        assert_eq!(Percentiles::<u32>::new(9).get(0.9), None);
        let hundred = of(&Vec::from_iter(1..=100), 1000);
        for n in 1..=100 {
            assert_eq!(hundred.get(f64::from(n) / 100.0), Some(n));
        }
    }

    #[test]
    fn shares_below_none_and_above_all_are_the_smallest_and_the_largest() {
        let p = of(&[7, 3, 5], 9);
        assert_eq!([-1.0, 0.0, 1.5, f64::NAN].map(|r| p.get(r)), [3, 3, 7, 3].map(Some));
    }

    #[test]
    fn of_more_than_the_limit_the_oldest_is_forgotten() {
        let p = of(&[50, 1, 2, 3, 3], 4);
        assert_eq!((p.get(1.0), p.get(0.25), p.sorted()), (Some(3), Some(1), &[1, 2, 3, 3][..]));
        assert_eq!(of(&[1, 2], 0).sorted(), [2], "one at least");
    }
}
