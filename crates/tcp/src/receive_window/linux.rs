//! Linux's receive window: it follows the data that the application reads in a round trip, and opens by two segments for each one
//! that arrives.
//!
//! Source: Linux 6.18, `net/ipv4/tcp_input.c` (`tcp_init_buffer_space`, `tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`,
//! `tcp_grow_window`), in our words.
//!
//! Idea: the limit is twice the data read in a round trip, plus twice the growth, because the measurement is a round trip late.
//! Below the limit the window opens only as segments arrive, like slow start.
//!
//! | Linux | here |
//! | --- | --- |
//! | `rcvq_space.space`, `.time`, `.seq` | `space`, `round` |
//! | `rcv_ssthresh`, `window_clamp` | `opened`, `limit` |
//! | `TCP_INIT_CWND` segments | `FIRST` |
//! | `tcp_rmem[2]` | the buffer that the driver sets |
//!
//! Departures: a byte takes a byte of the buffer; Linux counts the memory of packets (`truesize`), and begins with half of
//! `tcp_rmem[1]`. Linux checks on arriving segments and on each read; here the check is made when an ACK is sent, and data held
//! out of order neither opens the window nor raises the limit.

use super::{Progress, ReceiveWindow};
use crate::error::StackError;
use crate::seq::Offset;
use crate::time::Time;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Assumed initial window of the sender, in segments.
const FIRST: u64 = 10;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinuxWindowSpec {
    /// The initial window and its first limit. Default: 64 KiB (half of `tcp_rmem`'s second number).
    #[serde(with = "crate::units::bytes")]
    #[schemars(schema_with = "crate::units::bytes_schema")]
    pub initial: Bytes,
}

impl Default for LinuxWindowSpec {
    fn default() -> Self {
        LinuxWindowSpec { initial: 65_536 }
    }
}

impl LinuxWindowSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        StackError::unless(
            self.initial > 0,
            "receive_window.initial",
            &"0 B",
            "more than 0, otherwise nothing could arrive",
        )
    }
}

/// Linux's window at work.
#[derive(Clone, Copy, Debug)]
pub struct LinuxWindow {
    initial: Bytes,
    advmss: Bytes,
    opened: Bytes,
    limit: Bytes,
    space: Bytes,
    /// When the round began, and how much had been read by then.
    round: Option<(Time, Offset)>,
    /// The offset that the last ACK acknowledged.
    acked: Option<Offset>,
}

impl LinuxWindow {
    /// The peer's segments have up to `advmss` bytes.
    pub fn new(spec: &LinuxWindowSpec, advmss: u32) -> Self {
        let (initial, advmss) = (spec.initial, u64::from(advmss.max(1)));
        let space = initial.min(FIRST * advmss);
        LinuxWindow { initial, advmss, opened: initial, limit: initial, space, round: None, acked: None }
    }

    /// `tcp_rcv_space_adjust` and `tcp_rcvbuf_grow`, once a round trip.
    fn follow(&mut self, p: &Progress) {
        let (at, from) = *self.round.get_or_insert((p.now, p.read));
        if p.rtt.is_none_or(|rtt| p.now.since(at) < rtt) {
            return;
        }
        self.round = Some((p.now, p.read));
        let copied = (p.read - from).saturating_sub(p.rcv_nxt - p.read);
        if copied > self.space {
            let twice = copied.saturating_mul(2);
            let growth = u128::from(twice) * u128::from(copied - self.space) / u128::from(self.space);
            let growth = u64::try_from(growth).unwrap_or(u64::MAX);
            self.limit = self.limit.max(twice.saturating_add(growth.saturating_mul(2)));
            self.space = copied;
        }
    }
}

impl ReceiveWindow for LinuxWindow {
    fn initial(&self) -> Bytes {
        self.initial
    }

    fn on_ack(&mut self, p: &Progress) -> Bytes {
        let arrived = p.rcv_nxt - self.acked.replace(p.rcv_nxt).unwrap_or(p.rcv_nxt);
        // `tcp_grow_window`.
        let opens = arrived.div_ceil(self.advmss).saturating_mul(2 * self.advmss);
        self.opened = self.opened.saturating_add(opens).min(self.limit);
        self.follow(p);
        self.opened
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Nanos;

    fn at(ms: u64, rcv_nxt: u64) -> Progress {
        let (now, rcv_nxt) = (Time(ms * 1_000_000), Offset(rcv_nxt));
        Progress { now, rcv_nxt, right_edge: rcv_nxt + 65_536, read: rcv_nxt, rtt: Some(Nanos::from_millis(100)) }
    }

    fn window() -> LinuxWindow {
        LinuxWindow::new(&LinuxWindowSpec::default(), 1000)
    }

    #[test]
    fn the_limit_is_twice_what_was_read_in_a_round_trip_and_twice_the_growth() {
        let mut w = window();
        w.on_ack(&at(0, 0));
        w.on_ack(&at(99, 20_000));
        assert_eq!(w.limit, 65_536, "99 ms is less than a round trip");
        w.on_ack(&at(100, 20_000));
        // 10 segments were expected, 20 read: 40 + 2 × 40 × 10/10.
        assert_eq!((w.space, w.limit), (20_000, 120_000));
        w.on_ack(&at(200, 40_000));
        assert_eq!(w.limit, 120_000, "no more than before");
        w.on_ack(&at(300, 70_000));
        // 60 + 2 × 60 × 10/20.
        assert_eq!((w.space, w.limit), (30_000, 120_000));
    }

    #[test]
    fn below_the_limit_the_window_opens_two_segments_for_each_that_comes() {
        let mut w = window();
        w.limit = 70_000;
        assert_eq!(w.on_ack(&at(0, 0)), 65_536);
        assert_eq!(w.on_ack(&at(1, 1000)), 67_536);
        assert_eq!(w.on_ack(&at(2, 2000)), 69_536);
        assert_eq!(w.on_ack(&at(3, 4000)), 70_000);
    }

    #[test]
    fn what_the_application_has_not_read_does_not_count() {
        let mut w = window();
        w.on_ack(&at(0, 0));
        w.on_ack(&Progress { read: Offset(25_000), ..at(100, 45_000) });
        assert_eq!((w.space, w.limit), (10_000, 65_536));
    }
}
