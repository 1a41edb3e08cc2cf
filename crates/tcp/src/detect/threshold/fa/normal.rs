//! The other reading of DSACK-FA-MEAN: lengths treated as normally distributed, by their mean and deviation.

/// Mean and standard deviation of `lengths`; `None` if there are none.
pub(super) fn mean_and_deviation(lengths: &[u32]) -> Option<(f64, f64)> {
    if lengths.is_empty() {
        return None;
    }
    let n = lengths.len() as f64;
    let mean = lengths.iter().map(|l| f64::from(*l)).sum::<f64>() / n;
    let square = lengths.iter().map(|l| (f64::from(*l) - mean) * (f64::from(*l) - mean)).sum::<f64>() / n;
    Some((mean, libm::sqrt(square)))
}

/// The standard normal distribution's quantile, by bisection: it is needed only once per event.
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

    #[test]
    fn mean_deviation_and_quantile_are_those_of_the_textbook() {
        assert_eq!(mean_and_deviation(&[2, 4, 4, 4, 5, 5, 7, 9]), Some((5.0, 2.0)));
        assert_eq!(mean_and_deviation(&[]), None);
        for (ratio, x) in [(0.5, 0.0), (0.9, 1.281_551_565_5), (0.99, 2.326_347_874), (0.01, -2.326_347_874)] {
            assert!((normal_quantile(ratio) - x).abs() < 1e-9, "{ratio}");
        }
    }
}
