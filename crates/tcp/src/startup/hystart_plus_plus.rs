//! HyStart++: slow start ends when the RTT grows, through a slower slow start.
//!
//! Source: RFC 9406 §4.2, §4.3.
//!
//! Idea: a queue shows in the smallest RTT of a round. When that has grown, the window opens at a quarter of the pace
//! for five rounds (Conservative Slow Start); if the RTT falls again, it was not a queue.
//!
//! | RFC 9406 | here |
//! | --- | --- |
//! | windowEnd, lastRoundMinRTT, currentRoundMinRTT, rttSampleCount | `window_end`, `last_min`, `now_min`, `samples` |
//! | cssBaselineMinRtt, CSS rounds | `css`: baseline and rounds so far |
//! | MIN_RTT_THRESH, MAX_RTT_THRESH, MIN_RTT_DIVISOR, N_RTT_SAMPLE | constants |
//! | CSS_GROWTH_DIVISOR, CSS_ROUNDS | parameters |
//!
//! Departures: the congestion slot decides how much an ACK adds in slow start, and so the limit L. This file has only the
//! divisor. Only the first slow start is monitored (§4.3).

use super::fixed::FixedSpec;
use super::{Advice, Startup, UNBOUNDED};
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::seq::Offset;
use crate::time::Nanos;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MIN_RTT_THRESH: Nanos = Nanos::from_millis(4);
const MAX_RTT_THRESH: Nanos = Nanos::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HystartPlusPlusSpec {
    /// Initial window in segments. Default: 10 (RFC 6928).
    pub initial_window_segs: u32,
    /// Divisor of the growth in Conservative Slow Start, 1 or more. Default: 4 (RFC 9406 §4.3).
    pub css_growth_divisor: u32,
    /// Rounds of Conservative Slow Start, at least 1. Default: 5 (RFC 9406 §4.3).
    pub css_rounds: u32,
}

impl Default for HystartPlusPlusSpec {
    fn default() -> Self {
        HystartPlusPlusSpec { initial_window_segs: 10, css_growth_divisor: 4, css_rounds: 5 }
    }
}

impl HystartPlusPlusSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        FixedSpec { initial_window_segs: self.initial_window_segs, ssthresh_segs: None }.validate()?;
        let divisor = self.css_growth_divisor;
        StackError::unless(divisor > 0, "startup.css_growth_divisor", &divisor, "1 or more")?;
        StackError::unless(self.css_rounds > 0, "startup.css_rounds", &0, "1 or more")
    }
}

