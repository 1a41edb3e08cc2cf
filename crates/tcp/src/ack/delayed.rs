//! Delayed ACK with a timer for each waiting ACK.
//!
//! Source: RFC 1122 §4.2.3.2 and RFC 5681 §4.2; the timer is that of ns-2's `TCPSink/DelAck` (`interval_`).
//! Idea: one segment in order may wait `delay` for a second one, or for data to ride on; anything unusual may not.
//!
//! | RFC, ns-2 | here |
//! | --- | --- |
//! | "within 500 ms of the arrival of the first unacknowledged packet", `interval_` | `delay` |
//! | timer pending, `save_ != NULL` | `waiting` |
//! | `RFC2581_immediate_ack_ true` | [`Arrival::fills_hole`] is answered at once |
//!
//! Departures: every second segment of *any* size is answered, as in ns-2; the RFCs demand it of full-sized ones only.
//! Unsaid in the source: a delay of zero answers at once.

use super::{AckDecision, AckPolicy, Arrival};
use crate::time::{Nanos, Time};

pub(super) fn default_delay() -> Nanos {
    Nanos::from_millis(200)
}

/// Every second segment, or after a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delayed {
    delay: Nanos,
    /// A segment has arrived that no ACK has covered yet.
    waiting: bool,
}

impl Delayed {
    /// A single segment waits at most `delay`.
    pub fn new(delay: Nanos) -> Self {
        Self { delay, waiting: false }
    }
}

impl AckPolicy for Delayed {
    #[inline]
    fn on_arrival(&mut self, a: &Arrival) -> AckDecision {
        if self.waiting || a.wants_ack_at_once() {
            return AckDecision::Now;
        }
        self.waiting = true;
        AckDecision::Delay(Time(a.now.0.saturating_add(self.delay.0)))
    }

    #[inline]
    fn on_timer(&mut self, _: Time) -> AckDecision {
        AckDecision::Now
    }

    #[inline]
    fn on_ack_sent(&mut self, _: Time) {
        self.waiting = false;
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::{plain, urgent};
    use super::*;

    #[test]
    fn every_second_segment_is_answered_at_once() {
        let mut p = Delayed::new(Nanos::from_millis(100));
        for ms in [0, 10, 20] {
            assert_eq!(p.on_arrival(&plain(ms)), AckDecision::Delay(Time((ms + 100) * 1_000_000)));
            assert_eq!(p.on_arrival(&plain(ms + 1)), AckDecision::Now);
            p.on_ack_sent(plain(ms + 1).now);
        }
    }

    #[test]
    fn a_single_segment_is_answered_after_the_delay() {
        let mut p = Delayed::new(Nanos::from_millis(100));
        assert_eq!(p.on_arrival(&plain(7)), AckDecision::Delay(Time(107_000_000)));
        assert_eq!(p.on_timer(Time(107_000_000)), AckDecision::Now);
    }

    #[test]
    fn an_ack_on_a_data_segment_starts_the_count_afresh() {
        let mut p = Delayed::new(Nanos::from_millis(100));
        p.on_arrival(&plain(0));
        p.on_ack_sent(plain(5).now);
        assert_eq!(p.on_arrival(&plain(10)), AckDecision::Delay(Time(110_000_000)));
    }

    #[test]
    fn the_unusual_does_not_wait() {
        for a in urgent() {
            assert_eq!(Delayed::new(Nanos::from_millis(100)).on_arrival(&a), AckDecision::Now);
        }
    }
}
