//! Vegas' fine-grained timeouts: three duplicates, or fewer if the segment is already late.
//!
//! Source: Brakmo & Peterson 1995 §3.1; ns-2.35's `Agent/TCP/Vegas`.
//!
//! Idea: every segment's send time is known, so on the first duplicate, and on the first two ACKs after a
//! retransmission, the oldest segment is resent if more than a fine-grained timeout has passed.
//!
//! | source | here |
//! | --- | --- |
//! | fine-grained RTO | `srtt + 4 · rttvar` over every sample |
//! | "the first or second non-duplicate ACK after a retransmission" | `watching` |
//!
//! Departures: a second fine-grained retransmission in one recovery belongs to that recovery; Reno's recovery does not
//! resend it.

use super::dup_ack::{DupAck, DupAckSpec};
use super::{Detector, Guard, Learner, Timekeeper, Verdict};
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::Scoreboard;
use crate::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VegasSpec {
    /// When an earlier episode prevents a fast retransmit by duplicates. Default: "careful".
    pub guard: Guard,
}

/// The detector at work.
pub struct Vegas {
    dup_ack: DupAck,
    /// In nanoseconds; `None` before the first sample.
    rtt: Option<(f64, f64)>,
    /// Number of further ACKs of new data on which the oldest segment is still checked.
    watching: u8,
}

impl Vegas {
    pub(super) fn new(spec: &VegasSpec, mss: u32) -> Self {
        let dup_ack = DupAck::new(&DupAckSpec { guard: spec.guard, ..Default::default() }, mss);
        Vegas { dup_ack, rtt: None, watching: 0 }
    }

    fn sample(&mut self, rtt: Nanos) {
        let m = rtt.0 as f64;
        self.rtt = Some(match self.rtt {
            None => (m, m / 2.0),
            Some((srtt, var)) => (srtt + (m - srtt) / 8.0, var + ((m - srtt).abs() - var) / 4.0),
        });
    }

    /// Whether the oldest segment has been outstanding for longer than the fine-grained timeout.
    fn is_late(&self, board: &Scoreboard, cx: &Ctx) -> bool {
        let Some((srtt, var)) = self.rtt else { return false };
        board.iter().next().is_some_and(|s| cx.now.since(s.at).0 as f64 > srtt + 4.0 * var)
    }
}

impl Detector for Vegas {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if let Some(rtt) = ack.rtt {
            self.sample(rtt);
        }
        let asked = if ack.is_dup { ack.dup_run == 1 } else { ack.advances() && self.watching > 0 };
        self.watching -= u8::from(ack.advances() && self.watching > 0);
        let verdict = self.dup_ack.on_ack(ack, w, board, cx);
        if asked && !cx.phase.repairs() && !matches!(verdict, Verdict::Lost(_)) && self.is_late(board, cx) {
            return Verdict::Lost(board.mark_head_lost());
        }
        verdict
    }
    fn dupthresh(&self, w: &Window, cx: &Ctx) -> Option<u32> {
        self.dup_ack.dupthresh(w, cx)
    }
}

impl Timekeeper for Vegas {}

impl Learner for Vegas {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        self.dup_ack.on_reorder(sample, w, cx);
    }
    fn on_needless(&mut self, w: &Window, cx: &Ctx) {
        self.dup_ack.on_needless(w, cx);
    }
    fn on_recovered(&mut self, cx: &Ctx) {
        self.watching = 2;
        self.dup_ack.on_recovered(cx);
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        self.dup_ack.on_cut(w, cx);
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        self.dup_ack.on_rto(dup_run, w, cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::blank;
    use crate::testing::{context, wide};
    use crate::time::Time;

    /// The verdict on the first duplicate, `after_ms` milliseconds after the oldest segment was sent; the path's RTT
    /// is 100 ms.
    fn first_duplicate(after_ms: u64) -> Verdict {
        let mut board = Scoreboard::default();
        (0..4).for_each(|n| {
            board.push(Offset(1 + n * 1000), 1000, Time(0), 4000.0, false);
        });
        let mut v = Vegas::new(&VegasSpec::default(), 1000);
        (0..50).for_each(|_| v.sample(Nanos::from_millis(100)));
        let cx = Ctx { now: Time(after_ms * 1_000_000), snd_max: Offset(4001), ..context() };
        v.on_ack(
            &AckEvent { is_dup: true, dup_run: 1, ack: Offset(1), prior_una: Offset(1), ..blank() },
            &wide(),
            &mut board,
            &cx,
        )
    }

    #[test]
    fn one_duplicate_is_enough_when_the_segment_is_late() {
        assert_eq!(first_duplicate(100), Verdict::Suspect);
        assert_eq!(first_duplicate(102), Verdict::Lost(1000));
    }
}
