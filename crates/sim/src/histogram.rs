//! A histogram of whole numbers whose percentiles have an error of at most 0.4 %, however large the numbers are.
//!
//! Source: HdrHistogram (Tene 2012, hdrhistogram.org): buckets of equal width within each power of two.
//!
//! Idea: a number's bucket is its power of two and the seven bits after its highest one, which are the leading bits of the number
//! as an IEEE 754 double: one conversion and one shift. A bucket is at most 1/128 as wide as the smallest number in it, so its
//! middle is within 1/256 of any of its numbers. Numbers below 256 have a bucket each.
//!
//! | source | here |
//! | --- | --- |
//! | sub-bucket count | `SUB` |
//! | value at percentile | [`Histogram::quantile`], by nearest rank |
//!
//! Departures: a bucket is reported by its middle, not by its largest number; buckets exist only between the smallest and the
//! largest number recorded, so no range is given beforehand; zeros are counted separately. A count has 32 bits, since thousands of
//! flows have histograms; what exceeds them is kept apart.

use std::collections::BTreeMap;

/// Bits after the highest one that distinguish buckets.
const SUB: u32 = 7;
/// The remaining bits of a double's fraction.
const REST: u32 = f64::MANTISSA_DIGITS - 1 - SUB;
/// Buckets are allocated in batches of this size.
const TOGETHER: usize = 64;

/// The count of each bucket. Integers only: the same on every machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The number of the first existing bucket.
    base: usize,
    /// The lower 32 bits of each count.
    counts: Box<[u32]>,
    /// The upper bits of counts that have any, by the bucket's number. Hardly any run is that long.
    #[expect(clippy::box_collection, reason = "an empty map takes three times the space of a pointer")]
    upper: Option<Box<BTreeMap<usize, u64>>>,
    /// Zeros, counted separately.
    zeros: u64,
}

/// The bucket of a number. From 2^53 on the conversion rounds, by far less than a bucket's width.
#[inline(always)]
fn bucket(value: u64) -> usize {
    ((value as i64 as f64).to_bits() >> REST) as usize
}

/// The number in the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let low = f64::from_bits((bucket as u64) << REST) as u64;
    low + ((1 << low.ilog2().saturating_sub(SUB)) >> 1)
}

impl Histogram {
    /// Adds a number to its bucket, if there is one. `false` if there is none, or if its count has exceeded 32 bits: then
    /// [`Histogram::reach`] must follow.
    #[inline(always)]
    pub(crate) fn adds(&mut self, value: u64) -> bool {
        let Some(count) = self.counts.get_mut(bucket(value).wrapping_sub(self.base)) else { return false };
        *count = count.wrapping_add(1);
        *count != 0
    }

