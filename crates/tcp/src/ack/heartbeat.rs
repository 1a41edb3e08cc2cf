//! Delayed ACK driven by one periodic clock for the whole host.
//!
//! Source: 4.3BSD Net/2, `tcp_fasttimo` (every 200 ms) and `TF_DELACK`; used by Hoe's thesis and by Blanton & Allman.
//! Idea: as [`super::delayed`], but a pending ACK is sent at the next beat, so it waits anywhere from zero to one
//! interval.
//!
//! | BSD | here |
//! | --- | --- |
//! | `TF_DELACK` | `waiting` |
//! | `TF_ACKNOW` | [`AckDecision::Now`] |
//! | `PR_FASTHZ` (5 a second) | `interval` |
//!
//! Departures: Net/2 answers every second segment because the window it could advertise has moved by two segments. Here
//! segments are counted, which is the same if they are full and the application reads at once; for other cases there is
//! [`super::window_update`].
//! Unsaid in the source: the phase of the beats, and a segment that arrives on a beat: here it waits for the next one.

use super::{AckDecision, AckPolicy, Arrival};
use crate::time::{Nanos, Time};

pub(super) fn default_interval() -> Nanos {
    Nanos::from_millis(200)
}

/// Every second segment, or at the next beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    interval: Nanos,
    phase: Nanos,
    /// A segment has arrived that no ACK has covered yet.
    waiting: bool,
}

impl Heartbeat {
    /// Beats where `t mod interval = phase`. If the interval is zero, every instant is a beat.
    pub fn new(interval: Nanos, phase: Nanos) -> Self {
        Self { interval, phase: Nanos(phase.0.checked_rem(interval.0).unwrap_or(0)), waiting: false }
    }

    /// The first beat after `now`.
    pub(super) fn next_beat(&self, now: Time) -> Time {
        let Some(at) = now.0.checked_rem(self.interval.0) else { return now };
        let wait = if at < self.phase.0 { self.phase.0 - at } else { self.interval.0 - (at - self.phase.0) };
        Time(now.0.saturating_add(wait))
    }
}

impl AckPolicy for Heartbeat {
    #[inline]
    fn on_arrival(&mut self, a: &Arrival) -> AckDecision {
        if self.waiting || a.wants_ack_at_once() {
            return AckDecision::Now;
        }
        self.waiting = true;
        AckDecision::Delay(self.next_beat(a.now))
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

    fn beats_at(phase_ms: u64) -> Heartbeat {
        Heartbeat::new(Nanos::from_millis(200), Nanos::from_millis(phase_ms))
    }

    #[test]
    fn a_waiting_ack_leaves_at_the_next_beat() {
        for (phase, arrives, leaves) in
            [(0, 0, 200), (0, 1, 200), (0, 199, 200), (0, 200, 400), (80, 0, 80), (80, 80, 280), (80, 279, 280)]
        {
            let got = beats_at(phase).on_arrival(&plain(arrives));
            assert_eq!(got, AckDecision::Delay(Time(leaves * 1_000_000)), "phase {phase}, arrives {arrives}");
        }
    }

    #[test]
    fn every_second_segment_is_answered_at_once() {
        let mut p = beats_at(0);
        p.on_arrival(&plain(150));
        assert_eq!(p.on_arrival(&plain(160)), AckDecision::Now);
        p.on_ack_sent(plain(160).now, false);
        assert_eq!(p.on_arrival(&plain(170)), AckDecision::Delay(Time(200_000_000)));
    }

    #[test]
    fn the_unusual_does_not_wait() {
        for a in urgent() {
            assert_eq!(beats_at(0).on_arrival(&a), AckDecision::Now);
        }
    }
}
