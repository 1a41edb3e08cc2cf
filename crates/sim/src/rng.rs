//! Random numbers: one stream for each element, seeded by the run's seed and the element's name, so that adding an
//! element never disturbs another's.

use crate::error::Fault;
use ackclock_tcp::time::Nanos;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Time between events, above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(title = "gap")]
pub enum Gap {
    /// Exponentially distributed with this mean, as in `{ exponential = "1 s" }`.
    Exponential(Nanos),
    /// Uniformly distributed between two times, both included, as in `{ uniform = ["0.5 s", "1.5 s"] }`.
    Uniform(Between),
    /// Always this time.
    Constant(Nanos),
}

/// The least and the greatest time, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("examples" = [["0.5 s", "1.5 s"]]))]
pub struct Between(pub [Nanos; 2]);

impl Gap {
    /// The mean.
    pub fn mean(self) -> Nanos {
        match self {
            Gap::Exponential(mean) | Gap::Constant(mean) => mean,
            Gap::Uniform(Between([least, most])) => Nanos(least.0.midpoint(most.0)),
        }
    }

    /// The value out of range, for the table that contains it under `key`.
    pub fn fault(self, key: &str) -> Option<Fault> {
        match self {
            Gap::Exponential(time) | Gap::Constant(time) => Fault::above_zero(key, time),
            Gap::Uniform(Between([least, most])) if least >= most => {
                let allowed = "two times, the lesser first, as in [\"0.5 s\", \"1.5 s\"]";
                Some(Fault::of(key, format!("[\"{least}\", \"{most}\"]"), allowed))
            }
            Gap::Uniform(Between([_, most])) => Fault::time(key, most),
        }
    }
}

/// A stream of random numbers that is the same on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of the element called `name` in the run with this seed.
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        Stream(Xoshiro256PlusPlus::seed_from_u64(xxh3_64_with_seed(name.as_bytes(), seed)))
    }

    /// Uniform in [0, 1), in steps of 2⁻⁵³.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * STEP
    }

    /// Uniform in 0 .. `n`, without bias; 0 if `n` is 0. Lemire 2019, "Fast random integer generation in an interval".
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        loop {
            let wide = u128::from(self.0.next_u64()) * u128::from(n);
            if n == 0 || wide as u64 >= n.wrapping_neg() % n {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Normally distributed (Box & Muller 1958): the first of the pair that two uniform draws give.
    pub(crate) fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let (u, v) = (1.0 - self.unit(), self.unit());
        mean + deviation * libm::sqrt(-2.0 * libm::log(u)) * libm::cos(2.0 * std::f64::consts::PI * v)
    }

    /// Exponentially distributed with this mean, in whole nanoseconds.
    pub(crate) fn exponential(&mut self, mean: Nanos) -> Nanos {
        Nanos((-libm::log(1.0 - self.unit()) * mean.0 as f64) as u64)
    }

    /// A time between two events.
    pub(crate) fn gap(&mut self, gap: Gap) -> Nanos {
        match gap {
            Gap::Constant(gap) => gap,
            Gap::Uniform(Between([least, most])) => {
                Nanos(least.0 + self.below(most.0.saturating_sub(least.0).saturating_add(1)))
            }
            Gap::Exponential(mean) => self.exponential(mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_the_seed_and_the_name_alone() {
        let draw = |seed, name| Stream::new(seed, name).below(u64::MAX);
        assert_eq!(draw(1, "R1>R2/swap.0"), draw(1, "R1>R2/swap.0"));
        assert_ne!(draw(1, "R1>R2/swap.0"), draw(2, "R1>R2/swap.0"));
        assert_ne!(draw(1, "R1>R2/swap.0"), draw(1, "R1>R2/swap.1"));
    }

    #[test]
    fn a_uniform_gap_takes_both_its_ends_and_nothing_beyond() {
        let mut s = Stream::new(7, "test");
        let drawn: std::collections::BTreeSet<u64> =
            (0..1000).map(|_| s.gap(Gap::Uniform(Between([Nanos(4), Nanos(7)]))).0).collect();
        assert_eq!(drawn, [4, 5, 6, 7].into());
    }

    #[test]
    fn gaps_that_make_no_sense_are_refused() {
        let fault = |gap: Gap| gap.fault("gap").map(|f| f.to_string());
        assert_eq!(fault(Gap::Uniform(Between([Nanos(0), Nanos(7)]))), None);
        assert!(fault(Gap::Constant(Nanos(0))).is_some_and(|f| f.contains("above zero")));
        assert!(fault(Gap::Exponential(Nanos(1 << 47))).is_some_and(|f| f.contains("39 hours")));
        assert!(fault(Gap::Uniform(Between([Nanos(1), Nanos(1 << 47)]))).is_some_and(|f| f.contains("39 hours")));
        let turned = fault(Gap::Uniform(Between([Nanos::from_millis(15), Nanos::from_millis(5)]))).unwrap_or_default();
        assert!(turned.contains(r#"found ["15 ms", "5 ms"]; allowed: two times, the lesser first"#), "{turned}");
    }

    #[test]
    fn draws_have_the_moments_of_their_distributions() {
        let mut s = Stream::new(7, "test");
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        assert!((mean(&mut || s.unit()) - 0.5).abs() < 0.005);
        assert!((mean(&mut || s.exponential(Nanos(1_000_000)).0 as f64) / 1e6 - 1.0).abs() < 0.01);
        let gap = Gap::Uniform(Between([Nanos(500_000), Nanos(1_500_000)]));
        assert_eq!(gap.mean(), Nanos(1_000_000));
        assert!((mean(&mut || s.gap(gap).0 as f64) / 1e6 - 1.0).abs() < 0.005);
        // The variance of a uniform distribution is the square of its width divided by 12.
        let off = |n: Nanos| (n.0 as f64 / 1e6 - 1.0) * (n.0 as f64 / 1e6 - 1.0);
        assert!((mean(&mut || off(s.gap(gap))) * 12.0 - 1.0).abs() < 0.02);
        assert!((mean(&mut || s.normal(3.0, 2.0)) - 3.0).abs() < 0.02);
        let square = |x: f64| (x - 3.0) * (x - 3.0);
        assert!((mean(&mut || square(s.normal(3.0, 2.0))) - 4.0).abs() < 0.05);
        assert!((mean(&mut || s.below(65) as f64) - 32.0).abs() < 0.2);
        assert_eq!(s.below(0), 0);
        assert_eq!(s.below(1), 0);
    }
}
