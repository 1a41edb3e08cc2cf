//! CUBIC: the window is a cubic function of the time since the last cut.
//!
//! Source: RFC 9438 §4.2 to §4.9; Ha, Rhee & Xu 2008.
//!
//! Idea: after a cut the window rises fast towards its old size, stays near it for a while, and then probes for more. It is never
//! slower than additive increase.
//!
//! | RFC 9438 | here, in segments |
//! | --- | --- |
//! | W_max, K, W_est, cwnd_prior | `w_max`, `k`, `w_est`, `cwnd_prior` |
//! | t_epoch | `epoch`, shifted by application-limited time (§5.8) |
//! | beta_cubic, C, alpha_cubic | `beta`, `c`, `3 (1 − beta) / (1 + beta)` |
//! | segments_acked | segments that the ACK acknowledges cumulatively |
//!
//! Departures: slow start counts ACKs, as [`super::aimd`] does. A window above W_max at the start of an epoch becomes W_max
//! with K = 0 (Linux; the RFC is silent).
//! Unsaid: how much is restored by an undo that only raises the threshold. Here: the earlier state, except the window (§4.9.2).

use super::{CcUndo, Congestion, Cut, CutFrom, LossEvent};
use crate::error::StackError;
use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::time::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CubicSpec {
    /// Factor by which a loss multiplies the window, above 0 and below 1. Default: 0.7 (RFC 9438 §4.6).
    pub beta: f64,
    /// How fast the cubic rises, in segments per second cubed. Default: 0.4 (RFC 9438 §5.1).
    pub c: f64,
    /// Make room for new flows by aiming lower after a second cut (RFC 9438 §4.7). Default: yes.
    pub fast_convergence: bool,
    /// The quantity that a loss cuts. Default: "flight" (RFC 9438 §4.6).
    pub cut_from: CutFrom,
    /// Grow only while the window limits sending (RFC 9438 §5.8). Default: yes.
    pub only_if_limited: bool,
}

impl Default for CubicSpec {
    fn default() -> Self {
        CubicSpec { beta: 0.7, c: 0.4, fast_convergence: true, cut_from: CutFrom::Flight, only_if_limited: true }
    }
}

impl CubicSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let share = self.beta > 0.0 && self.beta < 1.0;
        StackError::unless(share, "congestion.beta", &self.beta, "above 0 and below 1")?;
        let rises = self.c > 0.0 && self.c.is_finite();
        StackError::unless(rises, "congestion.c", &self.c, "more than 0 segments/s³")
    }
}

/// CUBIC at work.
pub struct Cubic {
    spec: CubicSpec,
    w_max: f64,
    k: f64,
    w_est: f64,
    /// `None` before the first congestion avoidance.
    cwnd_prior: Option<f64>,
    alpha: f64,
    epoch: Option<Time>,
    /// The last ACK in congestion avoidance.
    last: Time,
    after_timeout: bool,
}

impl Cubic {
    pub(super) fn new(spec: &CubicSpec) -> Self {
        Cubic {
            spec: spec.clone(),
            w_max: 0.0,
            k: 0.0,
            w_est: 0.0,
            cwnd_prior: None,
            alpha: 1.0,
            epoch: None,
            last: Time(0),
            after_timeout: false,
        }
    }

    /// §4.2, §4.3, §4.8: congestion avoidance begins with a window of `cwnd` segments.
    fn begin(&mut self, now: Time, cwnd: f64) {
        let first = self.cwnd_prior.is_none();
        self.cwnd_prior.get_or_insert(cwnd);
        if first || self.after_timeout || cwnd > self.w_max {
            self.w_max = cwnd;
        }
        self.k = libm::cbrt((self.w_max - cwnd) / self.spec.c);
        self.alpha = 3.0 * (1.0 - self.spec.beta) / (1.0 + self.spec.beta);
        (self.epoch, self.last, self.w_est, self.after_timeout) = (Some(now), now, cwnd, false);
    }

    /// W_cubic(t), §4.2 figure 1.
    fn w(&self, t: f64) -> f64 {
        let x = t - self.k;
        self.spec.c * x * x * x + self.w_max
    }

    /// §4.3 to §4.5: the window, in segments, after an ACK of `segs` segments.
    fn avoid(&mut self, t: f64, srtt: f64, cwnd: f64, segs: f64) -> f64 {
        self.w_est += self.alpha * segs / cwnd;
        if self.cwnd_prior.is_some_and(|prior| self.w_est >= prior) {
            self.alpha = 1.0;
        }
        if self.w(t) < self.w_est {
            return self.w_est.max(cwnd);
        }
        let target = self.w(t + srtt).clamp(cwnd, 1.5 * cwnd);
        cwnd + (target - cwnd) / cwnd
    }
}

