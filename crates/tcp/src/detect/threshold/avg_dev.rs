//! AVG-DEV: the threshold is a running average of reordering lengths plus a share of their deviation, below two bounds.
//!
//! Source: Leung & Ma 2005 §III, eqs. 1 to 14; §IV-D: always below the window.
//!
//! Idea: an average with its deviation decays slowly and leaves room for a longer event. The bounds keep a lost segment from
//! waiting until the timer fires. A timeout shrinks average and deviation instead of resetting them.
//!
//! | source | here |
//! | --- | --- |
//! | α, β, λ, γ, C1, C2 | `alpha`, `beta`, `lambda`, `gamma`, `c1`, `c2` (Table 1) |
//! | r | D + 1, with D = `sample.dupacks` |
//! | avg, mdev | `avg`, `mdev` |
//! | dupthresh_ub_f, dupthresh_tmo | `time_bound`, `timeout_bound` |
//! | RTO, RTT | `cx.rto` (without back-off), `cx.srtt` |
//!
//! Departures: eq. 11 is ignored where it gives less than three, which is whenever RTO/RTT is below 2.86; a timeout sets its
//! bound only if it interrupted a count under a threshold above three (decision 0046).
//! Unsaid: the start (avg 3, mdev 0), whether r counts the ACK that fills the hole (yes), a floor (3). Figure 1 is lost.

use super::{DupThresh, Learner};
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::reorder::ReorderSample;
use crate::seq::Offset;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How eq. 11 is treated where it gives very low values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeBound {
    /// It is ignored below three.
    #[default]
    IgnoreBelowThree,
    /// It applies, down to the floor: eq. 11 to the letter.
    Clamp,
}

/// Parameters. Factors and their defaults are from Table 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AvgDevSpec {
    /// Gain of the average, eq. 1; 0 to 1. Default: 0.3.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
    /// Gain of the deviation, eq. 3; 0 to 1. Default: 0.3.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub beta: f64,
    /// Weight of the deviation in the threshold, eq. 4. Default: 0.3.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub lambda: f64,
    /// Fraction of the timeout within which a repair must end, eq. 8; 0 to 1. Default: 0.7.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gamma: f64,
    /// Share of the average that a timeout leaves, eq. 13; 0 to 1. Default: 0.5.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub c1: f64,
    /// Share of the deviation that a timeout leaves, eq. 14; 0 to 1. Default: 0.25.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub c2: f64,
    /// Uses r = D + 1, the count that would have sufficed, instead of D. Default: yes.
    pub count_filling_ack: bool,
    /// The first event sets the average, with no deviation, instead of moving it from 3. Default: no.
    pub start_at_first: bool,
    /// How eq. 11 is treated where it gives less than three. Default: "ignore-below-three".
    pub time_bound: TimeBound,
    /// Every timeout sets the bound of eq. 12. Default: no, only a timeout that interrupted a count while the threshold was
    /// above 3.
    pub every_timeout_bounds: bool,
    /// A timer that fires again for the same segment shrinks again (eqs. 13, 14). Default: no.
    pub every_timeout_shrinks: bool,
    /// Lowest value of the ceiling, in duplicates. Default: 3.
    #[schemars(range(min = 1, max = 1000))]
    pub floor_segs: u32,
}

impl Default for AvgDevSpec {
    fn default() -> Self {
        AvgDevSpec {
            alpha: 0.3,
            beta: 0.3,
            lambda: 0.3,
            gamma: 0.7,
            c1: 0.5,
            c2: 0.25,
            count_filling_ack: true,
            start_at_first: false,
            time_bound: TimeBound::IgnoreBelowThree,
            every_timeout_bounds: false,
            every_timeout_shrinks: false,
            floor_segs: 3,
        }
    }
}

impl AvgDevSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let shares = [
            ("detect.threshold.alpha", self.alpha),
            ("detect.threshold.beta", self.beta),
            ("detect.threshold.gamma", self.gamma),
            ("detect.threshold.c1", self.c1),
            ("detect.threshold.c2", self.c2),
        ];
        for (key, x) in shares {
            StackError::unless((0.0..=1.0).contains(&x), key, &x, "0 to 1")?;
        }
        let key = "detect.threshold.lambda";
        StackError::unless((0.0..=100.0).contains(&self.lambda), key, &self.lambda, "0 to 100")?;
        let floor = self.floor_segs;
        StackError::unless(
            (1..=1000).contains(&floor),
            "detect.threshold.floor_segs",
            &floor,
            "1 to 1000 duplicate ACKs",
        )
    }
}

/// The rule at work.
pub struct AvgDev {
    spec: AvgDevSpec,
    avg: f64,
    mdev: f64,
    dupthresh: u32,
    /// The threshold in force when a timeout occurred (eq. 12).
    timeout_bound: Option<u32>,
    /// The offset for which the timer last fired.
    timed_out_at: Option<Offset>,
    seen: bool,
}

