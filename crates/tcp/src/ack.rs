//! When does the receiver answer? One file per published policy; the receiver decides on the content of the answer.
//!
//! A policy is told about accepted segments: data or a FIN, in or out of order. The receiver itself answers every segment that
//! RFC 9293 §3.10.7.4 says to answer in any case (one outside the window, an old timestamp, a SYN).

pub mod delayed;
pub mod every;
pub mod heartbeat;
pub mod linux;
pub mod window_update;

use crate::error::StackError;
use crate::slot::{dispatch, Factory};
use crate::time::{Nanos, Time};
use delayed::Waits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The facts that a policy gets about an arriving segment with data (or a FIN).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time of arrival.
    pub now: Time,
    /// Payload bytes.
    pub len: u32,
    /// Whether it began at `rcv_nxt`.
    pub in_order: bool,
    /// Whether data above it was held, so that it filled a hole or part of one (RFC 5681 §3.2).
    pub fills_hole: bool,
    /// Whether all of it had arrived before.
    pub duplicate: bool,
    /// Whether it carried a FIN.
    pub fin: bool,
    /// Whether it carried a PSH.
    pub push: bool,
    /// By how much `rcv_nxt` moved.
    pub advanced: u32,
    /// Bytes left of the advertised window when it arrived.
    pub window: u32,
    /// Whether data above `rcv_nxt` is now held.
    pub held: bool,
    /// Whether it adjoins neither of the two ranges reported last, while two or more are held; `false` unless the policy asks.
    pub apart: bool,
    /// Whether the application reads everything at once.
    pub read: bool,
}

impl Arrival {
    /// Whether RFC 5681 §4.2 wants an immediate ACK: for a segment out of order, one that fills a hole in part or whole, or a
    /// duplicate. Also for a FIN, because its sender waits for nothing else.
    #[inline]
    pub fn wants_ack_at_once(&self) -> bool {
        !self.in_order || self.fills_hole || self.duplicate || self.fin
    }
}

/// A policy's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckDecision {
    /// Send an ACK now.
    Now,
    /// Send one at this time if none has been sent by then. Replaces an earlier delay; a time that is not in the future means
    /// now.
    Delay(Time),
    /// Send nothing.
    No,
}

/// When to answer.
pub trait AckPolicy: Send {
    /// A segment with data (or a FIN) arrived.
    fn on_arrival(&mut self, a: &Arrival) -> AckDecision;
    /// The time given in [`AckDecision::Delay`] is reached, and no ACK was sent since.
    fn on_timer(&mut self, now: Time) -> AckDecision;
    /// Data below the window arrives again. It is answered at once, whatever the policy says.
    fn on_repetition(&mut self, _now: Time) {}
    /// An ACK was sent for any reason; `data` says whether it was sent with data. Returns when [`AckPolicy::on_timer`] is still
    /// to be called, if at all.
    fn on_ack_sent(&mut self, _now: Time, _data: bool) -> Option<Time> {
        None
    }
    /// The application has read everything, in a call of its own after the segment was accepted. No data is held.
    fn on_read(&mut self) -> AckDecision {
        AckDecision::No
    }
    /// The application asks for ACKs without delay, or lets them wait for an answer (Linux's `TCP_QUICKACK`). An ACK that waits is
    /// sent in any case if it asks.
    fn set_quick(&mut self, _quick: bool) {}
    /// Whether it uses [`Arrival::apart`], round trips and the state of our own sender.
    fn asks(&self) -> bool {
        false
    }
    /// The receive window will be larger than the last one advertised, because a rule lets it grow.
    fn on_growth(&mut self) {}
    /// The RTT as the receiver measures it (`receive_window/rtt.rs`).
    fn on_rtt(&mut self, _rtt: Option<Nanos>) {}
    /// Our own sender's smoothed RTT and its RTO.
    fn on_sender(&mut self, _srtt: Option<Nanos>, _rto: Nanos) {}
}

