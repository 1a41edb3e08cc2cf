//! Reno: fast recovery that ends at the first ACK of new data.
//!
//! Source: RFC 5681 §3.2; 4.3BSD-Reno as in ns-2.35's `Agent/TCP/Reno`; Hoe 1995 §3.2.4, §5.1 (Net/2).
//!
//! Idea: resend the segment at `snd_una`; each duplicate means that a segment has left the network, so the window is
//! inflated by one for it; the first ACK that advances removes the inflation.
//!
//! | source | here |
//! | --- | --- |
//! | dupwnd (ns-2) | `inflation`, bytes; never written into `cwnd` |
//! | ssthresh + 3 (RFC 5681 §3.2 (3)), ssthresh + 1 (Hoe) | `inflate_segs` |
//! | the fades of Hoe's Figure 5.2 | `net2_order`: an inflation below zero, in the trace only |
//!
//! Departures: the inflation is private, so it cannot leak into a later halving or into an undo.
//! Unsaid: whether the ACK that ends recovery grows the window. ns-2: yes (`grow_on_exit`); RFC 5681: no. Net/2's header
//! prediction (decision 0048) sees the peer's window only as far as the data reaches.

use super::Recovery;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::gate;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RenoSpec {
    /// Segments added to the window at entry. Default: 3 (RFC 5681); Hoe's text says 1.
    pub inflate_segs: u32,
    /// Whether the ACK that ends recovery also opens the window. Default: yes (Net/2, ns-2); RFC 5681 says no.
    pub grow_on_exit: bool,
    /// Net/2's order: the window is one segment while the missing segment is resent (the trace shows it as inflation), and
    /// nothing else is sent on that ACK. Default: no.
    pub net2_order: bool,
    /// Net/2's header prediction: an ACK that advances while the inflated window is no smaller than the peer's removes no
    /// inflation and does not end recovery. Default: no.
    pub header_prediction: bool,
}

impl Default for RenoSpec {
    fn default() -> Self {
        RenoSpec { inflate_segs: 3, grow_on_exit: true, net2_order: false, header_prediction: false }
    }
}

/// Fast recovery at work.
pub struct Reno {
    spec: RenoSpec,
    inflation: Bytes,
    /// Bytes that Net/2's order takes off the window until the resend.
    fade: f64,
    resend: bool,
    /// Nothing more is sent on this ACK.
    hold: bool,
}

impl Reno {
    pub(super) fn new(spec: &RenoSpec) -> Self {
        Reno { spec: spec.clone(), inflation: 0, fade: 0.0, resend: false, hold: false }
    }

    /// Net/2's shortcut: an ACK of new data, no going back, and a window that does not limit sending.
    fn predicted(&self, w: &Window, cx: &Ctx) -> bool {
        let peers = (cx.flight() + cx.room) as f64;
        self.spec.header_prediction && cx.snd_nxt == cx.snd_max && w.cwnd + self.inflation as f64 >= peers
    }
}

impl Recovery for Reno {
    fn enter(&mut self, _: Option<&AckEvent>, ep: &mut Episode, w: &mut Window, _: &mut Scoreboard, cx: &Ctx) -> Flow {
        w.cwnd = ep.target;
        self.inflation = u64::from(self.spec.inflate_segs) * u64::from(cx.mss);
        (self.resend, self.hold) = (true, false);
        self.fade = cx.smss() - w.cwnd;
        Flow::Continue(Rearm::Restart)
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
        self.hold = false;
        if ack.advances() && self.predicted(w, cx) {
            self.resend = false;
            return Flow::Continue(Rearm::OnNewData);
        }
        if ack.advances() {
            (self.inflation, self.resend) = (0, false);
            return Flow::Done { grow: self.spec.grow_on_exit };
        }
        if ack.is_dup {
            self.inflation += u64::from(cx.mss);
        }
        Flow::Continue(Rearm::OnNewData)
    }
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if self.resend {
            return Some(Xmit::Again(cx.snd_una));
        }
        (!self.hold && gate::window(w, self.inflation, cx)).then_some(Xmit::New)
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, _: &Ctx) {
        if let Xmit::Again(_) = x {
            (self.resend, self.hold) = (false, self.spec.net2_order);
        }
    }
    fn inflation(&self) -> f64 {
        if self.resend && self.spec.net2_order {
            self.fade
        } else {
            self.inflation as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::blank;
    use crate::testing::context;
    use crate::testing::episode;
    use crate::time::Time;

    /// Five segments are outstanding in a window that the verdict cuts to four; the first one is resent.
    fn entered(spec: RenoSpec) -> (Reno, Scoreboard, Episode, Window, Ctx) {
        let (mut reno, mut board, mut ep) = (Reno::new(&spec), Scoreboard::default(), episode());
        let sent = board.push(Offset(1), 1000, Time(0), 5000.0, false);
        ep.target = 4000.0;
        let (at, mut w) = (Offset(5001), Window { cwnd: 5000.0, ssthresh: 4000.0 });
        let cx = Ctx { snd_una: Offset(1), snd_nxt: at, snd_max: at, next_len: 1000, room: 9000, ..context() };
        reno.enter(None, &mut ep, &mut w, &mut board, &cx);
        let faded = if spec.net2_order { -3000.0 } else { 3000.0 };
        assert_eq!((reno.next(&w, &board, &cx), reno.inflation()), (Some(Xmit::Again(Offset(1))), faded));
        reno.on_sent(Xmit::Again(Offset(1)), &sent, &cx);
        (reno, board, ep, w, cx)
    }

    #[test]
    fn in_net2s_order_the_window_fades_to_one_segment_and_nothing_but_the_missing_one_goes_on_that_ack() {
        for (net2_order, next) in [(true, None), (false, Some(Xmit::New))] {
            let (mut reno, mut board, mut ep, mut w, cx) = entered(RenoSpec { net2_order, ..RenoSpec::default() });
            assert_eq!((w.cwnd, reno.inflation()), (4000.0, 3000.0), "the fade is over, and never changed cwnd");
            assert_eq!(reno.next(&w, &board, &cx), next);
            let dup = AckEvent { is_dup: true, ..blank() };
            reno.on_ack(&dup, 0, &mut ep, &mut w, &mut board, &cx);
            assert_eq!((reno.next(&w, &board, &cx), reno.inflation()), (Some(Xmit::New), 4000.0));
        }
    }

    #[test]
    fn header_prediction_takes_an_ack_under_a_window_that_does_not_bind_without_deflating() {
        // Seven segments of inflated window: the peer's is the two outstanding segments plus the room.
        for (header_prediction, room, ends) in [(true, 5000, false), (true, 6000, true), (false, 5000, true)] {
            let spec = RenoSpec { header_prediction, ..RenoSpec::default() };
            let (mut reno, mut board, mut ep, mut w, cx) = entered(spec);
            let cx = Ctx { snd_una: Offset(3001), room, ..cx };
            let ack = AckEvent { prior_una: Offset(1), ack: Offset(3001), ..blank() };
            let flow = reno.on_ack(&ack, 0, &mut ep, &mut w, &mut board, &cx);
            assert_eq!((flow == Flow::Done { grow: true }, reno.inflation() > 0.0), (ends, !ends));
        }
    }
}
