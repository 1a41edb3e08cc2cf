//! The cause of a wait between two segments.
//!
//! Each rule says from which side it can be seen; what no rule explains is unknown. (RFC 9293 §3.8.6, windows and probes; RFC 5681
//! §3.1 and §3.2, congestion window and fast retransmit; RFC 6298, the timer; RFC 8985 §7.2, the probe; RFC 896, Nagle.)

use super::pace::Window;
use super::{Facts, SHORT, TICK};
use crate::place::Side;
use ackclock_course::stall::cause::{Cause, FEW};

/// A segment that follows an acknowledgment within this fraction of the wait was sent because of it.
const PART: i64 = 10;
/// Where data arrives, a wait of up to this many round trips is the network's: an ACK to the sender, data back, and a delayed ACK.
const ROUND_TRIPS: i64 = 2;
/// No sender's retransmission timer is shorter, nanoseconds. Source: FreeBSD 14, `tcp_rexmit_min`; others have 200 ms and more.
const LEAST_TIMEOUT: i64 = 30_000_000;
/// A reply that takes a round trip differs from it by at most this fraction.
const ROUND_TRIP_PART: i64 = 4;
/// The longest that a receiver delays an ACK, as a sender of probes assumes, nanoseconds (RFC 8985 §7.2, WCDelAckT).
const DELAYED_ACK: i64 = 200_000_000;

/// The cause of a wait, for this side of the data; `round_trip` in nanoseconds.
pub(super) fn cause(f: &Facts, side: Side, round_trip: Option<i64>) -> Cause {
    if let Some(cause) = f.ending {
        return cause;
    }
    if f.unseen.is_some() {
        return Cause::CaptureLoss;
    }
    if f.room.is_some_and(|room| room < needed(f)) && !(f.again && f.window != Some(0)) {
        return Cause::ReceiverWindow;
    }
    if f.at_end {
        return Cause::Unknown;
    }
    if f.again {
        return repair(f, side, round_trip);
    }
    match side {
        Side::Receiver => arrived(f, round_trip),
        Side::Sender | Side::Middle => sent(f, side, round_trip),
    }
}

/// The room that the segment that ended it needs, bytes.
fn needed(f: &Facts) -> u64 {
    u64::from(f.len.max(1))
}

/// Data from below the highest byte ended it: a loss was repaired.
fn repair(f: &Facts, side: Side, round_trip: Option<i64>) -> Cause {
    let is_clear = match side {
        // The retransmission arrives a round trip after the duplicate ACKs that triggered it.
        Side::Receiver => round_trip.is_some_and(|r| silence(f) <= r.saturating_mul(ROUND_TRIPS)),
        Side::Sender | Side::Middle => prompt(f),
    };
    if f.duplicates > 0 && is_clear {
        Cause::FastRetransmit
    } else if silence(f) < round_trip.unwrap_or(0).max(LEAST_TIMEOUT) {
        // Too soon for a timer.
        match f.sending {
            _ if f.duplicates > 0 => Cause::FastRetransmit,
            Window::Repairs => Cause::Recovery,
            Window::Grows | Window::Reduced => Cause::Unknown,
        }
    } else if f.duplicates == 0 && (f.last || f.flight < FEW * u64::from(f.len)) {
        Cause::TailLoss
    } else {
        Cause::Timeout
    }
}

/// New data ended it, captured where they begin or on their way.
fn sent(f: &Facts, side: Side, round_trip: Option<i64>) -> Cause {
    if let Some((at, _)) = f.all_acked {
        let idle = f.to.saturating_sub(at) > f.length() / 2;
        return match f.answer {
            // A request that follows an answer waited for it.
            Some(_) => Cause::ApplicationIdle,
            // For most of the time the sender was idle, not waiting.
            None if idle => Cause::ApplicationIdle,
            None if f.outstanding < u64::from(f.full) => Cause::Nagle,
            None => window(f, Cause::CongestionWindow),
        };
    }
    if prompt(f) {
        return window(f, Cause::CongestionWindow);
    }
    // The network was silent. If there is new data to send, a loss probe may carry it (RFC 8985 §7.3).
    let probes = |r: i64| r < silence(f) && silence(f) <= r.saturating_mul(2).saturating_add(DELAYED_ACK);
    match side {
        _ if f.flight > 0 && round_trip.is_some_and(probes) => Cause::LossProbe,
        _ if f.pushed => Cause::ApplicationIdle,
        Side::Sender => Cause::SenderHost,
        Side::Middle | Side::Receiver => match round_trip {
            Some(r) if f.length() <= r.saturating_mul(ROUND_TRIPS) => window(f, Cause::CongestionWindow),
            Some(_) | None => Cause::Unknown,
        },
    }
}

/// New data ended it, captured where they arrive: there everything is acknowledged at once, and an ACK takes half a round trip to
/// have an effect, as do the data that it allows.
fn arrived(f: &Facts, round_trip: Option<i64>) -> Cause {
    match round_trip {
        _ if f.answer.is_some() => Cause::ApplicationIdle,
        Some(r) if f.length() <= r.saturating_mul(ROUND_TRIPS) && f.known_room.is_some_and(|room| room < needed(f)) => {
            Cause::ReceiverWindow
        }
        Some(_) if is_held_back(f, round_trip) => Cause::Nagle,
        Some(r) if f.length() <= r.saturating_mul(ROUND_TRIPS) => window(f, Cause::Network),
        // A host may set PSH although it has more. Without a gap in its identifications it sent nothing meanwhile.
        Some(_) if f.pushed && (f.short || f.next_id == Some(true)) => Cause::ApplicationIdle,
        Some(_) | None => Cause::Unknown,
    }
}

/// A wait for the window: for another cause after a retransmission.
fn window(f: &Facts, grows: Cause) -> Cause {
    match f.sending {
        Window::Grows => grows,
        Window::Repairs => Cause::Recovery,
        Window::Reduced => Cause::ReducedWindow,
    }
}

/// Where data arrives: whether a segment followed a delayed ACK of less than a full segment by a round trip.
fn is_held_back(f: &Facts, round_trip: Option<i64>) -> bool {
    let Some(((acked, _), r)) = f.all_acked.zip(round_trip) else { return false };
    let (delayed, after) = (acked.saturating_sub(f.from), f.to.saturating_sub(acked));
    let is_delayed = delayed > TICK && f.outstanding < u64::from(f.full);
    is_delayed && (after - r).abs() <= (r / ROUND_TRIP_PART).max(SHORT)
}

/// How long neither a segment nor an acknowledgment had arrived when it ended, nanoseconds.
pub(super) fn silence(f: &Facts) -> i64 {
    f.last_ack.map_or(f.length(), |(at, _)| f.to.saturating_sub(at))
}

/// Whether an acknowledgment arrived directly before its end.
fn prompt(f: &Facts) -> bool {
    f.last_ack.is_some_and(|(at, _)| f.to.saturating_sub(at) <= f.length() / PART)
}