impl AvgDev {
    pub(super) fn new(spec: &AvgDevSpec) -> Self {
        let (avg, mdev) = (3.0, 0.0);
        let spec = spec.clone();
        AvgDev { spec, avg, mdev, dupthresh: 3, timeout_bound: None, timed_out_at: None, seen: false }
    }

    /// Eqs. 1 to 3. The error is against the old average.
    fn learn(&mut self, r: f64) {
        let AvgDevSpec { alpha, beta, start_at_first, .. } = self.spec;
        if start_at_first && !self.seen {
            (self.avg, self.mdev) = (r, 0.0);
        } else {
            let error = (r - self.avg).abs();
            self.mdev = beta * error + (1.0 - beta) * self.mdev;
            self.avg = alpha * r + (1.0 - alpha) * self.avg;
        }
        self.seen = true;
    }

    /// Eq. 11: with a larger threshold, the repair would end later than γ · RTO. Negative where it ends later anyway; `None`
    /// before the first RTT sample.
    fn by_time(&self, w: &Window, cx: &Ctx) -> Option<f64> {
        let rtt = cx.srtt.filter(|r| r.0 > 0)?;
        let room = self.spec.gamma * (cx.rto.0 as f64 / rtt.0 as f64) - 2.0;
        // The tiny addend keeps rounding errors from turning 100 into 99.
        Some(libm::floor(room * (w.cwnd / cx.smss()) + 1e-9))
    }

    /// Eqs. 4 and 12, and §IV-D.
    fn recompute(&mut self, w: &Window, cx: &Ctx) {
        let mut bound = libm::floor(w.cwnd / cx.smss()) - 1.0;
        let counts = |f: &f64| match self.spec.time_bound {
            TimeBound::Clamp => true,
            TimeBound::IgnoreBelowThree => *f >= 3.0,
        };
        if let Some(f) = self.by_time(w, cx).filter(counts) {
            bound = bound.min(f);
        }
        if let Some(n) = self.timeout_bound {
            bound = bound.min(f64::from(n));
        }
        let wanted = libm::floor(self.avg + self.spec.lambda * self.mdev);
        // The cast saturates: negative values become zero and then the floor.
        self.dupthresh = (wanted.min(bound) as u32).max(self.spec.floor_segs);
    }
}

impl DupThresh for AvgDev {
    fn segments(&self, _: &Window, _: &Ctx) -> u32 {
        self.dupthresh
    }
    fn on_disorder(&mut self, w: &Window, cx: &Ctx) {
        self.recompute(w, cx);
    }
}

impl Learner for AvgDev {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        // §III-A: only false fast retransmits are detected, not holes that filled on their own.
        if sample.resent.is_some() {
            self.learn(f64::from(sample.dupacks) + f64::from(u8::from(self.spec.count_filling_ack)));
            self.recompute(w, cx);
        }
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        let again = self.timed_out_at.replace(cx.snd_una) == Some(cx.snd_una);
        if again && !self.spec.every_timeout_shrinks {
            return;
        }
        if self.spec.every_timeout_bounds || (self.dupthresh > 3 && dup_run > 0) {
            self.timeout_bound = Some(self.dupthresh);
        }
        self.avg *= self.spec.c1;
        self.mdev *= self.spec.c2;
        self.recompute(w, cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, spurious, wide};
    use crate::time::Nanos;

    const LENGTHS: [u32; 5] = [10, 10, 20, 6, 15];

    fn rule(change: impl FnOnce(&mut AvgDevSpec)) -> AvgDev {
        let mut spec = AvgDevSpec::default();
        change(&mut spec);
        AvgDev::new(&spec)
    }

    /// avg, mdev and dupthresh after each of the lengths.
    fn fed(t: &mut AvgDev) -> [(f64, f64, u32); 5] {
        LENGTHS.map(|r| {
            t.on_reorder(&spurious(r - 1), &wide(), &context());
            (t.avg, t.mdev, t.dupthresh)
        })
    }

    fn near(got: (f64, f64, u32), want: (f64, f64, u32)) {
        let same = (got.0 - want.0).abs() < 1e-9 && (got.1 - want.1).abs() < 1e-9 && got.2 == want.2;
        assert!(same, "{got:?} instead of {want:?}");
    }

    #[test]
    fn average_deviation_and_threshold_follow_equations_1_to_4_and_a_timeout_13_and_14() {
        let mut t = rule(|_| ());
        let want =
            [(5.1, 2.1, 5), (6.57, 2.94, 7), (10.599, 6.087, 12), (9.2193, 5.6406, 10), (10.953_51, 5.682_63, 12)];
        fed(&mut t).into_iter().zip(want).for_each(|(g, w)| near(g, w));
        t.on_rto(7, &wide(), &context());
        near((t.avg, t.mdev, t.dupthresh), (5.476_755, 1.420_657_5, 5));
        assert_eq!(t.timeout_bound, Some(12));
    }

