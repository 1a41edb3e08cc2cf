//! INC: the threshold grows by a constant at each spurious fast retransmit.
//!
//! Source: Blanton & Allman 2002 §6.2, §6.6.
//!
//! Idea: each needless fast retransmit shows that the threshold was too low; next time K more duplicates are required.
//!
//! | source | here |
//! | --- | --- |
//! | dupthresh | `dupthresh`, 3 at first and after a timeout (§6.6) |
//! | K | `step` |
//!
//! Unsaid: whether one mistake counts once (§6.2: "every time we detect a spurious fast retransmit") or once for each segment
//! resent (§7: "1 duplicate ACK per needless retransmit"), and if so whether the rest of the episode must have been needless,
//! too: `update_per` (decision 0180).

use super::cap::CapSpec;
use super::{DupThresh, Learner};
use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::reorder::ReorderSample;
use crate::needs::{Need, Requirement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When the step is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpdatePer {
    /// A spurious fast retransmit (§6.2).
    #[default]
    Episode,
    /// Each segment that the episode retransmitted ("per needless retransmit", §7), once all are proved needless.
    Segment,
    /// Each segment whose needless retransmission a DSACK reports, at the time of the report, whatever else its episode resent
    /// (§7, to the letter). Only with `spurious = "dsack"`; a segment sent more than twice does not count.
    Dsack,
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IncSpec {
    /// K, duplicates added. Default: 1.
    #[schemars(range(min = 1, max = 1000))]
    pub step: u32,
    /// When the step is added. Default: "episode".
    pub update_per: UpdatePer,
    /// The ceiling that the window sets (Blanton & Allman §6.6).
    pub cap: CapSpec,
}

impl IncSpec {
    pub(super) fn needs(&self) -> Vec<Requirement> {
        let (key, found) = ("detect.threshold.update_per", "\"dsack\"");
        let allowed = "only together with spurious = \"dsack\", which reports each segment";
        match self.update_per {
            UpdatePer::Dsack => vec![Requirement { need: Need::EachDsack, key, found, allowed }],
            UpdatePer::Episode | UpdatePer::Segment => vec![],
        }
    }
}

impl Default for IncSpec {
    fn default() -> Self {
        IncSpec { step: 1, update_per: UpdatePer::Episode, cap: CapSpec::default() }
    }
}

/// The rule at work.
pub struct Inc {
    spec: IncSpec,
    dupthresh: u32,
}

impl Inc {
    pub(super) fn new(spec: &IncSpec) -> Self {
        Inc { spec: spec.clone(), dupthresh: 3 }
    }

    fn add(&mut self, times: u32, w: &Window, cx: &Ctx) {
        self.dupthresh = self.dupthresh.saturating_add(self.spec.step.saturating_mul(times));
        self.spec.cap.store(&mut self.dupthresh, w, cx);
    }
}

impl DupThresh for Inc {
    fn segments(&self, w: &Window, cx: &Ctx) -> u32 {
        self.spec.cap.asked(self.dupthresh, w, cx)
    }
}

impl Learner for Inc {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        if sample.resent.is_some() {
            match self.spec.update_per {
                UpdatePer::Episode => self.add(1, w, cx),
                UpdatePer::Segment => self.add(sample.segments, w, cx),
                UpdatePer::Dsack => {}
            }
        }
    }
    fn on_needless(&mut self, w: &Window, cx: &Ctx) {
        match self.spec.update_per {
            UpdatePer::Dsack => self.add(1, w, cx),
            UpdatePer::Episode | UpdatePer::Segment => {}
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
    use crate::detect::threshold::CapStore;
    use crate::testing::{context, spurious, wide};

    #[test]
    fn a_stored_ceiling_stays_when_the_window_grows_again_and_a_tested_one_does_not() {
        for (store, cut, afterwards) in [(CapStore::Stored, 9, 9), (CapStore::Test, 9, 23)] {
            let cap = CapSpec { store, ..CapSpec::default() };
            let mut t = Inc::new(&IncSpec { step: 20, cap, ..IncSpec::default() });
            t.on_reorder(&spurious(9), &wide(), &context());
            assert_eq!(t.segments(&wide(), &context()), 23);
            let ten = Window { cwnd: 10_999.0, ssthresh: 0.0 };
            t.on_cut(&ten, &context());
            assert_eq!((t.segments(&ten, &context()), t.segments(&wide(), &context())), (cut, afterwards));
        }
    }

    #[test]
    fn pure_reordering_leaves_the_threshold_as_it_is() {
        let mut t = Inc::new(&IncSpec::default());
        t.on_reorder(&ReorderSample { resent: None, ..spurious(9) }, &wide(), &context());
        assert_eq!(t.segments(&wide(), &context()), 3);
    }

    #[test]
    fn the_threshold_grows_by_one_for_each_spurious_fast_retransmit() {
        let mut t = Inc::new(&IncSpec::default());
        let got = [9, 9, 9].map(|d| {
            t.on_reorder(&spurious(d), &wide(), &context());
            t.segments(&wide(), &context())
        });
        assert_eq!(got, [4, 5, 6]);
        t.on_rto(0, &wide(), &context());
        assert_eq!(t.segments(&wide(), &context()), 3);
    }

    #[test]
    fn a_mistake_counts_once_or_for_each_segment_it_resent_or_each_segment_counts_as_it_is_reported() {
        // Three of four segments are reported, then the fourth, and with it the episode.
        for (update_per, wants) in
            [(UpdatePer::Episode, [3, 5]), (UpdatePer::Segment, [3, 11]), (UpdatePer::Dsack, [9, 11])]
        {
            let mut t = Inc::new(&IncSpec { step: 2, update_per, ..IncSpec::default() });
            (0..3).for_each(|_| t.on_needless(&wide(), &context()));
            assert_eq!(t.segments(&wide(), &context()), wants[0], "{update_per:?}");
            t.on_needless(&wide(), &context());
            t.on_reorder(&ReorderSample { segments: 4, ..spurious(9) }, &wide(), &context());
            assert_eq!(t.segments(&wide(), &context()), wants[1], "{update_per:?}");
        }
    }
}
