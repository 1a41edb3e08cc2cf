//! CUBIC as in Linux in 2008 and in Fukuda's simulations: whole segments, and a count of ACKs.
//!
//! Source: Fukuda, Nobayashi & Ikenaga 2018 eq. 1 to 3; Ha, Rhee & Xu 2008; the ns-3 port of Levasseur and others (2014).
//!
//! Idea: as [`super::cubic`]; between two ACKs that each open the window by one segment, `cnt` others must arrive.
//!
//! | source | here |
//! | --- | --- |
//! | beta / 1024, C | `beta_1024`, `c` |
//! | last_max, K, origin (bic_origin_point), cnt, cwnd_cnt | the same, in segments and seconds |
//! | delay_min | `cx.min_rtt` |
//! | tcp_cwnd, ack_cnt (friendliness) | `tcp_cwnd`, `ack_cnt` |
//!
//! Departures: K and the target are computed with real numbers, and the target is rounded down to whole segments where the source
//! has integers.
//! Unsaid: Fukuda does not say whether friendliness, HyStart or the ceiling of cnt were on. Friendliness and ceiling are off by
//! default; HyStart is a `startup` of its own.

use super::{CcUndo, Congestion, Cut, LossEvent};
use crate::error::StackError;
use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::time::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bound of `cnt` before the first loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstCount {
    /// Nothing.
    #[default]
    Free,
    /// `cnt` is 50 (Linux before 2.6.25, ns-2's copy).
    Fifty,
    /// At most 20 (Linux since).
    AtMostTwenty,
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cubic2008Spec {
    /// Factor by which a loss multiplies the window, in 1024ths, 1 to 1023. Default: 819 (0.8: Fukuda, Nobayashi & Ikenaga 2018
    /// eq. 1).
    pub beta_1024: u32,
    /// How fast the cubic rises, in segments per second cubed. Default: 0.4.
    pub c: f64,
    /// Aims lower after a second reduction. Default: yes.
    pub fast_convergence: bool,
    /// Never grows more slowly than additive increase with the same factor. Default: no.
    pub friendliness: bool,
    /// Bound of `cnt` before the first loss. Default: "free".
    pub first_count: FirstCount,
    /// Limits growth beyond K to 16 segments in 100 ms (early Linux). Default: no.
    pub limit_rate: bool,
}

impl Default for Cubic2008Spec {
    fn default() -> Self {
        Cubic2008Spec {
            beta_1024: 819,
            c: 0.4,
            fast_convergence: true,
            friendliness: false,
            first_count: FirstCount::Free,
            limit_rate: false,
        }
    }
}

impl Cubic2008Spec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let share = (1..1024).contains(&self.beta_1024);
        StackError::unless(share, "congestion.beta_1024", &self.beta_1024, "1 to 1023")?;
        let rises = self.c > 0.0 && self.c.is_finite();
        StackError::unless(rises, "congestion.c", &self.c, "more than 0 segments/s³")
    }
}

/// CUBIC of 2008 at work.
pub struct Cubic2008 {
    spec: Cubic2008Spec,
    /// 0 before the first loss and after a timeout, as in Linux. Linux's integers also give 0 for a cut at one segment; the path
    /// then counts as unknown again, there as here.
    last_max: u32,
    k: f64,
    origin: u32,
    epoch: Option<Time>,
    cwnd_cnt: f64,
    tcp_cwnd: u32,
    ack_cnt: f64,
}

/// The integer part; no value here is negative.
fn whole_part(x: f64) -> f64 {
    x as i64 as f64
}

impl Cubic2008 {
    pub(super) fn new(spec: &Cubic2008Spec) -> Self {
        Cubic2008 {
            spec: spec.clone(),
            last_max: 0,
            k: 0.0,
            origin: 0,
            epoch: None,
            cwnd_cnt: 0.0,
            tcp_cwnd: 0,
            ack_cnt: 0.0,
        }
    }

    fn begin(&mut self, now: Time, cwnd: u32) {
        let above = self.last_max.saturating_sub(cwnd);
        self.k = libm::cbrt(f64::from(above) / self.spec.c);
        self.origin = self.last_max.max(cwnd);
        (self.epoch, self.ack_cnt, self.tcp_cwnd) = (Some(now), 0.0, cwnd);
    }

