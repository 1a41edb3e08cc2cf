//! Means over runs with their 95 % confidence intervals.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The mean of one number over runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The number of runs.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval (Student's t with n − 1 degrees of freedom); `None` for one run.
    pub half_width_95: Option<f64>,
}

impl Interval {
    /// From these values; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let (mean, half_width_95) = interval(values, 0.95)?;
        Some(Interval { n: values.len(), mean, half_width_95 })
    }

    /// Whether this interval and another overlap; the interval of one run is a point.
    pub fn meets(&self, other: &Interval) -> bool {
        let half = |i: &Interval| i.half_width_95.unwrap_or(0.0);
        (self.mean - other.mean).abs() <= half(self) + half(other)
    }
}

/// The mean of these values and half the width of its confidence interval (Student's t with n − 1 degrees of freedom), which is
/// `None` for one value. Returns `None` if there are no values. `confidence` is between 0 and 1, as in 0.95.
pub fn interval(values: &[f64], confidence: f64) -> Option<(f64, Option<f64>)> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let half = t_quantile(n - 1, (1.0 + confidence) / 2.0).map(|t| t * (squares / ((n - 1) * n) as f64).sqrt());
    Some((mean, half))
}

/// A quantile of Student's t; `None` without degrees of freedom.
fn t_quantile(freedom: usize, share: f64) -> Option<f64> {
    (freedom > 0).then(|| StudentsT::new(0.0, 1.0, freedom as f64).ok()).flatten().map(|t| t.inverse_cdf(share))
}

/// The smallest of these values, which ascend, that `thousandths` of 1000 of them do not exceed; `None` without values.
pub(crate) fn nearest_rank(ascending: &[f64], thousandths: usize) -> Option<f64> {
    ascending.get((ascending.len() * thousandths).div_ceil(1000).max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        for (freedom, t) in [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (14, 2.145), (29, 2.045), (100, 1.984)] {
            let found = t_quantile(freedom, 0.975).unwrap();
            assert!((found - t).abs() < 0.0006, "{freedom}: {found}");
        }
        // The same tables at 99.95 %.
        for (freedom, t) in [(4, 8.610), (9, 4.781), (29, 3.659), (100, 3.390)] {
            let found = t_quantile(freedom, 0.9995).unwrap();
            assert!((found - t).abs() < 0.0006, "{freedom}: {found}");
        }
    }

    #[test]
    fn an_interval_is_mean_and_t_times_the_standard_error() {
        let i = Interval::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((i.n, i.mean), (5, 3.0));
        assert!((i.half_width_95.unwrap() - 2.776_45 * (2.5f64 / 5.0).sqrt()).abs() < 1e-4);
        let one = Interval::of(&[5.5]).unwrap();
        assert_eq!(one, Interval { n: 1, mean: 5.5, half_width_95: None });
        assert!(!i.meets(&one) && i.meets(&Interval { mean: 4.9, ..one }));
        assert_eq!(Interval::of(&[]), None);
    }
}
