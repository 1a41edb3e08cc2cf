//! Delayed ACK with a timer for each pending ACK.
//!
//! Source: RFC 1122 §4.2.3.2 and RFC 5681 §4.2; the timer is that of ns-2's `TCPSink/DelAck` (`interval_`). `delayed-reordered`:
//! Lee, Park & Choi 2002, as Leung & Ma 2005 §II describe it ("delayed ACKs were generated for out-of-order packet arrivals").
//! Idea: the ACK of one in-order segment may wait `delay` for a second segment or for data to ride on; anything unusual is
//! answered at once. Over several paths, segments are usually out of order without any loss. An ACK for every second segment, in
//! order or not, then halves the duplicates that reordering causes.
//!
//! | source | here |
//! | --- | --- |
//! | "within 500 ms of the arrival of the first unacknowledged packet", `interval_` | `delay` |
//! | timer pending, `save_ != NULL` | `waiting` |
//! | `RFC2581_immediate_ack_ true` | [`Arrival::fills_hole`] is answered at once |
//! | delayed ACK for out-of-order arrivals | [`Waits::AnyOrder`]: neither a gap nor its filling is answered at once |
//!
//! Departures: every second segment of *any* size is answered, as in ns-2; the RFCs require it only for full-sized ones. RFC 5681
//! §4.2 wants a gap and its filling answered at once; `delayed-reordered` deliberately does not.
//! Unsaid in the source: with a delay of zero every ACK is immediate. `delayed-reordered` sends an immediate ACK for a FIN, and
//! for a segment that had arrived before (its sender is repairing).

use super::{AckDecision, AckPolicy, Arrival};
use crate::time::{Nanos, Time};

pub(super) fn default_delay() -> Nanos {
    Nanos::from_millis(200)
}

/// Which segments may wait for a second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Segments that RFC 5681 §4.2 does not want answered at once.
    InOrder,
    /// Segments out of order, too (Lee, Park & Choi 2002).
    AnyOrder,
}

/// Every second segment, or after a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delayed {
    delay: Nanos,
    waits: Waits,
    /// A segment has arrived that no ACK has covered yet.
    waiting: bool,
}

impl Delayed {
    /// A single segment that may wait does so for at most `delay`.
    pub fn new(delay: Nanos, waits: Waits) -> Self {
        Self { delay, waits, waiting: false }
    }

    /// Whether it must be answered at once.
    #[inline]
    fn is_urgent(&self, a: &Arrival) -> bool {
        a.wants_ack_at_once() && (self.waits == Waits::InOrder || a.duplicate || a.fin)
    }
}

impl AckPolicy for Delayed {
    #[inline]
    fn on_arrival(&mut self, a: &Arrival) -> AckDecision {
        if self.waiting || self.is_urgent(a) {
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
    fn on_ack_sent(&mut self, _: Time, _: bool) -> Option<Time> {
        self.waiting = false;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::{plain, urgent};
    use super::*;

    fn in_order() -> Delayed {
        Delayed::new(Nanos::from_millis(100), Waits::InOrder)
    }

    fn any_order() -> Delayed {
        Delayed::new(Nanos::from_millis(100), Waits::AnyOrder)
    }

    #[test]
    fn every_second_segment_is_answered_at_once() {
        let mut p = in_order();
        for ms in [0, 10, 20] {
            assert_eq!(p.on_arrival(&plain(ms)), AckDecision::Delay(Time((ms + 100) * 1_000_000)));
            assert_eq!(p.on_arrival(&plain(ms + 1)), AckDecision::Now);
            p.on_ack_sent(plain(ms + 1).now, false);
        }
    }

    #[test]
    fn a_single_segment_is_answered_after_the_delay() {
        let mut p = in_order();
        assert_eq!(p.on_arrival(&plain(7)), AckDecision::Delay(Time(107_000_000)));
        assert_eq!(p.on_timer(Time(107_000_000)), AckDecision::Now);
    }

    #[test]
    fn an_ack_on_a_data_segment_starts_the_count_afresh() {
        let mut p = in_order();
        p.on_arrival(&plain(0));
        p.on_ack_sent(plain(5).now, false);
        assert_eq!(p.on_arrival(&plain(10)), AckDecision::Delay(Time(110_000_000)));
    }

    #[test]
    fn the_unusual_does_not_wait() {
        for a in urgent() {
            assert_eq!(in_order().on_arrival(&a), AckDecision::Now);
        }
    }

    #[test]
    fn every_second_segment_is_answered_whatever_the_order() {
        let mut p = any_order();
        for ms in [0, 10] {
            let gap = Arrival { in_order: false, ..plain(ms) };
            assert_eq!(p.on_arrival(&gap), AckDecision::Delay(Time((ms + 100) * 1_000_000)));
            assert_eq!(p.on_arrival(&Arrival { in_order: false, ..plain(ms + 1) }), AckDecision::Now);
            p.on_ack_sent(plain(ms + 1).now, false);
        }
        assert_eq!(p.on_timer(plain(200).now), AckDecision::Now);
    }

    #[test]
    fn a_gap_and_its_filling_wait_and_a_repetition_and_a_fin_do_not() {
        let waits = urgent().map(|a| any_order().on_arrival(&a) != AckDecision::Now);
        assert_eq!(waits, [true, true, false, false]);
    }
}
