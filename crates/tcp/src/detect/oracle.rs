//! Oracle: knows which copies the path dropped, so it is never wrong. No TCP can have it: it bounds the use of a better detector.
//!
//! Source: this project (decision 0250); the tail loss probe is RFC 8985's (§7).
//!
//! Idea: a segment is declared lost at the first report of one sent after it, which is the earliest time at which an ACK can tell,
//! but only if its last copy was dropped. Under the same response, the difference between another detector and this one belongs to
//! detection, and the rest to the response.
//!
//! | source | here |
//! | --- | --- |
//! | TLP | `tlp.rs` |
//!
//! Departures: the simulator tells the sender about drops. If the RTO comes due while the oldest segment is overtaken and on its way,
//! it starts anew, as for Late.

use super::tlp::Tlp;
use super::{Detector, Learner, StandIn, Timekeeper, Verdict};
use crate::event::{Phase, Window};
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::{Marks, Scoreboard, Sent};
use crate::needs::{Need, Requirement, Resends};
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;

/// RFC 8985 §7.2.
const MAX_ACK_DELAY: Nanos = Nanos::from_millis(200);

pub(super) fn needs() -> Vec<Requirement> {
    let by_mark = Requirement {
        need: Need::Resends(&[Resends::ByMark, Resends::Unknown]),
        key: "recovery",
        found: "a different one with detect = \"oracle\"",
        allowed: "\"prr\" with order = \"marks\", since only marked segments are lost",
    };
    let after_timeout = Requirement {
        need: Need::ResendsByMark,
        key: "timeout",
        found: "\"go-back-n\"",
        allowed: "\"sack\" with detect = \"oracle\", since going back N resends what was not lost",
    };
    vec![Requirement::sack("detect", "\"oracle\""), by_mark, after_timeout]
}

/// The oracle at work.
pub struct Oracle {
    /// The newest segment reported, in the order of sending.
    newest: Option<(Time, Offset)>,
    /// Data was SACKed after the last ACK had been processed.
    sacked: bool,
    /// The oldest segment was overtaken, and was not dropped.
    head_waits: bool,
    tlp: Tlp,
}

impl Default for Oracle {
    fn default() -> Self {
        Oracle { newest: None, sacked: false, head_waits: false, tlp: Tlp::new(MAX_ACK_DELAY, None) }
    }
}

impl Oracle {
    /// Marks the dropped segments that were sent before `newest`.
    fn judge(newest: (Time, Offset), board: &mut Scoreboard) -> Bytes {
        let dropped = |s: &&Sent| s.marks.any(Marks::DROPPED) && s.key() < newest && !s.is_settled();
        let mut marked = 0;
        loop {
            let next = board.iter().find(dropped).map(|s| s.start);
            let Some(at) = next else { return marked };
            marked += board.mark_lost(at);
        }
    }

    fn judge_overtaken(&mut self, board: &mut Scoreboard, cx: &Ctx) -> Bytes {
        let Some(newest) = self.newest else { return 0 };
        let lost = Self::judge(newest, board);
        let late = |s: &Sent| s.key() < newest && !s.is_settled();
        self.head_waits = cx.phase != Phase::Loss && board.iter().next().is_some_and(late);
        lost
    }
}

impl Detector for Oracle {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if ack.rtt.is_some() {
            self.tlp.measured();
        }
        let reported = board.newest_delivered(ack, cx.min_rtt, cx.now).map(|n| (n.at, n.end));
        self.newest = self.newest.max(reported);
        let probe = self.tlp.on_ack(ack);
        let repairs = cx.phase.repairs();
        let lost = self.judge_overtaken(board, cx);
        self.sacked = board.sacked() > 0;
        let repairing = repairs && cx.recover.is_none_or(|r| cx.snd_una < r);
        if repairing || self.sacked || lost > 0 || cx.flight() == 0 {
            self.tlp.disarm();
        } else if ack.advances() {
            self.tlp.arm(cx.now, cx);
        }
        probe.verdict(lost, self.sacked, cx)
    }
}

impl Timekeeper for Oracle {
    fn keeps_time(&self) -> bool {
        true
    }
    fn on_timer(&mut self, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let lost = self.judge_overtaken(board, cx);
        if lost > 0 {
            self.tlp.disarm();
            return Verdict::Lost(lost);
        }
        self.tlp.on_timer(!self.sacked, false, board, cx)
    }
    fn deadline(&self) -> Option<Time> {
        self.tlp.deadline()
    }
    fn watches_sends(&self) -> bool {
        !self.sacked && self.tlp.waits_for_a_send()
    }
    fn hears_drops(&self) -> bool {
        true
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.tlp.on_sent(!self.sacked, x, sent, cx);
    }
    fn stands_in_for_rto(&self) -> StandIn {
        if self.head_waits {
            StandIn::Restart
        } else {
            StandIn::No
        }
    }
    fn after_rto(&mut self, board: &mut Scoreboard, cx: &Ctx) -> bool {
        self.head_waits = false;
        Self::judge((cx.now, cx.snd_max + 1), board);
        true
    }
}

impl Learner for Oracle {
    fn on_cut(&mut self, _: &Window, cx: &Ctx) {
        self.tlp.on_cut(cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, ms};

    #[test]
    fn an_overtaken_segment_is_lost_if_its_last_copy_was_dropped_and_only_then() {
        let (mut oracle, mut board) = (Oracle::default(), Scoreboard::default());
        for i in 0..4 {
            board.push(Offset(1 + 1000 * i), 1000, ms(i), 1e9, false);
        }
        let start = |i: u64| Offset(1 + 1000 * i);
        // Segment 1 was dropped, segment 0 is late; segment 3 was dropped, and nothing sent later has arrived.
        board.drop_copy(start(1), 1);
        board.drop_copy(start(3), 1);
        let mut hears = |board: &mut Scoreboard, now, left, right| {
            let mut d = crate::facts::scoreboard::Delivered::default();
            board.begin_ack();
            board.acknowledge(Offset(1), &mut d);
            board.apply_sack((left, right), &mut d);
            let ack = AckEvent { has_sack: true, ..d.ack_event(Offset(1), Offset(1), ms(now)) };
            let cx = Ctx { now: ms(now), snd_una: Offset(1), snd_max: start(4), ..context() };
            oracle.on_ack(&ack, &Window { cwnd: 1e4, ssthresh: 1e9 }, board, &cx)
        };
        assert_eq!(hears(&mut board, 110, start(2), start(3)), Verdict::Lost(1000));
        assert_eq!(board.first_lost(), Some(start(1)));
        // A copy under way is not lost, whatever happened to the one before.
        board.resend(start(1), ms(120), 1e9);
        board.drop_copy(start(1), 1);
        assert!(!board.get(start(1)).unwrap().marks.any(Marks::DROPPED));
        board.drop_copy(start(1), 2);
        assert!(board.get(start(1)).unwrap().marks.any(Marks::DROPPED));
    }
}
