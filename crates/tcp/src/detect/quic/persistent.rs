//! How long nothing was delivered: the measure of persistent congestion (RFC 9002 §7.6).

use crate::time::{Nanos, Time};

/// Lost packets in a row, in the order of sending.
#[derive(Default)]
pub(super) struct LostRun {
    /// When the first of them was sent.
    since: Option<Time>,
    /// Packets sent up to this time were sent before any RTT had been measured.
    unmeasured_until: Option<Time>,
}

impl LostRun {
    /// A packet was sent before any RTT was measured.
    pub(super) fn sent_unmeasured(&mut self, at: Time) {
        self.unmeasured_until = Some(at);
    }

    /// Adds a lost packet sent at `at`; returns how long nothing was delivered up to it. §7.6.2: only packets sent after an
    /// RTT had been measured count.
    pub(super) fn lengthen(&mut self, at: Time) -> Nanos {
        if self.unmeasured_until.is_some_and(|until| at <= until) {
            return Nanos::ZERO;
        }
        at.since(*self.since.get_or_insert(at))
    }

    /// A packet was delivered, or the run has led to a cut.
    pub(super) fn end(&mut self) {
        self.since = None;
    }
}
