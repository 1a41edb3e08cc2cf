//! QUIC's RTT estimate and probe timeout.
//!
//! Source: RFC 9002 §5.1, §5.3 (estimate), §6.2.1 (PTO), §6.2.2 (initial round trip), A.2.
//!
//! Idea: as RFC 6298, but with a sample from every acknowledgment and no minimum of a second. Instead, the time by which the peer
//! may delay its acknowledgment is added.
//!
//! | source | here |
//! | --- | --- |
//! | smoothed_rtt, rttvar | `srtt`, `rttvar` |
//! | PTO = smoothed_rtt + max (4 · rttvar, kGranularity) + max_ack_delay | `base` |
//! | kInitialRtt | `initial_rtt`; before a sample max_ack_delay is not added (§6.2.1: a handshake's packets are not delayed) |
//!
//! Departures: a TCP acknowledgment does not say by how much it was delayed, so nothing is subtracted from a sample and `min_rtt`
//! is not needed. A segment sent twice gives no sample (Karn); neither does an ACK that does not advance. Unsaid: a limit on
//! back-off (`max`).

use super::Rto;
use crate::error::StackError;
use crate::facts::ack::AckEvent;
use crate::facts::scoreboard::Sent;
use crate::time::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuicSpec {
    /// The RTT assumed before the first sample. Default: 333 ms (RFC 9002 §6.2.2).
    pub initial_rtt: Nanos,
    /// The most by which the peer delays an acknowledgment. Default: 25 ms (RFC 9000's default, RFC 9002 §5.3).
    pub max_ack_delay: Nanos,
    /// Granularity of timers. Default: 1 ms (RFC 9002 §6.1.2).
    pub granularity: Nanos,
    /// Upper limit of the timeout. Default: 60 s (RFC 6298 §2.5; RFC 9002 has none).
    pub max: Nanos,
}

impl Default for QuicSpec {
    fn default() -> Self {
        QuicSpec {
            initial_rtt: Nanos::from_millis(333),
            max_ack_delay: Nanos::from_millis(25),
            granularity: Nanos::from_millis(1),
            max: Nanos::from_secs(60),
        }
    }
}

impl QuicSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        for (key, n) in [("rto.initial_rtt", self.initial_rtt), ("rto.granularity", self.granularity)] {
            StackError::unless(n.0 > 0, key, &0, "more than 0")?;
        }
        StackError::unless(self.max.0 > 0, "rto.max", &0, "more than 0")
    }
}

/// The estimate at work.
pub struct Quic {
    initial: Nanos,
    max_ack_delay: Nanos,
    granularity: Nanos,
    max: Nanos,
    srtt: Option<Nanos>,
    rttvar: Nanos,
    backoff: u32,
}

impl Quic {
    pub(super) fn new(s: &QuicSpec) -> Self {
        Quic {
            // §6.2.2: as if kInitialRtt had been measured, with half of it as its variation.
            initial: s.initial_rtt + Nanos(s.initial_rtt.0.saturating_mul(2)),
            max_ack_delay: s.max_ack_delay,
            granularity: s.granularity,
            max: s.max,
            srtt: None,
            rttvar: Nanos::ZERO,
            backoff: 0,
        }
    }
}

impl Rto for Quic {
    fn on_sent(&mut self, _: &Sent) {}
    fn on_ack(&mut self, ack: &AckEvent, _: Time) {
        // §6.2.1: the back-off ends when data is acknowledged.
        self.backoff = 0;
        if let Some(rtt) = ack.rtt {
            self.on_sample(rtt);
        }
    }
    fn on_sample(&mut self, rtt: Nanos) {
        let Some(srtt) = self.srtt else {
            (self.srtt, self.rttvar) = (Some(rtt), Nanos(rtt.0 / 2));
            return;
        };
        // A.7: the variation first, with the old estimate.
        self.rttvar = Nanos((3 * self.rttvar.0 + srtt.0.abs_diff(rtt.0)) / 4);
        self.srtt = Some(Nanos((7 * srtt.0 + rtt.0) / 8));
    }
    fn srtt(&self) -> Option<Nanos> {
        self.srtt
    }
    fn rttvar(&self) -> Option<Nanos> {
        self.srtt.map(|_| self.rttvar)
    }
    fn base(&self) -> Nanos {
        let measured = |srtt| srtt + Nanos((4 * self.rttvar.0).max(self.granularity.0)) + self.max_ack_delay;
        self.srtt.map_or(self.initial, measured).min(self.max)
    }
    fn backed_off(&self) -> Nanos {
        Nanos(self.base().0.saturating_mul(1 << self.backoff.min(32))).min(self.max)
    }
    fn back_off(&mut self) {
        self.backoff += 1;
    }
    fn backoff_count(&self) -> u32 {
        self.backoff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn these_samples_give_by_the_rfcs_formulas_these_timeouts() {
        let mut r = Quic::new(&QuicSpec::default());
        assert_eq!(r.base(), Nanos::from_millis(999));
        // 100 + 4 · 50 + 25; then 105 + 4 · 47.5 + 25.
        for (rtt, pto) in [(100, 325), (140, 320)] {
            r.on_sample(Nanos::from_millis(rtt));
            assert_eq!(r.base(), Nanos::from_millis(pto));
        }
        (0..100).for_each(|_| r.back_off());
        assert_eq!(r.backed_off(), Nanos::from_secs(60));
    }

    #[test]
    fn a_steady_round_trip_is_waited_for_by_the_granularity_at_least() {
        let mut r = Quic::new(&QuicSpec { max_ack_delay: Nanos::ZERO, ..QuicSpec::default() });
        (0..100).for_each(|_| r.on_sample(Nanos::from_millis(10)));
        assert_eq!(r.base(), Nanos::from_millis(11));
    }
}
