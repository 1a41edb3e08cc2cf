//! Removes acknowledged records from the board and reports the data that an ACK newly delivered.

use super::{Marks, Scoreboard, Sent};
use crate::facts::ack::{AckEvent, Newest};
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;

/// Totals of the data that one ACK newly delivered; filled by [`Scoreboard::acknowledge`] and [`Scoreboard::apply_sack`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delivered {
    /// Bytes delivered, cumulatively or by SACK.
    pub bytes: Bytes,
    /// Bytes delivered by SACK only.
    pub sacked: Bytes,
    /// Whether any of it had been sent more than once.
    pub covers_retransmit: bool,
    /// The most recently sent of the delivered segments.
    pub newest: Option<Newest>,
}

/// The oldest segments up to an index, with the send time and the end of the last one.
struct Run {
    after: u32,
    at: Time,
    end: Offset,
}

impl Scoreboard {
    /// Removes everything below `ack` from the board. [`Scoreboard::newly`] returns the part not known before to have arrived.
    #[inline]
    pub fn acknowledge(&mut self, ack: Offset, out: &mut Delivered) {
        self.released = self.head;
        if let Some(run) = self.plain_run(ack) {
            out.bytes += self.take_off(&run);
            out.newest = Some(Newest { at: run.at, end: run.end, retransmitted: false });
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
                // An ACK in mid-segment: the rest remains as a smaller segment.
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

    /// Fast path for the usual ACK: nothing is SACKed, and it acknowledges whole segments that were sent once and have no mark.
    /// Returns when the last of them was sent; any other ACK changes nothing. Not inlined, because the caller would run out of
    /// registers.
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

    /// The oldest segments that an ACK fully covers, up to the first one that was resent or has a mark.
    #[inline]
    fn plain_run(&self, ack: Offset) -> Option<Run> {
        let (mut i, mut last) = (self.head, None);
        while i != self.tail {
            let s = self.at(i);
            if s.marks.0 != 0 || s.sends != 1 || s.end() > ack {
                break;
            }
            i = i.wrapping_add(1);
            // They were sent in order, so the highest one was sent last.
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
    /// Builds the event of an ACK up to `ack` that arrived at `now` and delivered this. The caller adds whether it is a duplicate
    /// and whether it carries blocks, a DSACK, a timestamp or a congestion mark.
    #[inline]
    pub fn ack_event(&self, prior_una: Offset, ack: Offset, now: Time) -> AckEvent {
        AckEvent {
            ack,
            prior_una,
            sacked: self.sacked,
            delivered: self.bytes,
            dup_run: 0,
            is_dup: false,
            has_sack: false,
            ece: false,
            covers_retransmit: self.covers_retransmit,
            dsack: None,
            rtt: self.rtt(now),
            tsecr: None,
            newest: self.newest,
        }
    }

    #[inline]
    pub(super) fn note(&mut self, s: &Sent) {
        self.covers_retransmit |= s.sends > 1;
        if self.newest.is_none_or(|n| (s.at, s.end()) > (n.at, n.end)) {
            self.newest = Some(Newest { at: s.at, end: s.end(), retransmitted: s.sends > 1 });
        }
    }

    /// Time since the newest delivered segment was sent, if sent once (Karn's rule, RFC 6298 §3).
    #[inline]
    pub fn rtt(&self, now: Time) -> Option<Nanos> {
        self.newest.filter(|n| !n.retransmitted).map(|n| now.since(n.at))
    }
}
