//! The first segment of a connection and after a pause: the window may change before it.

use super::Sender;
use crate::congestion::Congestion;
use crate::event::{Observer, Phase, Slot};
use crate::rto::Rto;
use crate::startup::Startup;
use crate::time::Time;

impl Sender {
    /// Nothing is outstanding: the next poll for a segment first checks the length of the pause.
    ///
    /// It marks the next send to be watched, so that the usual path has nothing more to check.
    pub(super) fn may_have_paused(&mut self) {
        if !self.cold.idle_rule.is_keep() && self.board.is_empty() {
            (self.pause_due, self.watched) = (true, true);
        }
    }

    /// SYNs were lost: the window is one segment (RFC 5681 §3.1).
    pub(crate) fn after_lost_syns(&mut self) {
        self.w.cwnd = self.w.cwnd.min(f64::from(self.mss));
    }

    #[cold]
    pub(super) fn after_pause<O: Observer>(&mut self, now: Time, obs: &mut O) {
        (self.pause_due, self.watched) = (false, self.watches_sends());
        let Some(last) = self.board.last_sent_at() else { return };
        let last = last.max(self.cold.resent_at);
        if !self.board.is_empty() {
            return;
        }
        let cx = self.ctx(now);
        self.slots.congestion.on_resume(last, &cx);
        let (pause, rto) = (now.since(last), self.slots.rto.backed_off());
        if self.phase != Phase::Open || pause <= rto {
            return;
        }
        // The initial window does not depend on the peer's window.
        let initial = self.slots.startup.initial(self.mss, u64::from(self.peer.max_wnd)).cwnd;
        let before = self.w;
        self.write_window(now, Slot::Startup, obs, |s| {
            s.w = s.cold.idle_rule.restart(s.w, initial, pause, rto);
        });
        if self.w != before {
            self.slots.congestion.on_restart();
        }
    }
}
