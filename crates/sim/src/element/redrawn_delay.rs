//! Redrawn delay: the delay of a link changes at intervals, so that packets overtake each other.
//!
//! Source: Leung & Ma 2005 §IV-A and Table 1.
//!
//! Idea: a packet takes the delay in force when it leaves the transmitter. If the next delay is shorter by more than the
//! spacing of the packets, later packets arrive first.
//!
//! | source | here |
//! | --- | --- |
//! | mean 200 f ms, standard deviation 200 f / 3 ms | `mean`, `deviation` |
//! | delay update interval, 50 ms or 100 ms | `every`; draws at 0, `every`, 2 `every`, … |
//! | path delay R1-R2 | the link's own delay (zero, say) and the draw on top of it |
//!
//! Departures: none.
//!
//! Unsaid in the source, see docs/decisions/0026: the treatment of a draw below zero (`below_zero`); whether the way back
//! changes too (give `back` its own element, with `draws = "link"` the same delays, or none); which instant counts for a
//! packet (ns-2 takes the beginning of its transmission, we its end).

use super::direction::DirectionSpec;
use super::packet::Only;
use super::properties::{Acts, Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Delays, Element, Site};
use crate::error::Fault;
use crate::rng::Stream;
use ackclock_tcp::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Adds a delay that is redrawn from a normal distribution, so packets overtake each other (Leung & Ma 2005 §IV-A).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Redrawn delay", extend("examples" = [{ "mean": "25 ms", "deviation": "8 ms", "every": "250 ms" }]))]
pub struct RedrawnDelaySpec {
    /// Mean of the distribution, above zero. Leung & Ma 2005 Table 1: 200 f ms, f from 1 to 4.
    pub mean: Nanos,
    /// Standard deviation of the distribution. Leung & Ma 2005 Table 1: 200 f / 3 ms.
    pub deviation: Nanos,
    /// Time between draws; the first is at 0 s. Leung & Ma 2005 Table 1: 50 ms or 100 ms.
    pub every: Nanos,
    /// Handling of a draw that is not above zero. The source does not say.
    #[serde(default)]
    pub below_zero: BelowZero,
    /// Whether a packet may arrive before one that left earlier. The source needs it.
    #[serde(default = "yes")]
    pub overtaking: bool,
    /// Whether both directions share draws. The source does not say.
    #[serde(default)]
    pub draws: Draws,
}

fn yes() -> bool {
    true
}

/// Handling of a drawn delay that is not above zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BelowZero {
    /// Draws again.
    #[default]
    Again,
    /// Uses zero.
    Zero,
}

/// Whether the directions of a link share draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Draws {
    /// Each direction draws for itself.
    #[default]
    Own,
    /// Both directions of the link get the same draws if their keys are the same.
    Link,
}

