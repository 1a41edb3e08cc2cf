//! Takes off the board what has been acknowledged, and says what an ACK newly delivered.

use super::{Marks, Scoreboard, Sent};
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;

/// What one ACK newly delivered, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Delivered {
    pub(crate) bytes: Bytes,
    pub(crate) sacked: Bytes,
    pub(crate) covers_retransmit: bool,
    /// Last send time, end, and whether it was sent more than once.
    pub(crate) newest: Option<(Time, Offset, bool)>,
}

/// The oldest segments, up to an index, the last of which was sent at a time and ends at an offset.
struct Run {
    after: u32,
    at: Time,
    end: Offset,
}

impl Scoreboard {
    /// Takes everything below `ack` off the board.
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: Offset, out: &mut Delivered) {
        self.released = self.head;
        if let Some(run) = self.plain_run(ack) {
            out.bytes += self.take_off(&run);
            out.newest = Some((run.at, run.end, false));
        }
        while self.head != self.tail && self.at(self.head).start < ack {
            let slot = self.slot(self.head);
            let s = self.ring[slot];
            let whole = s.end() <= ack;
            let n = if whole { u64::from(s.len) } else { ack - s.start };
            self.pipe -= s.marks.weight() * n;
            if s.marks.any(Marks::SACKED) {
                self.sacked -= n;
            } else {
                out.bytes += n;
                out.note(&s);
            }
            if s.marks.any(Marks::LOST) {
                self.lost -= n;
            }
            if !whole {
                // An ACK in mid-segment: the rest stays as a smaller segment.
                self.ring[slot].start = ack;
                self.ring[slot].len = s.len - n as u32;
                break;
            }
            self.lost_to_send -= u32::from(s.marks.waits_to_be_sent());
            if self.hole == self.head {
                self.hole = self.head.wrapping_add(1);
            }
            self.head = self.head.wrapping_add(1);
        }
        if self.sacked == 0 {
            self.sack.nothing_left();
        } else {
            self.settle_hole();
        }
    }

    /// The usual ACK, made short: nothing is SACKed, and it acknowledges whole segments sent once, of which nothing is known.
    /// Says when the last of them was sent. On any other it changes nothing. Apart: in place it is short of registers.
    #[inline(never)]
    pub(crate) fn acknowledge_plain(&mut self, ack: Offset) -> Option<Time> {
        if self.sacked > 0 || self.sack.has_fresh() {
            return None;
        }
        let run = self.plain_run(ack).filter(|r| r.end == ack)?;
        self.released = self.head;
        self.take_off(&run);
        self.sack.nothing_left();
        Some(run.at)
    }

    /// How many of the oldest segments an ACK covers whole that were sent once and of which nothing is known.
    #[inline]
    fn plain_run(&self, ack: Offset) -> Option<Run> {
        let (mut i, mut last) = (self.head, None);
        while i != self.tail {
            let s = self.at(i);
            if s.marks.0 != 0 || s.sends != 1 || s.end() > ack {
                break;
            }
            i = i.wrapping_add(1);
            // They were sent in order, so the last of them was sent last.
            last = Some(Run { after: i, at: s.at, end: s.end() });
        }
        last
    }

    #[inline]
    fn take_off(&mut self, run: &Run) -> Bytes {
        let n = run.end - self.at(self.head).start;
        self.pipe -= n;
        if self.hole.wrapping_sub(self.head) < run.after.wrapping_sub(self.head) {
            self.hole = run.after;
        }
        self.head = run.after;
        n
    }
}

impl Delivered {
    #[inline]
    pub(super) fn note(&mut self, s: &Sent) {
        self.covers_retransmit |= s.sends > 1;
        if self.newest.is_none_or(|(at, end, _)| (s.at, s.end()) > (at, end)) {
            self.newest = Some((s.at, s.end(), s.sends > 1));
        }
    }

    /// Time since the newest delivered segment was sent, if sent once (Karn's rule, RFC 6298 §3).
    #[inline]
    pub(crate) fn rtt(&self, now: Time) -> Option<Nanos> {
        self.newest.filter(|n| !n.2).map(|n| now.since(n.0))
    }
}
