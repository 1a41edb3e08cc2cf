//! How often a segment that is refused gets an answer.
//!
//! Source: RFC 9293 §3.10.7.4 (an unacceptable segment is answered with an ACK), RFC 5961 §7 (but not each of them); Linux 6.18,
//! `net/ipv4/tcp_input.c`, `tcp_oow_rate_limited`.
//! Idea: two ends that refuse each other's ACKs would answer each other for ever. A segment with data or FIN is no answer
//! to an ACK, so only what carries neither is limited.
//!
//! Unsaid in RFC 5961: how often. Linux's default (`net.ipv4.tcp_invalid_ratelimit`) is taken.

use super::Receiver;
use crate::segment::Segment;
use crate::time::{Nanos, Time};

/// The shortest time between two answers.
const BETWEEN: Nanos = Nanos::from_millis(500);

/// When the last such answer was given.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChallengeLimit(Option<Time>);

impl ChallengeLimit {
    /// Whether one may go now; it then counts as sent.
    pub(crate) fn admits(&mut self, now: Time) -> bool {
        let admits = self.0.is_none_or(|last| now.since(last) >= BETWEEN);
        if admits {
            self.0 = Some(now);
        }
        admits
    }
}

impl Receiver {
    /// An ACK goes out, if none went for the like in the last half second: a challenge ACK (RFC 5961).
    #[cold]
    pub(crate) fn challenge(&mut self, now: Time) {
        if self.held().challenged.admits(now) {
            self.due = true;
        }
    }

    /// Answers a segment that is refused for its place or its timestamp; a RST never.
    pub(super) fn answer_refused(&mut self, now: Time, seg: &Segment) {
        if seg.has(Segment::RST) {
            return;
        }
        if seg.seq_len() == 0 || seg.has(Segment::SYN) {
            self.challenge(now);
        } else {
            self.due = true;
        }
    }
}
