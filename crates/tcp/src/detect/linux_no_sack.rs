//! Linux without SACK: duplicate ACKs count as segments that arrived, and the threshold is learned.
//!
//! Source: Linux 6.18, in our words: `tcp_newreno_mark_lost` in `net/ipv4/tcp_recovery.c`; `tcp_check_reno_reordering`,
//! `tcp_try_undo_partial`, `tcp_check_sack_reordering`, `tcp_packet_delayed`, `tcp_any_retrans_done` and
//! `tcp_is_non_sack_preventing_reopen` in `net/ipv4/tcp_input.c`.
//!
//! Idea: the head is lost when the number of duplicates reaches the largest reordering seen. Each partial ACK of a recovery
//! shows another loss (RFC 6582), unless its timestamp shows that the acknowledged data was only late.
//!
//! | Linux | here |
//! | --- | --- |
//! | sacked_out | `board.presumed()`: the sequencer counts |
//! | reordering, tcp_reordering, tcp_max_reordering | `reordering`, `dupthresh`, `max_reordering` |
//! | retrans_stamp | `stamp` |
//! | high_seq | `high` in a recovery that began here, else `cx.recover` |
//!
//! Departures: a timeout never lowers the threshold. Linux tries to (`tcp_enter_loss`), but it clears the count just before
//! testing it, so without SACK it never does. There is no RACK and no tail loss probe without SACK.

use super::{Detector, Guard, Learner, Timekeeper, Verdict};
use crate::error::StackError;
use crate::event::{Phase, Window};
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::{Marks, Scoreboard, Sent};
use crate::needs::{Need, Requirement, Resends};
use crate::segment::{is_older, timestamp};
use crate::seq::Offset;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinuxNoSackSpec {
    /// Duplicates that mean a loss as long as no reordering was seen. Default: 3 (`tcp_reordering`).
    #[schemars(range(min = 1, max = 1000))]
    pub dupthresh: u32,
    /// The most that reordering can raise it to. Default: 300 (`tcp_max_reordering`); 3 is NewReno's fixed threshold.
    #[schemars(range(min = 1))]
    pub max_reordering: u32,
}

impl Default for LinuxNoSackSpec {
    fn default() -> Self {
        LinuxNoSackSpec { dupthresh: 3, max_reordering: 300 }
    }
}

impl LinuxNoSackSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let n = self.dupthresh;
        StackError::unless((1..=1000).contains(&n), "detect.dupthresh", &n, "1 to 1000 duplicates")?;
        StackError::unless(self.max_reordering > 0, "detect.max_reordering", &0, "1 or more segments")
    }

    pub(super) fn needs(&self) -> Vec<Requirement> {
        let found = "\"linux-no-sack\"";
        let counted = Requirement {
            need: Need::EmulatedSack,
            key: "detect",
            found,
            allowed: "only together with dup_rule = \"emulated-sack\"",
        };
        let by_mark = Requirement {
            need: Need::Resends(&[Resends::ByMark, Resends::Unknown]),
            key: "recovery",
            found: "a different one with detect = \"linux-no-sack\"",
            allowed: "\"prr\" with order = \"marks\"",
        };
        vec![counted, by_mark]
    }
}

/// The running detector.
pub struct LinuxNoSack {
    reordering: u32,
    max: u32,
    /// The timestamp of the first retransmission still outstanding.
    stamp: Option<u32>,
    /// The end of the recovery that it began.
    high: Option<Offset>,
}

impl LinuxNoSack {
    pub(super) fn new(spec: &LinuxNoSackSpec) -> Self {
        LinuxNoSack { reordering: spec.dupthresh, max: spec.max_reordering, stamp: None, high: None }
    }

    /// If no retransmission is outstanding, the next one is the first (`tcp_retrans_stamp_cleanup`).
    fn forget_stamp(&mut self, board: &Scoreboard) {
        let mut all = board.iter();
        let resent = |s: &Sent| s.marks.any(Marks::REXMIT);
        if self.stamp.is_some() && !all.next().is_some_and(|head| head.sends > 1 || resent(head)) && !all.any(resent) {
            self.stamp = None;
        }
    }

    /// Whether the ACK was triggered by a segment sent before the first retransmission.
    fn only_late(&self, ack: &AckEvent) -> bool {
        ack.tsecr.zip(self.stamp).is_some_and(|(echo, stamp)| is_older(echo, stamp))
    }

    /// Handles a partial ACK of a recovery that began here; returns whether it shows another loss.
    fn partial(&mut self, ack: &AckEvent, cx: &Ctx) -> bool {
        let late = self.only_late(ack);
        if late {
            let segments = ack.acked().div_ceil(cx.mss.into());
            self.reordering = self.reordering.max(u32::try_from(segments).unwrap_or(u32::MAX).min(self.max));
        }
        !late && cx.phase == Phase::Recovery
    }

    /// In Open and Disorder: judges by the duplicates whether the head is lost.
    fn in_doubt(&mut self, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.forget_stamp(board);
        let arrived = board.presumed();
        if arrived >= u64::from(self.reordering) * u64::from(cx.mss) && Guard::Careful.admits(cx) {
            let lost = board.mark_head_lost();
            if lost > 0 {
                self.high = Some(cx.snd_max);
                return Verdict::Lost(lost);
            }
        }
        if arrived > 0 {
            Verdict::Suspect
        } else {
            Verdict::Clear
        }
    }
}

