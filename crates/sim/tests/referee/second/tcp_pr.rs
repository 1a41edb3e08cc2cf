//! TCP-PR's timers, worked out once more: a look at every packet at every timer.

use super::{board, mss};
use ackclock_tcp::detect::tcp_pr::{Root, TcpPrSpec};
use ackclock_tcp::detect::{Detector, Learner, StandIn, Timekeeper, Verdict};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::scoreboard::{Marks, Scoreboard, Sent};
use ackclock_tcp::time::Time;

const SECOND: u64 = 1_000_000_000;

/// Bohacek, Hespanha, Lee, Lim & Obraczka 2003, nanoseconds.
pub(super) struct TcpPr {
    spec: TcpPrSpec,
    ewrtt: f64,
    mxrtt: u64,
    /// When the oldest packet in to_be_ack was sent, as far as it was looked at.
    oldest: Option<u64>,
    /// The last cut; packets sent before it are in memorize. How many of those were lost.
    cut_at: Option<u64>,
    cburst: u32,
    silent_until: Option<u64>,
    extreme: bool,
}

impl TcpPr {
    pub(super) fn new(spec: &TcpPrSpec) -> TcpPr {
        let mxrtt = u64::min(spec.initial.0, spec.max.0);
        TcpPr {
            spec: spec.clone(),
            ewrtt: 0.0,
            mxrtt,
            oldest: None,
            cut_at: None,
            cburst: 0,
            silent_until: None,
            extreme: false,
        }
    }

    /// α to the power of 1 / cwnd.
    fn decay(&self, cwnd: f64) -> f64 {
        if self.spec.root == Root::Exact {
            return libm::pow(self.spec.alpha, 1.0 / cwnd);
        }
        // Two of Newton's steps for x^cwnd = α.
        let mut x = 1.0;
        for _ in 0..2 {
            x = (cwnd - 1.0) / cwnd * x + self.spec.alpha / (cwnd * libm::pow(x, cwnd - 1.0));
        }
        x
    }

    fn slower(&self, factor: u64) -> u64 {
        u64::min(u64::max(self.mxrtt.saturating_mul(factor), SECOND), self.spec.max.0)
    }
}

/// In to_be_ack: sent, not reported and not declared lost. A probe of a closed window is not.
fn to_be_ack(s: &Sent) -> bool {
    match (board::sacked(s), board::lost(s)) {
        (true, _) => false,
        (false, true) => board::resent(s),
        (false, false) => !s.marks.any(Marks::PROBE),
    }
}

impl Detector for TcpPr {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if ack.delivered > 0 {
            self.extreme = false;
            let decay = self.decay(f64::max((w.cwnd / mss(cx)).floor(), 1.0));
            for s in board::newly(board) {
                self.ewrtt = f64::max(self.ewrtt * decay, (cx.now.0 - s.at.0) as f64);
            }
            if let (true, Some(shortest)) = (self.ewrtt > 0.0, cx.min_rtt) {
                let limit = (self.spec.beta * self.ewrtt) as u64;
                self.mxrtt = u64::min(u64::max(limit, shortest.0), self.spec.max.0);
            }
        }
        let head = board::oldest(board);
        if board::pipe(board) == 0 {
            let held = head.is_some_and(board::sacked);
            self.oldest = if held { Some(self.oldest.unwrap_or(cx.now.0)) } else { None };
        } else if head.is_some_and(|s| s.sends == 1 && to_be_ack(s)) {
            self.oldest = head.map(|s| s.at.0);
        }
        Verdict::Clear
    }
    fn dupthresh(&self, _: &Window, _: &Ctx) -> Option<u32> {
        None
    }
}

impl Timekeeper for TcpPr {
    fn keeps_time(&self) -> bool {
        true
    }
    fn deadline(&self) -> Option<Time> {
        let packet = self.oldest.map(|at| at + self.mxrtt);
        [packet, self.silent_until].into_iter().flatten().min().map(Time)
    }
    fn on_timer(&mut self, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if self.silent_until.is_some_and(|until| cx.now.0 >= until) {
            self.silent_until = None;
        }
        let reneged = board::reneged(board);
        if reneged {
            board.clear_sacks();
        }
        let all: Vec<Sent> = board.iter().copied().collect();
        let (mut marked, mut news, mut alone, mut burst) = (0, false, false, false);
        self.oldest = None;
        for s in all.iter().filter(|s| to_be_ack(s) || (reneged && s.marks.any(Marks::PROBE))) {
            if s.at.0 + self.mxrtt > cx.now.0 {
                self.oldest = Some(self.oldest.map_or(s.at.0, |at| at.min(s.at.0)));
                continue;
            }
            marked += board.mark_lost(s.start);
            if self.cut_at.is_some_and(|cut| s.at.0 < cut) {
                // Of memorize.
                self.cburst += 1;
                burst |= f64::from(self.cburst) > s.cwnd / (2.0 * mss(cx)) + 1.0;
            } else {
                self.cut_at = Some(cx.now.0);
                self.cburst = 0;
                news = true;
                alone |= s.cwnd < 2.0 * mss(cx);
            }
        }
        if marked == 0 {
            return Verdict::Clear;
        }
        if self.extreme {
            self.mxrtt = if news { self.slower(2) } else { self.mxrtt };
            return Verdict::More(marked);
        }
        if burst || alone {
            self.mxrtt = self.slower(if burst { 1 } else { 2 });
            self.silent_until = if burst { Some(cx.now.0 + self.mxrtt) } else { None };
            self.extreme = true;
            self.cut_at = Some(cx.now.0);
            self.cburst = 0;
            return Verdict::Collapsed(marked);
        }
        if news {
            Verdict::Lost(marked)
        } else {
            Verdict::More(marked)
        }
    }
    fn watches_sends(&self) -> bool {
        self.silent_until.is_some() || self.oldest.is_none()
    }
    fn on_sent(&mut self, _: Xmit, sent: &Sent, _: &Ctx) {
        if self.oldest.is_none() && to_be_ack(sent) {
            self.oldest = Some(sent.at.0);
        }
    }
    fn hold_until(&self) -> Option<Time> {
        self.silent_until.map(Time)
    }
    fn owns_rto(&self) -> bool {
        true
    }
    fn stands_in_for_rto(&self) -> StandIn {
        StandIn::No
    }
    fn after_rto(&mut self, _: &mut Scoreboard, _: &Ctx) -> bool {
        false
    }
}

impl Learner for TcpPr {}