    #[test]
    fn the_first_event_can_be_the_average() {
        let want = [(10.0, 0.0, 10), (10.0, 0.0, 10), (13.0, 3.0, 13), (10.9, 4.2, 12), (12.13, 4.17, 13)];
        fed(&mut rule(|s| s.start_at_first = true)).into_iter().zip(want).for_each(|(g, w)| near(g, w));
    }

    #[test]
    fn without_the_filling_ack_equal_events_bring_the_threshold_to_their_own_length() {
        let mut t = rule(|s| s.count_filling_ack = false);
        (0..60).for_each(|_| t.on_reorder(&spurious(9), &wide(), &context()));
        assert_eq!(t.dupthresh, 9, "nine duplicates fire again");
    }

    #[test]
    fn pure_reordering_is_no_sample() {
        let mut t = rule(|_| ());
        t.on_reorder(&ReorderSample { resent: None, ..spurious(30) }, &wide(), &context());
        assert_eq!((t.avg, t.dupthresh), (3.0, 3));
    }

    #[test]
    fn equation_11_leaves_time_to_repair_before_the_timer_fires() {
        let rows = [(1000, 100, 20, 100.0), (1000, 200, 40, 60.0), (3000, 1000, 50, 5.0), (1000, 400, 100, -25.0)];
        for (rto, rtt, cwnd, want) in rows.into_iter().chain([(1200, 400, 100, 10.0)]) {
            let (srtt, rto) = (Some(Nanos::from_millis(rtt)), Nanos::from_millis(rto));
            let w = Window { cwnd: f64::from(cwnd) * 1000.0, ssthresh: 1e9 };
            let got = rule(|_| ()).by_time(&w, &Ctx { srtt, rto, ..context() });
            assert_eq!(got, Some(want), "{rto} {rtt} {cwnd}");
        }
    }

    #[test]
    fn the_bound_of_equation_11_counts_from_three_on_or_always() {
        let at = |rto| Ctx { srtt: Some(Nanos::from_millis(400)), rto: Nanos::from_millis(rto), ..context() };
        let w = Window { cwnd: 100_000.0, ssthresh: 1e9 };
        for (policy, roomy, tight) in [(TimeBound::IgnoreBelowThree, 10, 12), (TimeBound::Clamp, 10, 3)] {
            let mut t = rule(|s| s.time_bound = policy);
            fed(&mut t);
            t.on_disorder(&w, &at(1200));
            assert_eq!(t.dupthresh, roomy);
            t.on_disorder(&w, &at(1000));
            assert_eq!(t.dupthresh, tight);
        }
    }

    #[test]
    fn the_threshold_stays_below_the_window_and_not_below_the_floor() {
        let mut t = rule(|_| ());
        fed(&mut t);
        let segs = |n: f64| Window { cwnd: n * 1000.0, ssthresh: 1e9 };
        let mut asked = |w: Window| {
            t.on_disorder(&w, &context());
            t.segments(&w, &context())
        };
        assert_eq!([segs(20.0), segs(8.9), segs(2.0), segs(20.0)].map(&mut asked), [12, 7, 3, 12]);
        let mut low = rule(|s| s.floor_segs = 1);
        low.on_disorder(&segs(3.0), &context());
        assert_eq!(low.dupthresh, 2);
    }

    #[test]
    fn a_timeout_sets_its_bound_only_if_it_broke_off_a_long_count() {
        for (always, dups, want) in [(false, 0, None), (false, 1, Some(12)), (true, 0, Some(12))] {
            let mut t = rule(|s| s.every_timeout_bounds = always);
            fed(&mut t);
            t.on_rto(dups, &wide(), &context());
            assert_eq!(t.timeout_bound, want);
            t.on_reorder(&spurious(99), &wide(), &context());
            assert_eq!(t.dupthresh > 12, want.is_none(), "eq. 12");
        }
        let mut t = rule(|_| ());
        t.on_rto(3, &wide(), &context());
        assert_eq!(t.timeout_bound, None, "the threshold was three");
    }

    #[test]
    fn a_timer_that_fires_again_for_the_same_segment_shrinks_once_by_default() {
        for (every, left) in [(false, 0.5), (true, 0.25)] {
            let mut t = rule(|s| s.every_timeout_shrinks = every);
            fed(&mut t);
            let before = t.avg;
            t.on_rto(0, &wide(), &context());
            t.on_rto(0, &wide(), &context());
            assert_eq!(t.avg, before * left);
            t.on_rto(0, &wide(), &Ctx { snd_una: Offset(1001), ..context() });
            assert_eq!(t.avg, before * left / 2.0, "another segment");
        }
    }
}
