//! Netstack without RACK: three duplicates in a row, or two full segments above the hole.
//!
//! Source: gVisor's netstack, `detectLoss`, `shouldEnterRecovery` and `isDupAck` in `pkg/tcpip/transport/tcp/snd.go`,
//! `IsRangeLost` in `sack_scoreboard.go` (module gvisor.dev/gvisor v0.0.0-20260224225140-573d5e7127a8), in our words.
//!
//! Idea: RFC 6675's `IsLost`, but (DupThresh − 1) · SMSS bytes above a hole are enough where the RFC asks for more. So two
//! full segments that overtake an older one mean a loss, where other stacks wait for a third.
//!
//! | source | here |
//! | --- | --- |
//! | nDupAckThreshold | `DUPTHRESH` |
//! | DupAckCount | `dupacks`: any other ACK resets it |
//! | nDupSACKBytes ≥ (nDupAckThreshold − 1) · smss | `mark_lost_above` |
//! | FastRecovery.Last < SEG.ACK − 1 | `Guard::Careful` |
//!
//! Departures: netstack remembers at most 100 SACKed ranges; here there is no limit. An ACK counts as a duplicate by
//! `dup_rule = "netstack"`.
//! Unsaid: nothing.

use super::{Detector, Guard, Learner, Timekeeper, Verdict};
use crate::event::{Phase, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::Scoreboard;
use crate::needs::{Need, Requirement, Resends};
use crate::units::Bytes;

const DUPTHRESH: u32 = 3;

/// Requirements on the rest of the stack.
pub(super) fn needs() -> Vec<Requirement> {
    let marks = Requirement {
        need: Need::Resends(Resends::READ_MARKS),
        key: "recovery",
        found: "a recovery that ignores SACK marks",
        allowed: "a SACK recovery (\"netstack\", \"rfc6675\") with detect = \"netstack\"",
    };
    vec![Requirement::sack("detect", "\"netstack\""), marks]
}

/// Netstack's count at work.
#[derive(Default)]
pub struct Netstack {
    dupacks: u32,
}

/// Marks the segments that `IsRangeLost` considers lost; returns the bytes newly marked.
fn mark_lost(board: &mut Scoreboard, cx: &Ctx) -> Bytes {
    let enough = u64::from(DUPTHRESH - 1) * u64::from(cx.mss);
    board.mark_lost_above(DUPTHRESH, enough - 1)
}

impl Netstack {
    fn on_telling_ack(&mut self, ack: &AckEvent, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let suspect = if board.sacked() > 0 { Verdict::Suspect } else { Verdict::Clear };
        if cx.phase == Phase::Recovery {
            return match mark_lost(board, cx) {
                0 => suspect,
                marked => Verdict::Lost(marked),
            };
        }
        if !ack.is_dup {
            self.dupacks = 0;
            return suspect;
        }
        self.dupacks += 1;
        if !Guard::Careful.admits(cx) {
            return suspect;
        }
        let marked = mark_lost(board, cx);
        if marked == 0 && self.dupacks < DUPTHRESH {
            return suspect;
        }
        self.dupacks = 0;
        Verdict::Lost(marked + board.mark_head_lost())
    }
}

impl Detector for Netstack {
    #[inline(always)]
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        // Most ACKs carry no news.
        if cx.phase == Phase::Open && ack.advances() && !ack.has_sack && board.sacked() == 0 {
            self.dupacks = 0;
            return Verdict::Clear;
        }
        self.on_telling_ack(ack, board, cx)
    }
    fn dupthresh(&self, _: &Window, _: &Ctx) -> Option<u32> {
        // This holds for full segments.
        Some(DUPTHRESH - 1)
    }
}

impl Timekeeper for Netstack {}

impl Learner for Netstack {
    fn on_rto(&mut self, _: u32, _: &Window, _: &Ctx) {
        self.dupacks = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::{blank, context, wide};
    use crate::time::Time;

    /// Its verdicts on duplicates at offset 1 that report these blocks one by one, over segments of these lengths.
    fn verdicts(lens: &[u32], blocks: &[(u64, u64)]) -> Vec<Verdict> {
        let (mut d, mut board, mut at) = (Netstack::default(), Scoreboard::default(), 1);
        for len in lens {
            board.push(Offset(at), *len, Time(0), 1e9, false);
            at += u64::from(*len);
        }
        let say = |b: &(u64, u64)| {
            board.apply_sack((Offset(b.0), Offset(b.1)), &mut Default::default());
            let ack = AckEvent { sacked: b.1 - b.0, is_dup: true, has_sack: true, ..blank() };
            d.on_ack(&ack, &wide(), &mut board, &Ctx { phase: Phase::Disorder, ..context() })
        };
        blocks.iter().map(say).collect()
    }

    #[test]
    fn two_full_segments_above_a_hole_are_a_loss_where_rfc_6675_waits_for_the_third() {
        let (suspect, lost) = (Verdict::Suspect, Verdict::Lost);
        assert_eq!(verdicts(&[1000; 4], &[(1001, 2001), (2001, 3001)]), [suspect, lost(1000)]);
        assert_eq!(verdicts(&[1000, 1000, 999], &[(1001, 3000)]), [suspect], "one byte too few");
        assert_eq!(verdicts(&[1; 8], &[(2, 3), (3, 4), (4, 5)]), [suspect, suspect, lost(1)], "three duplicates");
        assert_eq!(verdicts(&[1; 8], &[(2, 3), (4, 5), (6, 7)])[2], lost(1), "three runs");
    }

    #[test]
    fn an_ack_that_is_not_a_duplicate_restarts_the_count_and_none_counts_before_the_last_repair_is_passed() {
        let (mut d, mut board) = (Netstack::default(), Scoreboard::default());
        (0..9).for_each(|n| _ = board.push(Offset(1 + n), 1, Time(0), 1e9, false));
        board.apply_sack((Offset(3), Offset(4)), &mut Default::default());
        let cx = Ctx { phase: Phase::Disorder, snd_una: Offset(1), ..context() };
        let dup = AckEvent { sacked: 1, is_dup: true, has_sack: true, ..blank() };
        let mut say = |ack: &AckEvent, cx: &Ctx| d.on_ack(ack, &wide(), &mut board, cx);
        let early = Ctx { recover: Some(Offset(1)), ..cx };
        assert_eq!([say(&dup, &early), say(&dup, &early), say(&dup, &early)], [Verdict::Suspect; 3]);
        assert_eq!(say(&AckEvent { is_dup: false, ..dup }, &cx), Verdict::Suspect);
        assert_eq!(
            [say(&dup, &cx), say(&dup, &cx), say(&dup, &cx)],
            [Verdict::Suspect, Verdict::Suspect, Verdict::Lost(1)]
        );
    }
}
