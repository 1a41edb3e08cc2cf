//! Extended limited transmit: new data on the first two duplicates, then on every second one.
//!
//! Source: Blanton & Allman 2002 §6.1; RFC 3042 for the first two.
//!
//! Idea: an adaptive threshold may wait for many duplicates. Sending one segment for every two keeps the ACK clock
//! going and spreads out the burst that the filling ACK would release.
//!
//! | source | here |
//! | --- | --- |
//! | k duplicates so far | `ack.dup_run` |
//! | min (k, 2) + ⌊max (k − 2, 0) / 2⌋ | `allowed_segs` |
//!
//! Unsaid: the parity of "every second": the 4th, 6th, … With `every_dup`, one for each duplicate (§6.1, last
//! paragraph). `most_cwnds` is RR-TCP's limit (Zhang, Karp, Floyd & Peterson 2003; decision 0059).

use super::Disorder;
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::gate;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExtendedSpec {
    /// Sends one new segment for every duplicate. Default: no.
    pub every_dup: bool,
    /// How far beyond the window new data may go, in windows. RR-TCP: 1. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub most_cwnds: Option<f32>,
}

impl ExtendedSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let most = self.most_cwnds.unwrap_or(0.0);
        StackError::unless((0.0..=1e6).contains(&most), "disorder.most_cwnds", &most, "0 to 1000000 windows")
    }
}

/// Extended limited transmit at work.
pub struct Extended {
    every_dup: bool,
    /// The limit beyond the window, in windows; infinite without one.
    most_cwnds: f32,
    allowance: Bytes,
    beyond: Bytes,
}

impl Extended {
    pub(super) fn new(spec: &ExtendedSpec) -> Self {
        let most_cwnds = spec.most_cwnds.unwrap_or(f32::INFINITY);
        Extended { every_dup: spec.every_dup, most_cwnds, allowance: 0, beyond: 0 }
    }
}

/// New segments that `k` duplicates allow.
fn allowed_segs(k: u32, every_dup: bool) -> u32 {
    if every_dup {
        k
    } else {
        k.min(2) + k.saturating_sub(2) / 2
    }
}

impl Disorder for Extended {
    fn on_enter(&mut self, _: &Window, _: &Ctx) {
        (self.allowance, self.beyond) = (0, 0);
    }
    fn on_dup(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) {
        self.allowance = u64::from(allowed_segs(ack.dup_run, self.every_dup)) * u64::from(cx.mss);
        if self.most_cwnds.is_finite() {
            self.allowance = self.allowance.min(gate::whole_segments(w.cwnd * f64::from(self.most_cwnds), cx.mss));
        }
    }
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        gate::window(w, self.allowance, cx).then_some(Xmit::New)
    }
    fn on_sent(&mut self, _: Xmit, sent: &Sent, w: &Window, cx: &Ctx) {
        if cx.flight() > gate::whole_segments(w.cwnd, cx.mss) {
            self.beyond += u64::from(sent.len);
        }
    }
    fn sent_beyond(&self) -> Bytes {
        self.beyond
    }
    fn on_resolved(&mut self, _: &mut Window, _: &Ctx) {
        (self.allowance, self.beyond) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::blank;
    use crate::testing::context;

    #[test]
    fn two_for_the_first_two_then_one_for_every_second_duplicate() {
        let counts: Vec<u32> = (0..=9).map(|k| allowed_segs(k, false)).collect();
        assert_eq!(counts, [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
        assert_eq!(allowed_segs(9, true), 9);
    }

    #[test]
    fn a_limit_in_windows_ends_it_there() {
        let w = Window { cwnd: 4000.0, ssthresh: 0.0 };
        for (most_cwnds, want) in [(None, 9), (Some(1.0), 4), (Some(1.6), 6), (Some(0.0), 0)] {
            let mut d = Extended::new(&ExtendedSpec { every_dup: true, most_cwnds });
            d.on_dup(&AckEvent { dup_run: 9, ..blank() }, &w, &context());
            assert_eq!(d.allowance, want * 1000, "{most_cwnds:?}");
        }
    }
}