/// When a receiver answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AckSpec {
    /// An ACK for each segment.
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    Every,
    /// An ACK for every second segment, or after a delay (RFC 1122 §4.2.3.2).
    Delayed {
        /// Longest delay of the ACK for a single segment.
        #[serde(default = "delayed::default_delay")]
        delay: Nanos,
    },
    /// As "delayed", but also for segments out of order: neither a gap nor its filling is answered at once (Lee, Park & Choi
    /// 2002; Leung & Ma 2005 §II).
    DelayedReordered {
        /// Longest delay of the ACK for a single segment.
        #[serde(default = "delayed::default_delay")]
        delay: Nanos,
    },
    /// An ACK for every second segment, or at the next beat of the host's clock (BSD).
    Heartbeat {
        /// Time between beats.
        #[serde(default = "heartbeat::default_interval")]
        interval: Nanos,
        /// Offset of the beats within the interval (`t mod interval = phase`).
        #[serde(default)]
        phase: Nanos,
    },
    /// A window update as soon as the window can move by two full segments, or at the next beat of the host's clock (BSD Net/2;
    /// Hoe §3.2.3).
    WindowUpdate {
        /// Time between beats.
        #[serde(default = "heartbeat::default_interval")]
        interval: Nanos,
        /// Offset of the beats within the interval (`t mod interval = phase`).
        #[serde(default)]
        phase: Nanos,
    },
    /// As Linux: at once for more than a full segment, else after an adaptive delay. At the start, after a pause and after a
    /// repetition, an ACK for each segment. Duplicate ACKs are compressed.
    Linux(linux::LinuxAckSpec),
    /// An algorithm from outside the crate.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Custom(Factory<dyn AckPolicy>),
}

impl AckSpec {
    /// Checks the description.
    ///
    /// # Errors
    /// One sentence that names the key, the value found and the values allowed.
    pub fn validate(&self) -> Result<(), StackError> {
        match *self {
            AckSpec::Linux(ref spec) => spec.validate(),
            AckSpec::Heartbeat { interval: Nanos::ZERO, .. } | AckSpec::WindowUpdate { interval: Nanos::ZERO, .. } => {
                Err(StackError {
                    key: "ack.interval",
                    found: "0 ns".into(),
                    allowed: "more than 0, otherwise it never beats".into(),
                })
            }
            AckSpec::Heartbeat { interval, phase } | AckSpec::WindowUpdate { interval, phase } if phase >= interval => {
                Err(StackError {
                    key: "ack.phase",
                    found: phase.to_string(),
                    allowed: format!("less than ack.interval, which is {interval}"),
                })
            }
            AckSpec::Every
            | AckSpec::Delayed { .. }
            | AckSpec::DelayedReordered { .. }
            | AckSpec::Heartbeat { .. }
            | AckSpec::WindowUpdate { .. }
            | AckSpec::Custom(_) => Ok(()),
        }
    }

    /// Builds the policy of one flow whose peer sends segments of up to `mss` bytes; `sack` says whether SACK was negotiated.
    /// Even a description that [`AckSpec::validate`] refuses gives a policy that does not panic.
    pub fn build(&self, mss: u32, sack: bool) -> AnyAck {
        match *self {
            AckSpec::Every => AnyAck::Every(every::Every),
            AckSpec::Delayed { delay } => AnyAck::Delayed(delayed::Delayed::new(delay, Waits::InOrder)),
            AckSpec::DelayedReordered { delay } => AnyAck::Delayed(delayed::Delayed::new(delay, Waits::AnyOrder)),
            AckSpec::Heartbeat { interval, phase } => AnyAck::Heartbeat(heartbeat::Heartbeat::new(interval, phase)),
            AckSpec::WindowUpdate { interval, phase } => {
                AnyAck::WindowUpdate(Box::new(window_update::WindowUpdate::new(interval, phase, mss)))
            }
            AckSpec::Linux(ref spec) => AnyAck::Linux(Box::new(linux::Linux::new(spec, mss, sack))),
            AckSpec::Custom(ref f) => AnyAck::Custom((f.make)(mss)),
        }
    }
}

