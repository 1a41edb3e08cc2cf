//! Rate halving: one segment for every two delivered, for a round trip.
//!
//! Source: Mathis, Semke, Mahdavi & Lahey 1999 (draft-mathis-tcp-ratehalving); RFC 6937 §3.1 (its traces); Linux 2.4 to 3.1.
//!
//! Idea: the window shrinks by half of the data each ACK delivers, so the ACK clock never stops. It never exceeds the data in
//! the network by more than a segment.
//!
//! | source | here |
//! | --- | --- |
//! | prior_cwnd, prior_max | `ep.prior.cwnd`, `ep.recover` |
//! | snd.fack ≥ prior_max: the round trip is over | `halving` |
//! | cwnd = min (cwnd, in_flight + 1) (Linux) | `bound` |
//!
//! Departures: it begins with the detector's verdict (as Linux and RFC 6937 do), not with the first hole; so a segment has
//! always been resent, and the draft's exit for reordering never applies. Only its state with SACK (EXACT) is implemented.
//! RFC 6675's `NextSeg` chooses the segments.
//! Unsaid: the window between the end of the round trip and the full ACK. Here: it does not change.

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

/// Rate halving at work.
#[derive(Default)]
pub struct RateHalving {
    next_seg: NextSeg,
    halving: bool,
}

impl RateHalving {
    /// Keeps the window within a segment of the data in the network.
    fn bound(w: &mut Window, board: &Scoreboard, cx: &Ctx) {
        w.cwnd = w.cwnd.min(board.pipe() as f64 + cx.smss()).max(cx.smss());
    }

    /// The round trip is over: the reduced window stays, and ssthresh is between a quarter and a half of the old window.
    fn settle(&mut self, ep: &Episode, w: &mut Window, cx: &Ctx) {
        self.halving = false;
        w.cwnd = w.cwnd.min(ep.prior.cwnd / 2.0).max(cx.smss());
        w.ssthresh = w.cwnd.max(ep.prior.cwnd / 4.0).max(2.0 * cx.smss());
    }
}

impl Recovery for RateHalving {
    fn enter(
        &mut self,
        _: Option<&AckEvent>,
        _: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        board.mark_head_lost();
        (self.next_seg, self.halving) = (NextSeg::begin(board, cx), true);
        Self::bound(w, board, cx);
        Flow::Continue(Rearm::OnNewData)
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
        let done = ack.ack >= ep.recover;
        if self.halving {
            let floor = w.ssthresh.min(w.cwnd);
            w.cwnd = (w.cwnd - ack.delivered as f64 / 2.0).max(floor);
            if done || board.highest_sacked().is_some_and(|fack| fack >= ep.recover) {
                self.settle(ep, w, cx);
            }
        }
        if done {
            return Flow::Done { grow: false };
        }
        Self::bound(w, board, cx);
        Flow::Continue(Rearm::OnNewData)
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        gate::pipe(w, board, cx).then(|| self.next_seg.choose(board, cx)).flatten()
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.next_seg.on_sent(x, sent, cx);
    }
    fn open_gate(&self) -> Gate {
        Gate::Pipe
    }
}
