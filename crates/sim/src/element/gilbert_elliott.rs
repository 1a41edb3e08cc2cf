//! Bursty loss: a channel alternates between a good and a bad state, with a loss probability for each.
//!
//! *Source.* Gilbert 1960 and Elliott 1963, "Estimates of error rates for codes on burst-noise channels".
//!
//! *Idea.* A two-state chain without further memory: bursts have geometric (by packets) or exponential (by time) lengths.
//!
//! | source | here |
//! | --- | --- |
//! | P, probability of good → bad | `p` |
//! | p, probability of bad → good | `r` |
//! | 1 − k and 1 − h, error probabilities of the states | `good_loss`, `bad_loss` |
//!
//! A share p / (p + r) of the packets meets the bad state, for 1 / r packets in a row on average.
//!
//! *Departures.* The sources speak of bits; here a step is a packet. By time, the states last exponentially long. The state at
//! a packet is drawn from the state at the packet before and the time between them, which gives the same chain and costs one
//! draw, however long the pause was.
//!
//! *Unsaid in the source.* The first state: drawn from the stationary distribution, so that the rates above hold from the
//! start. Each packet meets the current state; then the chain steps.

use super::direction::DirectionSpec;
use super::packet::{Fate, Only, Place, Seen};
use super::properties::{Acts, Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, GateKind, Site};
use crate::error::Fault;
use crate::rng::Stream;
use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Loss in bursts: a channel with a good and a bad state that changes per packet (`p`, `r`) or over time (`good_for`, `bad_for`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(title = "Bursty loss (Gilbert–Elliott)", extend("examples" = [{ "p": 0.002, "r": 0.3 }]))]
pub struct GilbertElliottSpec {
    /// The changes of the channel between good and bad.
    pub chain: Chain,
    /// Probability with which a packet is lost while the channel is good.
    pub good_loss: f64,
    /// Probability with which a packet is lost while the channel is bad.
    pub bad_loss: f64,
    /// Where on the link.
    pub at: Place,
    /// Which packets the channel sees.
    pub only: Only,
}

/// As it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    { "required": ["p", "r"], "properties": { "good_for": false, "bad_for": false } },
    { "required": ["good_for", "bad_for"], "properties": { "p": false, "r": false } },
]))]
struct Written {
    /// Probability that the channel turns bad after a packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0))]
    p: Option<f64>,
    /// Probability that it turns good again: a bad period lasts 1 / `r` packets on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0))]
    r: Option<f64>,
    /// Mean length of a good period.
    #[serde(skip_serializing_if = "Option::is_none")]
    good_for: Option<Nanos>,
    /// Mean length of a bad period.
    #[serde(skip_serializing_if = "Option::is_none")]
    bad_for: Option<Nanos>,
    /// Loss probability in the good state.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    good_loss: f64,
    /// Loss probability in the bad state.
    #[serde(default = "every_packet")]
    #[schemars(range(min = 0.0, max = 1.0))]
    bad_loss: f64,
    /// Where on the link.
    #[serde(default)]
    at: Place,
    /// The packets that the element acts on. Default: all packets.
    #[serde(default, skip_serializing_if = "Only::is_all")]
    only: Only,
}

fn every_packet() -> f64 {
    1.0
}

impl TryFrom<Written> for GilbertElliottSpec {
    type Error = Fault;

    fn try_from(w: Written) -> Result<Self, Fault> {
        let Written { p, r, good_for, bad_for, good_loss, bad_loss, at, only } = w;
        let chain = match (p, r, good_for, bad_for) {
            (Some(p), Some(r), None, None) => Chain::Packets { p, r },
            (None, None, Some(good_for), Some(bad_for)) => Chain::Time { good_for, bad_for },
            (None, None, None, None) => {
                return Err(Fault::of("", "a channel that never changes", "p and r, or good_for and bad_for"))
            }
            (None, Some(_), None, None) => return Err(Fault::of("p", "nothing", "a probability above 0, as in 0.01")),
            (Some(_), None, None, None) => return Err(Fault::of("r", "nothing", "a probability above 0, as in 0.01")),
            (None, None, None, Some(_)) => return Err(Fault::of("good_for", "nothing", "a time, as in \"10 s\"")),
            (None, None, Some(_), None) => return Err(Fault::of("bad_for", "nothing", "a time, as in \"10 s\"")),
            (Some(_), _, Some(_), _)
            | (Some(_), _, _, Some(_))
            | (_, Some(_), Some(_), _)
            | (_, Some(_), _, Some(_)) => {
                let found = "a channel that changes both per packet and over time";
                return Err(Fault::of("", found, "either p and r, or good_for and bad_for"));
            }
        };
        Ok(GilbertElliottSpec { chain, good_loss, bad_loss, at, only })
    }
}

