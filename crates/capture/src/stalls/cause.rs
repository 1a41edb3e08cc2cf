//! The cause of a gap between two segments, in the words of a run's stalls.

use super::{Facts, Stall};
use crate::place::Side;
use ackclock_course::stall::cause::{Cause, FEW};
use ackclock_course::stall::words::{duplicates, span, timer_fired, NOTHING_AFTER, NOTHING_NEW};
use ackclock_course::stall::Sentence;

/// A segment that follows an acknowledgment within this fraction of the gap was sent because of it.
const PART: i64 = 10;
/// At the receiver, a longer gap than this, in round trips, was not a wait for an ACK.
const ROUND_TRIPS: i64 = 2;

/// The cause of a gap, for this side of the data; `round_trip` in nanoseconds.
pub(super) fn cause(f: &Facts, side: Side, round_trip: Option<i64>) -> Cause {
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
        // The network was silent. If there is new data to send, a loss probe may carry it (RFC 8985 §7.3).
        (None, _) if f.flight > 0 && round_trip.is_some_and(|r| silence(f) > r) => Cause::LossProbe,
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
    /// Its length and its cause in a line without a full stop.
    pub fn title(&self) -> String {
        format!("{} without a segment of data: {}", seconds(self.facts.length()), self.cause.name())
    }

    /// Its beginning and its end in sentences, each at a time in seconds as `seconds` converts it.
    pub fn sentences(&self, seconds: impl Fn(i64) -> f64) -> Vec<Sentence> {
        let Facts { from, to, before, after, .. } = self.facts;
        let say = |at, text| Sentence { at: seconds(at), text, rows: Vec::new() };
        vec![
            say(from, format!("Frame {before} was the last segment for a while.")),
            say(to, format!("Frame {after} ended it. {}", self.words())),
        ]
    }

    /// The evidence of its cause, in sentences.
    pub fn words(&self) -> String {
        let f = &self.facts;
        let silence = silence(f) as f64 / 1e9;
        let last = match f.last_ack {
            Some((_, frame)) => format!("the last ACK (frame {frame})"),
            None => format!("the last segment (frame {})", f.before),
        };
        match self.cause {
            // A capture does not show which timer or application sent it.
            Cause::LossProbe => format!(
                "Nothing came back for {} after {last}, with {} bytes outstanding. Frame {} carried new data, as a tail loss probe may.",
                span(silence),
                f.flight,
                f.after
            ),
            Cause::Timeout => {
                let (fired, many) = (timer_fired(silence, &last), duplicates(f.duplicates.into()));
                format!("{fired}. {many}. Frame {} was sent again.", f.after)
            }
            Cause::TailLoss => {
                let sent = format!("{} after {last}, frame {} was sent again", span(silence), f.after);
                format!("A segment was lost, and {NOTHING_AFTER}: {sent}.")
            }
            Cause::ReceiverWindow => {
                let opened = f.last_ack.map_or(String::new(), |a| format!("; frame {} opened it", a.1));
                match f.window {
                    Some(0) => format!("The receiver's window was closed{opened}."),
                    Some(window) => format!("The receiver's window of {window} bytes was used up{opened}."),
                    None => format!("The receiver's window was used up{opened}."),
                }
            }
            Cause::CongestionWindow => match f.last_ack {
                Some((_, frame)) => format!("The congestion window was fully in flight until the ACK in frame {frame}."),
                None => format!("The congestion window allowed no new data, with {} bytes outstanding.", f.flight),
            },
            Cause::ApplicationIdle => match f.all_acked {
                Some((at, frame)) => {
                    let idle = seconds(f.to.saturating_sub(at));
                    format!("Frame {frame} had acknowledged everything {idle} before, and {NOTHING_NEW}.")
                }
                None => "Everything that had been written was sent.".to_owned(),
            },
            Cause::SenderHost => format!(
                "The sender had room and data and sent nothing: no ACK arrived within {} before frame {}, and {} bytes were \
                 outstanding.",
                span(silence),
                f.after,
                f.flight
            ),
            Cause::CaptureLoss => match f.unseen {
                Some(frame) => format!("The capture missed segments: frame {frame} acknowledges data that was not captured."),
                None => "The capture missed segments.".to_owned(),
            },
            // Only a run shows these.
            Cause::LostRetransmission
            | Cause::Loss
            | Cause::Refusal
            | Cause::LostAcks
            | Cause::Delay
            | Cause::NeedlessTimeout => String::new(),
        }
    }
}

/// A duration in nanoseconds for display.
fn seconds(nanos: i64) -> String {
    span(nanos as f64 / 1e9)
}
