//! The median of the times between segments, in classes of an eighth of an octave.

use crate::octaves::{middle, Counts};

/// Classes of a power of two, as a power of two.
const FINE: u32 = 3;

/// The count of gaps by length.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps(Counts<FINE>);

impl Gaps {
    #[inline(always)]
    pub(super) fn add(&mut self, nanos: i64) {
        self.0.add(nanos);
    }

    /// The median, with an error of at most 9 %; 0 without gaps.
    pub(super) fn median(&self) -> i64 {
        let mut left = self.0.iter().map(|(_, n)| u64::from(n)).sum::<u64>().div_ceil(2);
        for (class, n) in self.0.iter() {
            match left.checked_sub(u64::from(n)).filter(|rest| *rest > 0) {
                Some(rest) => left = rest,
                None if class == 0 => return 0,
                None => return middle::<FINE>(class),
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_within_nine_percent() {
        assert_eq!(Gaps::default().median(), 0);
        for scale in [3_000i64, 77_003, 5_000_000] {
            let mut gaps = Gaps::default();
            (1..=999).for_each(|n| gaps.add(n * scale));
            let off = (gaps.median() - 500 * scale).abs() as f64 / (500 * scale) as f64;
            assert!(off < 0.09, "{off}");
        }
        let mut ends = Gaps::default();
        [-5, 0, 10, i64::MAX].into_iter().for_each(|n| ends.add(n));
        assert_eq!(ends.median(), 0);
    }
}
