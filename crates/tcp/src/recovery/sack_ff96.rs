//! SACK recovery by a counter of packets in the pipe.
//!
//! Source: Fall & Floyd 1996 §2.4 ("sack1"); as ns-2.35's `Agent/TCP/Sack1` behaves.
//!
//! Idea: estimate what is in the network, take one off for each duplicate and two for a partial ACK (the original and
//! its retransmission have both left), and send holes first, then new data, while `pipe < cwnd`.
//!
//! | source | here |
//! | --- | --- |
//! | pipe | `pipe`, segments; a counter of its own, *not* `Scoreboard::pipe` (RFC 6675's) |
//! | recover | `ep.recover` (first unsent) |
//!
//! Departures: none known. `pipe < cwnd` compares real numbers: 7 < 7.5 sends.
//! Unsaid: the first retransmission is not added to `pipe` (the lost segment still counted in FlightSize stands for it);
//! a partial ACK does not mark the head lost: what is resent comes from SACK holes only (decision 0005).

use super::{Flow, Rearm, Recovery};
use crate::detect::Xmit;
use crate::event::Window;
use crate::sender::ack::AckEvent;
use crate::sender::ctx::Ctx;
use crate::sender::episode::Episode;
use crate::sender::scoreboard::{Scoreboard, Sent};
use crate::units::Bytes;

/// `sack1` at work.
#[derive(Default)]
pub struct SackFf96 {
    /// Segments held to be in the network; may pass below zero, as in ns-2.
    pipe: i64,
    first: bool,
}

impl Recovery for SackFf96 {
    fn enter(
        &mut self,
        ack: Option<&AckEvent>,
        ep: &mut Episode,
        w: &mut Window,
        _: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        w.cwnd = ep.target;
        let dups = ack.map_or(0, |a| a.dup_run);
        self.pipe = cx.flight().div_ceil(u64::from(cx.mss)) as i64 - i64::from(dups);
        self.first = true;
        Flow::Continue(Rearm::Restart)
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
        if ack.advances() {
            self.pipe -= 2;
            return Flow::Continue(Rearm::Restart);
        }
        self.pipe -= 1;
        Flow::Continue(Rearm::OnNewData)
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if self.first {
            return Some(Xmit::Again(cx.snd_una));
        }
        if self.pipe as f64 >= w.cwnd / cx.smss() {
            return None;
        }
        match board.first_hole() {
            Some(hole) => Some(Xmit::Again(hole.start)),
            None => (cx.next_len > 0).then_some(Xmit::New),
        }
    }
    fn on_sent(&mut self, _: Xmit, _: &Sent, _: &Ctx) {
        if !std::mem::take(&mut self.first) {
            self.pipe += 1;
        }
    }
}
