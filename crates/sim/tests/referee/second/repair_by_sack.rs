//! The recoveries that read the scoreboard, worked out once more.

use super::{board, end_of, mss};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::{Flow, Rearm, Xmit};
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::Episode;
use ackclock_tcp::facts::gate::Gate;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::recovery::Recovery;
use ackclock_tcp::units::Bytes;

pub(super) const GOES_ON: Flow = Flow::Continue(Rearm::OnNewData);
pub(super) const RESTARTS: Flow = Flow::Continue(Rearm::Restart);
pub(super) const OVER: Flow = Flow::Done { grow: false };

/// RFC 6675 §4, NextSeg.
#[derive(Default)]
pub(super) struct NextSeg {
    /// RescueRxt, or the end of the first retransmission before there was one.
    first_end: u64,
    rescued: bool,
}

impl NextSeg {
    pub(super) fn begin(board: &Scoreboard, cx: &Ctx) -> NextSeg {
        NextSeg { first_end: board::oldest(board).map_or(cx.snd_una.0, board::end), rescued: false }
    }

    /// Rules (1), (2), (3).
    pub(super) fn usual(board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if let Some(x) = board::lost_or_new_free(board, cx) {
            return Some(x);
        }
        board::first_hole(board).map(|s| Xmit::Again(s.start))
    }

    /// Rule (4).
    pub(super) fn rescue(&self, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        let last = board.iter().last()?;
        let fit = !board::sacked(last) && !board::resent(last);
        (fit && !self.rescued && cx.snd_una.0 > self.first_end).then_some(Xmit::Again(last.start))
    }

    pub(super) fn next(&self, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        NextSeg::usual(board, cx).or(self.rescue(board, cx))
    }

    pub(super) fn sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.rescued |= x != Xmit::New && end_of(sent) == cx.snd_max.0;
    }
}

/// How much a recovery sends, and for how long.
enum Rule {
    /// RFC 6675 §5. Whether each retransmission restarts the timer (§6).
    Rfc6675 { rearm: bool },
    /// gVisor: three segments more. Whether only marked segments are resent.
    Netstack { marks: bool },
    /// Mathis and others 1999.
    RateHalving,
    /// Linux's `cong_control`.
    ByRate,
    /// Mathis & Mahdavi 1996. Whether the window comes down over a round trip.
    Fack { rampdown: bool },
}

/// A recovery whose room is RFC 6675's pipe.
pub(super) struct ByPipe {
    rule: Rule,
    order: NextSeg,
    /// The first retransmission is due; something has been resent since the last ACK that asked.
    first: bool,
    resent: bool,
    /// Rate halving: the round trip is not over.
    halves: bool,
    /// FACK: the window after the cut, and what is still above it.
    target: f64,
    trim: f64,
}

impl ByPipe {
    fn of(rule: Rule) -> ByPipe {
        let order = NextSeg::default();
        ByPipe { rule, order, first: false, resent: false, halves: false, target: 0.0, trim: 0.0 }
    }
    pub(super) fn rfc6675(rearm: bool) -> ByPipe {
        ByPipe::of(Rule::Rfc6675 { rearm })
    }
    pub(super) fn netstack(marks: bool) -> ByPipe {
        ByPipe::of(Rule::Netstack { marks })
    }
    pub(super) fn rate_halving() -> ByPipe {
        ByPipe::of(Rule::RateHalving)
    }
    pub(super) fn by_rate() -> ByPipe {
        ByPipe::of(Rule::ByRate)
    }
    pub(super) fn fack(rampdown: bool) -> ByPipe {
        ByPipe::of(Rule::Fack { rampdown })
    }
}

/// Linux: cwnd = min (cwnd, in_flight + 1).
fn near_pipe(w: &mut Window, board: &Scoreboard, cx: &Ctx) {
    w.cwnd = f64::max(f64::min(w.cwnd, board::pipe(board) as f64 + mss(cx)), mss(cx));
}

impl Recovery for ByPipe {
    fn enter(
        &mut self,
        _: Option<&AckEvent>,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        self.order = NextSeg::begin(board, cx);
        (self.first, self.resent, self.halves) = (true, false, true);
        match self.rule {
            Rule::Rfc6675 { .. } => {
                w.cwnd = ep.target;
                board.mark_head_lost();
            }
            Rule::Netstack { .. } => {
                w.cwnd = w.ssthresh + 3.0 * mss(cx);
                board.mark_head_lost();
            }
            Rule::RateHalving => {
                board.mark_head_lost();
                self.first = false;
                near_pipe(w, board, cx);
            }
            Rule::ByRate => self.first = false,
            Rule::Fack { rampdown } => {
                self.target = ep.target;
                let above = board::pipe(board) as f64 - ep.target;
                self.trim = if rampdown { f64::max(above, 0.0) } else { 0.0 };
                w.cwnd = self.target + self.trim;
                return RESTARTS;
            }
        }
        GOES_ON
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        lost: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        let over = ack.ack.0 >= ep.recover.0;
        match self.rule {
            Rule::Rfc6675 { rearm } if !over && rearm && self.resent => {
                self.resent = false;
                return RESTARTS;
            }
            Rule::Rfc6675 { .. } => {}
            Rule::Netstack { .. } if over => {
                w.cwnd = f64::max(w.ssthresh, mss(cx));
                return Flow::Done { grow: true };
            }
            Rule::Netstack { .. } => {}
            Rule::RateHalving => {
                if self.halves {
                    let least = f64::min(w.ssthresh, w.cwnd);
                    w.cwnd = f64::max(w.cwnd - ack.delivered as f64 / 2.0, least);
                    let fack = board::highest_sacked(board).unwrap_or(0);
                    if over || fack >= ep.recover.0 {
                        self.halves = false;
                        w.cwnd = f64::max(f64::min(w.cwnd, ep.prior.cwnd / 2.0), mss(cx));
                        w.ssthresh = f64::max(f64::max(w.cwnd, ep.prior.cwnd / 4.0), 2.0 * mss(cx));
                    }
                }
                if !over {
                    near_pipe(w, board, cx);
                }
            }
            Rule::ByRate if over && lost > 0 => return Flow::Begin,
            Rule::ByRate => {}
            Rule::Fack { .. } => {
                self.trim = f64::max(self.trim - ack.delivered as f64 / 2.0, 0.0);
                w.cwnd = if over { self.target } else { self.target + self.trim };
            }
        }
        if over {
            OVER
        } else {
            GOES_ON
        }
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if self.first {
            return Some(Xmit::Again(cx.snd_una));
        }
        if !board::pipe_admits(w, board, cx) {
            return None;
        }
        match self.rule {
            Rule::Rfc6675 { .. } | Rule::RateHalving | Rule::Netstack { marks: false } => self.order.next(board, cx),
            Rule::Netstack { marks: true } | Rule::ByRate | Rule::Fack { .. } => board::lost_or_new_free(board, cx),
        }
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.first = false;
        self.resent |= x != Xmit::New;
        self.order.sent(x, sent, cx);
    }
    fn hold_resends(&mut self, _: bool) {}
    fn inflation(&self) -> f64 {
        0.0
    }
    fn open_gate(&self) -> Gate {
        match self.rule {
            Rule::Rfc6675 { .. } | Rule::RateHalving | Rule::ByRate => Gate::Pipe,
            Rule::Netstack { .. } | Rule::Fack { .. } => Gate::Window,
        }
    }
    fn passes_cap(&self) -> bool {
        false
    }
    fn restarts_timer(&self) -> bool {
        matches!(self.rule, Rule::ByRate)
    }
}
