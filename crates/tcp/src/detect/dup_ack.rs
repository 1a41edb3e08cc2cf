//! Loss detection by counting duplicate ACKs.
//!
//! Source: RFC 5681 §3.2; RFC 6582 §3.2 step 2 for the guard; ns-2.35's `bug_fix`.
//!
//! Idea: the `dupthresh`-th duplicate ACK in a row means that the segment at `snd_una` is lost, unless those duplicates
//! may be echoes of an earlier episode's retransmissions (the guard).
//!
//! | source | here |
//! | --- | --- |
//! | dupacks | `ack.dup_run` |
//! | DupThresh | `threshold` |
//! | recover | `cx.recover` |
//!
//! Departures: the threshold is read on the first duplicate of a hole and kept, so an adaptive rule does not move it
//! during a count. The trigger is the count *being equal* to it: a count that passed it while the guard forbade the
//! trigger does not trigger later (as in ns-2). In Recovery the phase's owner handles duplicates, and nothing is judged
//! unless `judge_in_recovery`.

use super::learner::threshold_learns;
use super::threshold::{AnyThreshold, DupThresh, ThresholdSpec};
use super::{Detector, Guard, Learner, Timekeeper, Verdict};
use crate::event::{Phase, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::Scoreboard;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DupAckSpec {
    /// How many duplicates trigger a fast retransmit.
    pub threshold: ThresholdSpec,
    /// When an earlier episode prevents a fast retransmit. Default: "careful".
    pub guard: Guard,
    /// Whether holes are also judged by the threshold in Recovery, for a recovery that resends only marked holes
    /// (`hole_rule = "dupthresh"`). Default: no.
    pub judge_in_recovery: bool,
}

/// The counter at work (the sequencer keeps the count).
pub struct DupAck {
    threshold: AnyThreshold,
    guard: Guard,
    judge_in_recovery: bool,
    /// The threshold read on the first duplicate of a hole; `None` before the first hole.
    dupthresh: Option<NonZeroU32>,
}

impl DupAck {
    pub(super) fn new(spec: &DupAckSpec, mss: u32) -> Self {
        DupAck {
            threshold: spec.threshold.build(mss),
            guard: spec.guard,
            judge_in_recovery: spec.judge_in_recovery,
            dupthresh: None,
        }
    }
}

impl DupAck {
    /// A hole counts as lost once the threshold's number of segments above it are SACKed.
    fn in_recovery(&self, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if !self.judge_in_recovery {
            return Verdict::Suspect;
        }
        Verdict::More(board.mark_holes_under(self.threshold.segments(w, cx)))
    }

    fn on_telling_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if cx.phase != Phase::Open || ack.has_sack {
            self.threshold.on_ack(ack, board, cx);
        }
        if cx.phase == Phase::Recovery {
            return self.in_recovery(w, board, cx);
        }
        if !ack.is_dup {
            return if ack.advances() || !cx.phase.is_disorder() { Verdict::Clear } else { Verdict::Suspect };
        }
        if ack.dup_run == 1 {
            self.threshold.on_disorder(w, cx);
            self.dupthresh = NonZeroU32::new(self.threshold.segments(w, cx));
        }
        if self.dupthresh.is_some_and(|n| n.get() == ack.dup_run) && self.guard.admits(cx) {
            Verdict::Lost(board.mark_head_lost())
        } else {
            Verdict::Suspect
        }
    }
}

impl Detector for DupAck {
    #[inline(always)]
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        // Most ACKs carry no news.
        if cx.phase == Phase::Open && !ack.is_dup && !ack.has_sack {
            return Verdict::Clear;
        }
        self.on_telling_ack(ack, w, board, cx)
    }
    fn dupthresh(&self, w: &Window, cx: &Ctx) -> Option<u32> {
        let in_force = self.dupthresh.filter(|_| cx.phase.is_disorder());
        Some(in_force.map_or_else(|| self.threshold.segments(w, cx), NonZeroU32::get))
    }
}

impl Timekeeper for DupAck {}

impl Learner for DupAck {
    threshold_learns!();
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        self.threshold.on_rto(dup_run, w, cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::{blank, context, wide};
    use crate::time::Time;

    #[test]
    fn a_count_that_passed_while_the_guard_forbade_begins_nothing_later() {
        let (mut d, mut board) = (DupAck::new(&DupAckSpec::default(), 1000), Scoreboard::default());
        board.push(Offset(1), 1000, Time(0), 1e9, false);
        let mut dup = |dup_run, recover| {
            let ack = AckEvent { is_dup: true, dup_run, ..blank() };
            d.on_ack(&ack, &wide(), &mut board, &Ctx { phase: Phase::Disorder, recover, ..context() })
        };
        assert_eq!([1, 2, 3].map(|n| dup(n, Some(Offset(5001)))), [Verdict::Suspect; 3]);
        assert_eq!(dup(4, None), Verdict::Suspect, "the guard now permits it, but the count has passed the threshold");
        assert_eq!([1, 2, 3].map(|n| dup(n, None)), [Verdict::Suspect, Verdict::Suspect, Verdict::Lost(1000)]);
    }
}
