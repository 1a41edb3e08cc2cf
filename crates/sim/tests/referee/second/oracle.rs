//! The oracle, worked out once more (decision 0250): what was dropped and overtaken is lost, and nothing else.

use super::tail::Tail;
use super::{advances, board, flight, late};
use ackclock_tcp::detect::{Detector, Learner, StandIn, Timekeeper, Verdict};
use ackclock_tcp::event::{Phase, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::scoreboard::{Marks, Scoreboard, Sent};
use ackclock_tcp::time::{Nanos, Time};

pub(super) struct Oracle {
    newest: Option<late::Order>,
    head_waits: bool,
    tail: Tail,
}

impl Oracle {
    pub(super) fn new() -> Oracle {
        Oracle { newest: None, head_waits: false, tail: Tail::new(Nanos::from_millis(200)) }
    }

    fn mark(newest: late::Order, board: &mut Scoreboard) -> u64 {
        let gone = |s: &&Sent| s.marks.any(Marks::DROPPED) && late::waits(s) && late::order(s) < newest;
        let found: Vec<Sent> = board.iter().filter(gone).copied().collect();
        found.iter().map(|s| board.mark_lost(s.start)).sum()
    }

    fn judge(&mut self, board: &mut Scoreboard, cx: &Ctx) -> u64 {
        let Some(newest) = self.newest else { return 0 };
        let lost = Oracle::mark(newest, board);
        let late = board::oldest(board).is_some_and(|s| late::waits(s) && late::order(s) < newest);
        self.head_waits = late && cx.phase != Phase::Loss;
        lost
    }
}

impl Detector for Oracle {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.tail.measured |= ack.rtt.is_some();
        self.newest = self.newest.max(late::surely_newest(ack, board, cx).map(|n| n.0));
        let repaired = self.tail.answered(ack);
        let lost = self.judge(board, cx);
        self.tail.any_sacked = board::highest_sacked(board).is_some();
        let repairs = super::counting::repairs(cx);
        let repairing = repairs && cx.recover.is_none_or(|r| cx.snd_una < r);
        if repairing || self.tail.any_sacked || lost > 0 || flight(cx) == 0 {
            self.tail.pto = None;
        } else if advances(ack) {
            self.tail.arm(cx.now.0, cx);
        }
        late::verdict(lost, repaired && !repairs, self.tail.any_sacked)
    }
}

impl Timekeeper for Oracle {
    fn keeps_time(&self) -> bool {
        true
    }
    fn deadline(&self) -> Option<Time> {
        self.tail.pto.map(Time)
    }
    fn on_timer(&mut self, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let lost = self.judge(board, cx);
        if lost > 0 {
            self.tail.pto = None;
            return Verdict::Lost(lost);
        }
        if self.tail.fires(board, cx) {
            Verdict::Probe
        } else {
            Verdict::Clear
        }
    }
    fn watches_sends(&self) -> bool {
        self.tail.watches_sends()
    }
    fn hears_drops(&self) -> bool {
        true
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.tail.on_sent(x, sent, cx);
    }
    fn stands_in_for_rto(&self) -> StandIn {
        if self.head_waits {
            StandIn::Restart
        } else {
            StandIn::No
        }
    }
    fn after_rto(&mut self, board: &mut Scoreboard, _: &Ctx) -> bool {
        self.head_waits = false;
        Oracle::mark((u64::MAX, 0), board);
        true
    }
}

impl Learner for Oracle {
    fn on_cut(&mut self, _: &Window, cx: &Ctx) {
        if super::counting::repairs(cx) {
            self.tail.reset();
        }
    }
}
