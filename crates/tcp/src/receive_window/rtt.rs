//! The RTT as measured by a receiver that may never send data, and so never gets an ACK.
//!
//! Source: Fisk & Feng, *Dynamic Right-Sizing in TCP* (2001); Linux 6.18, `net/ipv4/tcp_input.c` (`tcp_rcv_rtt_update`,
//! `tcp_rcv_rtt_measure`, `tcp_rcv_rtt_measure_ts`).
//!
//! Idea: a window's worth of data takes a round trip or more; an echoed timestamp measures it exactly.
//!
//! | Linux | here |
//! | --- | --- |
//! | `rcv_rtt_est.rtt_us` | `rtt` |
//! | `rcv_rtt_est.seq`, `rcv_rtt_est.time` | `window` |
//! | `rcv_rtt_last_tsecr` | `last_echo` |
//!
//! Departures: the window of data is checked when an ACK is sent, not on every segment. An echo less than a millisecond old
//! counts as a millisecond, because the clock cannot tell them apart (Linux ignores it).

use crate::seq::Offset;
use crate::time::{Nanos, Time};

/// The estimate: a sample from timestamps has weight 1/8; a sample from a window of data counts only if it is smaller.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiveRtt {
    rtt: Option<Nanos>,
    last_echo: Option<u32>,
    /// The window's right edge and the time when the measurement by a window of data began.
    window: Option<(Offset, Time)>,
}

impl ReceiveRtt {
    /// The estimate, if anything was measured.
    pub fn get(&self) -> Option<Nanos> {
        self.rtt
    }

    /// A segment with data echoes the timestamp `echo`, which we sent `rtt` ago, with millisecond precision.
    pub fn on_echo(&mut self, echo: u32, rtt: Nanos) {
        if self.last_echo.replace(echo) == Some(echo) {
            return;
        }
        let rtt = rtt.max(Nanos::from_millis(1));
        self.rtt = Some(match self.rtt {
            Some(old) if rtt > old => Nanos(old.0 - old.0 / 8 + rtt.0 / 8),
            _ => rtt,
        });
    }

    /// An ACK for everything before `rcv_nxt` is sent; the window that it advertises ends at `right_edge`.
    pub fn on_ack(&mut self, now: Time, rcv_nxt: Offset, right_edge: Offset) {
        match self.window {
            Some((edge, _)) if rcv_nxt < edge => {}
            began => {
                if let Some((_, at)) = began {
                    let took = now.since(at).max(Nanos(1));
                    self.rtt = Some(self.rtt.map_or(took, |old| old.min(took)));
                }
                self.window = Some((right_edge, now));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_echo_counts_an_eighth_a_shorter_one_at_once_and_a_repeated_one_not_at_all() {
        let mut r = ReceiveRtt::default();
        let ms = Nanos::from_millis;
        for (echo, rtt, want) in [(1, 80, 80), (1, 500, 80), (2, 160, 90), (3, 40, 40), (4, 0, 1)] {
            r.on_echo(echo, ms(rtt));
            assert_eq!(r.get(), Some(ms(want)), "{echo}");
        }
    }

    #[test]
    fn a_window_of_data_takes_a_round_trip_at_most() {
        let mut r = ReceiveRtt::default();
        let mut at = |ms: u64, rcv_nxt: u64| {
            r.on_ack(Time(ms * 1_000_000), Offset(rcv_nxt), Offset(rcv_nxt + 1000));
            r.get().map(|rtt| rtt.0 / 1_000_000)
        };
        assert_eq!(at(0, 0), None);
        assert_eq!(at(60, 500), None, "half a window");
        assert_eq!(at(100, 1000), Some(100));
        assert_eq!(at(300, 2000), Some(100), "a longer time may include a wait for the sender");
        assert_eq!(at(380, 3000), Some(80));
    }
}
