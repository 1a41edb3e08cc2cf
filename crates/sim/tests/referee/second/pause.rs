//! After a pause the window is the one that RFC 5681 §4.1, or Linux's `tcp_cwnd_restart`, gives.

use super::witness::Notebook;
use ackclock_tcp::event::{Phase, Window};
use ackclock_tcp::idle::IdleRule;
use ackclock_tcp::pacing::PacingRule;
use ackclock_tcp::time::Time;

/// What happened since something was last sent.
#[derive(Default)]
pub(super) struct Pause {
    last_sent: Option<Time>,
    /// A write to the window by the start, outside of any ACK: before and after it.
    written: Option<(Window, Window)>,
    /// Calls of `on_resume` with its time, and of `on_restart`.
    resumed: Option<Time>,
    restarted: bool,
}

impl Notebook {
    pub(super) fn resumes(&mut self, last_sent: Time) {
        self.pause.resumed = Some(last_sent);
    }

    pub(super) fn restarts(&mut self) {
        self.pause.restarted = true;
    }

    pub(super) fn start_writes(&mut self, from: Window, to: Window) {
        if self.judge.ack.is_none() {
            self.pause.written = Some((from, to));
        }
    }

    fn after(rule: IdleRule, w: Window, initial: f64, pause: u64, rto: u64) -> Window {
        match rule {
            IdleRule::Keep => w,
            IdleRule::Restart => Window { cwnd: f64::min(w.cwnd, initial), ..w },
            IdleRule::Halve => {
                // A halving for each timeout that has passed, as long as it is above the initial window.
                let least = f64::min(w.cwnd, initial);
                let (mut cwnd, mut gone) = (w.cwnd, rto);
                while gone < pause && cwnd > least {
                    (cwnd, gone) = (cwnd / 2.0, gone + rto);
                }
                Window { cwnd: f64::max(cwnd, least), ssthresh: f64::max(w.ssthresh, w.cwnd * 3.0 / 4.0) }
            }
        }
    }

    /// A segment was sent; `alone`: it is new, and nothing was outstanding before it.
    pub(super) fn sent_after_pause(&mut self, at: Time, alone: bool) {
        let last = self.pause.last_sent.replace(at);
        let (written, resumed) = (self.pause.written.take(), self.pause.resumed.take());
        let restarted = std::mem::take(&mut self.pause.restarted);
        let rule = self.judge.book.stack.idle;
        let (Some(last), Some(first), Some(w)) = (last, self.view.first, self.judge.book.w.or(self.view.first)) else {
            return;
        };
        let Some(rto) = self.view.ask(|rto| rto.backed_off()) else { return };
        let open = self.judge.book.phase == Phase::Open;
        let paced = self.judge.book.stack.pacing != PacingRule::Off;
        if !open || paced || self.holds || self.judge.book.answers() || self.view.was_probed() {
            // An ACK let it go, its pace, its detector, or the timer of a closed window, not the application; or a repair, which looks at no pause.
            return;
        }
        // Where all data is written at the start, only a closed window makes a pause.
        if rule == IdleRule::Keep || !alone || self.judge.book.written_at_start().is_some() {
            let quiet = written.is_none() && !restarted;
            return self.expect(quiet, || format!("no pause, and {written:?} was written"));
        }
        let before = written.map_or(w, |(from, _)| from);
        let pause = at.since(last);
        let long = pause > rto;
        let known = if long { Notebook::after(rule, before, first.cwnd, pause.0, rto.0) } else { before };
        let seen = (w, resumed, restarted);
        let known = (known, Some(last), known != before);
        self.expect(seen == known, || format!("after a pause of {pause} it is {seen:?}, and it should be {known:?}"));
    }
}
