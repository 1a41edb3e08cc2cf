//! The sender's own timers. A driver sees only the earliest of them.

use super::Sender;
use crate::detect::{StandIn, Timekeeper};
use crate::event::Observer;
use crate::facts::ack::AckEvent;
use crate::facts::answer::Rearm;
use crate::recovery::Recovery;
use crate::rto::Rto;
use crate::time::{earliest, Time};

/// When each timer fires.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timers {
    /// Retransmission (RFC 6298 §5).
    pub(super) rto: Option<Time>,
    /// Zero-window probe (RFC 9293 §3.8.6.1).
    pub(super) persist: Option<Time>,
}

impl Sender {
    /// The earliest time at which `on_timer` or `poll_transmit` must be called again.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        let first = earliest(self.timers.rto, self.timers.persist);
        match (self.clocked, self.watched) {
            (false, false) => first,
            (true, false) => earliest(first, self.slots.detect.deadline()),
            _ => earliest(first, self.watcher_wants()),
        }
    }

    /// Whether the detector's deadline, if it has one, is checked.
    #[cfg(debug_assertions)]
    pub(super) fn asks_for_deadlines(&self) -> bool {
        self.clocked || self.slots.detect.deadline().is_none()
    }

    /// When a watching detector wants to be called, or held-back data may be sent. A separate function, so that the usual path
    /// stays short.
    #[inline(never)]
    fn watcher_wants(&self) -> Option<Time> {
        let detector = self.slots.detect.deadline().filter(|_| self.clocked);
        earliest(earliest(detector, self.slots.detect.hold_until()), self.paced_until())
    }

    /// Rule 11. Runs the detector if it is due and the RTO is not; else the RTO; then the persist timer.
    pub fn on_timer<O: Observer>(&mut self, now: Time, obs: &mut O) {
        let lost = self.board.lost();
        let due = |t: Option<Time>| t.is_some_and(|t| t <= now);
        let stand_in = if self.clocked { self.slots.detect.stands_in_for_rto() } else { StandIn::No };
        let replaced = stand_in != StandIn::No;
        let rto_due = due(self.timers.rto);
        if rto_due && !replaced {
            self.timers.rto = None;
            if self.out_of_patience(now) {
                return;
            }
            self.perhaps_a_black_hole(now);
            self.on_rto(now, obs);
        } else if due(self.slots.detect.deadline()) || rto_due {
            if self.slots.detect.owns_rto() && self.out_of_patience(now) {
                return;
            }
            self.burst_left = self.maxburst;
            self.slots.recovery.hold_resends(false);
            let cx = self.ctx(now);
            let verdict = self.slots.detect.on_timer(&self.w, &mut self.board, &cx);
            match stand_in {
                StandIn::CountFromOldest => self.count_from_oldest(now),
                StandIn::Restart if rto_due => self.rearm(now, Rearm::Restart, false),
                StandIn::Restart | StandIn::No => {}
            }
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

    /// Sets the retransmission timer after a timer that had replaced it: it counts from the time at which the oldest segment
    /// was last sent (Linux: `tcp_rearm_rto`).
    fn count_from_oldest(&mut self, now: Time) {
        let tick = self.slots.rto.next_tick(now);
        let not_before = self.slots.detect.deadline().map_or(tick, |at| at.max(tick));
        let oldest = self.board.iter().next().map(|s| s.at).filter(|_| !self.persist.is_probing());
        let counted = oldest.and_then(|at| self.no_later_than_giving_up(self.slots.rto.deadline(at)));
        self.timers.rto = counted.map(|at| at.max(not_before));
    }

    /// Tells observers how long the retransmission timer runs, unless the detector has replaced it.
    #[inline]
    pub(super) fn tell_rto<O: Observer>(&self, now: Time, obs: &mut O) {
        if O::HEARS_RTO && !self.slots.detect.owns_rto() {
            obs.rto(now, self.slots.rto.backed_off());
        }
    }

    /// Whether an ACK that only SACKs restarts the retransmission timer: if the reported data was sent before the oldest segment
    /// was last sent (Linux: `tcp_clean_rtx_queue`).
    #[inline]
    pub(super) fn sack_restarts(&self, now: Time, ack: &AckEvent) -> bool {
        let older = |rtt| self.board.iter().next().is_some_and(|s| rtt > now.since(s.at));
        !ack.advances() && self.slots.rto.hears_sacks() && ack.rtt.is_some_and(older)
    }

    /// Rule 10. The retransmission timer after an ACK (RFC 6298 §5.2, §5.3) or as a phase's owner wants it.
    #[inline]
    pub(super) fn rearm(&mut self, now: Time, how: Rearm, advanced: bool) {
        if self.board.is_empty() || self.persist.is_probing() || self.slots.detect.owns_rto() {
            self.timers.rto = None;
        } else if how == Rearm::Restart || (how == Rearm::OnNewData && advanced) {
            self.timers.rto = Some(self.slots.rto.deadline(now));
        }
    }
}
