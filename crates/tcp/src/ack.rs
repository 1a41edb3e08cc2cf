//! When does the receiver answer? One file per published policy; the receiver decides what the answer says.

pub mod delayed;
pub mod every;
pub mod heartbeat;

use crate::time::{Nanos, Time};
use serde::{Deserialize, Serialize};

/// What a policy is told about a segment with data that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub now: Time,
    /// Payload bytes.
    pub len: u32,
    /// Whether it began at `rcv_nxt`.
    pub in_order: bool,
    /// Whether data above it were waiting, so that it filled a hole or part of one (RFC 5681 §3.2).
    pub fills_hole: bool,
    /// Whether all of it had arrived before.
    pub duplicate: bool,
}

/// A policy's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckDecision {
    /// Send an ACK now.
    Now,
    /// Send one at this time if none has gone out by then.
    Delay(Time),
    /// Nothing to send.
    No,
}

/// When to answer.
pub trait AckPolicy {
    /// A segment with data (or a FIN) arrived.
    fn on_arrival(&mut self, a: &Arrival) -> AckDecision;
    /// The time named by [`AckDecision::Delay`] has come and nothing was sent since.
    fn on_timer(&mut self, now: Time) -> AckDecision;
    /// An ACK went out for whatever reason (also on a data segment).
    fn on_ack_sent(&mut self) {}
}

/// A policy's description, as it stands in a scenario file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AckSpec {
    /// An ACK for every segment.
    Every,
    /// RFC 1122 §4.2.3.2: every second full segment, or after `delay`.
    Delayed {
        /// Longest wait of a single segment.
        #[serde(default = "delayed::default_delay")]
        delay: Nanos,
    },
    /// BSD's heartbeat: every second segment, or at the next beat of a clock shared by the host.
    Heartbeat {
        /// Time between beats.
        #[serde(default = "heartbeat::default_interval")]
        interval: Nanos,
        /// Where in the interval the beats lie (`t mod interval = phase`).
        #[serde(default)]
        phase: Nanos,
    },
}
