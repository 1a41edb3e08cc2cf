//! Values with intervals.

/// The kind of knowledge behind a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Measured in the capture.
    Measured,
    /// A lower bound.
    LowerBound,
    /// The capture does not show it.
    Unknown,
}

impl Mark {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Mark::Measured => "measured",
            Mark::LowerBound => "lower bound",
            Mark::Unknown => "unknown",
        }
    }
}

/// A value with its uncertainty.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The assumed value.
    pub value: f64,
    /// The lower end of the interval: 95 % if measured.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The kind of knowledge.
    pub mark: Mark,
    /// How it was found, or why it could not be.
    pub how: String,
}

impl Estimate {
    /// A measured value.
    pub(crate) fn measured(value: f64, (low, high): (f64, f64), how: impl Into<String>) -> Self {
        Estimate { value, low, high, mark: Mark::Measured, how: how.into() }
    }

    /// A value that stands for one that the capture does not show.
    pub(crate) fn unknown(value: f64, how: impl Into<String>) -> Self {
        Estimate { value, low: value, high: value, mark: Mark::Unknown, how: how.into() }
    }

    /// A lower bound, with `high` as the upper end.
    pub(crate) fn at_least(value: f64, high: f64, how: impl Into<String>) -> Self {
        Estimate { value, low: value, high, mark: Mark::LowerBound, how: how.into() }
    }
}

/// The value such that `part` of all sorted values are at or below it; 0 if there are none.
pub(crate) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(rank.max(1) - 1).or(sorted.last()).copied().unwrap_or(0.0)
}

/// Sorts values.
pub(crate) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = values.collect();
    all.sort_unstable_by(f64::total_cmp);
    all
}

/// A 95 % interval of the median of sorted values: by the binomial distribution of the number of values below it, in its normal
/// approximation. With fewer than six values, the interval is their whole range.
pub(crate) fn around_median(sorted: &[f64]) -> (f64, f64) {
    let n = sorted.len();
    let half = 0.98 * (n as f64).sqrt();
    let low = if n < 6 { 0 } else { ((n as f64 / 2.0 - half).floor().max(1.0) as usize) - 1 };
    match (sorted.get(low), sorted.get(n.saturating_sub(1 + low))) {
        (Some(a), Some(b)) => (*a, *b),
        _ => (0.0, 0.0),
    }
}

/// A 95 % interval of the share if `n` of `of` draws were successes (Wilson's score interval).
pub(crate) fn around_share(n: f64, of: f64) -> (f64, f64) {
    const Z: f64 = 1.96;
    if of <= 0.0 {
        return (0.0, 1.0);
    }
    let (p, z2) = (n / of, Z * Z / of);
    let middle = (p + z2 / 2.0) / (1.0 + z2);
    let half = Z * (p * (1.0 - p) / of + z2 / (4.0 * of)).sqrt() / (1.0 + z2);
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_the_median_holds_what_the_binomial_distribution_says() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        // Exactly: 40 and 61 contain it in 96.5 % of all cases.
        assert_eq!(around_median(&values), (40.0, 61.0));
        assert_eq!(around_median(&values[..5]), (1.0, 5.0));
        assert_eq!(around_median(&values[..6]), (1.0, 6.0), "97 %");
        assert_eq!(around_median(&[]), (0.0, 0.0));
    }

    #[test]
    fn an_interval_of_a_share_is_wilsons() {
        let (low, high) = around_share(10.0, 100.0);
        assert!((low - 0.0552).abs() < 1e-4 && (high - 0.1744).abs() < 1e-4, "{low} {high}");
        let (none, most) = around_share(0.0, 1000.0);
        assert!(none == 0.0 && most < 0.004, "{most}");
    }

    #[test]
    fn a_quantile_is_the_nearest_rank() {
        let values = [1.0, 2.0, 3.0, 4.0];
        let got: Vec<f64> = [0.0, 0.25, 0.5, 0.51, 1.0].iter().map(|p| quantile(&values, *p)).collect();
        assert_eq!(got, [1.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}
