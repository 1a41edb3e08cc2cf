//! The recoveries that count what is delivered, worked out once more.

use super::repair_by_sack::{NextSeg, GOES_ON, OVER, RESTARTS};
use super::{acked, advances, board, flight, mss, segments};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::{Flow, Xmit};
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::Episode;
use ackclock_tcp::facts::gate::Gate;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::recovery::prr::{Bound, Order, PrrSpec};
use ackclock_tcp::recovery::sack_ff96::{HoleRule, SackFf96Spec};
use ackclock_tcp::recovery::Recovery;
use ackclock_tcp::units::Bytes;

/// RFC 9937, RFC 6937 and Linux.
pub(super) struct Prr {
    spec: PrrSpec,
    order: NextSeg,
    recover_fs: u64,
    prr_delivered: u64,
    prr_out: u64,
    held: bool,
}

impl Prr {
    pub(super) fn new(spec: &PrrSpec) -> Prr {
        let (spec, order) = (spec.clone(), NextSeg::default());
        Prr { spec, order, recover_fs: 0, prr_delivered: 0, prr_out: 0, held: false }
    }

    /// DeliveredData; Linux adds what a DSACK reports.
    fn delivered(&self, ack: &AckEvent) -> u64 {
        let twice = ack.dsack.filter(|_| self.spec.bound == Bound::Linux).map_or(0, |(left, right)| right.0 - left.0);
        ack.delivered + twice
    }

    fn count(&mut self, delivered: u64, safe_ack: bool, w: &mut Window, board: &Scoreboard, cx: &Ctx) {
        let (smss, inflight) = (mss(cx), board::pipe(board) as f64);
        self.prr_delivered += delivered;
        let out = self.prr_out as f64;
        let missing = self.prr_delivered as f64 - out;
        let mut sndcnt;
        if inflight > w.ssthresh {
            let fs = u64::max(self.recover_fs, 1) as f64;
            sndcnt = (self.prr_delivered as f64 * w.ssthresh / (fs * smss)).ceil() * smss - out;
        } else {
            let mut limit = f64::max(missing, delivered as f64);
            match self.spec.bound {
                Bound::Rfc9937 | Bound::Linux if safe_ack => limit += smss,
                Bound::Rfc9937 | Bound::Linux => {}
                Bound::Ssrb => limit += smss,
                Bound::Crb => limit = missing,
            }
            sndcnt = f64::min(limit, w.ssthresh - inflight);
        }
        if self.prr_out == 0 {
            sndcnt = f64::max(sndcnt, smss);
        }
        w.cwnd = f64::max(inflight + sndcnt, smss);
    }
}

impl Recovery for Prr {
    fn enter(
        &mut self,
        ack: Option<&AckEvent>,
        _: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        self.order = NextSeg::begin(board, cx);
        (self.prr_delivered, self.prr_out, self.held) = (0, 0, false);
        let without_ack = if self.spec.bound == Bound::Linux { u64::from(cx.mss) } else { 0 };
        let delivered = ack.map_or(without_ack, |a| self.delivered(a));
        self.recover_fs = match self.spec.bound {
            Bound::Rfc9937 => flight(cx) - board::bytes(board, board::sacked) + delivered,
            Bound::Linux => (w.cwnd / mss(cx)).floor() as u64 * u64::from(cx.mss),
            Bound::Ssrb | Bound::Crb => flight(cx) + ack.map_or(0, acked),
        };
        self.count(delivered, false, w, board, cx);
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
        let beyond = u64::from(self.spec.beyond_recover);
        if ack.ack.0 >= ep.recover.0 + beyond {
            w.cwnd = f64::max(w.ssthresh, mss(cx));
            return if lost > 0 { Flow::Begin } else { OVER };
        }
        if self.spec.respond_lost_rexmit && board::lost_again_since(board, ep.began) {
            return Flow::Begin;
        }
        let delivered = self.delivered(ack);
        if delivered > 0 {
            let rescue = NextSeg::usual(board, cx).is_none() && self.order.rescue(board, cx).is_some();
            let safe = advances(ack) && lost == 0 && !(rescue && self.spec.order == Order::Rfc6675);
            self.count(delivered, safe, w, board, cx);
        }
        GOES_ON
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if !board::pipe_admits(w, board, cx) {
            return None;
        }
        match self.spec.order {
            Order::Rfc6675 => self.order.next(board, cx),
            Order::Marks if self.held => (cx.next_len > 0).then_some(Xmit::New),
            Order::Marks => board::lost_or_new_free(board, cx),
        }
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.prr_out += u64::from(sent.len);
        self.order.sent(x, sent, cx);
    }
    fn hold_resends(&mut self, hold: bool) {
        self.held = hold;
    }
    fn inflation(&self) -> f64 {
        0.0
    }
    fn open_gate(&self) -> Gate {
        Gate::Pipe
    }
    fn passes_cap(&self) -> bool {
        false
    }
    fn restarts_timer(&self) -> bool {
        self.spec.restart_timer
    }
}

