//! The outcome of a segment, for drivers that keep payload.

use crate::segment::Segment;
use crate::seq::Offset;

/// The outcome of a segment.
///
/// A driver that keeps payload stores `bytes` new bytes from `from` on, and nothing else of the segment. Bytes already held
/// stay as they are and do not count; new bytes may be between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Start of the payload that is new and now held.
    pub from: Offset,
    /// Number of new bytes from `from` on, without bytes already held in between.
    pub bytes: u32,
    /// Why the segment was refused; `None` if it was acceptable. The acknowledgment of a segment refused for
    /// [`Refusal::Window`] may still have counted (RFC 9293 §3.10.7.4, on a closed window). So may its payload, if only
    /// the FIN was outside the window.
    pub refused: Option<Refusal>,
}

/// Why a segment was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its timestamp is missing, or older than the newest one seen in order (PAWS, RFC 7323 §5.3 and §3.2).
    Paws,
    /// It is outside the receive window, or too many ranges are held already (RFC 9293 §3.10.7.4, first).
    Window,
    /// It acknowledges data that was never sent, or was acknowledged long ago (RFC 5961 §5).
    Ack,
    /// Its flags are not valid here: no ACK, or an unexpected SYN (RFC 9293 §3.10.7.4, fourth and fifth).
    Flags,
    /// There is no connection, or it has ended.
    Closed,
}

impl Outcome {
    /// The segment was acceptable and carried no new payload.
    pub const NOTHING: Outcome = Outcome { from: Offset(0), bytes: 0, refused: None };

    /// The segment was refused.
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
