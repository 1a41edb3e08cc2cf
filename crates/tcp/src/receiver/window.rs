//! How much the peer may send.
//!
//! Source: RFC 9293 §3.8.6.2.2 (RFC 1122 §4.2.3.3: silly window avoidance), RFC 7323 §2 (window scale).
//! Idea: the right edge never moves left, and moves right only if that is worth a segment.
//!
//! | RFC 9293 | here |
//! | --- | --- |
//! | `RCV.BUFF`, `RCV.USER` | `capacity`, `unread` |
//! | the largest window that the header can carry, of this buffer | `limit` |
//! | `RCV.WND` | `announced` |
//! | `Eff.snd.MSS`, `Fr` | `mss`, ½ |
//!
//! Departures: the edge also moves, by however little, to its position with an empty buffer, because there is nothing to wait
//! for. If the buffer is larger than the header can express, the window stays at its maximum until less than that is free.
//! [`WindowEdge::Exact`] is FreeBSD's rule (`sys/netinet/tcp_output.c`).

use super::Receiver;
use crate::ack::{AckDecision, AckPolicy};
use crate::stack::WindowEdge;
use crate::units::Bytes;

/// A buffer in units of the scale. A buffer smaller than a unit counts as one unit; otherwise it could advertise nothing.
pub(super) fn whole_units(buffer: Bytes, wscale: u8) -> u32 {
    let unit = 1u64 << wscale;
    let whole = if buffer < unit { buffer.min(1) << wscale } else { buffer & !(unit - 1) };
    whole.min(u64::from(u32::MAX) & !(unit - 1)) as u32
}

/// How much of a buffer the header can advertise.
pub(super) fn announceable(capacity: u32, wscale: u8) -> u32 {
    capacity.min(0xffff << wscale)
}

impl Receiver {
    /// The application has read `bytes` of the data that arrived in order. May make an ACK due that advertises the room.
    ///
    /// RFC 9293 §3.8.6.2.2 lets the edge move by min(½ buffer, one segment). While the peer still has room for a segment we wait
    /// for two, as BSD does; otherwise reading at once would defeat delayed ACKs.
    pub fn consume(&mut self, bytes: Bytes) {
        let read = bytes.min(u64::from(self.unread)) as u32;
        self.unread -= read;
        let (free, announced) = (self.free(), self.announced());
        let wait_for = if announced < u64::from(self.mss) { self.mss } else { self.mss.saturating_mul(2) };
        let gain = free.saturating_sub(announced);
        if !self.fin && read > 0 && gain >= u64::from((self.limit / 2).min(wait_for).max(1)) {
            self.due = true;
        }
        if read > 0 && self.unread == 0 && !self.holds() {
            self.due |= self.ack.on_read() == AckDecision::Now;
        }
    }

    /// No more than `most` bytes are advertised from now on. The right edge stays where it is if it is further.
    pub(crate) fn clamp(&mut self, most: Bytes) {
        self.limit = self.limit.min(announceable(whole_units(most, self.wscale), self.wscale));
    }

    /// The application asks for ACKs without delay, or not.
    pub(crate) fn set_quick(&mut self, quick: bool) {
        self.ack.set_quick(quick);
        // Linux's `__tcp_cleanup_rbuf`: not before everything is read.
        self.due |= quick && self.timer.is_some() && self.unread == 0;
    }

    /// Room in the buffer, as far as the header can express it.
    #[inline]
    fn free(&self) -> u64 {
        u64::from(self.capacity.saturating_sub(self.unread).min(self.limit)) >> self.wscale << self.wscale
    }

    /// The rest of the advertised window, as far as the header can express it.
    #[inline]
    fn announced(&self) -> u64 {
        (self.right_edge - self.rcv_nxt) >> self.wscale << self.wscale
    }

    /// The window to advertise.
    ///
    /// If the edge stays and its distance is not a multiple of the scale, the window is rounded up if the buffer has room, else
    /// down: the peer then sees the edge up to one unit further left than it really is (RFC 7323 §2.4).
    #[inline]
    pub(super) fn window(&self) -> u32 {
        if self.unread == 0 {
            return self.limit;
        }
        let (free, announced) = (self.free(), self.announced());
        let wnd = if self.moves(free, announced) {
            free.max(announced)
        } else if announced < self.right_edge - self.rcv_nxt && free > announced {
            announced + (1 << self.wscale)
        } else {
            announced
        };
        wnd as u32
    }

    /// Whether the edge moves to the end of the buffer.
    fn moves(&self, free: u64, announced: u64) -> bool {
        let (limit, mss) = (u64::from(self.limit), u64::from(self.mss));
        free == limit
            || match self.edge {
                WindowEdge::Segment => free >= announced + (limit / 2).min(mss).max(1),
                WindowEdge::Exact => free >= mss || free >= u64::from(self.capacity / 4),
            }
    }
}
