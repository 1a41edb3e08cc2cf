//! Extended limited transmit: new data on the first two duplicates, then on every second one.
//!
//! Source: Blanton & Allman 2002 §6.1; RFC 3042 for the first two.
//!
//! Idea: an adaptive threshold may wait for many duplicates; sending half of what they report keeps the ACK clock going
//! and spreads the burst that the filling ACK would release.
//!
//! | source | here |
//! | --- | --- |
//! | k duplicates so far | `ack.dup_run` |
//! | min (k, 2) + ⌊max (k − 2, 0) / 2⌋ | `allowed_segs` |
//!
//! Unsaid: the parity of "every second": the 4th, 6th, … With `every_dup` one for each (§6.1, last paragraph).

use super::Disorder;
use crate::detect::Xmit;
use crate::event::Window;
use crate::sender::ack::AckEvent;
use crate::sender::ctx::Ctx;
use crate::sender::gate;
use crate::sender::scoreboard::{Scoreboard, Sent};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExtendedSpec {
    /// One new segment for every duplicate. Default no.
    pub every_dup: bool,
}

/// Extended limited transmit at work.
pub struct Extended {
    every_dup: bool,
    allowance: Bytes,
    beyond: Bytes,
}

impl Extended {
    pub(super) fn new(spec: &ExtendedSpec) -> Self {
        Extended { every_dup: spec.every_dup, allowance: 0, beyond: 0 }
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
    fn on_dup(&mut self, ack: &AckEvent, _: &Window, cx: &Ctx) {
        self.allowance = u64::from(allowed_segs(ack.dup_run, self.every_dup)) * u64::from(cx.mss);
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
    use super::allowed_segs;

    #[test]
    fn two_for_the_first_two_then_one_for_every_second_duplicate() {
        let counts: Vec<u32> = (0..=9).map(|k| allowed_segs(k, false)).collect();
        assert_eq!(counts, [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
        assert_eq!(allowed_segs(9, true), 9);
    }
}
