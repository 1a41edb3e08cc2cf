//! AVG: the threshold moves halfway to the value that would have told reordering from loss.
//!
//! Source: Blanton & Allman 2002 §6.3, §6.6.
//!
//! Idea: after a needless fast retransmit the sender knows how many duplicates the hole took. The new threshold is the mean of
//! that number and the current threshold, but at least one more than the current threshold.
//!
//! | source | here |
//! | --- | --- |
//! | dupthresh | `dupthresh`, 3 at first and after a timeout (§6.6) |
//! | C | D + 1, with D = `sample.dupacks`: §6.1's own example has 10 for 9 duplicates |
//!
//! Unsaid: the rounding of the mean (down); C = D with `count_filling_ack` off.

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
pub struct AvgSpec {
    /// C = D + 1 instead of D. Default: yes.
    pub count_filling_ack: bool,
    /// The ceiling that the window sets (Blanton & Allman §6.6).
    pub cap: CapSpec,
}

impl Default for AvgSpec {
    fn default() -> Self {
        AvgSpec { count_filling_ack: true, cap: CapSpec::default() }
    }
}

/// The rule at work.
pub struct Avg {
    spec: AvgSpec,
    dupthresh: u32,
}

impl Avg {
    pub(super) fn new(spec: &AvgSpec) -> Self {
        Avg { spec: spec.clone(), dupthresh: 3 }
    }
}

impl DupThresh for Avg {
    fn segments(&self, w: &Window, cx: &Ctx) -> u32 {
        self.spec.cap.asked(self.dupthresh, w, cx)
    }
}

impl Learner for Avg {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        if sample.resent.is_some() {
            let c = sample.dupacks + u32::from(self.spec.count_filling_ack);
            self.dupthresh = ((self.dupthresh + c) / 2).max(self.dupthresh + 1);
            self.spec.cap.store(&mut self.dupthresh, w, cx);
        }
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        self.spec.cap.store(&mut self.dupthresh, w, cx);
    }
    fn on_rto(&mut self, _: u32, _: &Window, _: &Ctx) {
        self.dupthresh = 3;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, spurious, wide};

    #[test]
    fn the_threshold_goes_half_way_and_at_least_one_up() {
        let mut t = Avg::new(&AvgSpec::default());
        let got = [9, 9, 9, 30, 5].map(|c| {
            t.on_reorder(&spurious(c - 1), &wide(), &context());
            t.segments(&wide(), &context())
        });
        assert_eq!(got, [6, 7, 8, 19, 20]);
    }
}
