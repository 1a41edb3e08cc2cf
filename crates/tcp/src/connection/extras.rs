//! The parts of segments beyond the plain header.

use crate::segment::{timestamp, Segment};
use crate::time::Time;

/// The parts of segments beyond the plain header, and the state of ECN's receiving end (RFC 3168 §6.1.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extras(u8);

impl Extras {
    /// Timestamps are in use (RFC 7323).
    pub(super) const TIMESTAMPS: u8 = 1;
    /// ECN is in use (RFC 3168).
    pub(super) const ECN: u8 = 2;
    /// A congestion mark arrived, and no CWR since.
    const ECHO: u8 = 4;
    /// A mark arrived since the last ACK; a delayed ACK covers every segment since then.
    const UNANSWERED: u8 = 8;

    pub(super) fn agreed(timestamps: bool, ecn: bool) -> Self {
        Extras(u8::from(timestamps) * Self::TIMESTAMPS + u8::from(ecn) * Self::ECN)
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// Reads an arriving segment: a CWR ends the echo, a mark (even on the same segment) starts it.
    #[cold]
    pub(super) fn hear(&mut self, seg: &Segment) {
        if seg.has(Segment::CWR) {
            self.0 &= !Self::ECHO;
        }
        if seg.opts & Segment::CE != 0 {
            self.0 |= Self::ECHO | Self::UNANSWERED;
        }
    }

    /// Adds the timestamp and the echo to an outgoing segment.
    #[cold]
    pub(super) fn tell(&mut self, now: Time, out: &mut Segment) {
        if self.has(Self::TIMESTAMPS) {
            stamp(now, out);
        }
        if self.has(Self::ECHO | Self::UNANSWERED) {
            out.flags |= Segment::ECE;
            self.0 &= !Self::UNANSWERED;
        }
    }
}

#[inline]
pub(super) fn stamp(now: Time, out: &mut Segment) {
    out.tsval = timestamp(now);
    out.opts |= Segment::TIMESTAMPS;
}
