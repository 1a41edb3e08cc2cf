//! In Disorder the pipe decides, as in a recovery: SACKed data has left the network and makes room for new data.
//!
//! Source: RFC 8985 §3.3, §6.2 (it waits longer than three duplicates and needs a running ACK clock); RFC 6675 §4 (`pipe`).
//!
//! Idea: packet conservation; where limited transmit would stop after two segments, sending continues at the window's pace.
//!
//! | source | here |
//! | --- | --- |
//! | pipe | `board.pipe()` |
//! | data sent by limited transmit is left out of FlightSize (RFC 5681 §3.2 (2)) | `beyond` |
//!
//! Unsaid: RFC 8985 leaves sending during this phase to congestion control; so does Linux.

use super::Disorder;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::gate;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::units::Bytes;

/// The pipe rule at work.
#[derive(Default)]
pub struct Pipe {
    beyond: Bytes,
}

impl Disorder for Pipe {
    fn on_enter(&mut self, _: &Window, _: &Ctx) {
        self.beyond = 0;
    }
    fn on_dup(&mut self, _: &AckEvent, _: &Window, _: &Ctx) {}
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        // Rule 26.
        if !gate::pipe(w, board, cx) {
            return None;
        }
        board.first_lost().map(Xmit::Again).or((cx.next_len > 0).then_some(Xmit::New))
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, w: &Window, cx: &Ctx) {
        if x == Xmit::New && cx.flight() > gate::whole_segments(w.cwnd, cx.mss) {
            self.beyond += u64::from(sent.len);
        }
    }
    fn sent_beyond(&self) -> Bytes {
        self.beyond
    }
    fn on_resolved(&mut self, w: &mut Window, cx: &Ctx) {
        // The doubt may continue with a shorter flight; only the data now above the window counts as sent beyond it.
        self.beyond = self.beyond.min(cx.flight().saturating_sub(gate::whole_segments(w.cwnd, cx.mss)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::{context, ms};

    #[test]
    fn once_a_hole_has_filled_only_what_is_still_above_the_window_was_sent_beyond_it() {
        // RFC 5681 §3.2 (2).
        let (mut pipe, mut board, mut w) =
            (Pipe::default(), Scoreboard::default(), Window { cwnd: 4000.0, ssthresh: 1e9 });
        pipe.on_enter(&w, &context());
        for n in 4..8 {
            let sent = board.push(Offset(1 + n * 1000), 1000, ms(n), 1e9, false);
            let cx = Ctx { snd_una: Offset(1), snd_max: Offset(1001 + n * 1000), ..context() };
            pipe.on_sent(Xmit::New, &sent, &w, &cx);
        }
        assert_eq!(pipe.sent_beyond(), 4000);
        let left = |una: u64| Ctx { snd_una: Offset(una), snd_max: Offset(8001), ..context() };
        pipe.on_resolved(&mut w, &left(3001));
        assert_eq!(pipe.sent_beyond(), 1000, "five segments are outstanding");
        pipe.on_resolved(&mut w, &left(6001));
        assert_eq!(pipe.sent_beyond(), 0);
    }
}
