//! The cause of a stall, in the words of the lab page's pauses (`web/src/stall/story.ts`).

use super::{Facts, Stall};
use crate::place::Side;

/// The cause of a stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// No acknowledgment arrived, and a timer expired: for retransmission, or for a loss probe (RFC 8985 §7).
    Timeout,
    /// The receiver's window was closed, or full.
    ReceiverWindow,
    /// The outstanding data filled the congestion window: the next segment waited for an ACK.
    CongestionWindow,
    /// The end of the data was lost, so that no later data could reveal the loss.
    TailLoss,
    /// Everything that had been written was sent.
    ApplicationIdle,
    /// Its sender had room and data, but sent nothing.
    SenderHost,
    /// The capture missed segments.
    CaptureLoss,
}

/// All causes.
pub const CAUSES: [Cause; 7] = [
    Cause::Timeout,
    Cause::ReceiverWindow,
    Cause::CongestionWindow,
    Cause::TailLoss,
    Cause::ApplicationIdle,
    Cause::SenderHost,
    Cause::CaptureLoss,
];

/// With fewer segments outstanding, too few can follow a lost one to reveal the loss (RFC 5681 §3.2).
const FEW: u64 = 4;
/// A segment that follows an acknowledgment within this fraction of the gap was sent because of it.
const PART: i64 = 10;
/// At the receiver, a longer gap than this, in round trips, was not a wait for an ACK.
const ROUND_TRIPS: i64 = 2;

impl Cause {
    /// The cause of a gap, for this side of the data; `round_trip` in nanoseconds.
    pub fn of(f: &Facts, side: Side, round_trip: Option<i64>) -> Cause {
        let needed = u64::from(f.len.max(1));
        if f.unseen.is_some() {
            return Cause::CaptureLoss;
        }
        if f.room.is_some_and(|room| room < needed) && !(f.again && f.window != Some(0)) {
            return Cause::ReceiverWindow;
        }
        if f.again {
            return again(f, side, round_trip);
        }
        match side {
            Side::Receiver => match round_trip {
                Some(r) if f.length() <= r.saturating_mul(ROUND_TRIPS) => Cause::CongestionWindow,
                Some(_) | None => Cause::ApplicationIdle,
            },
            Side::Sender | Side::Middle => fresh(f, side, round_trip),
        }
    }

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Timeout => "timeout",
            Cause::ReceiverWindow => "receiver window",
            Cause::CongestionWindow => "congestion window",
            Cause::TailLoss => "tail loss",
            Cause::ApplicationIdle => "application idle",
            Cause::SenderHost => "sender host",
            Cause::CaptureLoss => "capture loss",
        }
    }
}

/// A retransmission ended it.
fn again(f: &Facts, side: Side, round_trip: Option<i64>) -> Cause {
    let is_clear = match side {
        // The retransmission arrives a round trip after the duplicate ACKs that triggered it.
        Side::Receiver => f.duplicates > 0 && round_trip.is_some_and(|r| silence(f) <= r.saturating_mul(ROUND_TRIPS)),
        Side::Sender | Side::Middle => f.duplicates > 0 && prompt(f),
    };
    if is_clear {
        Cause::CongestionWindow
    } else if f.duplicates == 0 && (f.last || f.flight < FEW * u64::from(f.len)) {
        Cause::TailLoss
    } else {
        Cause::Timeout
    }
}

/// New data ended it.
fn fresh(f: &Facts, side: Side, round_trip: Option<i64>) -> Cause {
    match (f.all_acked, side) {
        // For most of the time the sender was idle, not waiting.
        (Some((at, _)), _) if f.to.saturating_sub(at) > f.length() / 2 => Cause::ApplicationIdle,
        (Some(_), _) => Cause::CongestionWindow,
        (None, _) if prompt(f) => Cause::CongestionWindow,
        // The network was silent. If there is new data to send, a loss probe carries it (RFC 8985 §7.3).
        (None, _) if f.flight > 0 && round_trip.is_some_and(|r| silence(f) > r) => Cause::Timeout,
        (None, _) if f.pushed => Cause::ApplicationIdle,
        (None, Side::Sender) => Cause::SenderHost,
        (None, Side::Middle | Side::Receiver) => Cause::CongestionWindow,
    }
}

/// How long neither a segment nor an acknowledgment had arrived when it ended, nanoseconds.
fn silence(f: &Facts) -> i64 {
    f.last_ack.map_or(f.length(), |(at, _)| f.to.saturating_sub(at))
}

/// Whether an acknowledgment arrived directly before its end.
fn prompt(f: &Facts) -> bool {
    f.last_ack.is_some_and(|(at, _)| f.to.saturating_sub(at) <= f.length() / PART)
}

impl Stall {
    /// The cause with its evidence: a sentence without the final full stop.
    pub fn words(&self) -> String {
        let f = &self.facts;
        let silence = silence(f);
        let after = match f.last_ack {
            Some((_, frame)) => format!("the last ACK (frame {frame})"),
            None => format!("the last segment (frame {})", f.before),
        };
        match self.cause {
            Cause::Timeout if !f.again => format!(
                "no ACK arrived within {} after {after}, though {} bytes were outstanding; frame {} probed with new data",
                span(silence),
                f.flight,
                f.after
            ),
            Cause::Timeout => {
                let many = match f.duplicates {
                    0 => "no duplicate ACK arrived".to_owned(),
                    1 => "1 duplicate ACK arrived".to_owned(),
                    n => format!("{n} duplicate ACKs arrived"),
                };
                format!("the retransmission timer fired {} after {after}; {many}; frame {} was retransmitted", span(silence), f.after)
            }
            Cause::ReceiverWindow => {
                let opened = f.last_ack.map_or(String::new(), |a| format!("; frame {} opened it", a.1));
                match f.window {
                    Some(0) => format!("the receiver's window was closed{opened}"),
                    Some(window) => format!("the receiver's window of {window} bytes was used up{opened}"),
                    None => format!("the receiver's window was used up{opened}"),
                }
            }
            Cause::CongestionWindow => match f.last_ack {
                Some((_, frame)) => format!("the congestion window was fully in flight until the ACK in frame {frame}"),
                None => format!("the congestion window allowed no new data, with {} bytes outstanding", f.flight),
            },
            Cause::TailLoss => {
                format!("nothing sent after a lost segment arrived; {} after {after} frame {} was retransmitted", span(silence), f.after)
            }
            Cause::ApplicationIdle => match f.all_acked {
                Some((at, frame)) => {
                    let idle = span(f.to.saturating_sub(at));
                    format!("there was nothing new to send: frame {frame} had acknowledged everything {idle} before")
                }
                None => "there was nothing new to send".to_owned(),
            },
            Cause::SenderHost => format!(
                "the sender had room and data and sent nothing: no ACK arrived within {} before frame {}, and {} bytes were outstanding",
                span(silence),
                f.after,
                f.flight
            ),
            Cause::CaptureLoss => {
                let frame = f.unseen.map_or(String::new(), |n| format!(": frame {n} acknowledges data that was not captured"));
                format!("the capture missed segments{frame}")
            }
        }
    }
}

/// A duration for display: in milliseconds below a tenth of a second.
pub fn span(nanos: i64) -> String {
    if nanos < 100_000_000 {
        format!("{:.3} ms", nanos as f64 / 1e6)
    } else {
        format!("{:.3} s", nanos as f64 / 1e9)
    }
}