    /// Records a number below 2^63.
    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        if !self.adds(value) {
            self.reach(value);
        }
    }

    /// Each existing bucket, in ascending order, and its count.
    fn each(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let upper = |bucket| self.upper.as_ref().and_then(|upper| upper.get(&bucket)).map_or(0, |upper| upper << 32);
        self.counts.iter().zip(self.base..).map(move |(lower, bucket)| (bucket, u64::from(*lower) + upper(bucket)))
    }

    /// Removes a number above zero that was recorded.
    pub(crate) fn take_back(&mut self, value: u64) {
        let bucket = bucket(value);
        let Some(count) = self.counts.get_mut(bucket.wrapping_sub(self.base)) else { return };
        if let Some(less) = count.checked_sub(1) {
            *count = less;
        } else if let Some(upper) = self.upper.as_mut().and_then(|upper| upper.get_mut(&bucket)).filter(|n| **n > 0) {
            (*count, *upper) = (u32::MAX, *upper - 1);
        } else {
            debug_assert!(false, "{value} was not recorded");
        }
    }

    /// Removes all numbers from `value`, a power of two, on.
    pub(crate) fn forget_from(&mut self, value: u64) {
        let left = bucket(value).saturating_sub(self.base).min(self.counts.len());
        self.counts[left..].fill(0);
        if let Some(upper) = &mut self.upper {
            upper.split_off(&bucket(value));
        }
    }

    /// Records `count` zeros.
    pub fn record_zeros(&mut self, count: u64) {
        self.zeros += count;
    }

    /// What [`Histogram::adds`] left: zero, the first number this far below or above the others, or an upper bit.
    #[cold]
    #[inline(never)]
    pub(crate) fn reach(&mut self, value: u64) {
        let bucket = bucket(value);
        if value == 0 {
            self.zeros += 1;
        } else if (self.base..self.base + self.counts.len()).contains(&bucket) {
            *self.upper.get_or_insert_default().entry(bucket).or_default() += 1;
        } else {
            self.make_room(bucket, bucket + 1);
            self.counts[bucket - self.base] = 1;
        }
    }

    /// Allocates the buckets from `from` up to, but not including, `to`.
    fn make_room(&mut self, from: usize, to: usize) {
        let from = from / TOGETHER * TOGETHER;
        if self.counts.is_empty() {
            self.base = from;
        }
        let below = self.base.saturating_sub(from);
        let all = to.next_multiple_of(TOGETHER).max(self.base + self.counts.len()) - self.base + below;
        let mut counts = vec![0; all].into_boxed_slice();
        counts[below..below + self.counts.len()].copy_from_slice(&self.counts);
        (self.base, self.counts) = (self.base - below, counts);
    }

    /// Adds another histogram's counts.
    pub fn merge(&mut self, other: &Histogram) {
        self.zeros += other.zeros;
        if other.counts.is_empty() {
            return;
        }
        self.make_room(other.base, other.base + other.counts.len());
        let counts = &mut self.counts[other.base - self.base..];
        let carries = |(mine, more): (&u32, &u32)| mine.checked_add(*more).is_none();
        if counts.iter().zip(&other.counts).fold(false, |any, pair| any | carries(pair)) {
            let carried = (other.base..).zip(counts.iter().zip(&other.counts)).filter(|(_, pair)| carries(*pair));
            let upper = self.upper.get_or_insert_default();
            carried.for_each(|(bucket, _)| *upper.entry(bucket).or_default() += 1);
        }
        counts.iter_mut().zip(&other.counts).for_each(|(mine, more)| *mine = mine.wrapping_add(*more));
        for (bucket, more) in other.upper.iter().flat_map(|upper| upper.iter()) {
            *self.upper.get_or_insert_default().entry(*bucket).or_default() += more;
        }
    }

    /// Removes all numbers, but keeps the memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.upper, self.zeros) = (None, 0);
    }

    /// The number of recorded numbers.
    pub fn len(&self) -> u64 {
        let upper = self.upper.iter().flat_map(|upper| upper.values()).sum::<u64>();
        self.zeros + self.counts.iter().map(|lower| u64::from(*lower)).sum::<u64>() + (upper << 32)
    }

    /// Whether no number was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The smallest number that `thousandths` of 1000 of all do not exceed (nearest rank; 0 returns the smallest number, 1000
    /// the largest), with an error of at most 1/256. `None` without numbers.
    pub fn quantile(&self, thousandths: u32) -> Option<u64> {
        self.quantiles([thousandths]).map(|[value]| value)
    }

    /// The same for several, which must ascend.
    pub fn quantiles<const N: usize>(&self, thousandths: [u32; N]) -> Option<[u64; N]> {
        let len = self.len();
        let mut counts = self.each();
        let (mut before, mut value) = (self.zeros, 0);
        (len > 0).then(|| {
            thousandths.map(|thousandths| {
                let rank = (u128::from(len) * u128::from(thousandths)).div_ceil(1000).clamp(1, u128::from(len)) as u64;
                while before < rank {
                    let Some((at, count)) = counts.next() else { break };
                    before += count;
                    value = at;
                }
                if value == 0 {
                    0
                } else {
                    middle(value)
                }
            })
        })
    }

    /// The mean, with an error of at most 1/256. `None` without numbers.
    pub fn mean(&self) -> Option<u64> {
        let each = self.each().filter(|(_, count)| *count > 0);
        let sum: u128 = each.map(|(at, count)| u128::from(count) * u128::from(middle(at))).sum();
        sum.checked_div(u128::from(self.len())).map(|mean| mean as u64)
    }
}

#[cfg(test)]
impl Histogram {
    /// Sets the lower bits of the count of a number's bucket, which exists.
    pub(crate) fn set(&mut self, value: u64, times: u32) {
        self.counts[bucket(value) - self.base] = times;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut h = Histogram::default();
        values.iter().for_each(|v| h.record(*v));
        h
    }