impl Element for RedrawnDelaySpec {
    fn properties(&self) -> Properties {
        Properties {
            acts: Acts::OnDelay,
            bunches: true,
            rate: RateUse::None,
            beside_split: false,
            only_one: None,
            reorders: self.overtaking && self.deviation > Nanos::ZERO,
            loses: false,
            duplicates: false,
            only: Only::All,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        Fault::above_zero("mean", self.mean)
            .or_else(|| Fault::time("deviation", self.deviation))
            .or_else(|| Fault::above_zero("every", self.every))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        let n = site.nth("redrawn-delay");
        let rng = match self.draws {
            Draws::Own => site.stream(format_args!("redrawn-delay.{n}")),
            Draws::Link => Stream::new(site.seed, &format!("{}/redrawn-delay/link.{n}", site.forward)),
        };
        site.lengthen(Delays::RedrawnDelay(RedrawnDelay::new(self, rng)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let spec = |overtaking, draws| RedrawnDelaySpec {
            mean: Nanos::from_millis(20),
            deviation: Nanos::from_millis(10),
            every: Nanos::from_millis(15),
            below_zero: BelowZero::Again,
            overtaking,
            draws,
        };
        vec![
            ElementSpec::RedrawnDelay(spec(true, Draws::Own)),
            ElementSpec::RedrawnDelay(RedrawnDelaySpec { below_zero: BelowZero::Zero, ..spec(false, Draws::Link) }),
        ]
    }
}

pub(crate) struct RedrawnDelay {
    mean: f64,
    deviation: f64,
    every: u64,
    below_zero: BelowZero,
    overtaking: bool,
    rng: Stream,
    /// In force until `until`, ns.
    delay: u64,
    until: u64,
    /// The latest arrival so far, without the link's own delay.
    last: u64,
}

impl RedrawnDelay {
    pub(crate) fn new(spec: &RedrawnDelaySpec, rng: Stream) -> Self {
        RedrawnDelay {
            mean: spec.mean.0 as f64,
            deviation: spec.deviation.0 as f64,
            every: spec.every.0,
            below_zero: spec.below_zero,
            overtaking: spec.overtaking,
            rng,
            delay: 0,
            until: 0,
            last: 0,
        }
    }

    /// The delay of a packet that leaves at `now`; times must not decrease.
    pub(crate) fn of(&mut self, now: u64) -> u64 {
        // One draw for each interval, used or not: the delay at a given time does not depend on the traffic.
        while self.until <= now {
            self.delay = self.draw();
            self.until += self.every;
        }
        if self.overtaking {
            return self.delay;
        }
        self.last = self.last.max(now + self.delay);
        self.last - now
    }

    fn draw(&mut self) -> u64 {
        loop {
            let x = self.rng.normal(self.mean, self.deviation);
            match self.below_zero {
                BelowZero::Again if x <= 0.0 => {}
                // A cast turns negative values into zero.
                BelowZero::Again | BelowZero::Zero => return x as u64,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn spec(mean: u64, deviation: u64) -> RedrawnDelaySpec {
        RedrawnDelaySpec {
            mean: Nanos(mean),
            deviation: Nanos(deviation),
            every: Nanos(50 * MS),
            below_zero: BelowZero::Again,
            overtaking: true,
            draws: Draws::Own,
        }
    }

    fn delays(spec: &RedrawnDelaySpec, n: u64, step: u64) -> Vec<u64> {
        let mut d = RedrawnDelay::new(spec, Stream::new(3, "test"));
        (0..n).map(|i| d.of(i * step)).collect()
    }

    #[test]
    fn the_delay_holds_for_an_interval_and_has_the_mean_and_deviation_of_the_distribution() {
        let each = delays(&spec(200 * MS, 200 * MS / 3), 50_000, 25 * MS);
        assert!(each.chunks(2).all(|c| c[0] == c[1]));
        assert!(each.windows(3).step_by(2).all(|w| w[1] != w[2]));
        let n = each.len() as f64;
        let mean = each.iter().map(|d| *d as f64).sum::<f64>() / n;
        let deviation = libm::sqrt(each.iter().map(|d| (*d as f64 - mean) * (*d as f64 - mean)).sum::<f64>() / n);
        // Cutting off values more than 3 deviations below the mean moves both by less than 0.5 and 1.5 %.
        assert!((mean / MS as f64 - 200.0).abs() < 2.0, "{mean}");
        assert!((deviation / MS as f64 - 66.7).abs() < 1.5, "{deviation}");
    }

    #[test]
    fn a_draw_below_zero_is_drawn_again_or_is_zero() {
        let mut s = spec(10 * MS, 20 * MS);
        assert!(delays(&s, 2000, 50 * MS).iter().all(|d| *d > 0));
        s.below_zero = BelowZero::Zero;
        let zero = delays(&s, 2000, 50 * MS).iter().filter(|d| **d == 0).count();
        // P(Normal(10, 20) < 0) = 30.9 %.
        assert!((560..680).contains(&zero), "{zero}");
    }

    #[test]
    fn the_delays_do_not_depend_on_when_packets_come() {
        let s = spec(200 * MS, 60 * MS);
        let sparse = delays(&s, 10, 500 * MS);
        assert_eq!(sparse, delays(&s, 100, 50 * MS).into_iter().step_by(10).collect::<Vec<_>>());
    }

    #[test]
    fn without_overtaking_arrivals_keep_the_order_of_departures() {
        let mut s = spec(200 * MS, 60 * MS);
        let arrivals = |s: &RedrawnDelaySpec| {
            let all: Vec<u64> = delays(s, 1000, 7 * MS).iter().zip(0..).map(|(d, i)| d + i * 7 * MS).collect();
            all.windows(2).filter(|w| w[1] < w[0]).count()
        };
        assert!(arrivals(&s) > 20);
        s.overtaking = false;
        assert_eq!(arrivals(&s), 0);
    }
}
