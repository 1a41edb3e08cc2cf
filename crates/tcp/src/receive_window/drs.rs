//! Dynamic right-sizing: twice the data that the application has read in a round trip.
//!
//! Source: Fisk & Feng, *Dynamic Right-Sizing in TCP* (2001); the round trip comes from [`super::rtt`].
//!
//! Idea: the data that arrives in a round trip is the sender's window. The window can double in the next round trip, so a
//! buffer of twice the size never limits it. If the application does not read, the buffer does not grow.
//!
//! | source | here |
//! | --- | --- |
//! | data received in a round trip | `read` since `round_from`, once a round trip has passed since `round_at` |
//!
//! Departures: none. Unsaid in the source: the initial size (`initial`). Linux has a different rule, [`super::linux`].

use super::{Progress, ReceiveWindow};
use crate::error::StackError;
use crate::seq::Offset;
use crate::time::Time;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DrsSpec {
    /// Initial size of the buffer. Default: 64 KiB.
    #[serde(with = "crate::units::bytes")]
    #[schemars(schema_with = "crate::units::bytes_schema")]
    pub initial: Bytes,
}

impl Default for DrsSpec {
    fn default() -> Self {
        DrsSpec { initial: 65_536 }
    }
}

impl DrsSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        StackError::unless(
            self.initial > 0,
            "receive_window.initial",
            &"0 B",
            "more than 0, otherwise nothing could arrive",
        )
    }
}

/// Dynamic right-sizing at work.
#[derive(Clone, Copy, Debug)]
pub struct Drs {
    initial: Bytes,
    /// When the round began, and how much had been read by then.
    round: Option<(Time, Offset)>,
}

impl Drs {
    /// A rule that has measured nothing yet.
    pub fn new(spec: &DrsSpec) -> Self {
        Drs { initial: spec.initial, round: None }
    }
}

impl ReceiveWindow for Drs {
    fn initial(&self) -> Bytes {
        self.initial
    }

    fn on_ack(&mut self, p: &Progress) -> Bytes {
        let (at, from) = *self.round.get_or_insert((p.now, p.read));
        if p.rtt.is_none_or(|rtt| p.now.since(at) < rtt) {
            return 0;
        }
        self.round = Some((p.now, p.read));
        2 * (p.read - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Nanos;

    fn at(ms: u64, rcv_nxt: u64, wnd: u64, unread: u64) -> Progress {
        let (rcv_nxt, read) = (Offset(rcv_nxt), Offset(rcv_nxt - unread));
        let rtt = (ms > 0).then_some(Nanos::from_millis(100));
        Progress { now: Time(ms * 1_000_000), rcv_nxt, right_edge: rcv_nxt + wnd, read, rtt }
    }

    #[test]
    fn the_buffer_is_twice_what_was_read_in_a_round_trip() {
        let mut d = Drs::new(&DrsSpec::default());
        assert_eq!(d.on_ack(&at(0, 0, 1000, 0)), 0, "nothing is known");
        assert_eq!(d.on_ack(&at(60, 500, 1000, 0)), 0, "60 ms is less than a round trip");
        assert_eq!(d.on_ack(&at(100, 1000, 5000, 0)), 2000);
        assert_eq!(d.on_ack(&at(199, 2900, 5000, 0)), 0, "99 ms is less than a round trip");
        assert_eq!(d.on_ack(&at(200, 3000, 5000, 0)), 4000);
    }

    #[test]
    fn what_the_application_has_not_read_does_not_count() {
        let mut d = Drs::new(&DrsSpec::default());
        d.on_ack(&at(0, 0, 1000, 0));
        assert_eq!(d.on_ack(&at(100, 1000, 0, 1000)), 0);
        assert_eq!(d.on_ack(&at(200, 1000, 100, 900)), 200);
    }
}
