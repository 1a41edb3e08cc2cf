//! RFC 6675's order of sending, shared by recoveries that differ only in how much they send.
//!
//! Source: RFC 6675 §4 (`NextSeg`), §5 (4.2).

use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::{Marks, Scoreboard, Sent};
use crate::seq::Offset;

/// `NextSeg`: lost segments, then new data, then segments merely missing, and once per recovery the last segment.
#[derive(Default)]
pub(super) struct NextSeg {
    /// No rescue before an ACK beyond this offset; `None`: the rescue has been sent.
    rescue_above: Option<Offset>,
}

impl NextSeg {
    /// A recovery begins; its first retransmission ends where the oldest segment does (RescueRxt, §5 (4.2)).
    pub(super) fn begin(board: &Scoreboard, cx: &Ctx) -> Self {
        NextSeg { rescue_above: Some(board.iter().next().map_or(cx.snd_una, Sent::end)) }
    }

    /// The segment to send next.
    pub(super) fn choose(&self, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        self.before_rescue(board, cx).or_else(|| self.rescue(board, cx))
    }

    /// Whether the next segment would be the rescue.
    pub(super) fn would_rescue(&self, board: &Scoreboard, cx: &Ctx) -> bool {
        self.rescue_above.is_some() && self.before_rescue(board, cx).is_none() && self.rescue(board, cx).is_some()
    }

    /// The segment was sent.
    pub(super) fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        if matches!(x, Xmit::Again(_)) && sent.end() == cx.snd_max {
            self.rescue_above = None;
        }
    }

    /// Rules (1) to (3).
    fn before_rescue(&self, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        let hole = || board.first_hole().map(|s| Xmit::Again(s.start));
        let new = (cx.next_len > 0).then_some(Xmit::New);
        board.first_lost().map(Xmit::Again).or(new).or_else(hole)
    }

    /// Rule (4): the highest outstanding segment that is not SACKed, once per recovery, and not before an ACK has passed
    /// the first retransmission (HighACK > RescueRxt).
    fn rescue(&self, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        let last = board.iter().next_back().filter(|s| !s.marks.any(Marks::SACKED | Marks::REXMIT))?;
        self.rescue_above.is_some_and(|end| cx.snd_una > end).then_some(Xmit::Again(last.start))
    }
}
