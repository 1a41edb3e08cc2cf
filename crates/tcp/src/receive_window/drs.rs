//! Dynamic right-sizing: twice what the application has read in a round trip.
//!
//! Source: Fisk & Feng, *Dynamic Right-Sizing in TCP* (2001); the round trip as Linux measures it at a receiver
//! (`net/ipv4/tcp_input.c`, `tcp_rcv_rtt_update`, `tcp_rcv_rtt_measure`, `tcp_rcv_rtt_measure_ts`).
//!
//! Idea: what arrives in a round trip is the sender's window. It can double in the next one, so a buffer of twice as much never
//! holds it back. An application that does not read does not make its buffer grow.
//!
//! | source | here |
//! | --- | --- |
//! | data received in a round trip | `read` since `round_from`, once `rtt` has passed since `round_at` |
//! | a window's worth of data takes a round trip or more | `edge_at`, until `rcv_nxt` reaches `edge` |
//! | `rcv_rtt_est.rtt_us` | `rtt` |
//!
//! Departures: none. Unsaid in the source: where it begins (`initial`); a round trip by timestamps takes part with an eighth, one by a window of
//! data only if it is smaller, as in Linux. Linux adds 16 segments and a share of the last growth (`tcp_rcv_space_adjust`), which is
//! another rule.

use super::{Progress, ReceiveWindow};
use crate::error::StackError;
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DrsSpec {
    /// The buffer at the beginning. Default 64 KiB.
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
        StackError::unless(self.initial > 0, "receive_window.initial", &"0 B", "more than 0: nothing could arrive")
    }
}

/// Dynamic right-sizing at work.
#[derive(Clone, Copy, Debug)]
pub struct Drs {
    initial: Bytes,
    rtt: Option<Nanos>,
    last_echo: Option<u32>,
    /// The window's edge when the measurement by a window of data began, and when that was.
    window: Option<(Offset, Time)>,
    /// When the round began, and what had been read by then.
    round: Option<(Time, Offset)>,
}

impl Drs {
    /// Nothing is known yet.
    pub fn new(spec: &DrsSpec) -> Self {
        Drs { initial: spec.initial, rtt: None, last_echo: None, window: None, round: None }
    }
}

impl ReceiveWindow for Drs {
    fn initial(&self) -> Bytes {
        self.initial
    }

    fn on_echo(&mut self, echo: u32, rtt: Nanos) {
        if self.last_echo.replace(echo) == Some(echo) {
            return;
        }
        // The clock ticks in milliseconds: less than one cannot be told from one.
        let rtt = rtt.max(Nanos::from_millis(1));
        self.rtt = Some(match self.rtt {
            Some(old) if rtt > old => Nanos(old.0 - old.0 / 8 + rtt.0 / 8),
            _ => rtt,
        });
    }

    fn on_ack(&mut self, p: &Progress) -> Bytes {
        match self.window {
            Some((edge, _)) if p.rcv_nxt < edge => {}
            began => {
                if let Some((_, at)) = began {
                    let took = p.now.since(at).max(Nanos(1));
                    self.rtt = Some(self.rtt.map_or(took, |old| old.min(took)));
                }
                self.window = Some((p.right_edge, p.now));
            }
        }
        let (at, from) = *self.round.get_or_insert((p.now, p.read));
        if self.rtt.is_none_or(|rtt| p.now.since(at) < rtt) {
            return 0;
        }
        self.round = Some((p.now, p.read));
        2 * (p.read - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64, rcv_nxt: u64, wnd: u64, unread: u64) -> Progress {
        let (rcv_nxt, read) = (Offset(rcv_nxt), Offset(rcv_nxt - unread));
        Progress { now: Time(ms * 1_000_000), rcv_nxt, right_edge: rcv_nxt + wnd, read }
    }

    #[test]
    fn the_buffer_is_twice_what_was_read_in_a_round_trip_of_a_window_of_data() {
        let mut d = Drs::new(&DrsSpec::default());
        assert_eq!(d.on_ack(&at(0, 0, 1000, 0)), 0, "nothing is known");
        assert_eq!(d.on_ack(&at(60, 500, 1000, 0)), 0, "half a window");
        assert_eq!(d.on_ack(&at(100, 1000, 5000, 0)), 2000);
        assert_eq!(d.rtt, Some(Nanos::from_millis(100)));
        assert_eq!(d.on_ack(&at(199, 2900, 5000, 0)), 0, "99 ms are no round trip");
        assert_eq!(d.on_ack(&at(200, 3000, 5000, 0)), 4000);
    }

    #[test]
    fn what_the_application_has_not_read_does_not_count() {
        let mut d = Drs::new(&DrsSpec::default());
        d.on_ack(&at(0, 0, 1000, 0));
        assert_eq!(d.on_ack(&at(100, 1000, 0, 1000)), 0);
        assert_eq!(d.on_ack(&at(200, 1000, 100, 900)), 200);
    }

    #[test]
    fn a_longer_echo_counts_an_eighth_a_shorter_one_at_once_and_a_repeated_one_not_at_all() {
        let mut d = Drs::new(&DrsSpec::default());
        let ms = Nanos::from_millis;
        for (echo, rtt, want) in [(1, 80, 80), (1, 500, 80), (2, 160, 90), (3, 40, 40), (4, 0, 1)] {
            d.on_echo(echo, ms(rtt));
            assert_eq!(d.rtt, Some(ms(want)), "{echo}");
        }
    }
}
