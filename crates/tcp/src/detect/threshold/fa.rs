//! FA and TA: the threshold is a percentile of the lengths of past reordering events (RR-TCP).
//!
//! Source: Zhang, Karp, Floyd & Peterson 2003 (DSACK-FA, DSACK-TA), as Leung & Ma 2005 §II and §IV describe them.
//!
//! Idea: a histogram of reordering lengths; the share of false fast retransmits to avoid (the FA ratio) determines which length
//! the threshold must exceed. TA moves that share: up after a false fast retransmit, down after a timeout or a stall that a
//! lower threshold would have avoided, in proportion to the cost of each.
//!
//! | source | here |
//! | --- | --- |
//! | reordering histogram, up to 1000 events | `histogram`, `samples` |
//! | FA ratio | `ratio` |
//! | DSACK-FA-MEAN | the percentile; `rule = "mean"` is the other reading |
//! | cost of a timeout, of a false fast retransmit | `fa/costs.rs` |
//!
//! Departures: none known. Written from the paper's abstract and from descriptions of the paper, not from its text. Unsaid
//! there (decision 0059): which events count (`events`, `in_order`), the ceiling (`flight_cwnds`), the step and the formulas of
//! TA. A timeout counts for TA only in a run of duplicates in which a threshold of 3 would have fired.

mod costs;
mod normal;

use super::{DupThresh, Learner};
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::gate::whole_segments;
use crate::facts::reorder::ReorderSample;
use crate::percentiles::Percentiles;
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use normal::{mean_and_deviation, normal_quantile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RFC 5681 §3.2: the least threshold, also used before the first event.
const LEAST: u32 = 3;
/// Limits of the ratio that TA moves.
const RATIOS: (f64, f64) = (0.01, 0.99);

/// Which events go into the histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Events {
    /// Events whose retransmission a judge proved needless.
    #[default]
    Confirmed,
    /// Also holes that filled on their own; a ratio of 0.99 then acts like 0.9 with "confirmed".
    All,
}

/// How the threshold is computed from the histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// One more than the smallest length that a share `ratio` of the events does not exceed.
    #[default]
    Percentile,
    /// The value below which a normal distribution with the same mean and deviation has the share `ratio`, rounded up.
    Mean,
}

/// Timeout avoidance (DSACK-TA).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AvoidTimeouts {
    /// S, the step that a false fast retransmit adds to the ratio, above 0 to 1. Default: 0.01.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub step: f64,
    /// Whether the cost of a timeout includes the additive increase after it. Default: no, because a real loss costs that in
    /// any case.
    pub count_growth: bool,
}

impl Default for AvoidTimeouts {
    fn default() -> Self {
        AvoidTimeouts { step: 0.01, count_growth: false }
    }
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FaSpec {
    /// The FA ratio, above 0 to 1; with `avoid_timeouts`, its initial value. Default: 0.9.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub ratio: f64,
    /// Which events count. Default: "confirmed".
    pub events: Events,
    /// Whether segments that arrived in order count as events of length 0. Default: no.
    pub in_order: bool,
    /// Number of events remembered. Default: 1000 (Leung & Ma 2005 §IV-C).
    #[schemars(range(min = 1, max = 100_000))]
    pub samples: u32,
    /// How the threshold is computed from the histogram. Default: "percentile".
    pub rule: Rule,
    /// Ceiling: the number of duplicates that this many windows can cause, less one. Default: 2, since limited transmit doubles
    /// the window.
    #[schemars(range(min = 1.0))]
    pub flight_cwnds: f64,
    /// Timeout avoidance. Default: none, so the ratio is fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avoid_timeouts: Option<AvoidTimeouts>,
}

impl Default for FaSpec {
    fn default() -> Self {
        FaSpec {
            ratio: 0.9,
            events: Events::Confirmed,
            in_order: false,
            samples: 1000,
            rule: Rule::Percentile,
            flight_cwnds: 2.0,
            avoid_timeouts: None,
        }
    }
}

impl FaSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let share = |key, x: f64| StackError::unless(x > 0.0 && x <= 1.0, key, &x, "more than 0 and at most 1");
        share("detect.threshold.ratio", self.ratio)?;
        share("detect.threshold.avoid_timeouts.step", self.avoid_timeouts.map_or(1.0, |a| a.step))?;
        let n = self.samples;
        StackError::unless((1..=100_000).contains(&n), "detect.threshold.samples", &n, "1 to 100000 events")?;
        let x = self.flight_cwnds;
        StackError::unless((1.0..=1e6).contains(&x), "detect.threshold.flight_cwnds", &x, "1 to 1000000 windows")
    }
}