    /// How many ACKs open a window of `cwnd` segments by one; `t` is the time since the epoch, one round trip ahead.
    fn count(&mut self, t: f64, min_rtt: f64, cwnd: u32) -> f64 {
        let (x, window) = (t - self.k, f64::from(cwnd));
        let target = whole_part(f64::from(self.origin) + self.spec.c * x * x * x);
        // Eq. 2 and 3.
        let mut cnt = if target > window { whole_part(window / (target - window)) } else { 100.0 * window };
        if self.spec.limit_rate && x >= 0.0 {
            cnt = cnt.max(whole_part(window / (160.0 * min_rtt).max(1e-9)));
        }
        if self.last_max == 0 {
            match self.spec.first_count {
                FirstCount::Free => {}
                FirstCount::Fifty => cnt = 50.0,
                FirstCount::AtMostTwenty => cnt = cnt.min(20.0),
            }
        }
        if self.spec.friendliness {
            cnt = cnt.min(self.friendly(cwnd));
        }
        cnt.max(1.0)
    }

    /// The count that keeps up with additive increase.
    fn friendly(&mut self, cwnd: u32) -> f64 {
        let beta = f64::from(self.spec.beta_1024);
        let per_segment = whole_part(f64::from(cwnd) * (1024.0 + beta) / (3.0 * (1024.0 - beta)));
        self.ack_cnt += 1.0;
        while self.ack_cnt > per_segment {
            self.ack_cnt -= per_segment.max(1.0);
            self.tcp_cwnd += 1;
        }
        match self.tcp_cwnd.checked_sub(cwnd) {
            None | Some(0) => f64::INFINITY,
            Some(ahead) => whole_part(f64::from(cwnd) / f64::from(ahead)),
        }
    }
}