/// Any of the policies, with its state inline (24 bytes, pinned by a test).
pub enum AnyAck {
    /// See [`every`].
    Every(every::Every),
    /// See [`delayed`].
    Delayed(delayed::Delayed),
    /// See [`heartbeat`].
    Heartbeat(heartbeat::Heartbeat),
    /// See [`window_update`].
    WindowUpdate(Box<window_update::WindowUpdate>),
    /// See [`linux`].
    Linux(Box<linux::Linux>),
    /// An algorithm from outside the crate.
    Custom(Box<dyn AckPolicy>),
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => { dispatch!($self, AnyAck: Every | Delayed | Heartbeat | WindowUpdate | Linux | Custom, $x => $call) };
}

impl AckPolicy for AnyAck {
    #[inline(always)]
    fn on_arrival(&mut self, a: &Arrival) -> AckDecision {
        each!(self, p => p.on_arrival(a))
    }
    #[inline]
    fn on_timer(&mut self, now: Time) -> AckDecision {
        each!(self, p => p.on_timer(now))
    }
    fn on_repetition(&mut self, now: Time) {
        each!(self, p => p.on_repetition(now));
    }
    #[inline]
    fn on_ack_sent(&mut self, now: Time, data: bool) -> Option<Time> {
        each!(self, p => p.on_ack_sent(now, data))
    }
    fn on_read(&mut self) -> AckDecision {
        each!(self, p => p.on_read())
    }
    fn set_quick(&mut self, quick: bool) {
        each!(self, p => p.set_quick(quick));
    }
    fn asks(&self) -> bool {
        each!(self, p => p.asks())
    }
    fn on_growth(&mut self) {
        each!(self, p => p.on_growth());
    }
    fn on_rtt(&mut self, rtt: Option<Nanos>) {
        each!(self, p => p.on_rtt(rtt));
    }
    fn on_sender(&mut self, srtt: Option<Nanos>, rto: Nanos) {
        each!(self, p => p.on_sender(srtt, rto));
    }
}

/// Arrivals for the policies' own tests.
#[cfg(test)]
pub(crate) mod cases {
    use super::*;

    /// A full segment in order at `ms` milliseconds.
    pub(crate) fn plain(ms: u64) -> Arrival {
        Arrival {
            now: Time(ms * 1_000_000),
            len: 1460,
            in_order: true,
            fills_hole: false,
            duplicate: false,
            fin: false,
            push: false,
            advanced: 1460,
            window: 65_535,
            held: false,
            apart: false,
            read: true,
        }
    }

    /// One arrival of each kind that RFC 5681 §4.2 wants answered at once.
    pub(crate) fn urgent() -> [Arrival; 4] {
        let p = plain(1);
        [
            Arrival { in_order: false, ..p },
            Arrival { fills_hole: true, ..p },
            Arrival { in_order: false, duplicate: true, ..p },
            Arrival { fin: true, ..p },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_policy_takes_24_bytes() {
        assert_eq!(size_of::<AnyAck>(), 24);
    }

    #[test]
    fn a_heartbeat_that_never_beats_is_refused_by_name() {
        let spec = |i, p| AckSpec::Heartbeat { interval: Nanos::from_millis(i), phase: Nanos::from_millis(p) };
        assert!(spec(0, 0).validate().unwrap_err().to_string().starts_with("ack.interval: found 0 ns"));
        assert!(spec(200, 200)
            .validate()
            .unwrap_err()
            .to_string()
            .ends_with("less than ack.interval, which is 200 ms"));
        assert_eq!(spec(200, 80).validate(), Ok(()));
    }

    #[test]
    fn a_policy_that_would_be_refused_still_answers() {
        for (interval, phase) in [(0, 0), (0, u64::MAX), (1, u64::MAX), (u64::MAX, u64::MAX), (u64::MAX, 0)] {
            let mut p = AckSpec::Heartbeat { interval: Nanos(interval), phase: Nanos(phase) }.build(1000, true);
            for now in [0, 1, u64::MAX] {
                let at = match p.on_arrival(&Arrival { now: Time(now), ..cases::plain(0) }) {
                    AckDecision::Delay(t) => t,
                    other => panic!("{other:?}"),
                };
                assert!(at >= Time(now));
                p.on_ack_sent(Time(now), false);
            }
        }
    }
}
