//! Forward acknowledgment: everything missing below the highest SACKed segment is lost.
//!
//! Source: Mathis & Mahdavi 1996 (the trigger); ns-2.35's `Agent/TCP/Fack`.
//!
//! Idea: on a path that does not reorder, arriving data shows that everything sent before it has left the network. So the
//! distance to the forward-most byte counts, not the number of duplicates.
//!
//! | source | here |
//! | --- | --- |
//! | snd.fack | `board.highest_sacked()` |
//! | snd.fack − snd.una > 3 · MSS, or dupacks == 3 | `threshold_segs` for both |
//!
//! Departures: none known. Unsaid: when an earlier episode forbids a trigger (`guard`; in ns-2 only after a timeout).

use super::{Detector, Guard, Learner, Timekeeper, Verdict};
use crate::error::StackError;
use crate::event::{Phase, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::Scoreboard;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FackSpec {
    /// A loss is declared when the forward-most byte is more than this many segments away, or at this many duplicates.
    /// Default: 3.
    pub threshold_segs: u32,
    /// When an earlier episode prevents a fast retransmit. Default: "after-timeout".
    pub guard: Guard,
}

impl Default for FackSpec {
    fn default() -> Self {
        FackSpec { threshold_segs: 3, guard: Guard::AfterTimeout }
    }
}

impl FackSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let n = self.threshold_segs;
        StackError::unless((1..=1000).contains(&n), "detect.threshold_segs", &n, "1 to 1000 segments")
    }
}

/// The trigger at work.
pub struct Fack(FackSpec);

impl Fack {
    pub(super) fn new(spec: &FackSpec) -> Self {
        Fack(spec.clone())
    }
}

impl Detector for Fack {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let Some(fack) = board.highest_sacked() else { return Verdict::Clear };
        if cx.phase == Phase::Recovery {
            return Verdict::More(board.mark_holes_under(1));
        }
        let far = fack - cx.snd_una > u64::from(self.0.threshold_segs) * u64::from(cx.mss);
        let many = ack.is_dup && ack.dup_run >= self.0.threshold_segs;
        if ack.sacked > 0 && (far || many) && self.0.guard.admits(cx) {
            return Verdict::Lost(board.mark_holes_under(1));
        }
        if cx.phase == Phase::Open && ack.sacked == 0 {
            Verdict::Clear
        } else {
            Verdict::Suspect
        }
    }
}

impl Timekeeper for Fack {}

impl Learner for Fack {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::{blank, context, wide};
    use crate::time::Time;

    #[test]
    fn new_sacked_data_below_the_threshold_is_a_suspicion_and_an_ack_without_any_is_none() {
        let mut board = Scoreboard::default();
        (0..3).for_each(|n| _ = board.push(Offset(1 + 1000 * n), 1000, Time(n), 1e9, false));
        board.apply_sack((Offset(1001), Offset(2001)), &mut Default::default());
        let mut verdict = |phase, sacked| {
            let cx = Ctx { phase, snd_una: Offset(1), snd_max: Offset(3001), ..context() };
            Fack::new(&FackSpec::default()).on_ack(&AckEvent { sacked, ..blank() }, &wide(), &mut board, &cx)
        };
        assert_eq!(verdict(Phase::Open, 1000), Verdict::Suspect);
        assert_eq!(verdict(Phase::Open, 0), Verdict::Clear);
        assert_eq!(verdict(Phase::Disorder, 0), Verdict::Suspect, "the hole is still there");
    }
}