impl Congestion for Cubic2008 {
    fn on_ack(&mut self, _: &AckEvent, w: &mut Window, cx: &Ctx) {
        let smss = cx.smss();
        if w.cwnd < w.ssthresh {
            w.cwnd += smss;
            return;
        }
        let cwnd = (w.cwnd / smss) as u32;
        if self.epoch.is_none() {
            self.begin(cx.now, cwnd);
        }
        let min_rtt = cx.min_rtt.unwrap_or_default().as_secs_f64();
        let t = cx.now.since(self.epoch.unwrap_or(cx.now)).as_secs_f64() + min_rtt;
        let cnt = self.count(t, min_rtt, cwnd);
        if self.cwnd_cnt >= cnt {
            w.cwnd += smss;
            self.cwnd_cnt = 0.0;
        } else {
            self.cwnd_cnt += 1.0;
        }
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        if l.repeated {
            // bictcp_state: each entry into Loss forgets the curve.
            *self = Cubic2008::new(&self.spec);
            return Cut { ssthresh: w.ssthresh, cwnd: w.cwnd };
        }
        let (cwnd, beta) = ((w.cwnd / cx.smss()) as u32, self.spec.beta_1024);
        let converge = self.spec.fast_convergence && cwnd < self.last_max;
        self.last_max = if converge { (u64::from(cwnd) * u64::from(1024 + beta) / 2048) as u32 } else { cwnd };
        self.epoch = None;
        // Eq. 1, in whole segments.
        let cut = f64::from(((u64::from(cwnd) * u64::from(beta) / 1024) as u32).max(2)) * cx.smss();
        if l.cause == Cause::Rto {
            *self = Cubic2008::new(&self.spec);
        }
        Cut { ssthresh: cut, cwnd: cut }
    }
    fn save(&self) -> CcUndo {
        CcUndo { num: [f64::from(self.last_max), self.k, f64::from(self.origin), self.cwnd_cnt], at: self.epoch }
    }
    fn restore(&mut self, u: &CcUndo) {
        let [last_max, k, origin, cwnd_cnt] = u.num;
        (self.last_max, self.k, self.origin) = (last_max as u32, k, origin as u32);
        (self.cwnd_cnt, self.epoch) = (cwnd_cnt, u.at);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{context, loss, whole};
    use super::*;

    #[test]
    fn fourteen_losses_in_a_row_lead_from_100_segments_to_2() {
        let mut c = Cubic2008::new(&Cubic2008Spec::default());
        let (mut w, mut chain) = (whole(100.0), vec![]);
        for _ in 0..15 {
            w.cwnd = c.on_loss(&loss(Cause::Fast, 1), &w, &context()).cwnd;
            chain.push((w.cwnd / 1000.0) as u32);
        }
        assert_eq!(chain, [79, 63, 50, 39, 31, 24, 19, 15, 11, 8, 6, 4, 3, 2, 2]);
    }

    #[test]
    fn k_is_the_time_to_the_last_maximum() {
        for (cwnd, k) in [(80, 3.684_031), (70, 4.217_163)] {
            let mut c = Cubic2008::new(&Cubic2008Spec::default());
            c.last_max = 100;
            c.begin(Time(0), cwnd);
            assert!((c.k - k).abs() < 1e-6, "{}", c.k);
        }
    }

    #[test]
    fn on_the_target_the_window_takes_a_hundred_windows_of_acks_to_open() {
        let mut c = Cubic2008::new(&Cubic2008Spec::default());
        c.last_max = 80;
        c.begin(Time(0), 80);
        assert_eq!(c.count(0.0, 0.1, 80), 8000.0);
    }

    #[test]
    fn below_the_target_the_window_opens_after_window_over_distance_acks() {
        // Eq. 2 and 3: at K the target is the last maximum, 20 segments above the window.
        let mut c = Cubic2008::new(&Cubic2008Spec::default());
        c.last_max = 100;
        c.begin(Time(0), 80);
        assert_eq!(c.count(c.k, 0.1, 80), 4.0);
    }

    #[test]
    fn with_a_limit_the_window_opens_by_at_most_16_segments_in_100_ms_beyond_k() {
        let mut c = Cubic2008::new(&Cubic2008Spec { limit_rate: true, ..Cubic2008Spec::default() });
        c.last_max = 100;
        c.begin(Time(0), 80);
        // 100 ACKs a round trip of 100 ms: one segment for 6 ACKs.
        assert_eq!(c.count(c.k + 60.0, 0.1, 100), 6.0);
        assert_eq!(c.count(c.k - 1.0, 0.1, 80), 4.0, "not before K");
    }

    #[test]
    fn the_friendly_window_gains_a_segment_for_each_count_of_additive_increase() {
        // Linux: a segment for (1024 + β) / (3 (1024 − β)) windows of ACKs, 2.996… here; the rest of a count is kept.
        let mut c = Cubic2008::new(&Cubic2008Spec { friendliness: true, ..Cubic2008Spec::default() });
        c.begin(Time(0), 100);
        let mut after = |acks: u32| {
            let last = (0..acks).map(|_| c.friendly(100)).last();
            (c.tcp_cwnd, last)
        };
        assert_eq!(after(299), (100, Some(f64::INFINITY)));
        assert_eq!(after(1), (101, Some(100.0)));
        assert_eq!(after(298), (101, Some(100.0)));
        assert_eq!(after(1), (102, Some(50.0)));
    }

    #[test]
    fn the_target_is_the_window_one_round_trip_later() {
        // With an RTT of 5 s and K = 0 the target is 0.4 · 5³ = 50 segments above 100: one segment for two ACKs.
        let mut c = Cubic2008::new(&Cubic2008Spec::default());
        let mut w = whole(100.0);
        let min_rtt = Some(crate::time::Nanos::from_secs(5));
        for want in [100, 100, 101] {
            c.on_ack(&crate::testing::blank(), &mut w, &Ctx { min_rtt, ..context() });
            assert_eq!(w.cwnd, f64::from(want * 1000));
        }
    }

    #[test]
    fn an_undo_takes_back_what_a_loss_changed() {
        let mut c = Cubic2008::new(&Cubic2008Spec::default());
        c.last_max = 100;
        c.begin(Time(7), 80);
        c.cwnd_cnt = 5.0;
        let (kept, k) = (c.save(), c.k);
        c.on_loss(&loss(Cause::Rto, 80), &whole(80.0), &context());
        c.restore(&kept);
        assert_eq!((c.last_max, c.k, c.origin, c.cwnd_cnt, c.epoch), (100, k, 100, 5.0, Some(Time(7))));
    }

    #[test]
    fn before_the_first_loss_the_versions_bound_the_count_differently() {
        for (first_count, want) in
            [(FirstCount::Free, 8000.0), (FirstCount::Fifty, 50.0), (FirstCount::AtMostTwenty, 20.0)]
        {
            let mut c = Cubic2008::new(&Cubic2008Spec { first_count, ..Cubic2008Spec::default() });
            c.begin(Time(0), 80);
            assert_eq!(c.count(0.0, 0.1, 80), want);
        }
    }

    #[test]
    fn a_timeout_forgets_the_maximum() {
        let mut c = Cubic2008::new(&Cubic2008Spec::default());
        let cut = c.on_loss(&loss(Cause::Rto, 100), &whole(100.0), &context());
        assert_eq!((cut.ssthresh, c.last_max), (79_000.0, 0));
    }

    #[test]
    fn a_timeout_that_repeats_forgets_the_curve_that_was_begun_between() {
        // bictcp_state: each entry into Loss calls bictcp_reset.
        let mut c = Cubic2008::new(&Cubic2008Spec::default());
        c.on_loss(&loss(Cause::Rto, 100), &whole(100.0), &context());
        c.begin(Time(0), 50);
        let cut = c.on_loss(&LossEvent { repeated: true, ..loss(Cause::Rto, 50) }, &whole(50.0), &context());
        assert_eq!((cut.cwnd, c.epoch, c.last_max, c.origin), (50_000.0, None, 0, 0));
    }
}
