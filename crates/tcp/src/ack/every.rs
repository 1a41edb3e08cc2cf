//! An ACK for every segment.
//!
//! Source: RFC 9293 §3.8.6.3 recommends delaying and does not require it; ns-2's `Agent/TCPSink` without `DelAck`;
//! "acknowledge every packet" in Hoe's thesis.
//! Departures: none.

use super::{AckDecision, AckPolicy, Arrival};
use crate::time::Time;

/// Answers everything at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Every;

impl AckPolicy for Every {
    #[inline]
    fn on_arrival(&mut self, _: &Arrival) -> AckDecision {
        AckDecision::Now
    }
    #[inline]
    fn on_timer(&mut self, _: Time) -> AckDecision {
        AckDecision::No
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::{plain, urgent};
    use super::*;

    #[test]
    fn every_segment_is_answered_at_once() {
        for a in [plain(0), plain(1)].into_iter().chain(urgent()) {
            assert_eq!(Every.on_arrival(&a), AckDecision::Now);
        }
    }
}