impl Congestion for Cubic {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        let smss = cx.smss();
        let idle = cx.now.since(std::mem::replace(&mut self.last, cx.now));
        if self.spec.only_if_limited && !cx.cwnd_limited {
            // §5.8: time without a full window does not count for the cubic.
            self.epoch = self.epoch.map(|at| at + idle);
            return;
        }
        if w.cwnd < w.ssthresh {
            w.cwnd += smss;
            return;
        }
        let cwnd = w.cwnd / smss;
        if self.epoch.is_none() {
            self.begin(cx.now, cwnd);
        }
        let t = cx.now.since(self.epoch.unwrap_or(cx.now)).as_secs_f64();
        let srtt = cx.srtt.unwrap_or_default().as_secs_f64();
        w.cwnd = self.avoid(t, srtt, cwnd, ack.acked() as f64 / smss) * smss;
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        if l.repeated {
            // §4.8: congestion avoidance may have been reached since the timer last fired. It begins anew all the same.
            (self.epoch, self.after_timeout) = (None, true);
            return Cut { ssthresh: w.ssthresh, cwnd: w.cwnd };
        }
        let (smss, cwnd) = (cx.smss(), w.cwnd / cx.smss());
        let converge = self.spec.fast_convergence && cwnd < self.w_max;
        self.w_max = if converge { cwnd * (1.0 + self.spec.beta) / 2.0 } else { cwnd };
        (self.cwnd_prior, self.epoch, self.after_timeout) = (Some(cwnd), None, l.cause == Cause::Rto);
        let base = match self.spec.cut_from {
            CutFrom::Flight => l.flight as f64,
            CutFrom::Pipe => l.pipe as f64,
            CutFrom::Window => w.cwnd,
        };
        let cut = base * self.spec.beta;
        // §4.6: at least two segments after a loss, one after a mark.
        let floor = if l.cause == Cause::Ecn { smss } else { 2.0 * smss };
        Cut { ssthresh: cut.max(2.0 * smss), cwnd: cut.max(floor) }
    }
    fn save(&self) -> CcUndo {
        // No window is zero, so a saved zero means that there was none. It is never used in a calculation.
        CcUndo { num: [self.cwnd_prior.unwrap_or(0.0), self.w_max, self.k, self.w_est], at: self.epoch }
    }
    fn restore(&mut self, u: &CcUndo) {
        let prior;
        [prior, self.w_max, self.k, self.w_est] = u.num;
        self.cwnd_prior = (prior > 0.0).then_some(prior);
        (self.epoch, self.after_timeout) = (u.at, false);
    }
    fn on_restart(&mut self) {
        // §4.8: the cubic's clock starts when slow start has ended.
        self.epoch = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{context, loss, whole};
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn the_cubic_starts_at_the_cut_passes_w_max_at_k_and_continues() {
        let mut c = Cubic::new(&CubicSpec::default());
        (c.w_max, c.cwnd_prior) = (100.0, Some(100.0));
        c.begin(Time(0), 70.0);
        assert!(near(c.k, 4.217_163), "{}", c.k);
        for (t, want) in [(0.0, 70.0), (1.0, 86.680_764), (2.0, 95.640_336), (4.0, 99.995_903), (6.0, 102.266_703)] {
            assert!(near(c.w(t), want), "W({t}) = {}", c.w(t));
        }
    }

    #[test]
    fn above_the_estimate_the_window_grows_towards_the_cubic_one_round_trip_later() {
        // §4.2: target is W_cubic(t + RTT); §4.4: (target − cwnd) / cwnd.
        let mut c = Cubic::new(&CubicSpec::default());
        (c.w_max, c.cwnd_prior) = (100.0, Some(100.0));
        c.begin(Time(0), 70.0);
        assert!(near(c.avoid(1.0, 1.0, 80.0, 0.0), 80.0 + (95.640_336 - 80.0) / 80.0));
    }

    #[test]
    fn only_below_the_estimate_the_window_follows_the_estimate() {
        // §4.3: "less than W_est". Here both are 64 segments, and the cubic is at 64.4 a round trip later.
        let mut c = Cubic::new(&CubicSpec::default());
        c.begin(Time(0), 64.0);
        assert!(near(c.avoid(0.0, 1.0, 64.0, 0.0), 64.0 + 0.4 / 64.0));
    }

    #[test]
    fn after_idle_time_the_cubic_begins_again() {
        // §4.8: its clock starts when slow start has ended.
        let after = |restarts: bool| {
            let mut c = Cubic::new(&CubicSpec { only_if_limited: false, ..CubicSpec::default() });
            c.on_loss(&loss(Cause::Fast, 100), &whole(100.0), &context());
            let ack =
                AckEvent { ack: crate::seq::Offset(1001), prior_una: crate::seq::Offset(1), ..crate::testing::blank() };
            let mut at = |now: u64| {
                let mut w = whole(70.0);
                c.on_ack(&ack, &mut w, &Ctx { now: Time(now), ..context() });
                if restarts {
                    c.on_restart();
                }
                w.cwnd
            };
            (at(0), at(60_000_000_000))
        };
        let (first, later) = after(true);
        assert_eq!(first, later);
        let (first, later) = after(false);
        assert!(later > first, "without a restart a minute counts");
    }

    #[test]
    fn fast_convergence_aims_lower_and_an_undo_takes_all_of_it_back() {
        let mut c = Cubic::new(&CubicSpec::default());
        (c.w_max, c.cwnd_prior, c.k) = (100.0, Some(90.0), 3.0);
        let kept = c.save();
        let cut = c.on_loss(&loss(Cause::Fast, 80), &whole(80.0), &context());
        assert!(near(c.w_max, 68.0) && near(c.cwnd_prior.unwrap(), 80.0));
        assert!(near(cut.ssthresh, 56_000.0) && near(cut.cwnd, 56_000.0));
        c.restore(&kept);
        assert_eq!((c.w_max, c.cwnd_prior, c.k, c.epoch), (100.0, Some(90.0), 3.0, None));
    }

    #[test]
    fn after_a_timeout_the_cubic_begins_flat_at_the_window_that_slow_start_reached() {
        let mut c = Cubic::new(&CubicSpec::default());
        c.on_loss(&loss(Cause::Rto, 80), &whole(80.0), &context());
        c.begin(Time(0), 56.0);
        assert_eq!((c.k, c.w_max, c.w_est), (0.0, 56.0, 56.0));
    }

    #[test]
    fn a_timeout_that_repeats_begins_the_cubic_anew_though_congestion_avoidance_lay_between() {
        // §4.8: K is 0, and W_max and W_est are the window at the beginning of the stage after the second timeout.
        let mut c = Cubic::new(&CubicSpec::default());
        c.on_loss(&loss(Cause::Rto, 80), &whole(80.0), &context());
        c.begin(Time(0), 56.0);
        let again = LossEvent { repeated: true, ..loss(Cause::Rto, 56) };
        let cut = c.on_loss(&again, &Window { cwnd: 56_000.0, ssthresh: 2_000.0 }, &context());
        assert_eq!((cut.ssthresh, c.epoch), (2_000.0, None));
        c.begin(Time(9_000_000_000), 2.0);
        assert_eq!((c.k, c.w_max, c.w_est), (0.0, 2.0, 2.0));
    }

    #[test]
    fn it_never_grows_slower_than_additive_increase_with_its_own_factor() {
        // §4.3: after a cut from 20 to 14 segments, with an RTT of 20 ms, the cubic is flat for seconds.
        let mut c = Cubic::new(&CubicSpec { only_if_limited: false, ..CubicSpec::default() });
        c.on_loss(&loss(Cause::Fast, 20), &whole(20.0), &context());
        let mut w = Window { cwnd: 14_000.0, ssthresh: 14_000.0 };
        let ack =
            AckEvent { ack: crate::seq::Offset(1001), prior_una: crate::seq::Offset(1), ..crate::testing::blank() };
        for round in 0..10 {
            for _ in 0..(w.cwnd / 1000.0) as u32 {
                let now = Time(round * 20_000_000);
                c.on_ack(&ack, &mut w, &Ctx { now, srtt: Some(crate::time::Nanos::from_millis(20)), ..context() });
            }
        }
        let grown = w.cwnd / 1000.0 - 14.0;
        assert!(grown > 0.9 * 10.0 * 0.529 && grown < 10.0, "{grown}");
    }

    #[test]
    fn a_mark_may_bring_the_window_to_one_segment_and_the_threshold_to_two() {
        let mut c = Cubic::new(&CubicSpec::default());
        let cut = c.on_loss(&loss(Cause::Ecn, 1), &whole(1.0), &context());
        assert_eq!((cut.ssthresh, cut.cwnd), (2000.0, 1000.0));
    }

    /// The window after a cut from 100 segments to 70 and ACKs at these times in ms; the flag says whether the window limited
    /// sending.
    fn grown(acks: &[(u64, bool)]) -> f64 {
        let mut c = Cubic::new(&CubicSpec::default());
        c.on_loss(&loss(Cause::Fast, 100), &whole(100.0), &context());
        let mut w = whole(70.0);
        let (ack, prior_una) = (crate::seq::Offset(1001), crate::seq::Offset(1));
        let ack = AckEvent { ack, prior_una, ..crate::testing::blank() };
        for &(at, cwnd_limited) in acks {
            let srtt = Some(crate::time::Nanos::from_millis(100));
            c.on_ack(&ack, &mut w, &Ctx { now: Time(at * 1_000_000), srtt, cwnd_limited, ..context() });
        }
        w.cwnd / 1000.0
    }

    #[test]
    fn time_in_which_the_application_limits_sending_is_no_time_of_the_cubic() {
        // RFC 9438 §5.8.
        assert_eq!(grown(&[(0, true), (5000, false), (6000, true)]), grown(&[(0, true), (1000, true)]));
        assert!(grown(&[(0, true), (6000, true)]) > grown(&[(0, true), (1000, true)]));
    }

    #[test]
    fn the_target_is_at_most_half_a_window_above_the_window() {
        // RFC 9438 §4.2: 1.5 · cwnd; §4.4: (target − cwnd) / cwnd for each ACK, so half a segment.
        let first = grown(&[(0, true)]);
        assert!(near(grown(&[(0, true), (60_000, true)]), first + 0.5));
    }
}
