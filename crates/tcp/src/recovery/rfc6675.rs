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
//! | RescueRxt | `rescue_above` |
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
use crate::seq::Offset;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rfc6675Spec {
    /// §6: restart the retransmission timer at each retransmission of the recovery. Default no.
    pub rearm_on_rexmit: bool,
}

/// RFC 6675 at work.
pub struct Rfc6675 {
    spec: Rfc6675Spec,
    first: bool,
    /// No rescue before an ACK beyond this; `None`: it has been sent.
    rescue_above: Option<Offset>,
    resent: bool,
}

impl Rfc6675 {
    pub(super) fn new(spec: &Rfc6675Spec) -> Self {
        Rfc6675 { spec: spec.clone(), first: false, rescue_above: None, resent: false }
    }

    /// §4 NextSeg (4): the highest outstanding segment that is not SACKed, once per recovery, and not before an ACK has
    /// passed the first retransmission (HighACK > RescueRxt, which §5 (4.2) sets to its end).
    fn rescue(&self, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        let last = board.iter().next_back().filter(|s| !s.marks.any(Marks::SACKED | Marks::REXMIT))?;
        self.rescue_above.is_some_and(|end| cx.snd_una > end).then_some(Xmit::Again(last.start))
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
        let first_end = board.iter().next().map_or(cx.snd_una, Sent::end);
        (self.first, self.rescue_above, self.resent) = (true, Some(first_end), false);
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
        board.first_lost().map(Xmit::Again).or(new).or_else(hole).or_else(|| self.rescue(board, cx))
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.first = false;
        if let Xmit::Again(_) = x {
            self.resent = true;
            if sent.end() == cx.snd_max {
                self.rescue_above = None;
            }
        }
    }
    fn open_gate(&self) -> Gate {
        Gate::Pipe
    }
}
