//! Bursty loss: a channel that is now good, now bad, and loses packets in each state with another probability.
//!
//! *Source.* Gilbert 1960 and Elliott 1963, "Estimates of error rates for codes on burst-noise channels".
//!
//! *Idea.* Two states that remember nothing but themselves: bursts have geometric (by packets) or exponential (by time)
//! lengths.
//!
//! | source | here |
//! | --- | --- |
//! | P, probability of good → bad | `p` |
//! | p, probability of bad → good | `r` |
//! | 1 − k and 1 − h, error probabilities of the states | `good_loss`, `bad_loss` |
//!
//! Of the packets, p / (p + r) meet the bad state, for 1 / r packets in a row on average.
//!
//! *Departures.* The sources speak of bits; here a step is a packet. By time, the states last exponentially long; the
//! state at a packet is drawn from the one at the packet before and the time between them, which is the same chain and
//! costs one draw however long nothing came.
//!
//! *Unsaid in the source.* The first state: drawn from the stationary distribution, so that the rates above hold from the
//! start. A packet suffers the state, then the chain steps.

use super::{Fate, Seen};
use crate::rng::Stream;
use crate::scenario::{Only, Place};
use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;

/// A Gilbert-Elliott channel (Gilbert 1960, Elliott 1963).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliottSpec {
    /// How the channel goes from good to bad and back. No default.
    pub chain: Chain,
    /// Probability with which a packet is lost while the channel is good. Default 0 (Gilbert 1960).
    pub good_loss: f64,
    /// Probability with which a packet is lost while the channel is bad. Default 1: every packet.
    pub bad_loss: f64,
    /// Before the queue, or after transmission. Default: before.
    pub at: Place,
    /// Which packets the channel sees. Default: all.
    pub only: Only,
}

/// What moves a Gilbert-Elliott channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chain {
    /// Packets: after each, the state may change.
    Packets {
        /// Probability with which good is followed by bad; above 0.
        p: f64,
        /// Probability with which bad is followed by good; above 0. A bad spell meets 1 / r packets on average.
        r: f64,
    },
    /// Time, whether packets come or not.
    Time {
        /// Mean length of a good spell; above 0.
        good_for: Nanos,
        /// Mean length of a bad spell; above 0.
        bad_for: Nanos,
    },
}

impl GilbertElliottSpec {
    /// What is out of range: key, what was found, what is allowed.
    pub(crate) fn fault(&self) -> Option<super::Fault> {
        let probability = |key, p: f64| (!(0.0..=1.0).contains(&p)).then(|| (key, p.to_string(), "0 to 1"));
        let step = |key, p: f64| (!(p > 0.0 && p <= 1.0)).then(|| (key, p.to_string(), "above 0, at most 1"));
        let spell = |key, n: Nanos| (n == Nanos::ZERO).then(|| (key, n.to_string(), "above 0 s"));
        let chain = match self.chain {
            Chain::Packets { p, r } => step("p", p).or(step("r", r)),
            Chain::Time { good_for, bad_for } => spell("good_for", good_for).or(spell("bad_for", bad_for)),
        };
        chain.or(probability("good_loss", self.good_loss)).or(probability("bad_loss", self.bad_loss))
    }
}

pub(crate) struct GilbertElliott {
    spec: GilbertElliottSpec,
    bad: bool,
    /// When the state was `bad`.
    known: u64,
    /// States and losses are drawn from two streams: whatever the loss probabilities, the states stay.
    states: Stream,
    losses: Stream,
}

impl GilbertElliott {
    pub(crate) fn new(spec: GilbertElliottSpec, luck: [Stream; 2]) -> Self {
        let [mut states, losses] = luck;
        let bad = states.unit() < stationary(spec.chain);
        GilbertElliott { spec, bad, known: 0, states, losses }
    }

    pub(crate) fn judge(&mut self, seen: &Seen) -> Fate {
        if let Chain::Time { good_for, bad_for } = self.spec.chain {
            // A two-state chain forgets its state with the sum of both rates (the solution of Kolmogorov's equations).
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

    const MS: u64 = 1_000_000;

    /// Losses of `n` packets, one every `gap`.
    fn losses(chain: Chain, good_loss: f64, bad_loss: f64, gap: u64, n: u64) -> Vec<bool> {
        let spec = GilbertElliottSpec { chain, good_loss, bad_loss, at: Place::Entry, only: Only::All };
        assert_eq!(spec.fault(), None);
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
        // Both states lose: 0.25/0.26 · 0.001 + 0.01/0.26 · 0.5 = 0.02019.
        let lost = losses(Chain::Packets { p: 0.01, r: 0.25 }, 0.001, 0.5, MS, 1_000_000);
        assert!((rate(&lost) - 0.02019).abs() < 0.001, "{}", rate(&lost));
    }

    #[test]
    fn p_and_1_minus_r_alike_are_independent_loss() {
        // The state does not depend on the one before: bursts of 1 / (1 − 0.1).
        let lost = losses(Chain::Packets { p: 0.1, r: 0.9 }, 0.0, 1.0, MS, 1_000_000);
        assert!((rate(&lost) - 0.1).abs() < 0.002 && (mean_burst(&lost) - 1.1111).abs() < 0.01);
    }

    #[test]
    fn by_time_bad_spells_last_as_long_as_they_should_however_often_packets_come() {
        let chain = Chain::Time { good_for: Nanos(900 * MS), bad_for: Nanos(100 * MS) };
        for gap in [MS, 10 * MS] {
            let lost = losses(chain, 0.0, 1.0, gap, 1_000_000);
            assert!((rate(&lost) - 0.1).abs() < 0.01, "{gap} {}", rate(&lost));
            // Seen every `gap`, a spell that is bad at one packet is good at the next with 0.9 (1 − e^(−gap / 90 ms)).
            let steps = 1.0 / (0.9 * (1.0 - libm::exp(-(gap as f64) / (90 * MS) as f64)));
            assert!((mean_burst(&lost) / steps - 1.0).abs() < 0.07, "{gap} {} {steps}", mean_burst(&lost));
        }
        // After a long pause nothing is remembered.
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
        assert_eq!(spec(0.0, 1.0).fault().map(|f| f.0), Some("p"));
        assert_eq!(spec(f64::NAN, 1.0).fault().map(|f| f.0), Some("p"));
        assert_eq!(spec(0.1, 1.5).fault(), Some(("bad_loss", "1.5".to_owned(), "0 to 1")));
    }
}
