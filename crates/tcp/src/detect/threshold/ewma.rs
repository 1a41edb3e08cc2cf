//! EWMA: the threshold follows a running average of the length of reordering events.
//!
//! Source: Blanton & Allman 2002 §6.5 (1), (2), §6.6.
//!
//! Idea: longer events pull the average up with gain α, shorter ones down with gain α · x; the threshold is the average,
//! rounded.
//!
//! | source | here |
//! | --- | --- |
//! | avg | `avg`, 3 at first and after a timeout |
//! | α, x | `alpha`, `x` |
//! | N | `sample.dupacks` |
//! | dupthresh = ⌊avg + 0.5⌋ | `dupthresh` |
//!
//! Unsaid: "pure reordering event" is read as both kinds, holes that filled on their own and holes that were resent;
//! otherwise the average could never fall. The ceiling cuts the threshold, not the average.

use super::cap::CapSpec;
use super::{DupThresh, Learner};
use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::reorder::ReorderSample;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EwmaSpec {
    /// Gain for events longer than the average, 0 to 1. Default: 1 (figures 6 to 8).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
    /// Factor on the gain for shorter events, 0 to 1. Default: 1/16 (figures 6 to 8).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub x: f64,
    /// N = D + 1 instead of D. Default: no.
    pub count_filling_ack: bool,
    /// The ceiling that the window sets (Blanton & Allman §6.6).
    pub cap: CapSpec,
}

impl Default for EwmaSpec {
    fn default() -> Self {
        EwmaSpec { alpha: 1.0, x: 1.0 / 16.0, count_filling_ack: false, cap: CapSpec::default() }
    }
}

/// The rule at work.
pub struct Ewma {
    spec: EwmaSpec,
    avg: f64,
    dupthresh: u32,
}

impl Ewma {
    pub(super) fn new(spec: &EwmaSpec) -> Self {
        Ewma { spec: spec.clone(), avg: 3.0, dupthresh: 3 }
    }
}

impl DupThresh for Ewma {
    fn segments(&self, w: &Window, cx: &Ctx) -> u32 {
        self.spec.cap.asked(self.dupthresh, w, cx)
    }
}

impl Learner for Ewma {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        let n = f64::from(sample.dupacks + u32::from(self.spec.count_filling_ack));
        let gain = self.spec.alpha * if n > self.avg { 1.0 } else { self.spec.x };
        self.avg = gain * n + (1.0 - gain) * self.avg;
        self.dupthresh = libm::floor(self.avg + 0.5) as u32;
        self.spec.cap.store(&mut self.dupthresh, w, cx);
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        self.spec.cap.store(&mut self.dupthresh, w, cx);
    }
    fn on_rto(&mut self, _: u32, _: &Window, _: &Ctx) {
        (self.avg, self.dupthresh) = (3.0, 3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, spurious, wide};

    fn run(alpha: f64, x: f64) -> Vec<(f64, u32)> {
        // The vectors are for the rule alone, without a floor.
        let cap = CapSpec { floor_segs: 1, ..CapSpec::default() };
        let mut t = Ewma::new(&EwmaSpec { alpha, x, cap, ..EwmaSpec::default() });
        let lengths = [8, 4, 4, 12, 2, 20, 3];
        lengths
            .map(|n| {
                t.on_reorder(&spurious(n), &wide(), &context());
                (t.avg, t.dupthresh)
            })
            .to_vec()
    }

    #[test]
    fn the_average_rises_fast_and_falls_slowly() {
        let want = [8.0, 7.75, 7.515_625, 12.0, 11.375, 20.0, 18.9375];
        assert_eq!(run(1.0, 1.0 / 16.0), want.into_iter().zip([8, 8, 8, 12, 11, 20, 19]).collect::<Vec<_>>());
        let want = [5.5, 5.3125, 5.148_437_5, 8.574_218_75, 7.752_441_406_25, 13.876_220_703_125];
        let got = run(0.5, 0.25);
        assert_eq!(got[..6], want.into_iter().zip([6, 5, 5, 9, 8, 14]).collect::<Vec<_>>());
        assert_eq!(got[6].1, 13);
        assert_eq!(run(1.0, 1.0).iter().map(|r| r.1).collect::<Vec<_>>(), [8, 4, 4, 12, 2, 20, 3]);
    }

    #[test]
    fn the_ceiling_is_nine_tenths_of_the_window_one_below_it_and_three_at_least() {
        let segs = |n: f64| Window { cwnd: n * 1000.0, ssthresh: 0.0 };
        let cap = CapSpec::default();
        assert_eq!([20.0, 5.0, 3.0].map(|n| cap.asked(25, &segs(n), &context())), [18, 4, 3]);
        assert_eq!(CapSpec { floor_segs: 1, ..cap }.asked(25, &segs(3.0), &context()), 2);
    }
}
