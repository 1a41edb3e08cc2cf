//! The median of the times between segments, in classes of an eighth of an octave.

/// Classes of a power of two, as a power of two.
const FINE: u32 = 3;
/// Below 2^LOW nanoseconds (1 µs) all is one class.
const LOW: u32 = 10;
/// From 2^HIGH nanoseconds (137 s) on all is one class.
const HIGH: u32 = 37;
const CLASSES: usize = ((HIGH - LOW) << FINE) as usize + 2;

/// How often a gap was how long.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    count: u64,
    classes: Option<Box<[u32; CLASSES]>>,
}

impl Gaps {
    #[inline]
    pub(super) fn add(&mut self, nanos: i64) {
        self.count += 1;
        let classes = self.classes.get_or_insert_with(|| Box::new([0; CLASSES]));
        let n = &mut classes[class(nanos)];
        *n = n.saturating_add(1);
    }

    /// The median, at most 9 % off; 0 without gaps.
    pub(super) fn median(&self) -> i64 {
        let Some(classes) = &self.classes else { return 0 };
        let mut left = self.count.div_ceil(2);
        for (i, n) in classes.iter().enumerate() {
            match left.checked_sub(u64::from(*n)).filter(|rest| *rest > 0) {
                Some(rest) => left = rest,
                None => return middle(i),
            }
        }
        0
    }
}

#[inline]
fn class(nanos: i64) -> usize {
    let n = nanos.max(0) as u64;
    if n >> LOW == 0 {
        return 0;
    }
    let top = 63 - n.leading_zeros();
    if top >= HIGH {
        return CLASSES - 1;
    }
    let within = (n >> (top - FINE)) & ((1 << FINE) - 1);
    1 + (((top - LOW) as usize) << FINE) + within as usize
}

fn middle(class: usize) -> i64 {
    if class == 0 {
        return 0;
    }
    if class == CLASSES - 1 {
        return 1 << HIGH;
    }
    let top = LOW + ((class - 1) >> FINE) as u32;
    let within = ((class - 1) & ((1 << FINE) - 1)) as i64;
    (1 << top) + (2 * within + 1) * (1 << (top - FINE - 1))
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
