//! The recoveries that duplicates and partial ACKs drive, worked out once more.

use super::{acked, advances, board, flight, mss};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::{Flow, Rearm, Xmit};
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::Episode;
use ackclock_tcp::facts::gate::Gate;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::recovery::newreno::{FullAck, NewRenoSpec, PartialTimer};
use ackclock_tcp::recovery::reno::RenoSpec;
use ackclock_tcp::recovery::Recovery;
use ackclock_tcp::units::Bytes;

pub(super) const GOES_ON: Flow = Flow::Continue(Rearm::OnNewData);
pub(super) const RESTARTS: Flow = Flow::Continue(Rearm::Restart);

/// 4.3BSD-Tahoe: everything again, as after a timeout.
pub(super) struct Tahoe;

impl Recovery for Tahoe {
    fn enter(&mut self, _: Option<&AckEvent>, _: &mut Episode, _: &mut Window, _: &mut Scoreboard, _: &Ctx) -> Flow {
        Flow::Restart
    }
    fn on_ack(&mut self, _: &AckEvent, _: Bytes, _: &mut Episode, _: &mut Window, _: &mut Scoreboard, _: &Ctx) -> Flow {
        Flow::Restart
    }
    fn next(&self, _: &Window, _: &Scoreboard, _: &Ctx) -> Option<Xmit> {
        None
    }
    fn passes_cap(&self) -> bool {
        false
    }
    fn restarts_timer(&self) -> bool {
        false
    }
}

/// TCP-PR: lost data is sent first, in no phase of its own.
pub(super) struct InOpen;

impl Recovery for InOpen {
    fn enter(&mut self, _: Option<&AckEvent>, ep: &mut Episode, w: &mut Window, _: &mut Scoreboard, _: &Ctx) -> Flow {
        w.cwnd = ep.target;
        Flow::Done { grow: false }
    }
    fn on_ack(&mut self, _: &AckEvent, _: Bytes, _: &mut Episode, _: &mut Window, _: &mut Scoreboard, _: &Ctx) -> Flow {
        GOES_ON
    }
    fn next(&self, _: &Window, _: &Scoreboard, _: &Ctx) -> Option<Xmit> {
        None
    }
    fn open_gate(&self) -> Gate {
        Gate::Pipe
    }
    fn passes_cap(&self) -> bool {
        false
    }
    fn restarts_timer(&self) -> bool {
        false
    }
}

/// RFC 5681 §3.2, and Net/2.
pub(super) struct Reno {
    spec: RenoSpec,
    /// What duplicates add to the window, in bytes, and Net/2's trace of the window during the resend.
    inflation: u64,
    fade: f64,
    /// The oldest segment is due; nothing else goes on this ACK.
    due: bool,
    silent: bool,
}

impl Reno {
    pub(super) fn new(spec: &RenoSpec) -> Reno {
        Reno { spec: spec.clone(), inflation: 0, fade: 0.0, due: false, silent: false }
    }
}