/// How much §4.2 allows a round's smallest RTT to grow.
fn threshold(last_min: Nanos) -> Nanos {
    Nanos(last_min.0 / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

/// HyStart++ at work.
pub struct HystartPlusPlus {
    spec: HystartPlusPlusSpec,
    /// The round ends when this offset is acknowledged; `None` before the first round.
    window_end: Option<Offset>,
    last_min: Option<Nanos>,
    now_min: Option<Nanos>,
    samples: u32,
    /// In Conservative Slow Start: the smallest RTT at its start, and the rounds begun in it.
    css: Option<(Nanos, u32)>,
    over: bool,
}

impl HystartPlusPlus {
    pub(super) fn new(spec: &HystartPlusPlusSpec) -> Self {
        HystartPlusPlus {
            spec: spec.clone(),
            window_end: None,
            last_min: None,
            now_min: None,
            samples: 0,
            css: None,
            over: false,
        }
    }

    /// This ACK ends a round, and the next begins. Returns whether it was the last round of Conservative Slow Start.
    fn next_round(&mut self, cx: &Ctx) -> bool {
        (self.window_end, self.samples) = (Some(cx.snd_nxt), 0);
        self.last_min = self.now_min.take();
        match &mut self.css {
            Some((_, rounds)) if *rounds >= self.spec.css_rounds => true,
            Some((_, rounds)) => {
                *rounds += 1;
                false
            }
            None => false,
        }
    }

    /// §4.2: judges the samples of this round.
    fn judge(&mut self) -> Advice {
        let (Some(last), Some(now)) = (self.last_min, self.now_min) else { return Advice::Keep };
        if self.samples < N_RTT_SAMPLE {
            return Advice::Keep;
        }
        match self.css {
            None if now.0 >= last.0 + threshold(last).0 => {
                self.css = Some((now, 1));
                Advice::Growth(1.0 / self.spec.css_growth_divisor as f32)
            }
            Some((baseline, _)) if now < baseline => {
                self.css = None;
                Advice::Growth(1.0)
            }
            _ => Advice::Keep,
        }
    }
}

impl Startup for HystartPlusPlus {
    fn initial(&self, mss: u32, _rwnd: Bytes) -> Window {
        Window { cwnd: f64::from(self.spec.initial_window_segs) * f64::from(mss), ssthresh: UNBOUNDED }
    }
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) -> Advice {
        if self.over || !ack.advances() {
            return Advice::Keep;
        }
        if w.cwnd >= w.ssthresh {
            self.over = true;
            return Advice::Growth(1.0);
        }
        if self.window_end.is_none_or(|end| ack.ack >= end) && self.next_round(cx) {
            // The sequencer's share must not outlive slow start; above ssthresh it does not apply.
            self.over = true;
            return Advice::Ssthresh(w.cwnd);
        }
        if let Some(rtt) = ack.rtt {
            self.now_min = Some(self.now_min.map_or(rtt, |m| m.min(rtt)));
            self.samples += 1;
        }
        self.judge()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::blank;
    use crate::testing::context;

    #[test]
    fn the_threshold_is_an_eighth_of_the_round_trip_between_4_and_16_ms() {
        for (last, want) in [(100, 12_500), (20, 4000), (400, 16_000)] {
            assert_eq!(threshold(Nanos::from_millis(last)), Nanos::from_micros(want));
        }
    }

    /// Rounds of ten ACKs, each round with one RTT in ms; returns the advice other than `Keep`, with its round.
    fn answers(rounds_ms: &[u64]) -> Vec<(usize, Advice)> {
        answers_to(10, rounds_ms)
    }

    /// The same for rounds of this many ACKs.
    fn answers_to(acks: u64, rounds_ms: &[u64]) -> Vec<(usize, Advice)> {
        let mut h = HystartPlusPlus::new(&HystartPlusPlusSpec::default());
        let w = Window { cwnd: 20_000.0, ssthresh: 1e9 };
        let (mut una, mut answers) = (1, vec![]);
        for (round, ms) in rounds_ms.iter().enumerate() {
            for _ in 0..acks {
                let ack = AckEvent {
                    prior_una: Offset(una),
                    ack: Offset(una + 1000),
                    rtt: Some(Nanos::from_millis(*ms)),
                    ..blank()
                };
                una += 1000;
                let cx = Ctx { snd_nxt: Offset(una + acks * 1000), ..context() };
                match h.on_ack(&ack, &w, &cx) {
                    Advice::Keep => {}
                    other => answers.push((round, other)),
                }
            }
        }
        answers
    }

    #[test]
    fn growth_of_the_round_trip_slows_slow_start_and_five_rounds_of_it_end_it() {
        let answers = answers(&[100, 100, 113, 113, 113, 113, 113, 113]);
        assert_eq!(answers, [(2, Advice::Growth(0.25)), (7, Advice::Ssthresh(20_000.0))]);
    }

    #[test]
    fn a_round_is_judged_from_its_eighth_sample_on() {
        // RFC 9406 §4.2: rttSampleCount >= N_RTT_SAMPLE, which is 8.
        assert_eq!(answers_to(7, &[100, 120, 140]), []);
        assert_eq!(answers_to(8, &[100, 120]), [(1, Advice::Growth(0.25))]);
    }

    #[test]
    fn less_growth_than_the_threshold_changes_nothing() {
        assert_eq!(answers(&[100, 112, 124, 136]), []);
    }

    #[test]
    fn a_round_trip_below_the_one_that_began_it_brings_slow_start_back() {
        assert_eq!(answers(&[100, 120, 101]), [(1, Advice::Growth(0.25)), (2, Advice::Growth(1.0))]);
    }
}
