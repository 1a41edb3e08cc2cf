//! Delayed ACKs, but quick ones where the peer waits for each: at the start, after a pause, after a repetition.
//!
//! Source: Linux, `net/ipv4/tcp_input.c`: `tcp_event_data_recv` (the first data, and the first after a pause), `tcp_data_queue`
//! and `tcp_send_dupack` (data that had arrived before), `tcp_incr_quickack`; `TCP_MAX_QUICKACKS` in `include/net/tcp.h`. RFC 9293
//! §3.8.6.3 allows delayed ACKs and requires none.
//!
//! Idea: a sender that begins, begins again or repairs has a small window, which opens with each ACK: none is held back until
//! so many have gone. Then as [`super::delayed`].
//!
//! | Linux | here |
//! | --- | --- |
//! | `icsk_ack.quick` | `left` |
//! | `TCP_MAX_QUICKACKS` (16) | `acks` |
//! | longer than `icsk_rto` since `icsk_ack.lrcvtime` | longer than `idle` since `last` |
//! | `TCP_DELACK_MIN` (40 ms) | `delay` |
//!
//! Departures: Linux grants no more ACKs than half the window has segments, takes its own timeout for `idle`, adapts the delay to the time
//! between segments, and holds ACKs back where both sides talk in turn ("pingpong"). It counts segments that ACKs cover; here ACKs
//! are counted, which is the same while each segment has one.

use super::{AckDecision, AckPolicy, Arrival};
use crate::error::StackError;
use crate::time::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuickSpec {
    /// Longest wait of a single segment once no ACK needs to be quick. Default 40 ms (Linux).
    pub delay: Nanos,
    /// ACKs without delay at the start, after a pause and after a repetition. Default 16 (Linux).
    #[schemars(range(min = 1))]
    pub acks: u32,
    /// A pause is a time without data that is longer than this. Default 200 ms (Linux's shortest timeout).
    pub idle: Nanos,
}

impl Default for QuickSpec {
    fn default() -> Self {
        let ms = Nanos::from_millis;
        QuickSpec { delay: ms(40), acks: 16, idle: ms(200) }
    }
}

impl QuickSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        StackError::unless(self.acks > 0, "ack.acks", &0, "1 or more: with none it is the kind \"delayed\"")
    }
}

/// Quick at first, then every second segment, or after a delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quick {
    spec: QuickSpec,
    /// ACKs that are still to go without delay.
    left: u32,
    /// When data came last.
    last: Option<Time>,
    /// A segment has arrived that no ACK has covered yet.
    waiting: bool,
}

impl Quick {
    /// Nothing has come yet.
    pub fn new(spec: &QuickSpec) -> Self {
        Self { spec: spec.clone(), left: 0, last: None, waiting: false }
    }
}

impl AckPolicy for Quick {
    fn on_arrival(&mut self, a: &Arrival) -> AckDecision {
        let paused = self.last.is_none_or(|t| a.now.since(t) > self.spec.idle);
        self.last = Some(a.now);
        if paused || a.duplicate {
            self.left = self.spec.acks;
        }
        if self.left > 0 || self.waiting || a.wants_ack_at_once() {
            return AckDecision::Now;
        }
        self.waiting = true;
        AckDecision::Delay(Time(a.now.0.saturating_add(self.spec.delay.0)))
    }

    fn on_repetition(&mut self, now: Time) {
        (self.left, self.last) = (self.spec.acks, Some(now));
    }

    fn on_timer(&mut self, _: Time) -> AckDecision {
        AckDecision::Now
    }

    fn on_ack_sent(&mut self, _: Time) {
        self.left = self.left.saturating_sub(1);
        self.waiting = false;
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::{plain, urgent};
    use super::*;

    /// Which of `n` segments, a millisecond apart from `ms` on, are answered at once.
    fn at_once(p: &mut Quick, ms: u64, n: u64) -> Vec<bool> {
        let mut answer = |at| {
            let now = p.on_arrival(&plain(at)) == AckDecision::Now;
            if now {
                p.on_ack_sent(plain(at).now);
            }
            now
        };
        (ms..ms + n).map(&mut answer).collect()
    }

    fn three() -> Quick {
        Quick::new(&QuickSpec { acks: 3, ..Default::default() })
    }

    #[test]
    fn the_first_acks_are_quick_and_then_every_second_segment_is_answered() {
        assert_eq!(at_once(&mut three(), 0, 7), [true, true, true, false, true, false, true]);
    }

    #[test]
    fn after_a_pause_acks_are_quick_again() {
        let mut p = three();
        at_once(&mut p, 0, 5);
        assert_eq!(at_once(&mut p, 204, 3), [false, true, false], "200 ms are no pause");
        assert_eq!(p.on_timer(plain(246).now), AckDecision::Now);
        p.on_ack_sent(plain(246).now);
        assert_eq!(at_once(&mut p, 407, 5), [true, true, true, false, true]);
    }

    #[test]
    fn after_a_repetition_acks_are_quick_again_wherever_it_lies() {
        let repeated = Arrival { in_order: false, duplicate: true, ..plain(5) };
        let beyond: [fn(&mut Quick, &Arrival); 2] =
            [|p, a| assert_eq!(p.on_arrival(a), AckDecision::Now), |p, a| p.on_repetition(a.now)];
        for repeat in beyond {
            let mut p = three();
            at_once(&mut p, 0, 5);
            repeat(&mut p, &repeated);
            p.on_ack_sent(repeated.now);
            assert_eq!(at_once(&mut p, 6, 4), [true, true, false, true]);
        }
    }

    #[test]
    fn the_unusual_does_not_wait() {
        for a in urgent() {
            let mut p = three();
            at_once(&mut p, 0, 3);
            assert_eq!(p.on_arrival(&a), AckDecision::Now);
        }
    }
}
