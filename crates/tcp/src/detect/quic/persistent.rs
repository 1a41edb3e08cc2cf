//! How long nothing got through: the measure of persistent congestion (RFC 9002 §7.6).

use crate::time::{Nanos, Time};

/// Lost packets in a row, in the order of sending.
#[derive(Default)]
pub(super) struct LostRun {
    /// When the first of them was sent.
    since: Option<Time>,
    /// What was sent up to then was sent before a round trip had been measured.
    unmeasured_until: Option<Time>,
}

impl LostRun {
    /// A packet was sent before any round trip was measured.
    pub(super) fn sent_unmeasured(&mut self, at: Time) {
        self.unmeasured_until = Some(at);
    }

    /// One more is lost, sent at `at`: how long nothing got through up to it. §7.6.2: only those count that were sent after a
    /// round trip had been measured.
    pub(super) fn lengthen(&mut self, at: Time) -> Nanos {
        if self.unmeasured_until.is_some_and(|until| at <= until) {
            return Nanos::ZERO;
        }
        at.since(*self.since.get_or_insert(at))
    }

    /// One got through, or the run has been answered.
    pub(super) fn end(&mut self) {
        self.since = None;
    }
}
