//! Loss detection by counting SACKed data.
//!
//! Source: RFC 6675 §2, §4 (`IsLost`), §5 (steps 1 to 4), §5.1.
//!
//! Idea: a segment is lost when enough data above it has arrived: DupThresh separate runs, or more than
//! (DupThresh − 1) · SMSS bytes. An ACK with new SACK information counts as a duplicate even when it also advances.
//!
//! | source | here |
//! | --- | --- |
//! | DupThresh | `threshold` |
//! | DupAcks | `dupacks` |
//! | RecoveryPoint | `cx.recover` (one higher: first unsent) |
//! | HighACK | `cx.snd_una − 1` |
//!
//! Departures: none. Segments, not octets, are judged: the scoreboard keeps them whole.

use super::threshold::{AnyThreshold, DupThresh, ThresholdSpec};
use super::{Detector, Guard, Verdict};
use crate::event::{Phase, Window};
use crate::recovery::RecoverySpec;
use crate::sender::ack::AckEvent;
use crate::sender::ctx::Ctx;
use crate::sender::reorder::ReorderSample;
use crate::sender::scoreboard::{Marks, Scoreboard};
use crate::stack::{Stack, StackError};
use crate::time::Nanos;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SackSpec {
    /// DupThresh.
    pub threshold: ThresholdSpec,
}

impl SackSpec {
    pub(super) fn validate(&self, stack: &Stack) -> Result<(), StackError> {
        stack.needs_sack("detect", "sack")?;
        StackError::unless(
            !matches!(stack.recovery, RecoverySpec::Reno(_) | RecoverySpec::Tahoe),
            "recovery",
            &"one that reads no SACK marks",
            "a SACK recovery (\"sack-ff96\", \"rfc6675\") with detect = \"sack\"",
        )
    }
}

/// RFC 6675's detector at work.
pub struct Sack {
    threshold: AnyThreshold,
    dupacks: u32,
    dupthresh: u32,
}

impl Sack {
    pub(super) fn new(spec: &SackSpec, mss: u32) -> Self {
        Sack { threshold: spec.threshold.build(mss), dupacks: 0, dupthresh: 0 }
    }
}

impl Detector for Sack {
    #[inline]
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if cx.phase != Phase::Open || ack.has_sack {
            self.threshold.on_ack(ack, board, cx);
        }
        // §5 (B): an advancing ACK resets the count; §2: with new SACK information it is itself the first duplicate.
        if ack.advances() {
            self.dupacks = 0;
        }
        if ack.sacked == 0 {
            return if board.sacked() > 0 && cx.phase != Phase::Open { Verdict::Suspect } else { Verdict::Clear };
        }
        self.dupacks += 1;
        if self.dupacks == 1 || self.dupthresh == 0 {
            self.threshold.on_disorder(w, cx);
            self.dupthresh = self.threshold.segments(w, cx);
        }
        // §5.1: after a timeout no new recovery until what was outstanding then is acknowledged.
        if cx.phase != Phase::Recovery && !Guard::LessCareful.admits(cx) {
            return Verdict::Suspect;
        }
        let mut marked = board.mark_is_lost(self.dupthresh, cx.mss);
        if cx.phase.repairs() {
            return if marked > 0 { Verdict::Lost(marked) } else { Verdict::Suspect };
        }
        // §5 (1), (2): the count alone is enough, and so is IsLost (HighACK + 1).
        let head_lost = board.iter().next().is_some_and(|s| s.marks.any(Marks::LOST));
        if self.dupacks >= self.dupthresh || head_lost {
            marked += board.mark_head_lost();
            return Verdict::Lost(marked);
        }
        Verdict::Suspect
    }
    fn keeps_time(&self) -> bool {
        false
    }
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        self.threshold.on_reorder(sample, w, cx);
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        self.threshold.on_cut(w, cx);
    }
    fn on_stall(&mut self, idle: Nanos, w: &Window, cx: &Ctx) {
        self.threshold.on_stall(idle, w, cx);
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        self.dupacks = 0;
        self.threshold.on_rto(dup_run, w, cx);
    }
}