/// The rule at work. Boxed, because a full histogram has 8 kB.
pub struct Fa {
    spec: FaSpec,
    ratio: f64,
    dupthresh: u32,
    histogram: Percentiles<u32>,
    /// Offset up to which segments have been counted for `in_order`.
    counted: Offset,
    /// When the last stall ended, its length, and the ratio before it.
    stall: Option<(Time, Nanos, f64)>,
}

impl Fa {
    pub(super) fn new(spec: &FaSpec) -> Self {
        let (spec, ratio) = (spec.clone(), spec.ratio);
        let histogram = Percentiles::new(spec.samples as usize);
        Fa { spec, ratio, dupthresh: LEAST, histogram, counted: Offset::DATA, stall: None }
    }

    fn recompute(&mut self) {
        let threshold = match self.spec.rule {
            // The length itself must not trigger a fast retransmit.
            Rule::Percentile => self.histogram.get(self.ratio).map(|l| l.saturating_add(1)),
            Rule::Mean => {
                let k = normal_quantile(self.ratio);
                mean_and_deviation(self.histogram.sorted())
                    .map(|(mean, dev)| libm::ceil(mean + k * dev).max(0.0) as u32)
            }
        };
        self.dupthresh = threshold.map_or(LEAST, |t| t.max(LEAST));
    }

    /// Counts the segments acknowledged since the last event, except the reordered one.
    fn count_in_order(&mut self, cx: &Ctx) {
        let segments = (cx.snd_una.0.saturating_sub(self.counted.0)) / u64::from(cx.mss);
        self.counted = cx.snd_una;
        for _ in 1..segments.min(u64::from(self.spec.samples)) {
            self.histogram.push(0);
        }
    }

    fn move_ratio(&mut self, by: f64) {
        self.ratio = (self.ratio + by).clamp(RATIOS.0, RATIOS.1);
        self.recompute();
    }
}

/// The idle time in round trips; 0 before the first RTT sample.
fn round_trips(idle: Nanos, cx: &Ctx) -> f64 {
    cx.srtt.filter(|srtt| srtt.0 > 0).map_or(0.0, |srtt| idle.0 as f64 / srtt.0 as f64)
}

impl DupThresh for Fa {
    fn segments(&self, w: &Window, cx: &Ctx) -> u32 {
        let flight = libm::floor(self.spec.flight_cwnds * (whole_segments(w.cwnd, cx.mss) / u64::from(cx.mss)) as f64);
        self.dupthresh.min((flight as u32).saturating_sub(1)).max(LEAST)
    }
}

