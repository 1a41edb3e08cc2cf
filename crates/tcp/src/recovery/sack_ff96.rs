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
//! Departures: none known.
//! Unsaid, and taken from what ns-2 does (decision 0005): `pipe` is compared with `cwnd` in whole segments; the first
//! retransmission is not added to `pipe` (the lost segment still counted in FlightSize stands for it), and nothing but it
//! goes out on the ACK that begins the recovery; a partial ACK does not mark the head lost: what is resent comes from
//! SACK holes only.

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
    entry: Entry,
}

/// How far the beginning of a recovery has come.
#[derive(Clone, Copy, Default, PartialEq)]
enum Entry {
    /// The first retransmission is due.
    Resend,
    /// It went out; nothing more on this ACK.
    Hold,
    /// `pipe` decides.
    #[default]
    Past,
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
        self.entry = Entry::Resend;
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
        if self.entry == Entry::Hold {
            self.entry = Entry::Past;
        }
        if ack.advances() {
            self.pipe -= 2;
            return Flow::Continue(Rearm::Restart);
        }
        self.pipe -= 1;
        Flow::Continue(Rearm::OnNewData)
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        match self.entry {
            Entry::Resend => return Some(Xmit::Again(cx.snd_una)),
            Entry::Hold => return None,
            Entry::Past if self.pipe >= (w.cwnd / cx.smss()) as i64 => return None,
            Entry::Past => {}
        }
        match board.first_hole() {
            Some(hole) => Some(Xmit::Again(hole.start)),
            None => (cx.next_len > 0).then_some(Xmit::New),
        }
    }
    fn on_sent(&mut self, _: Xmit, _: &Sent, _: &Ctx) {
        match self.entry {
            Entry::Resend => self.entry = Entry::Hold,
            _ => self.pipe += 1,
        }
    }
}
