//! Netstack's SACK recovery: RFC 6675 with a window three segments above the threshold.
//!
//! Source: gVisor's netstack, `enterRecovery`, `leaveRecovery`, `SetPipe` and `NextSeg` in `pkg/tcpip/transport/tcp/snd.go`,
//! `sack_recovery.go`, `DoRecovery` in `rack.go` (module gvisor.dev/gvisor v0.0.0-20260224225140-573d5e7127a8), in our words; RFC 6675 §4, §5.
//!
//! Idea: the oldest segment is resent at once. Then, while a segment's worth of the window is free, lost segments are sent, then
//! new data, then other missing segments. The window is the threshold plus three segments, as without SACK (RFC 5681 §3.2), and
//! the threshold once everything is repaired.
//!
//! | source | here |
//! | --- | --- |
//! | SndCwnd = Ssthresh + 3 | `INFLATION` |
//! | Outstanding, SetPipe | `board.pipe()` |
//! | HighRxt, RescueRxt, NextSeg | `next_seg.rs` |
//! | RACK's DoRecovery, then sendData | `marks` |
//!
//! Departures: if the peer's window stops new data, segments merely missing are sent. With RACK, netstack forgets at the next ACK
//! that a segment above the oldest was resent and does not count it; here it is counted.
//! Unsaid: nothing.

use super::next_seg::NextSeg;
use super::Recovery;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::gate::{self, Gate};
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::needs::Resends;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Segments added to the threshold.
const INFLATION: f64 = 3.0;

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NetstackSpec {
    /// Whether segments marked lost are sent first, then new data, as in netstack with RACK. Default: no, by RFC 6675's
    /// `NextSeg`.
    pub marks: bool,
}

impl NetstackSpec {
    pub(super) fn resends(&self) -> Resends {
        if self.marks {
            Resends::ByMark
        } else {
            Resends::ByRule
        }
    }
}

/// Netstack's recovery at work.
pub struct Netstack {
    marks: bool,
    first: bool,
    next_seg: NextSeg,
}

impl Netstack {
    pub(super) fn new(spec: &NetstackSpec) -> Self {
        Netstack { marks: spec.marks, first: false, next_seg: NextSeg::default() }
    }
}

impl Recovery for Netstack {
    fn enter(
        &mut self,
        _: Option<&AckEvent>,
        _: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        w.cwnd = w.ssthresh + INFLATION * cx.smss();
        board.mark_head_lost();
        (self.first, self.next_seg) = (true, NextSeg::begin(board, cx));
        Flow::Continue(Rearm::OnNewData)
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
        if ack.ack < ep.recover {
            return Flow::Continue(Rearm::OnNewData);
        }
        // Not every congestion control keeps ssthresh at a segment or more (RFC 9002).
        w.cwnd = w.ssthresh.max(cx.smss());
        Flow::Done { grow: true }
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if self.first {
            return Some(Xmit::Again(cx.snd_una));
        }
        if !gate::pipe(w, board, cx) {
            return None;
        }
        if self.marks {
            return board.first_lost().map(Xmit::Again).or((cx.next_len > 0).then_some(Xmit::New));
        }
        self.next_seg.choose(board, cx)
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.first = false;
        self.next_seg.on_sent(x, sent, cx);
    }
    fn open_gate(&self) -> Gate {
        // Outside a recovery, SACKed data counts as outstanding.
        Gate::Window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::{blank, context, episode};

    #[test]
    fn after_the_repair_the_window_is_a_segment_even_if_the_threshold_is_less() {
        // RFC 9002's congestion control keeps no such minimum of its threshold.
        let (mut r, mut board, mut ep) = (Netstack::new(&NetstackSpec::default()), Scoreboard::default(), episode());
        let mut w = Window { cwnd: 4000.0, ssthresh: 617.5 };
        let ack = AckEvent { ack: ep.recover, prior_una: Offset(1), ..blank() };
        let flow = r.on_ack(&ack, 0, &mut ep, &mut w, &mut board, &context());
        assert_eq!((flow, w.cwnd), (Flow::Done { grow: true }, context().smss()));
    }
}