impl Detector for LinuxNoSack {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        // Most ACKs carry no news.
        if cx.phase == Phase::Open && !ack.is_dup && self.high.is_none() && board.presumed() == 0 {
            return Verdict::Clear;
        }
        let another = ack.advances() && self.high.is_some_and(|high| ack.ack < high) && self.partial(ack, cx);
        if cx.phase != Phase::Recovery {
            self.high = None;
        }
        match cx.phase {
            Phase::Open | Phase::Disorder => self.in_doubt(board, cx),
            Phase::Recovery if another && !head_is_marked(board) => Verdict::More(board.mark_head_lost()),
            Phase::Recovery | Phase::Loss => Verdict::Suspect,
        }
    }
    fn dupthresh(&self, _: &Window, _: &Ctx) -> Option<u32> {
        Some(self.reordering)
    }
}

/// Whether the oldest segment is marked lost or was resent.
fn head_is_marked(board: &Scoreboard) -> bool {
    board.iter().next().is_some_and(|head| head.marks.any(Marks::LOST | Marks::REXMIT))
}

impl Timekeeper for LinuxNoSack {
    fn on_sent(&mut self, _: Xmit, sent: &Sent, _: &Ctx) {
        self.stamp.get_or_insert(timestamp(sent.at));
    }
}

impl Learner for LinuxNoSack {
    fn on_rto(&mut self, _: u32, _: &Window, _: &Ctx) {
        self.high = None;
    }
    fn on_excess(&mut self, segments: u32) {
        self.reordering = segments.min(self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{blank, context, wide};
    use crate::time::Time;

    const MS: u64 = 1_000_000;

    /// Ten segments of 1000 bytes, sent at the beginning.
    fn ten() -> (LinuxNoSack, Scoreboard) {
        let mut board = Scoreboard::default();
        (0..10).for_each(|n| _ = board.push(Offset(1 + 1000 * n), 1000, Time(0), 1e9, false));
        (LinuxNoSack::new(&LinuxNoSackSpec::default()), board)
    }

    /// The verdict when duplicates say that `arrived` segments have arrived.
    fn duplicate(d: &mut LinuxNoSack, board: &mut Scoreboard, arrived: u64, recover: Option<Offset>) -> Verdict {
        board.presume(1000 * arrived);
        let cx = Ctx { phase: Phase::Disorder, recover, snd_max: Offset(10_001), ..context() };
        d.on_ack(&AckEvent { is_dup: true, ..blank() }, &wide(), board, &cx)
    }

    #[test]
    fn the_head_is_lost_when_as_many_segments_have_arrived_as_reordering_was_seen() {
        let (mut d, mut board) = ten();
        assert_eq!([1, 2].map(|n| duplicate(&mut d, &mut board, n, None)), [Verdict::Suspect; 2]);
        assert_eq!(duplicate(&mut d, &mut board, 3, None), Verdict::Lost(1000));
        let (mut d, mut board) = ten();
        d.on_excess(7);
        assert_eq!(duplicate(&mut d, &mut board, 6, None), Verdict::Suspect);
        assert_eq!(duplicate(&mut d, &mut board, 7, None), Verdict::Lost(1000));
    }

    #[test]
    fn what_may_be_an_echo_of_an_earlier_episode_begins_no_other() {
        let (mut d, mut board) = ten();
        assert_eq!(duplicate(&mut d, &mut board, 5, Some(Offset(1))), Verdict::Suspect, "at its end");
        assert_eq!(duplicate(&mut d, &mut board, 5, Some(Offset(0))), Verdict::Lost(1000), "above it");
    }

    #[test]
    fn too_many_duplicates_may_lower_the_threshold_too_and_never_pass_the_maximum() {
        let (mut d, _) = ten();
        let got = [40, 9, 1000].map(|n| {
            d.on_excess(n);
            d.reordering
        });
        assert_eq!(got, [40, 9, 300]);
    }

    #[test]
    fn a_partial_ack_shows_another_loss_unless_its_timestamp_is_older_than_the_first_retransmission() {
        for (echo, want, reordering) in
            [(50, Verdict::More(1000), 3), (49, Verdict::Suspect, 4), (0, Verdict::Suspect, 4)]
        {
            let (mut d, mut board) = ten();
            duplicate(&mut d, &mut board, 3, None);
            let sent = *board.resend(Offset(1), Time(50 * MS), 1e9).expect("outstanding");
            d.on_sent(Xmit::Again(Offset(1)), &sent, &context());
            board.acknowledge(Offset(4001), &mut Default::default());
            let ack = AckEvent { ack: Offset(4001), prior_una: Offset(1), tsecr: Some(echo), ..blank() };
            let cx = Ctx { phase: Phase::Recovery, snd_una: Offset(4001), snd_max: Offset(10_001), ..context() };
            assert_eq!((d.on_ack(&ack, &wide(), &mut board, &cx), d.reordering), (want, reordering), "echo {echo}");
        }
    }
}
