//! Growth and cut as in BSD Net/2, with its error of an eighth of a segment.
//!
//! Source: Hoe 1995 §3.2.2 (whose footnote calls the eighth a known error), §3.2.4, §5.1.
//!
//! Idea: slow start and additive increase, but in congestion avoidance each ACK adds an eighth of a segment on top, so a
//! window of W opens by W/8 extra segments per round trip; a loss halves the window, in whole segments.
//!
//! | source | here |
//! | --- | --- |
//! | SMSS · SMSS / cwnd + SMSS / 8 (§5.1) | the same, real-valued; `eighth` |
//! | min (snd_wnd, cwnd) / 2 in whole segments, at least 2 (§3.2.4) | the cut, again at every timeout |
//! | maximum window 65535 (§5.3.2) | `max_window` |
//!
//! Departures: real numbers where Net/2 rounds each step to bytes. Unsaid: slow start at `cwnd = ssthresh` (BSD: yes).

use super::{Congestion, Cut, LossEvent};
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Net2Spec {
    /// The eighth of a segment. Default: yes; no in Hoe's §5.3 and later.
    pub eighth: bool,
    /// Whether slow start also applies when the window equals the threshold. Default: yes (BSD); RFC 5681 leaves it
    /// open.
    pub inclusive: bool,
    /// The largest window in bytes. Default: 65535, the most that Net/2 could use.
    #[schemars(range(min = 1))]
    pub max_window: Bytes,
}

impl Default for Net2Spec {
    fn default() -> Self {
        Net2Spec { eighth: true, inclusive: true, max_window: 65_535 }
    }
}

impl Net2Spec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        StackError::unless(self.max_window > 0, "congestion.max_window", &0, "1 byte or more")
    }
}

/// Net/2 at work.
pub struct Net2 {
    eighth: bool,
    inclusive: bool,
    max_window: u32,
}

impl Net2 {
    pub(super) fn new(spec: &Net2Spec) -> Self {
        let max_window = u32::try_from(spec.max_window).unwrap_or(u32::MAX);
        Net2 { eighth: spec.eighth, inclusive: spec.inclusive, max_window }
    }
}

impl Congestion for Net2 {
    fn on_ack(&mut self, _: &AckEvent, w: &mut Window, cx: &Ctx) {
        let smss = cx.smss();
        let slow_start = w.cwnd < w.ssthresh || (self.inclusive && w.cwnd == w.ssthresh);
        let extra = if self.eighth { smss / 8.0 } else { 0.0 };
        let step = if slow_start { smss } else { smss * smss / w.cwnd + extra };
        w.cwnd = (w.cwnd + step).min(f64::from(self.max_window)).max(smss);
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        let smss = cx.smss();
        let half = libm::floor(w.cwnd.min(l.rwnd as f64) / 2.0 / smss).max(2.0) * smss;
        Cut { ssthresh: half, cwnd: half }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Cause;
    use crate::testing::blank;
    use crate::testing::context;

    /// The window in segments after a round trip of sixteen ACKs.
    fn after_a_round_trip(spec: &Net2Spec, ssthresh_segs: f64) -> f64 {
        let (mut c, mut w) = (Net2::new(spec), Window { cwnd: 16_000.0, ssthresh: ssthresh_segs * 1000.0 });
        (0..16).for_each(|_| c.on_ack(&blank(), &mut w, &context()));
        w.cwnd / 1000.0
    }

    #[test]
    fn the_eighth_opens_a_window_of_sixteen_by_two_segments_more_each_round_trip() {
        let corrected = Net2Spec { eighth: false, ..Net2Spec::default() };
        let (net2, plain) = (after_a_round_trip(&Net2Spec::default(), 8.0), after_a_round_trip(&corrected, 8.0));
        assert!((plain - 17.0).abs() < 0.05, "{plain}");
        assert!((net2 - plain - 2.0).abs() < 0.1, "{net2}");
    }

    #[test]
    fn slow_start_takes_one_ack_more_where_it_includes_the_threshold_and_ends_at_the_largest_window() {
        let spec = |inclusive| Net2Spec { inclusive, eighth: false, ..Net2Spec::default() };
        let step = |inclusive| {
            let mut w = Window { cwnd: 16_000.0, ssthresh: 16_000.0 };
            Net2::new(&spec(inclusive)).on_ack(&blank(), &mut w, &context());
            w.cwnd - 16_000.0
        };
        assert_eq!([true, false].map(step), [1000.0, 62.5]);
        let low = Net2Spec { max_window: 20_000, ..Net2Spec::default() };
        assert_eq!(after_a_round_trip(&low, 100.0), 20.0);
    }

    #[test]
    fn a_cut_halves_the_smaller_of_both_windows_in_whole_segments() {
        let cut = |cwnd: f64, rwnd| {
            let l = LossEvent { rwnd, ..super::super::tests::loss(Cause::Fast, 0) };
            let cut = Net2::new(&Net2Spec::default()).on_loss(&l, &Window { cwnd, ssthresh: 1e9 }, &context());
            (cut.ssthresh, cut.cwnd)
        };
        assert_eq!(cut(15_900.0, 50_000), (7000.0, 7000.0));
        assert_eq!(cut(60_000.0, 51_000), (25_000.0, 25_000.0));
        assert_eq!(cut(1000.0, 50_000), (2000.0, 2000.0));
    }
}