impl From<GilbertElliottSpec> for Written {
    fn from(s: GilbertElliottSpec) -> Self {
        let GilbertElliottSpec { chain, good_loss, bad_loss, at, only } = s;
        let (p, r, good_for, bad_for) = match chain {
            Chain::Packets { p, r } => (Some(p), Some(r), None, None),
            Chain::Time { good_for, bad_for } => (None, None, Some(good_for), Some(bad_for)),
        };
        Written { p, r, good_for, bad_for, good_loss, bad_loss, at, only }
    }
}

/// The steps at which a Gilbert-Elliott channel may change its state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chain {
    /// Packets: after each, the state may change.
    Packets {
        /// Probability of a change from good to bad; above 0.
        p: f64,
        /// Probability of a change from bad to good; above 0. A bad spell meets 1 / r packets on average.
        r: f64,
    },
    /// Time, whether packets arrive or not.
    Time {
        /// Mean length of a good spell; above 0.
        good_for: Nanos,
        /// Mean length of a bad spell; above 0.
        bad_for: Nanos,
    },
}

impl Element for GilbertElliottSpec {
    fn properties(&self) -> Properties {
        Properties {
            acts: Acts::of(self.at == Place::Exit, false),
            bunches: false,
            rate: RateUse::None,
            beside_split: self.at == Place::Entry,
            only_one: None,
            reorders: false,
            loses: self.good_loss > 0.0 || self.bad_loss > 0.0,
            duplicates: false,
            only: self.only,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        let chain = match self.chain {
            Chain::Packets { p, r } => Fault::share("p", p).or_else(|| Fault::share("r", r)),
            Chain::Time { good_for, bad_for } => {
                Fault::above_zero("good_for", good_for).or_else(|| Fault::above_zero("bad_for", bad_for))
            }
        };
        chain
            .or_else(|| Fault::probability("good_loss", self.good_loss))
            .or_else(|| Fault::probability("bad_loss", self.bad_loss))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        let n = site.nth("gilbert-elliott");
        let rng = ["state", "loss"].map(|part| site.stream(format_args!("gilbert-elliott.{n}/{part}")));
        site.gate(self.at, self.only, GateKind::GilbertElliott(GilbertElliott::new(self.clone(), rng)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let spec = |chain, at| GilbertElliottSpec { chain, good_loss: 0.0, bad_loss: 0.5, at, only: Only::All };
        let chain = Chain::Time { good_for: Nanos::from_millis(500), bad_for: Nanos::from_millis(50) };
        vec![
            ElementSpec::GilbertElliott(spec(Chain::Packets { p: 0.01, r: 0.5 }, Place::Entry)),
            ElementSpec::GilbertElliott(spec(chain, Place::Exit)),
        ]
    }
}

pub(crate) struct GilbertElliott {
    spec: GilbertElliottSpec,
    bad: bool,
    /// The time at which the state was `bad`.
    known: u64,
    /// States and losses are drawn from two streams, so loss probabilities do not change the sequence of states.
    states: Stream,
    losses: Stream,
}

impl GilbertElliott {
    pub(crate) fn new(spec: GilbertElliottSpec, rng: [Stream; 2]) -> Self {
        let [mut states, losses] = rng;
        let bad = states.unit() < stationary(spec.chain);
        GilbertElliott { spec, bad, known: 0, states, losses }
    }

    pub(crate) fn judge(&mut self, seen: &Seen) -> Fate {
        if let Chain::Time { good_for, bad_for } = self.spec.chain {
            // A two-state chain forgets its state at the sum of both rates (the solution of Kolmogorov's equations).
            let rate = 1.0 / good_for.0 as f64 + 1.0 / bad_for.0 as f64;
            let memory = libm::exp(-rate * (seen.now - self.known) as f64);
            let long_run = stationary(self.spec.chain);
            let was = if self.bad { 1.0 } else { 0.0 };
            self.bad = self.states.unit() < long_run + (was - long_run) * memory;
            self.known = seen.now;
        }
        let loss = if self.bad { self.spec.bad_loss } else { self.spec.good_loss };
        let fate = if self.losses.unit() < loss { Fate::Drop(DropWhy::Loss) } else { Fate::Pass };
        if let Chain::Packets { p, r } = self.spec.chain {
            let change = if self.bad { r } else { p };
            self.bad ^= self.states.unit() < change;
        }
        fate
    }
}

/// The probability of the bad state in the long run.
fn stationary(chain: Chain) -> f64 {
    match chain {
        Chain::Packets { p, r } => p / (p + r),
        Chain::Time { good_for, bad_for } => bad_for.0 as f64 / (good_for.0 as f64 + bad_for.0 as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::dumbbell::pipe;

    const MS: u64 = 1_000_000;

    /// Losses of `n` packets, one every `gap`.
    fn losses(chain: Chain, good_loss: f64, bad_loss: f64, gap: u64, n: u64) -> Vec<bool> {
        let spec = GilbertElliottSpec { chain, good_loss, bad_loss, at: Place::Entry, only: Only::All };
        assert_eq!(spec.fault(&pipe(None, Nanos::ZERO)), None);
        let mut g = GilbertElliott::new(spec, [Stream::new(1, "state"), Stream::new(1, "loss")]);
        (0..n).map(|i| g.judge(&Seen { now: i * gap, ..Seen::DATA }) != Fate::Pass).collect()
    }

    fn rate(lost: &[bool]) -> f64 {
        lost.iter().filter(|l| **l).count() as f64 / lost.len() as f64
    }

    fn mean_burst(lost: &[bool]) -> f64 {
        let begins = 1 + lost.windows(2).filter(|w| !w[0] && w[1]).count();
        rate(lost) * lost.len() as f64 / begins as f64
    }

    #[test]
    fn by_packets_the_loss_rate_is_the_stationary_one_and_bursts_last_1_over_r() {
        let lost = losses(Chain::Packets { p: 0.01, r: 0.25 }, 0.0, 1.0, MS, 1_000_000);
        // 0.01 / 0.26 = 0.03846; a burst lasts 4 packets.
        assert!((rate(&lost) - 0.03846).abs() < 0.0015, "{}", rate(&lost));
        assert!((mean_burst(&lost) - 4.0).abs() < 0.1, "{}", mean_burst(&lost));
        // Both states lose packets: 0.25/0.26 · 0.001 + 0.01/0.26 · 0.5 = 0.02019.
        let lost = losses(Chain::Packets { p: 0.01, r: 0.25 }, 0.001, 0.5, MS, 1_000_000);
        assert!((rate(&lost) - 0.02019).abs() < 0.001, "{}", rate(&lost));
    }

    #[test]
    fn p_and_1_minus_r_alike_are_independent_loss() {
        // The state does not depend on the previous one: bursts of 1 / (1 − 0.1).
        let lost = losses(Chain::Packets { p: 0.1, r: 0.9 }, 0.0, 1.0, MS, 1_000_000);
        assert!((rate(&lost) - 0.1).abs() < 0.002 && (mean_burst(&lost) - 1.1111).abs() < 0.01);
    }

    #[test]
    fn by_time_bad_spells_last_as_long_as_they_should_however_often_packets_come() {
        let chain = Chain::Time { good_for: Nanos(900 * MS), bad_for: Nanos(100 * MS) };
        for gap in [MS, 10 * MS] {
            let lost = losses(chain, 0.0, 1.0, gap, 1_000_000);
            assert!((rate(&lost) - 0.1).abs() < 0.01, "{gap} {}", rate(&lost));
            // Sampled every `gap`, a spell that is bad at one packet is good at the next with probability 0.9 (1 −
            // e^(−gap / 90 ms)).
            let steps = 1.0 / (0.9 * (1.0 - libm::exp(-(gap as f64) / (90 * MS) as f64)));
            assert!((mean_burst(&lost) / steps - 1.0).abs() < 0.07, "{gap} {} {steps}", mean_burst(&lost));
        }
        // After a long pause no memory remains.
        let lost = losses(chain, 0.0, 1.0, 10_000 * MS, 200_000);
        assert!((rate(&lost) - 0.1).abs() < 0.003 && (mean_burst(&lost) - 1.1111).abs() < 0.02);
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let spec = |p, bad_loss| GilbertElliottSpec {
            chain: Chain::Packets { p, r: 0.5 },
            good_loss: 0.0,
            bad_loss,
            at: Place::Entry,
            only: Only::All,
        };
        let key = |p, bad_loss| spec(p, bad_loss).fault(&pipe(None, Nanos::ZERO)).unwrap().key;
        assert_eq!([key(0.0, 1.0), key(f64::NAN, 1.0), key(0.1, 1.5)], ["p", "p", "bad_loss"]);
    }
}
