//! The recoveries of Hoe and of Wang & Shin, worked out once more.

use super::repair_by_dups::{GOES_ON, RESTARTS};
use super::{advances, board, mss};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::{Flow, Xmit};
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::Episode;
use ackclock_tcp::facts::gate::Gate;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::recovery::hoe::HoeSpec;
use ackclock_tcp::recovery::robust::{Count, ExitSsthresh, Extend, Order, OwnLimit, RobustSpec};
use ackclock_tcp::recovery::Recovery;
use ackclock_tcp::units::Bytes;

/// Hoe 1995 §7.2.
pub(super) struct Hoe {
    spec: HoeSpec,
    dups: u32,
    due: bool,
    /// The last ACK was a duplicate that releases a segment.
    releases: bool,
}

impl Hoe {
    pub(super) fn new(spec: &HoeSpec) -> Hoe {
        Hoe { spec: spec.clone(), dups: 0, due: false, releases: false }
    }
}

impl Recovery for Hoe {
    fn enter(&mut self, _: Option<&AckEvent>, ep: &mut Episode, w: &mut Window, _: &mut Scoreboard, _: &Ctx) -> Flow {
        w.cwnd = ep.target;
        (self.dups, self.due, self.releases) = (0, true, false);
        RESTARTS
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        ep: &mut Episode,
        _: &mut Window,
        _: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        if self.spec.aggressive {
            ep.recover = cx.snd_max;
        }
        let over = ack.ack.0 >= ep.recover.0;
        if over || advances(ack) {
            (self.due, self.releases) = (!over, false);
            return if over { Flow::Done { grow: self.spec.grow_on_exit } } else { RESTARTS };
        }
        if ack.is_dup {
            self.dups += 1;
            self.releases = self.dups.is_multiple_of(self.spec.dups_per_segment);
        }
        GOES_ON
    }
    fn next(&self, _: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        match (self.due, self.releases && cx.next_len != 0) {
            (true, _) => Some(Xmit::Again(cx.snd_una)),
            (false, true) => Some(Xmit::New),
            (false, false) => None,
        }
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, _: &Ctx) {
        if x == Xmit::New {
            self.releases = false;
        } else {
            self.due = false;
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

/// Wang & Shin §2.2.
pub(super) struct Robust {
    spec: RobustSpec,
    retreats: bool,
    ndup: u32,
    actnum: u32,
    /// New segments since the last retransmission, and between the last two; those of this round that duplicates released.
    since: u32,
    between: u32,
    released: u32,
    /// Everything sent when the last retransmission went.
    sent_then: u64,
    due: bool,
    /// A duplicate allows a segment; a round without a loss allows one more.
    by_dup: bool,
    one_more: bool,
}

impl Robust {
    pub(super) fn new(spec: &RobustSpec) -> Robust {
        Robust {
            spec: spec.clone(),
            retreats: true,
            ndup: 0,
            actnum: 0,
            since: 0,
            between: 0,
            released: 0,
            sent_then: 1,
            due: false,
            by_dup: false,
            one_more: false,
        }
    }

    fn forfeit(&mut self) {
        if self.spec.count == Count::Sent && self.one_more {
            self.actnum = self.actnum.saturating_sub(1);
        }
        self.by_dup = false;
        self.one_more = false;
    }

    /// §2.2.3.
    fn end_of_round(&mut self, ep: &mut Episode, cx: &Ctx) {
        let expected = if self.spec.count == Count::Exact { self.between } else { self.actnum };
        if self.ndup >= expected {
            self.one_more = true;
            self.actnum = 1 + if self.spec.count == Count::Sent { self.released } else { self.actnum };
            return;
        }
        let lost = expected - self.ndup;
        self.actnum = if self.spec.count == Count::Exact { self.actnum.saturating_sub(lost) } else { self.ndup };
        ep.recover = match self.spec.extend {
            Extend::Detection => cx.snd_max,
            Extend::LastRound => board::at(u64::max(self.sent_then, ep.recover.0)),
        };
    }
}

impl Recovery for Robust {
    fn enter(&mut self, _: Option<&AckEvent>, _: &mut Episode, _: &mut Window, _: &mut Scoreboard, cx: &Ctx) -> Flow {
        *self = Robust { sent_then: cx.snd_max.0, due: true, ..Robust::new(&self.spec) };
        RESTARTS
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        _: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        if advances(ack) || ack.is_dup {
            self.forfeit();
        }
        if !advances(ack) {
            if ack.is_dup {
                self.ndup += 1;
                self.by_dup = self.ndup.is_multiple_of(2) || !self.retreats;
            }
            return GOES_ON;
        }
        if self.retreats {
            self.retreats = false;
            self.actnum = if self.spec.count == Count::Sent { self.released } else { self.ndup / 2 };
        } else {
            self.end_of_round(ep, cx);
        }
        (self.ndup, self.released) = (0, 0);
        self.due = ack.ack.0 < ep.recover.0;
        if self.due {
            return RESTARTS;
        }
        self.one_more = false;
        w.cwnd = f64::from(u32::max(self.actnum, 1)) * mss(cx);
        if self.spec.exit_ssthresh == ExitSsthresh::Min {
            w.ssthresh = f64::max(f64::min(w.ssthresh, w.cwnd), 2.0 * mss(cx));
        }
        Flow::Done { grow: false }
    }
    fn next(&self, _: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        let new = cx.next_len > 0 && (self.by_dup || self.one_more);
        let extra_first = self.spec.order == Order::Extra && self.one_more && new;
        if self.due && !extra_first {
            return Some(Xmit::Again(cx.snd_una));
        }
        new.then_some(Xmit::New)
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, cx: &Ctx) {
        if x == Xmit::New {
            self.since += 1;
            self.released += u32::from(self.by_dup);
            (self.by_dup, self.one_more) = (false, false);
            return;
        }
        self.due = false;
        self.between = self.since;
        self.since = 0;
        self.sent_then = cx.snd_max.0;
    }
    fn open_gate(&self) -> Gate {
        Gate::Window
    }
    fn passes_cap(&self) -> bool {
        self.spec.cap == OwnLimit::Ignored
    }
    fn restarts_timer(&self) -> bool {
        false
    }
}
