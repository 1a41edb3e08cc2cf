//! Netstack's Reno: whole segments, and a count of outstanding segments that reordering makes too large.
//!
//! Source: gVisor's netstack, `pkg/tcpip/transport/tcp/reno.go`; `handleRcvdSegment`, `SetPipe` and `retransmitTimerExpired` in
//! `snd.go` (module gvisor.dev/gvisor v0.0.0-20260224225140-573d5e7127a8), in our words.
//!
//! Idea: below the threshold the window grows by one segment per segment acknowledged, above it by one per window; a loss
//! halves the outstanding data. The rest of a window's count is taken modulo the new window, so a count that is just full stays
//! full: ACKs of one segment open the window by one each, as in slow start; ACKs of two, by two per round trip. A segment
//! SACKed outside a recovery is never taken off the outstanding count. Each such segment takes up room in the window until a
//! recovery recounts, a timeout sets the count to 0, or nothing is outstanding.
//!
//! | source | here |
//! | --- | --- |
//! | SndCwnd | `cwnd` and `excess`: `cwnd` is what may be sent |
//! | Outstanding | outstanding data and `excess` (decision 0160) |
//! | SndCAAckCount | `counted`, segments |
//! | packetsAcked | segments acknowledged and not SACKed before |
//!
//! Departures: data SACKed above the end of a recovery counts as outstanding after it, and after a timeout nothing is counted
//! twice. A timeout within a recovery halves all outstanding data, not the pipe. At least one segment may be sent.

use super::{Congestion, Cut, LossEvent};
use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;

/// The least threshold, segments.
const LEAST: u64 = 2;

/// Netstack's Reno at work.
#[derive(Default)]
pub struct NetstackReno {
    /// Bytes by which the outstanding count is too large.
    excess: f64,
    counted: u64,
    /// A cut was made since the last ACK that grew the window, so the acknowledged data was recounted.
    cut: bool,
}

impl NetstackReno {
    /// Records the segments that this ACK leaves in the count.
    fn count(&mut self, known: u64, cx: &Ctx) {
        let counted_anew = std::mem::take(&mut self.cut) || cx.phase.repairs();
        if !counted_anew {
            self.excess += known as f64;
        }
        if cx.flight() == 0 {
            self.excess = 0.0;
        }
    }

    /// The window after `acked` more segments are acknowledged, in segments.
    fn grown(&mut self, mut cwnd: u64, ssthresh: f64, mut acked: u64) -> u64 {
        if (cwnd as f64) < ssthresh {
            let room = (ssthresh - cwnd as f64) as u64;
            if acked < room {
                return cwnd + acked;
            }
            (cwnd, acked, self.counted) = (cwnd + room, acked - room, 0);
            if acked == 0 {
                return cwnd;
            }
        }
        self.counted += acked;
        if self.counted >= cwnd.max(1) {
            let before = cwnd.max(1);
            cwnd += self.counted / before;
            self.counted %= cwnd;
        }
        cwnd
    }
}

