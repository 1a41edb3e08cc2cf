//! Vegas: the window follows the number of the sender's own segments in the queue.
//!
//! Source: Brakmo & Peterson 1995 §3; ns-2.35's `Agent/TCP/Vegas` for details that the paper leaves open.
//!
//! Idea: the window should deliver a certain amount at the smallest RTT; the difference from the amount really delivered is
//! waiting in a queue. Keep it between `alpha` and `beta` segments. Slow start grows only every other round trip, so that the
//! rounds between can be compared.
//!
//! | source | here |
//! | --- | --- |
//! | BaseRTT | `base_rtt` |
//! | Expected, Actual, Diff · BaseRTT | `waiting()`, in segments |
//! | alpha, beta, gamma | the same, in segments |
//! | the cut by a quarter | `on_loss`, for data sent once and after the last cut; resent data halves the window |
//!
//! Departures: the fine-grained timeouts are [`crate::detect::vegas`].
//! Unsaid: whether anything besides `gamma` ends slow start. Here: a threshold known beforehand, as with every `startup`.

use super::{Congestion, Cut, LossEvent};
use crate::error::StackError;
use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VegasSpec {
    /// The window opens below this many queued segments. Default: 1.
    pub alpha: f64,
    /// The window closes above this many queued segments; not below `alpha`. Default: 3.
    pub beta: f64,
    /// Slow start ends above this many queued segments. Default: 1.
    pub gamma: f64,
}

impl Default for VegasSpec {
    fn default() -> Self {
        VegasSpec { alpha: 1.0, beta: 3.0, gamma: 1.0 }
    }
}

impl VegasSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        StackError::unless(self.alpha >= 0.0, "congestion.alpha", &self.alpha, "0 segments or more")?;
        let allowed = format!("not below congestion.alpha, which is {}", self.alpha);
        StackError::unless(self.beta >= self.alpha, "congestion.beta", &self.beta, &allowed)?;
        StackError::unless(self.gamma >= 0.0, "congestion.gamma", &self.gamma, "0 segments or more")
    }
}

/// Vegas at work.
pub struct Vegas {
    spec: VegasSpec,
    base_rtt: Option<Nanos>,
    /// The round ends when this offset is acknowledged; `None` before the first round.
    round_end: Option<Offset>,
    /// Outstanding bytes and the end of the data sent, both at the start of the round.
    flight: Bytes,
    sent: Offset,
    rtt_sum: u64,
    rtt_count: u64,
    /// Slow start opens the window in this round.
    opens: bool,
    cut_at: Option<Time>,
}

impl Vegas {
    pub(super) fn new(spec: &VegasSpec) -> Self {
        Vegas {
            spec: spec.clone(),
            base_rtt: None,
            round_end: None,
            flight: 0,
            sent: Offset::DATA,
            rtt_sum: 0,
            rtt_count: 0,
            opens: true,
            cut_at: None,
        }
    }

    /// Diff · BaseRTT: the segments of the past round that were queued.
    fn waiting(&self, cx: &Ctx) -> Option<f64> {
        let base = self.base_rtt?.0 as f64;
        let rtt = (self.rtt_count > 0).then(|| self.rtt_sum as f64 / self.rtt_count as f64)?;
        let sent = (cx.snd_max - self.sent) as f64 / cx.smss();
        Some(self.flight as f64 / cx.smss() - sent * base / rtt)
    }

    /// Called once per round trip.
    fn judge(&mut self, w: &mut Window, cx: &Ctx) {
        let smss = cx.smss();
        if let Some(waiting) = self.waiting(cx) {
            if w.cwnd < w.ssthresh {
                if waiting > self.spec.gamma {
                    w.cwnd = (w.cwnd - w.cwnd / 8.0).max(2.0 * smss);
                    w.ssthresh = w.cwnd;
                }
            } else if waiting > self.spec.beta {
                w.cwnd = (w.cwnd - smss).max(2.0 * smss);
            } else if waiting < self.spec.alpha {
                w.cwnd += smss;
            }
        }
        self.opens = !self.opens;
        (self.rtt_sum, self.rtt_count) = (0, 0);
        (self.round_end, self.flight, self.sent) = (Some(cx.snd_max), cx.flight(), cx.snd_max);
    }
}

