//! SACK recovery by RFC 6675.
//!
//! Source: RFC 6675 §4 (`NextSeg`, `SetPipe`), §5 (A) to (C), §5.1, §6.
//!
//! Idea: what is in the network is computed from the scoreboard; while a segment's worth of `cwnd` is free, send what
//! is lost, then new data, then what is merely missing, and once per recovery the last segment as a rescue.
//!
//! | source | here |
//! | --- | --- |
//! | RecoveryPoint | `ep.recover` (one higher: first unsent) |
//! | pipe | `board.pipe()` |
//! | HighRxt, NextSeg (1) | `board.first_lost()` |
//! | NextSeg (3) | `board.first_hole()` |
//! | RescueRxt | `rescued` |
//!
//! Departures: a lost retransmission may be marked lost again by other detectors and is then resent; with the `sack`
//! detector it waits for the timer, as in the RFC.

use super::{Flow, Rearm, Recovery};
use crate::detect::Xmit;
use crate::event::Window;
use crate::sender::ack::AckEvent;
use crate::sender::ctx::Ctx;
use crate::sender::episode::Episode;
use crate::sender::gate::{self, Gate};
use crate::sender::scoreboard::{Marks, Scoreboard, Sent};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rfc6675Spec {
    /// §6: restart the retransmission timer at each retransmission of the recovery. Default no.
    pub rearm_on_rexmit: bool,
}

/// RFC 6675 at work.
pub struct Rfc6675 {
    spec: Rfc6675Spec,
    first: bool,
    rescued: bool,
    resent: bool,
}

impl Rfc6675 {
    pub(super) fn new(spec: &Rfc6675Spec) -> Self {
        Rfc6675 { spec: spec.clone(), first: false, rescued: false, resent: false }
    }

    /// §4 NextSeg (4): the highest outstanding segment that is not SACKed, once per recovery.
    fn rescue(&self, board: &Scoreboard) -> Option<Xmit> {
        let last = board.iter().next_back().filter(|s| !s.marks.any(Marks::SACKED | Marks::REXMIT))?;
        (!self.rescued).then_some(Xmit::Again(last.start))
    }
}

impl Recovery for Rfc6675 {
    fn enter(
        &mut self,
        _: Option<&AckEvent>,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        _: &Ctx,
    ) -> Flow {
        w.cwnd = ep.target;
        board.mark_head_lost();
        (self.first, self.rescued, self.resent) = (true, false, false);
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
        // §5 (4.3): the first retransmission goes whatever pipe says.
        if self.first {
            return Some(Xmit::Again(cx.snd_una));
        }
        if !gate::pipe(w, board, cx) {
            return None;
        }
        let hole = || board.first_hole().map(|s| Xmit::Again(s.start));
        let new = (cx.next_len > 0).then_some(Xmit::New);
        board.first_lost().map(Xmit::Again).or(new).or_else(hole).or_else(|| self.rescue(board))
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.first = false;
        if let Xmit::Again(_) = x {
            self.resent = true;
            self.rescued |= sent.end() == cx.snd_max;
        }
    }
    fn open_gate(&self) -> Gate {
        Gate::Pipe
    }
}