impl Congestion for NetstackReno {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        let smss = cx.smss();
        let cwnd = ((w.cwnd + self.excess) / smss) as u64;
        let fresh = ack.delivered.saturating_sub(ack.sacked);
        self.count(ack.acked().saturating_sub(fresh), cx);
        let cwnd = self.grown(cwnd, w.ssthresh / smss, fresh.div_ceil(u64::from(cx.mss))) as f64 * smss;
        // With a window of zero the connection could stall for ever.
        self.excess = self.excess.min((cwnd - smss).max(0.0));
        w.cwnd = cwnd - self.excess;
    }
    fn on_loss(&mut self, l: &LossEvent, _: &Window, cx: &Ctx) -> Cut {
        // After going back, only data sent since then is outstanding.
        let flight = if cx.snd_nxt < cx.snd_max { cx.snd_nxt - cx.snd_una } else { l.flight };
        let outstanding = (flight as f64 + self.excess) as u64 / u64::from(cx.mss);
        (self.excess, self.cut) = (0.0, true);
        // A timer that fires again finds one segment outstanding, its own retransmission.
        let half = if l.repeated { LEAST } else { (outstanding / 2).max(LEAST) };
        let ssthresh = half as f64 * cx.smss();
        Cut { ssthresh, cwnd: if l.cause == Cause::Rto { cx.smss() } else { ssthresh } }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{context, loss, whole};
    use super::*;
    use crate::seq::Offset;
    use crate::testing::blank;

    /// An ACK of `n` segments, some of which had been SACKed before.
    fn ack(segs: u64, known: u64) -> AckEvent {
        let fresh = 1000 * (segs - known);
        AckEvent { prior_una: Offset(1), ack: Offset(1 + 1000 * segs), delivered: fresh, ..blank() }
    }

    /// A context with more outstanding.
    fn busy() -> Ctx {
        Ctx { snd_una: Offset(1), snd_nxt: Offset(10_001), snd_max: Offset(10_001), ..context() }
    }

    fn after(w: Window, segs: u64) -> f64 {
        let (mut w, mut reno) = (w, NetstackReno::default());
        reno.on_ack(&ack(segs, 0), &mut w, &busy());
        w.cwnd / 1000.0
    }

    #[test]
    fn an_ack_counts_for_every_segment_that_it_acknowledges() {
        let slow = Window { cwnd: 10_000.0, ssthresh: 1e12 };
        assert_eq!([1, 2, 10].map(|n| after(slow, n)), [11.0, 12.0, 20.0]);
        assert_eq!([9, 10, 25].map(|n| after(whole(10.0), n)), [10.0, 11.0, 12.0]);
        let nearly = Window { cwnd: 10_000.0, ssthresh: 12_000.0 };
        assert_eq!(
            [2, 13, 14].map(|n| after(nearly, n)),
            [12.0, 12.0, 13.0],
            "two segments reach the threshold, twelve more fill a window"
        );
    }

    #[test]
    fn a_segment_that_was_sacked_before_stays_on_the_count_until_a_cut_or_until_nothing_is_outstanding() {
        let (mut w, mut reno) = (whole(10.0), NetstackReno::default());
        reno.on_ack(&ack(3, 2), &mut w, &busy());
        assert_eq!(w.cwnd, 8000.0, "two segments count as outstanding for ever");
        let cut = reno.on_loss(&loss(Cause::Fast, 9), &w, &busy());
        assert_eq!(cut, Cut { ssthresh: 5000.0, cwnd: 5000.0 }, "half of eleven");
        // The ACK that ends the recovery: its data has been recounted.
        w = whole(5.0);
        reno.on_ack(&ack(9, 8), &mut w, &busy());
        assert_eq!(w.cwnd, 5000.0);
        reno.on_ack(&ack(3, 2), &mut w, &busy());
        assert_eq!(w.cwnd, 3000.0);
        reno.on_ack(&ack(1, 0), &mut w, &Ctx { snd_una: Offset(10_001), ..busy() });
        assert_eq!(w.cwnd, 5000.0, "nothing is outstanding");
    }

    #[test]
    fn a_count_of_the_window_that_is_just_full_stays_full() {
        // The window after each of `n` ACKs of `each` segments, from ten.
        let windows = |acks: usize, each| {
            let (mut w, mut reno) = (whole(10.0), NetstackReno::default());
            let mut one = || {
                reno.on_ack(&ack(each, 0), &mut w, &busy());
                (w.cwnd / 1000.0) as u32
            };
            (0..acks).map(|_| one()).collect::<Vec<_>>()
        };
        assert_eq!(windows(13, 1)[8..], [10, 11, 12, 13, 14], "ACKs of one segment");
        assert_eq!(windows(13, 2)[3..], [10, 11, 12, 12, 12, 12, 12, 12, 13, 14], "ACKs of two");
    }

    #[test]
    fn a_loss_halves_what_is_outstanding_and_a_timeout_leaves_a_segment() {
        let cut = |cause, segs, cx: &Ctx| NetstackReno::default().on_loss(&loss(cause, segs), &whole(20.0), cx);
        assert_eq!(cut(Cause::Fast, 11, &busy()).ssthresh, 5000.0);
        assert_eq!(cut(Cause::Fast, 3, &busy()).ssthresh, 2000.0);
        assert_eq!(cut(Cause::Rto, 12, &busy()), Cut { ssthresh: 6000.0, cwnd: 1000.0 });
        let gone_back = Ctx { snd_nxt: Offset(4001), ..busy() };
        assert_eq!(cut(Cause::Rto, 10, &gone_back).ssthresh, 2000.0, "three segments have been resent");
    }
}
