//! TCP-PR's window: one more segment for each one acknowledged; a loss halves the window in use when the lost packet was sent.
//!
//! Source: Bohacek, Hespanha, Lee, Lim & Obraczka 2003.
//!
//! Idea: where ACKs arrive out of order, growth counts packets, not ACKs; and when a timer finds a loss late, the cut is
//! computed from the window that caused it, not from the current one.
//!
//! | source | here |
//! | --- | --- |
//! | cwnd(n) | `l.cwnd_at_send` |
//! | ssthr | `ssthresh` |
//! | extreme losses: cwnd = 1, slow start | a loss with `cause: Rto` |
//!
//! Departures: a packet reported by SACK opens the window when it is acknowledged cumulatively; packets smaller than a
//! segment count once they add up to one.
//! Unsaid: the threshold after extreme losses. Here: half of that window, at least two segments (RFC 5681 §3.1 eq. 4).

use super::{Congestion, Cut, LossEvent};
use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::seq::Offset;

/// It has no state.
pub struct TcpPr;

impl Congestion for TcpPr {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        let smss = cx.smss();
        // Whole segments of the stream that the ACK completes, so that an ACK for each byte does not open the window
        // faster.
        let whole = |to: Offset| (to - Offset::DATA) / u64::from(cx.mss);
        for _ in whole(ack.prior_una)..whole(ack.ack) {
            w.cwnd += if w.cwnd + smss <= w.ssthresh { smss } else { smss * smss / w.cwnd };
        }
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        let (smss, half) = (cx.smss(), l.cwnd_at_send / 2.0);
        match l.cause {
            Cause::Fast | Cause::Ecn => Cut { ssthresh: half.max(smss), cwnd: half.max(smss) },
            Cause::Rto if l.repeated => Cut { ssthresh: w.ssthresh, cwnd: smss },
            Cause::Rto => Cut { ssthresh: half.max(2.0 * smss), cwnd: smss },
        }
    }
}