impl Learner for Fa {
    fn on_reorder(&mut self, sample: &ReorderSample, _: &Window, cx: &Ctx) {
        if sample.resent.is_none() && self.spec.events == Events::Confirmed {
            return;
        }
        if self.spec.in_order {
            self.count_in_order(cx);
        }
        self.histogram.push(sample.dupacks);
        match self.spec.avoid_timeouts.filter(|_| sample.resent.is_some()) {
            Some(ta) => self.move_ratio(ta.step),
            None => self.recompute(),
        }
    }
    fn on_stall(&mut self, idle: Nanos, w: &Window, cx: &Ctx) {
        let Some(ta) = self.spec.avoid_timeouts else { return };
        let segs = w.cwnd / cx.smss();
        self.stall = Some((cx.now, idle, self.ratio));
        let cost = costs::stall(segs, round_trips(idle, cx)) / costs::false_fast_retransmit(segs);
        self.move_ratio(-ta.step * cost);
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        let Some(ta) = self.spec.avoid_timeouts else { return };
        // The silence before a timeout is part of its cost, and was just reported as a stall.
        let mut idle = Nanos::ZERO;
        if let Some((_, stalled, before)) = self.stall.take().filter(|s| s.0 == cx.now) {
            (idle, self.ratio) = (stalled, before);
        }
        let avoidable = cx.phase.is_disorder() && dup_run >= LEAST;
        let segs = w.cwnd / cx.smss();
        let cost = costs::timeout(segs, round_trips(idle, cx), ta.count_growth) / costs::false_fast_retransmit(segs);
        self.move_ratio(if avoidable { -ta.step * cost } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Phase;
    use crate::testing::{context, spurious, wide};

    const LENGTHS: [u32; 10] = [1, 2, 2, 3, 5, 8, 8, 9, 12, 20];

    fn after(spec: FaSpec, lengths: &[u32]) -> Fa {
        let mut t = Fa::new(&spec);
        lengths.iter().for_each(|l| t.on_reorder(&spurious(*l), &wide(), &context()));
        t
    }

    fn segs(n: f64) -> Window {
        Window { cwnd: n * 1000.0, ssthresh: 0.0 }
    }

    #[test]
    fn the_threshold_is_one_more_than_the_percentile_and_three_at_least() {
        for (ratio, want) in [(0.5, 6), (0.9, 13), (1.0, 21), (0.1, 3)] {
            let t = after(FaSpec { ratio, ..FaSpec::default() }, &LENGTHS);
            assert_eq!(t.segments(&wide(), &context()), want, "{ratio}");
        }
        assert_eq!(after(FaSpec::default(), &[]).segments(&wide(), &context()), 3);
    }

    #[test]
    fn the_mean_rule_adds_deviations_by_the_normal_quantile() {
        // Mean 7, deviation 5.550: 7, and 7 + 1.2816 · 5.550 = 14.1.
        for (ratio, want) in [(0.5, 7), (0.9, 15)] {
            let t = after(FaSpec { ratio, rule: Rule::Mean, ..FaSpec::default() }, &LENGTHS);
            assert_eq!(t.segments(&wide(), &context()), want, "{ratio}");
        }
    }

    #[test]
    fn the_threshold_requires_no_more_duplicates_than_two_windows_can_cause() {
        let t = after(FaSpec::default(), &[50]);
        assert_eq!([1e9, 10_000.0, 1000.0].map(|cwnd| t.segments(&Window { cwnd, ..wide() }, &context())), [51, 19, 3]);
    }

    #[test]
    fn a_hole_that_filled_itself_counts_only_on_request_and_so_do_segments_in_order() {
        let pure = ReorderSample { resent: None, ..spurious(30) };
        for (events, want) in [(Events::Confirmed, 3), (Events::All, 31)] {
            let mut t = Fa::new(&FaSpec { events, ..FaSpec::default() });
            t.on_reorder(&pure, &wide(), &context());
            assert_eq!(t.segments(&wide(), &context()), want);
        }
        // Nine of ten segments in order: the 90th percentile is 0, the 91st is 30.
        for (ratio, want) in [(0.9, 3), (0.91, 31)] {
            let mut t = Fa::new(&FaSpec { events: Events::All, in_order: true, ratio, ..FaSpec::default() });
            t.on_reorder(&pure, &wide(), &Ctx { snd_una: Offset::DATA + 10_000, ..context() });
            assert_eq!(t.segments(&wide(), &context()), want, "{ratio}");
        }
    }

    #[test]
    fn a_false_fast_retransmit_raises_the_ratio_and_a_stall_or_a_timeout_lowers_it_by_what_it_costs() {
        let ta = FaSpec { avoid_timeouts: Some(AvoidTimeouts::default()), ..FaSpec::default() };
        let near = |t: &Fa, want: f64| assert!((t.ratio - want).abs() < 1e-12, "{} {want}", t.ratio);
        let mut t = after(ta, &[8, 8]);
        near(&t, 0.92);
        // A stall of half a round trip with 16 segments costs as much as a false fast retransmit.
        let cx = Ctx { srtt: Some(Nanos::from_millis(100)), phase: Phase::Disorder, ..context() };
        t.on_stall(Nanos::from_millis(50), &segs(16.0), &cx);
        near(&t, 0.91);
        // A stall that ends with the timer is counted once: 73 segments against 8.
        let cx = Ctx { now: Time(9), ..cx };
        t.on_stall(Nanos::from_millis(200), &segs(16.0), &cx);
        t.on_rto(5, &segs(16.0), &cx);
        near(&t, 0.91 - 0.01 * 73.0 / 8.0);
        // Two duplicates: no threshold would have fired.
        t.on_rto(2, &segs(16.0), &cx);
        near(&t, 0.91 - 0.01 * 73.0 / 8.0);
    }

    #[test]
    fn without_timeout_avoidance_the_ratio_stays() {
        let mut t = after(FaSpec::default(), &LENGTHS);
        let cx = Ctx { srtt: Some(Nanos::from_millis(100)), phase: Phase::Disorder, ..context() };
        t.on_stall(Nanos::from_secs(1), &segs(16.0), &cx);
        t.on_rto(9, &segs(16.0), &cx);
        assert_eq!(t.segments(&wide(), &context()), 13);
    }
}
