//! The sender's own timers. A driver sees only the earliest of all.

use super::Sender;
use crate::detect::Timekeeper;
use crate::event::Observer;
use crate::facts::answer::Rearm;
use crate::rto::Rto;
use crate::time::{earliest, Time};

/// When what fires.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timers {
    /// Retransmission (RFC 6298 §5).
    pub(super) rto: Option<Time>,
    /// Zero-window probe (RFC 9293 §3.8.6.1).
    pub(super) persist: Option<Time>,
}

impl Sender {
    /// The earliest moment at which `on_timer` or `poll_transmit` wants to be called again.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        let first = earliest(self.timers.rto, self.timers.persist);
        match (self.clocked, self.watched) {
            (false, false) => first,
            (true, false) => earliest(first, self.slots.detect.deadline()),
            _ => earliest(first, self.watcher_wants()),
        }
    }

    /// Whether the detector's deadline, if it has one, is asked for.
    #[cfg(debug_assertions)]
    pub(super) fn asks_for_deadlines(&self) -> bool {
        self.clocked || self.slots.detect.deadline().is_none()
    }

    /// When a detector that watches wants to look, or something that was held back may go. Apart, so that the usual path stays short.
    #[inline(never)]
    fn watcher_wants(&self) -> Option<Time> {
        let detector = self.slots.detect.deadline().filter(|_| self.clocked);
        earliest(earliest(detector, self.slots.detect.hold_until()), self.paced_until())
    }

    /// Rule 11. The detector, if due and the RTO is not; else the RTO; then the persist timer.
    pub fn on_timer<O: Observer>(&mut self, now: Time, obs: &mut O) {
        let lost = self.board.lost();
        let due = |t: Option<Time>| t.is_some_and(|t| t <= now);
        if due(self.timers.rto) {
            self.timers.rto = None;
            if self.out_of_patience(now) {
                return;
            }
            self.perhaps_a_black_hole(now);
            self.on_rto(now, obs);
        } else if due(self.slots.detect.deadline()) {
            if self.slots.detect.owns_rto() && self.out_of_patience(now) {
                return;
            }
            self.burst_left = self.maxburst;
            let cx = self.ctx(now);
            let verdict = self.slots.detect.on_timer(&self.w, &mut self.board, &cx);
            if !self.phase.repairs() || verdict == crate::detect::Verdict::Probe {
                let rearm = self.act_on(now, verdict, None, obs);
                self.rearm(now, rearm, false);
            }
            self.watched = self.watches_sends();
            self.check();
        }
        if due(self.timers.persist) {
            self.on_persist(now, obs);
        }
        if due(self.paced_until()) {
            self.nothing_waits();
        }
        if self.rated {
            self.rate_timer(lost);
        }
    }

    /// Tells observers how long the retransmission timer runs, unless the detector has taken its place.
    #[inline]
    pub(super) fn tell_rto<O: Observer>(&self, now: Time, obs: &mut O) {
        if O::HEARS_RTO && !self.slots.detect.owns_rto() {
            obs.rto(now, self.slots.rto.backed_off());
        }
    }

    /// Rule 10. The retransmission timer after an ACK (RFC 6298 §5.2, §5.3) or at the wish of a phase's owner.
    #[inline]
    pub(super) fn rearm(&mut self, now: Time, how: Rearm, advanced: bool) {
        if self.board.is_empty() || self.persist.is_probing() || self.slots.detect.owns_rto() {
            self.timers.rto = None;
        } else if how == Rearm::Restart || (how == Rearm::OnNewData && advanced) {
            self.timers.rto = Some(self.slots.rto.deadline(now));
        }
    }
}