    /// Exactly, by nearest rank.
    fn exact(values: &[u64], thousandths: u32) -> u64 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        sorted[(sorted.len() * thousandths as usize).div_ceil(1000).max(1) - 1]
    }

    #[test]
    fn small_numbers_have_a_bucket_each() {
        let h = of(&(0..256).collect::<Vec<_>>());
        assert_eq!((h.quantile(0), h.quantile(500), h.quantile(1000)), (Some(0), Some(127), Some(255)));
        assert_eq!((h.len(), h.mean()), (256, Some(127)));
    }

    #[test]
    fn nothing_has_no_percentiles_and_zeros_count() {
        let mut h = Histogram::default();
        assert_eq!((h.quantile(500), h.mean(), h.is_empty()), (None, None, true));
        h.record(1000);
        h.record_zeros(9);
        assert_eq!((h.quantile(900), h.quantile(901), h.len()), (Some(0), h.quantile(1000), 10));
        assert!(h.quantile(1000).is_some_and(|v| v.abs_diff(1000) <= 3), "{h:?}");
    }

    #[test]
    fn numbers_are_taken_back_and_forgotten() {
        let mut h = of(&[3, 1000, 1000, 5000, 70_000]);
        h.take_back(1000);
        h.forget_from(4096);
        assert_eq!((h.len(), h.quantiles([500, 1000])), (2, of(&[3, 1000]).quantiles([500, 1000])));
        h.forget_from(1);
        assert!(h.is_empty());
        h.record(9);
        assert_eq!(h.quantile(1000), Some(9));
    }

    /// Numbers below 256, and how often each was recorded.
    fn often(numbers: &[(u64, u64)]) -> Histogram {
        let mut h = of(&numbers.iter().map(|(number, _)| *number).collect::<Vec<_>>());
        for (number, times) in numbers {
            h.set(*number, *times as u32);
            if times >> 32 > 0 {
                h.upper.get_or_insert_default().insert(bucket(*number), times >> 32);
            }
        }
        h
    }

    #[test]
    fn counts_beyond_32_bits_are_as_exact_as_others() {
        const ALL: u64 = 1 << 32;
        let mut h = often(&[(7, ALL - 1), (9, ALL - 2)]);
        assert_eq!((h.len(), h.quantiles([500, 501])), (2 * ALL - 3, Some([7, 9])));
        h.record(7);
        h.record(7);
        assert_eq!((h.len(), h.quantiles([500, 501]), h.mean()), (2 * ALL - 1, Some([7, 9]), Some(7)));
        let mut twice = h.clone();
        twice.merge(&h);
        let mut again = Histogram::default();
        again.merge(&h);
        again.merge(&h);
        for sum in [&twice, &again] {
            assert_eq!((sum.len(), sum.quantiles([500, 501, 1000])), (4 * ALL - 2, Some([7, 9, 9])));
        }
        twice.merge(&often(&[(9, 3 * ALL + 5)]));
        assert_eq!((twice.len(), twice.quantile(300)), (7 * ALL + 3, Some(9)));
        for left in [ALL, ALL - 1, ALL - 2] {
            h.take_back(7);
            assert_eq!(h.len(), left + ALL - 2);
        }
        h.take_back(200);
        h.forget_from(8);
        assert_eq!((h.len(), h.quantile(1000)), (ALL - 2, Some(7)));
        twice.forget_from(8);
        assert_eq!(twice.len(), 2 * ALL + 2);
        twice.forget_from(1);
        twice.clear();
        assert!(twice.is_empty() && often(&[(3, 5 * ALL)]).len() == 5 * ALL);
    }

    #[test]
    fn the_buckets_follow_one_another_without_gaps() {
        for b in bucket(256)..bucket(1 << 62) {
            assert_eq!(bucket(middle(b)), b);
        }
        for value in (1..256).chain([511, 512, 1 << 20, (1 << 47) - 1]) {
            assert_eq!(bucket(middle(bucket(value))), bucket(value));
        }
        for value in [255, 256, 257, 511, 512, 1 << 20, (1 << 47) - 1, 1 << 62] {
            assert!(bucket(value + 1) - bucket(value) <= 1);
        }
    }

    proptest! {
        #[test]
        fn percentiles_and_the_mean_are_within_their_bound(
            values in prop::collection::vec(prop_oneof![0u64..1000, 0u64..10_000_000_000, Just(1u64 << 46)], 1..400),
            thousandths in 0u32..=1000,
        ) {
            let h = of(&values);
            let right = exact(&values, thousandths);
            prop_assert!(h.quantile(thousandths).unwrap().abs_diff(right) <= right / 256);
            let several = [0, thousandths, thousandths, 1000];
            prop_assert_eq!(h.quantiles(several), Some(several.map(|each| h.quantile(each).unwrap())));
            let mean = values.iter().sum::<u64>() / values.len() as u64;
            prop_assert!(h.mean().unwrap().abs_diff(mean) <= mean / 256 + 1);
        }

        #[test]
        fn counted_in_two_and_added_is_as_counted_in_one(
            a in prop::collection::vec(0u64..1_000_000_000_000, 0..50), b in prop::collection::vec(0u64..1_000_000_000, 0..50),
        ) {
            let mut sum = of(&a);
            sum.merge(&of(&b));
            let one = of(&[a, b].concat());
            prop_assert_eq!(sum.len(), one.len());
            for thousandths in [0, 500, 950, 990, 1000] {
                prop_assert_eq!(sum.quantile(thousandths), one.quantile(thousandths));
            }
        }
    }
}
