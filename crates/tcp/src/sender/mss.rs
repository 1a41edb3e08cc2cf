//! The effective maximum segment size changes: the path carries smaller packets than the handshake assumed.
//!
//! Source: RFC 1191 §3, §6.5 and RFC 8201 §4, §5.4 (a packet was too big), RFC 5927 §4.1 (which of these messages to believe),
//! RFC 4821 §7.7 and Linux's `tcp_mtu_probing` (no message arrives, but nothing gets through).
//!
//! Segments that were too large are split on the scoreboard and marked lost. The window stays, because the network can carry its
//! bytes and no queue was full (RFC 1191 §6.5). One segment is sent at once, the rest when an ACK arrives.

use super::Sender;
use crate::facts::answer::Rearm;
use crate::rto::Rto;
use crate::seq::Offset;
use crate::time::Time;
use crate::units::Bytes;

/// The smallest full-segment payload that a message from the network can set: a packet of 552 bytes (Linux's `min_pmtu`) less 40
/// of headers and 12 of timestamps. Smaller packets would cost too much work for the bytes that they carry (RFC 5927 §7).
pub(super) const LEAST: u32 = 500;
/// The MSS at which the search begins when full segments vanish (RFC 4821 §7.2; Linux's `tcp_base_mss`).
const BASE: u32 = 1024;
/// Timeouts in a row for the same full segment after which it looks like a black hole (Linux's `tcp_retries1`).
const TIMEOUTS: u32 = 3;

/// The outcome of a message that a packet was too big.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooBig {
    /// Segments are smaller from now on, and oversized ones are resent.
    Taken,
    /// It names a segment that is not outstanding, or a size that is not smaller.
    Ignored,
}

impl Sender {
    /// The network reports that full segments may carry only `mss` bytes, because one that began at `seq` was too big.
    pub(crate) fn on_too_big(&mut self, now: Time, seq: Offset, mss: u32) -> TooBig {
        let outstanding = self.snd_una <= seq && seq < self.snd_max;
        if !outstanding {
            return TooBig::Ignored;
        }
        let before = self.mss;
        // Segments sent before the size was last set may be larger than it.
        let lost = self.shrink(now, mss.min(before));
        if lost > 0 || self.mss < before {
            TooBig::Taken
        } else {
            TooBig::Ignored
        }
    }

    /// Sets the payload of full segments to `mss` bytes, at most the value agreed on in the handshake. Outstanding data stays as
    /// it is.
    pub(crate) fn set_mss(&mut self, mss: u32) {
        let mss = mss.clamp(LEAST.min(self.cold.agreed_mss), self.cold.agreed_mss);
        let before = u64::from(self.mss);
        for cap in
            [Some(&mut self.cap), self.cold.cap_outside.as_mut()].into_iter().flatten().filter(|c| **c != u64::MAX)
        {
            *cap = *cap / before * u64::from(mss);
        }
        self.mss = mss;
        self.w.cwnd = self.w.cwnd.max(f64::from(mss));
        self.limit = self.find_limit();
        // Data that was held back as a small segment may be a full one now.
        self.go_on();
    }

    /// Sets whether vanishing full segments count as a sign that the path carries only smaller ones.
    pub(crate) fn find_black_holes(&mut self, find: bool) {
        self.cold.finds_black_holes = find;
    }

    /// The retransmission timer fired. RFC 4821 §7.7: a full segment that never arrives may be too large.
    #[inline]
    pub(super) fn perhaps_a_black_hole(&mut self, now: Time) {
        let full = |s: &Self| s.board.iter().next().is_some_and(|head| head.len >= s.mss);
        if self.cold.finds_black_holes && self.slots.rto.backoff_count() >= TIMEOUTS - 1 && full(self) {
            let smaller = if self.mss > BASE { BASE } else { (self.mss / 2).max(LEAST) };
            if smaller < self.mss {
                self.shrink(now, smaller);
            }
        }
    }

    /// Splits outstanding segments to `mss` bytes of payload; returns the bytes newly marked lost.
    fn shrink(&mut self, now: Time, mss: u32) -> Bytes {
        self.set_mss(mss);
        let fin = (self.closed && self.snd_max == self.stream_end).then_some(self.stream_end);
        let lost = self.board.split(self.mss, fin);
        if lost > 0 {
            if self.snd_nxt < self.snd_max {
                // Segments already resent were too large, too.
                self.rewind();
            }
            self.burst_left = self.burst_left.min(1);
            self.rearm(now, Rearm::Restart, false);
        }
        self.check();
        lost
    }
}
