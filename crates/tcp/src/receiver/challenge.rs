//! How often refused segments are answered.
//!
//! Source: RFC 9293 §3.10.7.4 (an unacceptable segment is answered with an ACK), RFC 5961 §7 (but the rate of these ACKs is
//! limited); Linux 6.18, `net/ipv4/tcp_input.c`, `tcp_oow_rate_limited`.
//! Idea: two ends that refuse each other's ACKs would answer each other for ever. A segment with data or FIN is not an answer
//! to an ACK, so only segments with neither are limited.
//!
//! Unsaid in RFC 5961: how often. Linux's default (`net.ipv4.tcp_invalid_ratelimit`) is used.

use super::Receiver;
use crate::segment::Segment;
use crate::time::{Nanos, Time};

/// The shortest time between two answers.
const BETWEEN: Nanos = Nanos::from_millis(500);

/// When the last such answer was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChallengeLimit(Option<Time>);

impl ChallengeLimit {
    /// Returns whether a challenge ACK may be sent now; if so, it counts as sent.
    pub(crate) fn admits(&mut self, now: Time) -> bool {
        let admits = self.0.is_none_or(|last| now.since(last) >= BETWEEN);
        if admits {
            self.0 = Some(now);
        }
        admits
    }
}

impl Receiver {
    /// Sends a challenge ACK (RFC 5961), if none was sent in the last half second.
    #[cold]
    pub(crate) fn challenge(&mut self, now: Time) {
        if self.held().challenged.admits(now) {
            self.due = true;
        }
    }

    /// Replies to a segment refused for its sequence number or its timestamp; never to a RST.
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
