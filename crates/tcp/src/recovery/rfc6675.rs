//! SACK recovery by RFC 6675.
//!
//! Source: RFC 6675 §4 (`NextSeg`, `SetPipe`), §5 (A) to (C), §5.1, §6.
//!
//! Idea: the data in the network is computed from the scoreboard. While a segment's worth of `cwnd` is free, send
//! lost segments, then new data, then segments merely missing, and once per recovery the last segment as a rescue.
//!
//! | source | here |
//! | --- | --- |
//! | RecoveryPoint | `ep.recover` (one higher: first unsent) |
//! | pipe | `board.pipe()` |
//! | HighRxt, NextSeg, RescueRxt | `next_seg.rs` |
//!
//! Departures: a lost retransmission may be marked lost again by other detectors and is then resent; with the `sack`
//! detector it waits for the timer, as in the RFC.

use super::next_seg::NextSeg;
use super::Recovery;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::gate::{self, Gate};
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rfc6675Spec {
    /// Restarts the retransmission timer at each retransmission of the recovery (§6). Default: no.
    pub rearm_on_rexmit: bool,
}

/// RFC 6675 at work.
pub struct Rfc6675 {
    spec: Rfc6675Spec,
    first: bool,
    next_seg: NextSeg,
    resent: bool,
}

impl Rfc6675 {
    pub(super) fn new(spec: &Rfc6675Spec) -> Self {
        Rfc6675 { spec: spec.clone(), first: false, next_seg: NextSeg::default(), resent: false }
    }
}

impl Recovery for Rfc6675 {
    fn enter(
        &mut self,
        _: Option<&AckEvent>,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        w.cwnd = ep.target;
        board.mark_head_lost();
        (self.first, self.next_seg, self.resent) = (true, NextSeg::begin(board, cx), false);
        Flow::Continue(Rearm::OnNewData)
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        ep: &mut Episode,
        _: &mut Window,
        _: &mut Scoreboard,
        _: &Ctx,
    ) -> Flow {
        if ack.ack >= ep.recover {
            return Flow::Done { grow: false };
        }
        let rearm = self.spec.rearm_on_rexmit && std::mem::take(&mut self.resent);
        Flow::Continue(if rearm { Rearm::Restart } else { Rearm::OnNewData })
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        // §5 (4.3): the first retransmission is sent regardless of pipe.
        if self.first {
            return Some(Xmit::Again(cx.snd_una));
        }
        if !gate::pipe(w, board, cx) {
            return None;
        }
        self.next_seg.choose(board, cx)
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.first = false;
        self.resent |= matches!(x, Xmit::Again(_));
        self.next_seg.on_sent(x, sent, cx);
    }
    fn open_gate(&self) -> Gate {
        Gate::Pipe
    }
}
