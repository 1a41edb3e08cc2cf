//! How a connection was opened and closed: its SYNs, their answers, its FINs and RSTs.
//!
//! Source: RFC 9293 §3.5 (opening), §3.6 (closing), §3.5.2 (a RST replies to a SYN that no one waits for).

use crate::seen::{Seen, Way};
use ackclock_tcp::segment::Segment;

/// The packets of one kind. Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Their number; the rest is valid if it is not 0.
    pub count: u32,
    /// When the first was captured, and its frame.
    pub first: (i64, u64),
    /// When the last was captured, and its frame.
    pub last: (i64, u64),
}

/// The opening and the end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// SYNs without ACK.
    pub syns: Times,
    /// SYNs with ACK.
    pub answers: Times,
    /// When the answer was acknowledged, and the frame.
    pub done: Option<(i64, u64)>,
    /// Whether there were data before.
    data: bool,
    /// The first FIN: its sender's way, its time, its frame.
    pub fin: Option<(Way, i64, u64)>,
    /// The first RST, in the same way.
    pub reset: Option<(Way, i64, u64)>,
}

/// What became of the attempt to open a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Opened {
    /// Each end acknowledged the SYN of the other.
    Yes,
    /// The called end answered, and nothing acknowledged the answer.
    Answered,
    /// A RST answered the SYN.
    Refused,
    /// Nothing answered the SYN.
    Unanswered,
    /// No SYN was captured.
    NotCaptured,
}

impl Opened {
    /// All of them.
    pub const ALL: [Opened; 5] =
        [Opened::Yes, Opened::Answered, Opened::Refused, Opened::Unanswered, Opened::NotCaptured];

    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Opened::Yes => "opened",
            Opened::Answered => "half open",
            Opened::Refused => "refused",
            Opened::Unanswered => "unanswered",
            Opened::NotCaptured => "not captured",
        }
    }
}

impl Times {
    fn add(&mut self, at: i64, frame: u64) {
        if self.count == 0 {
            self.first = (at, frame);
        }
        self.count += 1;
        self.last = (at, frame);
    }
}

impl Opening {
    /// A packet with SYN, FIN or RST, or one that arrives before the connection is open.
    #[cold]
    pub(super) fn on(&mut self, seen: &Seen) {
        let (at, frame) = (seen.at, seen.frame);
        if seen.has(Segment::RST) {
            self.reset = self.reset.or(Some((seen.way, at, frame)));
        } else if seen.has(Segment::SYN) {
            let times = if seen.has(Segment::ACK) { &mut self.answers } else { &mut self.syns };
            times.add(at, frame);
        } else if self.done.is_none() && self.answers.count > 0 && seen.way == Way::Out && seen.has(Segment::ACK) {
            self.done = Some((at, frame));
        }
        self.data |= seen.len > 0;
        if seen.has(Segment::FIN) {
            self.fin = self.fin.or(Some((seen.way, at, frame)));
        }
    }

    /// Whether packets without SYN, FIN and RST are still of interest.
    pub(super) fn is_open(&self) -> bool {
        self.done.is_some() || self.syns.count == 0 && self.answers.count == 0
    }

    /// From the SYN to the acknowledgment of its answer: one round trip, wherever it was captured. `None` if one of these
    /// packets was not captured, or if a SYN was sent more than once, since it is unknown which was answered.
    pub fn round_trip(&self) -> Option<i64> {
        let (at, _) = self.done.filter(|_| self.syns.count == 1 && self.answers.count == 1)?;
        Some((at - self.syns.first.0).max(0))
    }

    /// From the first SYN to the acknowledgment of its answer, nanoseconds.
    pub fn took(&self) -> Option<i64> {
        self.done.filter(|_| self.syns.count > 0).map(|(at, _)| (at - self.syns.first.0).max(0))
    }

    /// What became of the attempt to open it.
    pub fn opened(&self) -> Opened {
        let refused = self.reset.is_some_and(|(way, ..)| way == Way::Back);
        match (self.syns.count, self.answers.count) {
            _ if self.done.is_some() => Opened::Yes,
            (0, 0) => Opened::NotCaptured,
            (_, 1..) => Opened::Answered,
            (1.., 0) if refused => Opened::Refused,
            // Its answer may not have been captured.
            (1.., 0) if self.data => Opened::Yes,
            (1.., 0) => Opened::Unanswered,
        }
    }
}
