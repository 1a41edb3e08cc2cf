//! How much the peer may send.
//!
//! Source: RFC 9293 §3.8.6.2.2 (RFC 1122 §4.2.3.3: silly window avoidance), RFC 7323 §2 (window scale).
//! Idea: the right edge never moves left, and moves right only by enough to be worth a segment.
//!
//! | RFC 9293 | here |
//! | --- | --- |
//! | `RCV.BUFF`, `RCV.USER` | `capacity`, `unread` |
//! | `RCV.WND` | `announced` |
//! | `Eff.snd.MSS`, `Fr` | `mss`, ½ |
//!
//! Departures: the edge also moves, by however little, to where it is with an empty buffer: there is nothing to wait for.

use super::Receiver;
use crate::units::Bytes;

impl Receiver {
    /// The application has read `bytes` of what arrived in order. May make an ACK due that announces the room.
    ///
    /// RFC 9293 §3.8.6.2.2 lets the edge move by min(½ buffer, one segment). While the peer still has room for a segment
    /// we wait for two, as BSD does: else reading at once would undo delayed ACKs.
    pub fn consume(&mut self, bytes: Bytes) {
        let read = bytes.min(u64::from(self.unread)) as u32;
        self.unread -= read;
        let (free, announced) = (self.free(), self.announced());
        let wait_for = if announced < u64::from(self.mss) { self.mss } else { self.mss.saturating_mul(2) };
        let gain = free.saturating_sub(announced);
        if !self.fin && read > 0 && gain >= u64::from((self.capacity / 2).min(wait_for).max(1)) {
            self.due = true;
        }
    }

    /// Room in the buffer as the header can carry it.
    #[inline]
    fn free(&self) -> u64 {
        u64::from(self.capacity.saturating_sub(self.unread)) >> self.wscale << self.wscale
    }

    /// What is left of the announced window, as the header can carry it.
    #[inline]
    fn announced(&self) -> u64 {
        (self.right_edge - self.rcv_nxt) >> self.wscale << self.wscale
    }

    /// The window to announce.
    ///
    /// Where the edge stays and is not a multiple of the scale away, the window is rounded up if the buffer has room for
    /// that, else down: the peer then sees the edge up to one unit further left than we keep it (RFC 7323 §2.4).
    #[inline]
    pub(super) fn window(&self) -> u32 {
        if self.unread == 0 {
            return self.capacity;
        }
        let (free, announced) = (self.free(), self.announced());
        let worth = || u64::from((self.capacity / 2).min(self.mss).max(1));
        let wnd = if free == u64::from(self.capacity) || free >= announced + worth() {
            free.max(announced)
        } else if announced < self.right_edge - self.rcv_nxt && free > announced {
            announced + (1 << self.wscale)
        } else {
            announced
        };
        wnd as u32
    }
}