impl Recovery for Reno {
    fn enter(&mut self, _: Option<&AckEvent>, ep: &mut Episode, w: &mut Window, _: &mut Scoreboard, cx: &Ctx) -> Flow {
        w.cwnd = ep.target;
        self.fade = mss(cx) - ep.target;
        self.inflation = u64::from(self.spec.inflate_segs) * u64::from(cx.mss);
        (self.due, self.silent) = (true, false);
        RESTARTS
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        _: &mut Episode,
        w: &mut Window,
        _: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        self.silent = false;
        if !advances(ack) {
            self.inflation += if ack.is_dup { u64::from(cx.mss) } else { 0 };
            return GOES_ON;
        }
        self.due = false;
        // Net/2's header prediction: what the peer allows is no more than the inflated window.
        let inflated = w.cwnd + self.inflation as f64;
        let no_limit = (flight(cx) + cx.room) as f64 <= inflated;
        if self.spec.header_prediction && no_limit && cx.snd_nxt.0 == cx.snd_max.0 {
            return GOES_ON;
        }
        self.inflation = 0;
        Flow::Done { grow: self.spec.grow_on_exit }
    }
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if self.due {
            return Some(Xmit::Again(cx.snd_una));
        }
        let admits = board::window_admits(w, self.inflation, cx);
        (admits && !self.silent).then_some(Xmit::New)
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, _: &Ctx) {
        if matches!(x, Xmit::Again(_)) {
            self.due = false;
            self.silent = self.spec.net2_order;
        }
    }
    fn inflation(&self) -> f64 {
        if self.spec.net2_order && self.due {
            self.fade
        } else {
            self.inflation as f64
        }
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

/// RFC 6582 §3.2.
pub(super) struct NewReno {
    spec: NewRenoSpec,
    inflation: u64,
    /// New segments sent on this ACK, and partial ACKs so far.
    new_segments: u32,
    partial_acks: u32,
    due: bool,
}

impl NewReno {
    pub(super) fn new(spec: &NewRenoSpec) -> NewReno {
        NewReno { spec: spec.clone(), inflation: 0, new_segments: 0, partial_acks: 0, due: false }
    }

    /// Step 5: the window without what was acknowledged, and a segment added back.
    fn deflate(&mut self, acked: u64, w: &mut Window, cx: &Ctx) {
        let back = if acked >= u64::from(cx.mss) { u64::from(cx.mss) } else { 0 };
        if !self.spec.inflate {
            w.cwnd = f64::max(w.cwnd - acked as f64 + back as f64, mss(cx));
            return;
        }
        let from_window = acked.saturating_sub(self.inflation);
        self.inflation = self.inflation.saturating_sub(acked) + back;
        if self.inflation == back {
            w.cwnd = f64::max(w.cwnd - from_window as f64, mss(cx));
        }
    }
}

impl Recovery for NewReno {
    fn enter(&mut self, _: Option<&AckEvent>, ep: &mut Episode, w: &mut Window, _: &mut Scoreboard, cx: &Ctx) -> Flow {
        w.cwnd = ep.target;
        self.inflation = if self.spec.inflate { 3 * u64::from(cx.mss) } else { 0 };
        (self.new_segments, self.partial_acks, self.due) = (0, 0, true);
        RESTARTS
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        self.new_segments = 0;
        if ack.ack.0 >= ep.recover.0 {
            // Step 3, full acknowledgment.
            (self.inflation, self.due) = (0, false);
            let ssthresh = f64::max(w.ssthresh, mss(cx));
            let small = f64::max(flight(cx) as f64, mss(cx)) + mss(cx);
            w.cwnd = match self.spec.full_ack {
                FullAck::Keep => w.cwnd,
                FullAck::Ssthresh => ssthresh,
                FullAck::Flight => f64::min(small, ssthresh),
            };
            return Flow::Done { grow: self.spec.grow_on_exit };
        }
        if !advances(ack) {
            if self.spec.inflate && ack.is_dup {
                self.inflation += u64::from(cx.mss);
            }
            return GOES_ON;
        }
        // Step 3, partial acknowledgment.
        self.due = true;
        board.mark_head_lost();
        if !self.spec.deflate {
            self.inflation = 0;
        } else if self.inflation > 0 || self.spec.deflate_uninflated {
            self.deflate(acked(ack), w, cx);
        }
        self.partial_acks += 1;
        let restarts = self.partial_acks == 1 || self.spec.timer == PartialTimer::SlowButSteady;
        Flow::Continue(if restarts { Rearm::Restart } else { Rearm::Keep })
    }
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if self.due {
            return Some(Xmit::Again(cx.snd_una));
        }
        if self.spec.burst_segs.is_some_and(|most| self.new_segments >= most) {
            return None;
        }
        board::window_admits(w, self.inflation, cx).then_some(Xmit::New)
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, _: &Ctx) {
        if x == Xmit::New {
            self.new_segments += 1;
        } else {
            self.due = false;
        }
    }
    fn inflation(&self) -> f64 {
        self.inflation as f64
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