impl Congestion for Vegas {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        if let Some(rtt) = ack.rtt {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |b| b.min(rtt)));
            self.rtt_sum += rtt.0;
            self.rtt_count += 1;
        }
        if w.cwnd < w.ssthresh && self.opens {
            w.cwnd += cx.smss();
        }
        if self.round_end.is_none_or(|end| ack.ack >= end) {
            self.judge(w, cx);
        }
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        let two = 2.0 * cx.smss();
        if l.repeated {
            return Cut { ssthresh: w.ssthresh, cwnd: w.cwnd };
        }
        if l.cause == Cause::Rto {
            return Cut { ssthresh: (w.cwnd / 2.0).max(two), cwnd: two };
        }
        if self.cut_at.is_some_and(|at| l.sent_at <= at) {
            return Cut { ssthresh: w.cwnd, cwnd: w.cwnd };
        }
        self.cut_at = Some(cx.now);
        let share = if l.sends > 1 { 0.5 } else { 0.75 };
        let cut = (w.cwnd * share).max(two);
        Cut { ssthresh: cut, cwnd: cut }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{context, loss, whole};
    use super::*;

    /// The window, in segments, after a round of ten in congestion avoidance with this RTT over a path of 100 ms.
    fn after_a_round(rtt_ms: u64) -> f64 {
        let mut v = Vegas::new(&VegasSpec::default());
        let mut w = Window { cwnd: 10_000.0, ssthresh: 10_000.0 };
        (v.base_rtt, v.flight, v.round_end) = (Some(Nanos::from_millis(100)), 10_000, Some(Offset(10_001)));
        let rtt = Some(Nanos::from_millis(rtt_ms));
        let ack = AckEvent { prior_una: Offset(1), ack: Offset(10_001), rtt, ..crate::testing::blank() };
        v.on_ack(&ack, &mut w, &Ctx { snd_max: Offset(10_001), ..context() });
        w.cwnd / 1000.0
    }

    #[test]
    fn the_window_opens_below_alpha_stays_between_and_closes_above_beta() {
        // Ten segments in an RTT of r ms: 10 - 10 · 100 / r are queued.
        for (rtt, cwnd) in [(100, 11.0), (110, 11.0), (125, 10.0), (142, 10.0), (144, 9.0), (200, 9.0)] {
            assert_eq!(after_a_round(rtt), cwnd, "{rtt} ms");
        }
    }

    #[test]
    fn slow_start_ends_with_an_eighth_less_when_more_than_gamma_waits() {
        // Brakmo & Peterson §3.3: the queue of ten segments at 144 ms is 3 segments, at 105 ms half a segment.
        for (rtt_ms, cwnd, ssthresh) in [(144, 8750.0, 8750.0), (105, 10_000.0, 1e9)] {
            let mut v = Vegas::new(&VegasSpec::default());
            let mut w = Window { cwnd: 10_000.0, ssthresh: 1e9 };
            (v.base_rtt, v.flight, v.opens) = (Some(Nanos::from_millis(100)), 10_000, false);
            v.round_end = Some(Offset(10_001));
            let rtt = Some(Nanos::from_millis(rtt_ms));
            let ack = AckEvent { prior_una: Offset(1), ack: Offset(10_001), rtt, ..crate::testing::blank() };
            v.on_ack(&ack, &mut w, &Ctx { snd_max: Offset(10_001), ..context() });
            assert_eq!((w.cwnd, w.ssthresh), (cwnd, ssthresh), "{rtt_ms} ms");
        }
    }

    #[test]
    fn slow_start_opens_every_other_round() {
        let mut v = Vegas::new(&VegasSpec::default());
        let mut w = Window { cwnd: 2000.0, ssthresh: 1e9 };
        let (mut una, rtt) = (1, Some(Nanos::from_millis(100)));
        // Growth per round, in segments.
        let mut grown = vec![0.0];
        for _ in 0..40 {
            let (round, before) = (v.round_end, w.cwnd);
            let ack = AckEvent { prior_una: Offset(una), ack: Offset(una + 1000), rtt, ..crate::testing::blank() };
            una += 1000;
            let cx = Ctx { snd_una: Offset(una), snd_max: Offset(una + w.cwnd as u64), ..context() };
            v.on_ack(&ack, &mut w, &cx);
            *grown.last_mut().expect("one round") += (w.cwnd - before) / 1000.0;
            if v.round_end != round {
                grown.push(0.0);
            }
        }
        assert_eq!(grown[..5], [1.0, 0.0, 3.0, 0.0, 6.0]);
    }

    #[test]
    fn a_loss_takes_a_quarter_one_of_resent_data_half_and_what_was_sent_before_the_cut_nothing() {
        let mut v = Vegas::new(&VegasSpec::default());
        let at = |ms: u64| Ctx { now: Time(ms * 1_000_000), ..context() };
        let l = |ms: u64, sends| LossEvent { sent_at: Time(ms * 1_000_000), sends, ..loss(Cause::Fast, 20) };
        assert_eq!(v.on_loss(&l(50, 1), &whole(20.0), &at(100)).cwnd, 15_000.0);
        assert_eq!(v.on_loss(&l(90, 1), &whole(15.0), &at(110)).cwnd, 15_000.0);
        assert_eq!(v.on_loss(&l(120, 2), &whole(15.0), &at(200)).cwnd, 7500.0);
    }
}
