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

use super::learner::threshold_learns;
use super::threshold::{AnyThreshold, DupThresh, ThresholdSpec};
use super::{Detector, Guard, Learner, Timekeeper, Verdict};
use crate::event::{Phase, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::{Marks, Scoreboard};
use crate::needs::{Need, Requirement, Resends};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SackSpec {
    /// DupThresh: the number of separate runs, or segments, above a hole that make it lost (RFC 6675 §2).
    pub threshold: ThresholdSpec,
}

impl SackSpec {
    pub(super) fn needs(&self) -> Vec<Requirement> {
        let marks = Requirement {
            need: Need::Resends(Resends::READ_MARKS),
            key: "recovery",
            found: "a recovery that ignores SACK marks",
            allowed: "a SACK recovery (\"sack-ff96\", \"rfc6675\") with detect = \"sack\"",
        };
        [vec![Requirement::sack("detect", "\"sack\""), marks], self.threshold.needs()].concat()
    }
}

/// RFC 6675's detector at work.
pub struct Sack {
    threshold: AnyThreshold,
    dupacks: u32,
    /// The threshold as last read; `None` before the first duplicate.
    dupthresh: Option<NonZeroU32>,
}

impl Sack {
    pub(super) fn new(spec: &SackSpec, mss: u32) -> Self {
        Sack { threshold: spec.threshold.build(mss), dupacks: 0, dupthresh: None }
    }

    fn on_telling_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
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
        let (first, unknown) = (self.dupacks == 1, self.dupthresh.is_none());
        if first || unknown {
            self.threshold.on_disorder(w, cx);
        }
        // RFC 4653 §3.2 (E.6): a threshold that follows the flight is frozen during a recovery.
        let ask = if self.threshold.follows_flight() { !cx.phase.repairs() } else { first };
        if ask || unknown {
            self.dupthresh = NonZeroU32::new(self.threshold.segments(w, cx));
        }
        let dupthresh = self.dupthresh.map_or(0, NonZeroU32::get);
        // §5.1: after a timeout, no new recovery begins until the data outstanding at that time is acknowledged.
        if cx.phase != Phase::Recovery && !Guard::LessCareful.admits(cx) {
            return Verdict::Suspect;
        }
        let mut marked = board.mark_is_lost(dupthresh, cx.mss);
        if cx.phase.repairs() {
            return if marked > 0 { Verdict::Lost(marked) } else { Verdict::Suspect };
        }
        // §5 (1), (2): the count alone is enough, and so is IsLost (HighACK + 1).
        let head_lost = board.iter().next().is_some_and(|s| s.marks.any(Marks::LOST));
        if self.dupacks >= dupthresh || head_lost {
            marked += board.mark_head_lost();
            return Verdict::Lost(marked);
        }
        Verdict::Suspect
    }
}

impl Detector for Sack {
    #[inline(always)]
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        // Most ACKs carry no news.
        if cx.phase == Phase::Open && ack.advances() && !ack.has_sack && ack.sacked == 0 {
            self.dupacks = 0;
            return Verdict::Clear;
        }
        self.on_telling_ack(ack, w, board, cx)
    }
    fn dupthresh(&self, w: &Window, cx: &Ctx) -> Option<u32> {
        let in_force = self.dupthresh.filter(|_| self.dupacks > 0);
        Some(in_force.map_or_else(|| self.threshold.segments(w, cx), NonZeroU32::get))
    }
}

impl Timekeeper for Sack {}

impl Learner for Sack {
    threshold_learns!();
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        self.dupacks = 0;
        self.threshold.on_rto(dup_run, w, cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::blank;
    use crate::testing::{context, wide};
    use crate::time::Time;

    /// The detector's verdicts on ACKs at offset 1 that report these blocks one by one, over segments of these
    /// lengths.
    fn verdicts(lens: &[u32], blocks: &[(u64, u64)]) -> Vec<Verdict> {
        let (mut d, mut board, mut at) = (Sack::new(&SackSpec::default(), 1000), Scoreboard::default(), 1);
        for len in lens {
            board.push(Offset(at), *len, Time(0), 1e9, false);
            at += u64::from(*len);
        }
        let say = |b: &(u64, u64)| {
            let mut delivered = Default::default();
            board.apply_sack((Offset(b.0), Offset(b.1)), &mut delivered);
            let ack = AckEvent { sacked: b.1 - b.0, is_dup: true, has_sack: true, ..blank() };
            d.on_ack(&ack, &wide(), &mut board, &Ctx { phase: Phase::Disorder, ..context() })
        };
        blocks.iter().map(say).collect()
    }

    #[test]
    fn three_separate_runs_or_more_than_two_segments_of_bytes_or_three_duplicates_are_a_loss() {
        let (suspect, lost) = (Verdict::Suspect, Verdict::Lost);
        // In one ACK, exactly (DupThresh - 1) SMSS is not enough; one byte more is.
        assert_eq!(verdicts(&[1000, 1000, 1000, 1], &[(1001, 3001)]), [suspect]);
        assert_eq!(verdicts(&[1000, 1000, 1000, 1], &[(1001, 3002)]), [lost(1000)]);
        // Three runs of a byte each.
        assert_eq!(verdicts(&[1; 8], &[(2, 3), (4, 5), (6, 7)])[..2], [suspect, suspect]);
        assert!(matches!(verdicts(&[1; 8], &[(2, 3), (4, 5), (6, 7)])[2], Verdict::Lost(_)));
        // One run, in three duplicates.
        assert_eq!(verdicts(&[1; 8], &[(2, 3), (3, 4), (4, 5)]), [suspect, suspect, lost(1)]);
    }

    #[test]
    fn an_ack_that_advances_and_brings_new_sack_information_is_the_first_duplicate() {
        let (mut d, mut board) = (Sack::new(&SackSpec::default(), 1000), Scoreboard::default());
        (0..9).for_each(|n| _ = board.push(Offset(1 + n), 1, Time(0), 1e9, false));
        let cx = Ctx { phase: Phase::Disorder, ..context() };
        let mut say = |prior_una, ack, block: (u64, u64)| {
            board.acknowledge(Offset(ack), &mut Default::default());
            board.apply_sack((Offset(block.0), Offset(block.1)), &mut Default::default());
            let (prior_una, ack) = (Offset(prior_una), Offset(ack));
            let ack = AckEvent { prior_una, ack, sacked: 1, has_sack: true, ..blank() };
            d.on_ack(&ack, &wide(), &mut board, &Ctx { snd_una: ack.ack, ..cx })
        };
        assert_eq!(say(1, 1, (6, 7)), Verdict::Suspect);
        assert_eq!(say(1, 1, (7, 8)), Verdict::Suspect);
        // The third would mean a loss, but the count has restarted.
        assert_eq!(say(1, 3, (8, 9)), Verdict::Suspect);
    }
}
