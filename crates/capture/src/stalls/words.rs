//! The evidence of a stall's cause in sentences, in the words of a run's stalls. Each names the frames that show it.

use super::cause::silence;
use super::{Facts, Stall};
use ackclock_course::stall::cause::Cause;
use ackclock_course::stall::words::{duplicates, span};
use ackclock_course::stall::Sentence;

impl Stall {
    /// Its length and its cause in a line without a full stop.
    pub fn title(&self) -> String {
        format!("{} without a segment of data: {}", seconds(self.facts.length()), self.cause.name())
    }

    /// Its beginning and its end in sentences, each at a time in seconds as `seconds` converts it.
    pub fn sentences(&self, seconds: impl Fn(i64) -> f64) -> Vec<Sentence> {
        let Facts { from, to, before, after, at_end, .. } = self.facts;
        let say = |at, text| Sentence { at: seconds(at), text, rows: Vec::new() };
        let (first, last) = match at_end {
            true => ("the last segment", format!("Frame {after} was the connection's last packet.")),
            false => ("the last segment for a while", format!("Frame {after} ended it.")),
        };
        vec![say(from, format!("Frame {before} was {first}.")), say(to, format!("{last} {}", self.words()))]
    }

    /// The evidence of its cause, in sentences.
    pub fn words(&self) -> String {
        let f = &self.facts;
        let (after, quiet) = (f.after, seconds(silence(f)));
        let last = match f.last_ack {
            Some((_, frame)) => format!("the last ACK (frame {frame})"),
            None => format!("the last segment (frame {})", f.before),
        };
        match self.cause {
            // A capture does not show which timer or application sent it.
            Cause::LossProbe => format!(
                "Nothing came back for {quiet} after {last}, with {} bytes outstanding. Frame {after} carried new data, as a tail \
                 loss probe may.",
                f.flight
            ),
            Cause::Timeout => format!(
                "Frame {after} was sent again {quiet} after {last}, as by a retransmission timer. {}.",
                duplicates(f.duplicates.into())
            ),
            Cause::TailLoss => format!(
                "Frame {after} was sent again {quiet} after {last}; no ACK had reported anything sent after it."
            ),
            Cause::FastRetransmit => {
                format!("{}, and frame {after} was sent again {quiet} after {last}.", duplicates(f.duplicates.into()))
            }
            Cause::ReceiverWindow => window(f),
            Cause::CongestionWindow => in_flight(f),
            Cause::Recovery => format!(
                "Data had been sent again, and not everything that was outstanding then was acknowledged; frame {after} waited for \
                 the next ACK."
            ),
            Cause::ReducedWindow => format!(
                "The congestion window was fully in flight until {last}; since a retransmission less was sent in a round trip than \
                 before."
            ),
            Cause::Policer => format!(
                "Frame {after} followed {quiet} after {last}; losses and their times are those of a policer, which drops what exceeds \
                 its rate."
            ),
            Cause::Outage => outage(f),
            Cause::Nagle => nagle(f),
            Cause::Network => "It is no longer than an ACK to the sender and the data that it allows take.".to_owned(),
            Cause::ApplicationIdle => idle(f),
            Cause::SenderHost => format!(
                "The sender had room and data and sent nothing: no ACK arrived within {quiet} before frame {after}, and {} bytes \
                 were outstanding.",
                f.flight
            ),
            Cause::PeerGone => format!("The other end sent nothing more, although {} bytes were outstanding.", f.flight),
            Cause::MtuHole => hole(f),
            Cause::CaptureLoss => missed(f),
            Cause::Unknown if f.at_end => format!("{} bytes were outstanding, and the capture does not show why.", f.flight),
            Cause::Unknown => "The capture does not show what it waited for.".to_owned(),
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

fn in_flight(f: &Facts) -> String {
    match f.last_ack {
        Some((_, frame)) => format!("The congestion window was fully in flight until the ACK in frame {frame}."),
        None => format!("The congestion window allowed no new data, with {} bytes outstanding.", f.flight),
    }
}

fn outage(f: &Facts) -> String {
    let quiet = f.heard.map_or(silence(f), |heard| f.to.saturating_sub(heard));
    format!(
        "Nothing came back for {}, with {} bytes outstanding; frame {} was sent without an answer.",
        seconds(quiet),
        f.flight,
        f.after
    )
}

fn hole(f: &Facts) -> String {
    format!(
        "No segment of {} bytes, the largest, was ever acknowledged, though smaller ones were: so it is where a path drops large \
         packets.",
        f.full
    )
}

fn missed(f: &Facts) -> String {
    match f.unseen {
        Some(frame) => format!("The capture missed segments: frame {frame} acknowledges data that was not captured."),
        None => "The capture missed segments.".to_owned(),
    }
}

fn window(f: &Facts) -> String {
    let opened = match f.opened {
        Some(frame) => format!("; frame {frame} opened it"),
        None if f.at_end => ", to the end".to_owned(),
        None if f.window == Some(0) => format!("; frame {} probed it", f.after),
        None => f.last_ack.map_or(String::new(), |a| format!("; frame {} moved it", a.1)),
    };
    match f.window {
        Some(0) => format!("The receiver's window was closed{opened}."),
        Some(window) => format!("The receiver's window of {window} bytes was used up{opened}."),
        None => format!("The receiver's window was used up{opened}."),
    }
}

fn nagle(f: &Facts) -> String {
    let took = |(at, frame): (i64, u64)| format!(" (frame {frame}), which took {}", seconds(at.saturating_sub(f.from)));
    format!(
        "Only {} bytes were outstanding, less than a full segment ({}). Frame {} followed their ACK{}.",
        f.outstanding,
        f.full,
        f.after,
        f.all_acked.map_or_else(String::new, took)
    )
}

fn idle(f: &Facts) -> String {
    match (f.answer, f.all_acked) {
        (Some(answer), _) => {
            format!("The other end sent data meanwhile (frame {answer}): the application waited for it.")
        }
        (None, Some((at, frame))) => {
            let idle = seconds(f.to.saturating_sub(at));
            format!("Frame {frame} had acknowledged everything {idle} before; no data was outstanding here.")
        }
        (None, None) => "The segment before it had PSH set, as the last of what was written has.".to_owned(),
    }
}

/// A duration in nanoseconds for display.
fn seconds(nanos: i64) -> String {
    span(nanos as f64 / 1e9)
}