/// Fall & Floyd 1996 §2.4, and Blanton & Allman 2002, Appendix A.
pub(super) struct Sack1 {
    spec: SackFf96Spec,
    pipe: i64,
    /// The first retransmission: not sent, sent on this ACK, or over.
    first: u8,
    resent: u32,
}

impl Sack1 {
    pub(super) fn new(spec: &SackFf96Spec) -> Sack1 {
        Sack1 { spec: spec.clone(), pipe: 0, first: 2, resent: 0 }
    }
}

impl Recovery for Sack1 {
    fn enter(
        &mut self,
        ack: Option<&AckEvent>,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        w.cwnd = ep.target;
        self.pipe = if self.spec.exact_entry {
            segments(flight(cx) - board::bytes(board, board::sacked), cx) as i64 - 1
        } else {
            segments(flight(cx), cx) as i64 - ack.map_or(0, |a| i64::from(a.dup_run))
        };
        (self.first, self.resent) = (0, 0);
        RESTARTS
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        ep: &mut Episode,
        _: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        if ack.ack.0 >= ep.recover.0 {
            return OVER;
        }
        if self.first == 1 {
            self.first = 2;
        }
        if advances(ack) {
            let no_sack = !ack.has_sack && board::highest_sacked(board).is_none();
            if self.spec.face_value && no_sack {
                self.pipe -= segments(acked(ack), cx) as i64;
            } else if self.resent > 0 || !self.spec.limit_double_decrease {
                self.pipe -= 2;
                self.resent = self.resent.saturating_sub(1);
            } else {
                self.pipe -= 1;
            }
        } else if !self.spec.new_sack_only || ack.sacked > 0 {
            self.pipe -= 1;
        }
        if self.spec.exact_entry && self.pipe < 0 {
            self.pipe = 0;
        }
        if advances(ack) {
            RESTARTS
        } else {
            GOES_ON
        }
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if self.first < 2 {
            return (self.first == 0).then_some(Xmit::Again(cx.snd_una));
        }
        if self.pipe >= (w.cwnd / mss(cx)).floor() as i64 {
            return None;
        }
        let hole = match self.spec.hole_rule {
            HoleRule::Ff96 => board::first_hole(board),
            HoleRule::Dupthresh => board::first_lost(board),
        };
        match hole {
            Some(s) => Some(Xmit::Again(s.start)),
            None => (cx.next_len > 0).then_some(Xmit::New),
        }
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, _: &Ctx) {
        if x != Xmit::New {
            self.resent += 1;
        }
        if self.first > 0 || self.spec.exact_entry {
            self.pipe += 1;
        }
        if self.first == 0 {
            self.first = 1;
        }
    }
    fn hold_resends(&mut self, _: bool) {}
    fn inflation(&self) -> f64 {
        0.0
    }
    fn open_gate(&self) -> Gate {
        Gate::Window
    }
    fn passes_cap(&self) -> bool {
        false
    }
    fn restarts_timer(&self) -> bool {
        false
    }
}
