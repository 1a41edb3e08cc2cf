//! Shared by Linux's congestion controls: when an ACK may open the window, and by how much.
//!
//! Source: Linux 6.18, in our words: `tcp_cwnd_validate` in `net/ipv4/tcp_output.c`, `tcp_is_cwnd_limited` in
//! `include/net/tcp.h`, `tcp_slow_start` and `tcp_cong_avoid_ai` in `net/ipv4/tcp_cong.c`, `tcp_may_raise_cwnd` in
//! `net/ipv4/tcp_input.c`.

use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::seq::Offset;

/// Reordering, in segments, above which an ACK that only SACKs opens the window, too (`tcp_may_raise_cwnd`; `tcp_reordering`).
pub(super) const REORDERING: u32 = 3;

/// Growth in whole segments, shared by Reno and CUBIC.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Growth {
    delivered: Delivered,
    usage: Usage,
    /// Counts up to the next segment in congestion avoidance.
    pub(super) count: Count,
}

impl Growth {
    /// Opens the window by the data that an ACK delivers. `every(cwnd, acked)` returns how many segments must be delivered to
    /// open a window of `cwnd` segments by one, when `acked` more are acknowledged.
    pub(super) fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx, every: impl FnOnce(u32, u32) -> u32) {
        let cwnd = whole(w.cwnd, cx);
        self.usage.note(cwnd, ack, cx);
        let mut acked = self.delivered.take(ack, cx);
        let in_slow_start = w.cwnd < w.ssthresh;
        if !self.usage.may_grow(cwnd, in_slow_start) {
            return;
        }
        let mut grown = cwnd;
        if in_slow_start {
            (grown, acked) = slow_start(cwnd, whole(w.ssthresh, cx).max(cwnd), acked);
        }
        if acked > 0 {
            grown = self.count.grow(grown, every(grown, acked), acked);
        }
        if grown > cwnd {
            w.cwnd = f64::from(grown) * cx.smss();
        }
    }
}

/// Counts delivered data in whole segments, so a receiver that acknowledges a segment in many pieces gains nothing by it.
#[derive(Clone, Copy, Debug, Default)]
struct Delivered {
    /// Delivered bytes of a segment that is not complete yet.
    rest: u32,
}

impl Delivered {
    /// Segments that this ACK completes (`acked_sacked`).
    fn take(&mut self, ack: &AckEvent, cx: &Ctx) -> u32 {
        let (bytes, mss) = (u64::from(self.rest) + ack.delivered, u64::from(cx.mss));
        self.rest = (bytes % mss) as u32;
        u32::try_from(bytes / mss).unwrap_or(u32::MAX)
    }
}

/// The window in whole segments.
pub(super) fn whole(bytes: f64, cx: &Ctx) -> u32 {
    // The cast saturates.
    (bytes / cx.smss()) as u32
}

/// How much of the window was used, a round trip at a time (`tcp_cwnd_validate`).
///
/// The kernel checks after each transmission. Here the check is made when the next ACK arrives: nothing has changed in between.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// The most segments that were outstanding (`max_packets_out`).
    max_packets_out: u32,
    is_cwnd_limited: bool,
    /// Where the round trip ends (`cwnd_usage_seq`).
    until: Offset,
}

impl Usage {
    /// Records the data outstanding until this ACK arrived, with a window of `cwnd` segments.
    fn note(&mut self, cwnd: u32, ack: &AckEvent, cx: &Ctx) {
        let out = (cx.snd_nxt - ack.prior_una).div_ceil(u64::from(cx.mss));
        let packets_out = u32::try_from(out).unwrap_or(u32::MAX);
        let limited = cx.cwnd_limited || packets_out >= cwnd;
        let over = ack.prior_una >= self.until;
        if over || limited || (!self.is_cwnd_limited && packets_out > self.max_packets_out) {
            *self = Usage { max_packets_out: packets_out, is_cwnd_limited: limited, until: cx.snd_nxt };
        }
    }

    /// Whether a window of `cwnd` segments may grow (`tcp_is_cwnd_limited`): in slow start, up to twice the part that was used.
    fn may_grow(&self, cwnd: u32, in_slow_start: bool) -> bool {
        self.is_cwnd_limited || (in_slow_start && cwnd < self.max_packets_out.saturating_mul(2))
    }
}

/// Slow start up to `ssthresh` (`tcp_slow_start`): returns the window after `acked` segments and how many of them are left over.
fn slow_start(cwnd: u32, ssthresh: u32, acked: u32) -> (u32, u32) {
    let grown = cwnd.saturating_add(acked).min(ssthresh);
    (grown, acked - (grown - cwnd))
}

/// Counts delivered segments in congestion avoidance (`snd_cwnd_cnt`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count(u32);

impl Count {
    /// Adds a segment for every `every` delivered (`tcp_cong_avoid_ai`).
    fn grow(&mut self, cwnd: u32, every: u32, acked: u32) -> u32 {
        let mut grown = cwnd;
        if self.0 >= every {
            self.0 = 0;
            grown += 1;
        }
        self.0 = self.0.saturating_add(acked);
        if self.0 >= every {
            let more = self.0 / every.max(1);
            self.0 -= more * every;
            grown = grown.saturating_add(more);
        }
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{blank, context};

    #[test]
    fn slow_start_stops_at_the_threshold_and_hands_on_what_is_left() {
        assert_eq!(slow_start(10, 100, 7), (17, 0));
        assert_eq!(slow_start(10, 12, 7), (12, 5));
    }

    #[test]
    fn what_one_ack_delivers_may_open_the_window_by_several_segments() {
        let mut count = Count::default();
        assert_eq!(count.grow(10, 10, 25), 12);
        assert_eq!(count.grow(12, 12, 6), 12, "5 were left over, so 11 of the 12 needed are counted");
        assert_eq!(count.grow(12, 12, 1), 13);
        // If the required count has dropped below the count so far, one segment is due at once.
        count = Count(9);
        assert_eq!(count.grow(4, 4, 1), 5);
    }

    #[test]
    fn pieces_of_a_segment_count_when_it_is_whole() {
        let mut delivered = Delivered::default();
        let mut take = |bytes| delivered.take(&AckEvent { delivered: bytes, ..blank() }, &context());
        assert_eq!([100, 900, 2500, 499, 1].map(&mut take), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn in_slow_start_a_window_grows_to_twice_what_was_used_and_later_only_when_it_is_full() {
        let mut usage = Usage::default();
        let cx = Ctx { cwnd_limited: false, snd_nxt: Offset(6001), ..context() };
        let ack = AckEvent { prior_una: Offset(1), ack: Offset(1001), ..blank() };
        usage.note(10, &ack, &cx);
        assert_eq!([10, 11, 12].map(|cwnd| usage.may_grow(cwnd, true)), [true, true, false], "6 were outstanding");
        assert!(!usage.may_grow(10, false));
        // A full window counts, even though nothing was held back.
        usage.note(6, &ack, &cx);
        assert!(usage.may_grow(6, false));
        // It counts as full for the rest of the round trip.
        usage.note(10, &AckEvent { prior_una: Offset(3001), ..ack }, &cx);
        assert!(usage.may_grow(10, false));
        usage.note(10, &AckEvent { prior_una: Offset(6001), ..ack }, &Ctx { snd_nxt: Offset(8001), ..cx });
        assert!(!usage.may_grow(10, false));
    }
}
