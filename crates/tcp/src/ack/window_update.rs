//! Net/2's ACKs: a window update for every two full segments, else at a beat of the host's clock.
//!
//! Source: Hoe 1995 §3.2.3; 4.3BSD Net/2's `tcp_output` as it is known.
//!
//! Idea: once the application has read, the window that could be advertised has moved. An update is sent as soon as it has
//! moved by two segments; smaller moves wait for the next beat, as in [`super::heartbeat`].
//!
//! | source | here |
//! | --- | --- |
//! | segments received since the last ACK, two of them | bytes since the last ACK, `two` full segments |
//! | 200 ms timer | `beats` |
//!
//! Departures: an application that reads later is handled by the receiver (`Receiver::consume`). Unsaid: a buffer of less
//! than four segments, where Net/2 answers earlier.

use super::heartbeat::Heartbeat;
use super::{AckDecision, AckPolicy, Arrival};
use crate::time::{Nanos, Time};

/// Every two full segments, or at the next beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowUpdate {
    beats: Heartbeat,
    two: u32,
    /// Bytes that no ACK has covered yet.
    bytes: u32,
}

impl WindowUpdate {
    /// Full segments have `mss` bytes; beats are where `t mod interval = phase`.
    pub fn new(interval: Nanos, phase: Nanos, mss: u32) -> Self {
        Self { beats: Heartbeat::new(interval, phase), two: mss.saturating_mul(2), bytes: 0 }
    }
}

impl AckPolicy for WindowUpdate {
    fn on_arrival(&mut self, a: &Arrival) -> AckDecision {
        self.bytes = self.bytes.saturating_add(a.len);
        if self.bytes >= self.two || a.wants_ack_at_once() {
            return AckDecision::Now;
        }
        AckDecision::Delay(self.beats.next_beat(a.now))
    }

    fn on_timer(&mut self, _: Time) -> AckDecision {
        AckDecision::Now
    }

    fn on_ack_sent(&mut self, _: Time, _: bool) -> Option<Time> {
        self.bytes = 0;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::{plain, urgent};
    use super::*;

    fn beats_at_200_ms() -> WindowUpdate {
        WindowUpdate::new(Nanos::from_millis(200), Nanos::ZERO, 1460)
    }

    #[test]
    fn two_full_segments_are_answered_at_once_and_one_at_the_next_beat() {
        let mut p = beats_at_200_ms();
        assert_eq!(p.on_arrival(&plain(150)), AckDecision::Delay(Time(200_000_000)));
        assert_eq!(p.on_arrival(&plain(160)), AckDecision::Now);
        p.on_ack_sent(plain(160).now, false);
        assert_eq!(p.on_arrival(&plain(201)), AckDecision::Delay(Time(400_000_000)));
        assert_eq!(p.on_timer(Time(400_000_000)), AckDecision::Now);
    }

    #[test]
    fn small_segments_wait_for_the_beat_until_they_make_two_full_ones() {
        let mut p = beats_at_200_ms();
        let small = |ms| Arrival { len: 1000, ..plain(ms) };
        for ms in [210, 220] {
            assert_eq!(p.on_arrival(&small(ms)), AckDecision::Delay(Time(400_000_000)), "{ms}");
        }
        assert_eq!(p.on_arrival(&small(230)), AckDecision::Now, "3000 bytes");
    }

    #[test]
    fn the_unusual_does_not_wait() {
        for a in urgent() {
            assert_eq!(beats_at_200_ms().on_arrival(&a), AckDecision::Now);
        }
    }
}
