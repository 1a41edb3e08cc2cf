//! The verdict on a retransmission, and its evidence.
//!
//! The verdicts are those of a simulated run (`ackclock_sim::fate`, decision 0137), and a fourth for cases that a capture leaves
//! open.

mod words;

use crate::seen::Way;

/// The verdict on a retransmission. The worst of its bytes decides, in the order needed, undecided, refused, needless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// An earlier copy of each of its bytes reached the receiver's TCP and was taken, or the receiver had them already.
    Needless,
    /// An earlier copy of each of its bytes arrived, but the receiver threw some of these bytes away (PAWS, window).
    Refused,
    /// The capture does not show it.
    Undecided,
    /// No earlier copy of some of its bytes arrived.
    Needed,
}

/// The evidence for a verdict. Times are nanoseconds; "copy" is one transmission of the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// Needless: an acknowledgment of its bytes had been captured before it was sent.
    AlreadyAcknowledged,
    /// Needless: its bytes were acknowledged so soon after it that an earlier copy must be the cause.
    TooSoon {
        /// From its transmission to the acknowledgment.
        after: i64,
        /// The smallest round-trip time of this capture.
        smallest: i64,
    },
    /// Needless: the acknowledgment that passed the hole echoes the timestamp of an earlier copy (Eifel, RFC 3522).
    EarlierEcho {
        /// The timestamp.
        value: u32,
    },
    /// Needless: the acknowledgment replies to a segment that was sent before this copy, and no copy was overtaken that far.
    EarlierAnswered {
        /// How long before.
        by: i64,
    },
    /// Needless: the receiver reported more duplicates (DSACK, RFC 2883) than later copies can have made.
    Reported {
        /// Duplicates of these bytes that it reported.
        duplicates: u32,
        /// The number of copies from this one on that can have caused them.
        copies: u32,
    },
    /// Needless: the number of acknowledgments without any news equals the number that late copies would have caused, and they
    /// have no other cause.
    BareAcks {
        /// Their number.
        acks: u32,
    },
    /// Needless: an earlier copy was captured here and taken.
    EarlierArrived,
    /// Needless: an earlier copy arrived at the receiver, whose side was captured, and was taken.
    TakenThere,
    /// Refused: an earlier copy arrived with a timestamp older than the receiver's (PAWS, RFC 7323 §5.3).
    OlderTimestamp {
        /// Its timestamp.
        value: u32,
        /// The receiver's timestamp, `TS.Recent`.
        recent: u32,
    },
    /// Refused: an earlier copy was in flight while the receiver had a younger timestamp, and an acknowledgment without news
    /// answered it.
    RefusedByPaws {
        /// The earlier copy's timestamp.
        value: u32,
        /// The receiver's echoed timestamp at that time.
        recent: u32,
    },
    /// Refused: an earlier copy arrived, and the receiver, whose side was captured, refused it (PAWS).
    RefusedThere {
        /// The earlier copy's timestamp.
        value: u32,
    },
    /// Needed: no earlier copy was captured here.
    NoEarlierCopy,
    /// Needed, if it repeats data at all: it filled a hole a round trip or more after later data had passed.
    FilledLate,
    /// Needed: the capture of the receiver's side has none of the earlier copies.
    NoneArrived,
    /// Needed: the acknowledgment that passed the hole echoes the timestamp of this copy or of a later one, and nothing
    /// indicates that an earlier copy arrived after it.
    OwnEcho {
        /// The timestamp.
        value: u32,
    },
    /// Needed: data sent long after the earlier copy arrived before its bytes did, and no copy was overtaken by that much.
    LaterArrived {
        /// How long after.
        by: i64,
        /// The longest time by which an overtaking copy was sent after the one that it overtook.
        most: i64,
    },
    /// Needed: the receiver reports duplicates and reported none of these bytes, so that only one copy arrived: by its time,
    /// this one or a later one.
    NoneReported {
        /// From its transmission to the acknowledgment.
        after: i64,
    },
    /// Needed: there was no acknowledgment without news, so that only one copy arrived: by its time, this one or a later one.
    NoBareAck {
        /// From its transmission to the acknowledgment.
        after: i64,
    },
    /// Undecided: nothing acknowledged it before the capture ended.
    NotAcknowledged,
    /// Undecided: the capture of the receiver's side lacks copies that may have arrived.
    NotThere,
    /// Undecided: no acknowledgments were captured.
    NoAcknowledgments,
    /// Undecided: the first copy was sent before the capture began, or was not captured.
    FirstNotSeen,
    /// Undecided: no copy was taken before this one, but one may have been refused (PAWS, RFC 7323 §5.3).
    PerhapsRefused {
        /// The earlier copy's timestamp.
        value: u32,
        /// The receiver's echoed timestamp at that time.
        recent: u32,
    },
    /// Undecided: either copy may have arrived first, and nothing distinguishes them.
    Alike,
}

/// The judgment of one retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the verdict is a guess: the most probable explanation of the capture, but not the only one.
    pub likely: bool,
    /// The evidence.
    pub evidence: Evidence,
    /// The frame of the earlier copy that the evidence refers to, or otherwise of the last copy before this one.
    pub earlier: Option<u64>,
    /// The frame that proves it: an acknowledgment, or the copy that arrived.
    pub proof: Option<u64>,
}

/// A retransmission: data (or a FIN) that had been sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Retransmission {
    /// Its number in its file.
    pub frame: u64,
    /// When it was captured, nanoseconds.
    pub at: i64,
    /// Its way.
    pub way: Way,
    /// Its first byte, unwrapped as in [`crate::Seen::seq`].
    pub seq: u64,
    /// Its length in bytes; a FIN counts as one.
    pub len: u32,
    /// The number of earlier copies of its bytes in the capture: the largest over its parts.
    pub copies: u32,
    /// Whether nothing proves that its data had been sent before: it may only have been late.
    pub suspected: bool,
    /// The judgment.
    pub judged: Judged,
}

/// Counts of retransmissions by verdict. A guess adds to no verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// All retransmissions that are proved to be some: the sum of the next five counts.
    pub total: u64,
    /// See [`Verdict::Needed`].
    pub needed: u64,
    /// See [`Verdict::Needless`].
    pub needless: u64,
    /// See [`Verdict::Refused`].
    pub refused: u64,
    /// See [`Verdict::Undecided`].
    pub undecided: u64,
    /// Retransmissions whose verdict is a guess.
    pub likely: u64,
    /// Packets that may be retransmissions ([`Retransmission::suspected`]); not in `total`.
    pub suspected: u64,
}

impl Counts {
    /// Adds one retransmission.
    pub fn add(&mut self, one: &Retransmission) {
        if one.suspected {
            self.suspected += 1;
            return;
        }
        self.total += 1;
        let count = match one.judged.verdict {
            _ if one.judged.likely => &mut self.likely,
            Verdict::Needed => &mut self.needed,
            Verdict::Needless => &mut self.needless,
            Verdict::Refused => &mut self.refused,
            Verdict::Undecided => &mut self.undecided,
        };
        *count += 1;
    }
}

impl Verdict {
    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Needless => "needless",
            Verdict::Refused => "refused",
            Verdict::Undecided => "undecided",
            Verdict::Needed => "needed",
        }
    }
}
