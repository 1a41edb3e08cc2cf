//! Rules that hold back a small segment even if every window allows it: Holds back small segments: Nagle's algorithm, cork, and
//! "more follows".
//!
//! Source: RFC 9293 §3.7.4 (Nagle); Minshall's variant as in Linux's `tcp_minshall_check`; Linux's `TCP_CORK` and `MSG_MORE`.
//!
//! Idea: a small segment waits while an earlier small one is outstanding. By RFC 9293 it waits for any outstanding data. By
//! Minshall full segments do not count; otherwise the tail of a message longer than a segment would wait for a delayed ACK. A
//! cork holds it back in any case, and so does the promise of more. Data held while nothing is outstanding is sent by the persist
//! timer, like data held by silly window avoidance. A FIN releases everything.

use super::Sender;
use crate::units::Bytes;

/// Why small segments may have to wait.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hold(u8);

impl Hold {
    const NAGLE: u8 = 1;
    const CORK: u8 = 2;
    /// The last write said that more follows.
    const MORE: u8 = 4;

    /// Whether any rule is on.
    #[inline]
    pub(super) fn any(self) -> bool {
        self.0 != 0
    }

    fn set(&mut self, bit: u8, on: bool) {
        self.0 = if on { self.0 | bit } else { self.0 & !bit };
    }
}

impl Sender {
    /// RFC 9293 §3.7.4, in Minshall's variant.
    pub(crate) fn set_nagle(&mut self, on: bool) {
        self.hold.set(Hold::NAGLE, on);
        self.go_on();
    }

    /// While corked, only full segments are sent.
    pub(crate) fn set_cork(&mut self, on: bool) {
        self.hold.set(Hold::CORK, on);
        self.go_on();
    }

    /// Adds `bytes` to send; the next write follows at once.
    pub(crate) fn write_more(&mut self, bytes: Bytes) {
        self.write(bytes);
        if bytes > 0 {
            self.hold.set(Hold::MORE, !self.closed);
        }
    }

    /// Data is about to be written. If all earlier data has been sent, the last segment may have been a small one.
    #[inline(never)]
    pub(super) fn note_small(&mut self) {
        self.hold.set(Hold::MORE, false);
        let small = || self.board.iter().next_back().is_some_and(|s| s.len < self.mss);
        if self.snd_max == self.stream_end && small() {
            self.cold.snd_sml = self.snd_max;
        }
    }

    /// Whether the last bytes written, less than a full segment, must wait.
    #[inline(never)]
    pub(super) fn held_back(&self) -> bool {
        let Hold(why) = self.hold;
        !self.closed && (why & (Hold::CORK | Hold::MORE) != 0 || (why != 0 && self.cold.snd_sml > self.snd_una))
    }

    /// Data held back may be sent now: no timer waits for it any more.
    pub(super) fn go_on(&mut self) {
        if self.persist.is_running() && !self.persist.is_probing() && self.next_len() > 0 {
            self.stop_waiting();
            self.urgent = false;
        }
    }
}
