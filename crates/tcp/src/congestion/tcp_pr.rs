//! TCP-PR's window: a segment more for each one acknowledged, and half of what it was when the lost one was sent.
//!
//! Source: Bohacek, Hespanha, Lee, Lim & Obraczka 2003.
//!
//! Idea: where ACKs come out of order, growth counts packets, not ACKs; and a loss found late by a timer is answered by the
//! window that caused it, not by the one of now.
//!
//! | source | here |
//! | --- | --- |
//! | cwnd(n) | `l.cwnd_at_send` |
//! | ssthr | `ssthresh` |
//! | extreme losses: cwnd = 1, slow start | a loss with `cause: Rto` |
//!
//! Departures: a packet reported by SACK opens the window when it is acknowledged cumulatively; of packets smaller than a
//! segment it takes a segment's worth.
//! Unsaid: the threshold after extreme losses; half of that window, two segments at least (RFC 5681 §3.1 eq. 4).

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
        // Segments of the stream that it completes, not pieces: an ACK for each byte must not open the window faster.
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
