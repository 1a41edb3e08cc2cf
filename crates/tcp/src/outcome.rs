//! What became of a segment: the answer that a driver with payload needs.

use crate::segment::Segment;
use crate::seq::Offset;

/// What became of a segment.
///
/// A driver that keeps payload stores `bytes` of it from `from` on, and nothing else of the segment. Bytes that were held
/// before stay as they were, and do not count: the new ones lie between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Where the payload that is new and now held begins.
    pub from: Offset,
    /// How many bytes are new, from `from` on; what was held in between is not counted.
    pub bytes: u32,
    /// Why nothing of the segment was taken; `None` if it was acceptable. The acknowledgment of a segment that is refused
    /// for [`Refusal::Window`] may still have counted (RFC 9293 §3.10.7.4, on a shut window). So may its payload, where
    /// only the FIN lay outside the window.
    pub refused: Option<Refusal>,
}

/// Why nothing of a segment was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its timestamp is older than the newest that was seen in order, or missing (PAWS, RFC 7323 §5.3 and §3.2).
    Paws,
    /// It lies outside the receive window, or too many ranges are held to hold another one (RFC 9293 §3.10.7.4, first).
    Window,
    /// It acknowledges what was never sent, or what was acknowledged long ago (RFC 5961 §5).
    Ack,
    /// It has flags that mean nothing here: no ACK, an unexpected SYN (RFC 9293 §3.10.7.4, fourth and fifth).
    Flags,
    /// There is no connection (any more).
    Closed,
}

impl Outcome {
    /// The segment was acceptable and brought no new payload.
    pub const NOTHING: Outcome = Outcome { from: Offset(0), bytes: 0, refused: None };

    /// Nothing of the segment was taken.
    #[inline]
    pub const fn refused(why: Refusal) -> Self {
        Outcome { refused: Some(why), ..Self::NOTHING }
    }

    /// All the payload of the segment is new.
    #[inline]
    pub(crate) fn whole(seg: &Segment) -> Self {
        Outcome { from: seg.seq, bytes: seg.len, refused: None }
    }

    /// Everything from `from` to `to` is new.
    #[inline]
    pub(crate) fn took(from: Offset, to: Offset) -> Self {
        Outcome { from, bytes: (to - from) as u32, refused: None }
    }
}
