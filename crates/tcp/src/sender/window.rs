//! Writes to the window, and their trace events.

use super::Sender;
use crate::congestion::Congestion;
use crate::detect::{Detector, Verdict};
use crate::event::{Event, Observer, Phase, Slot, Why, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::recovery::Recovery;
use crate::startup::{Advice, Startup};
use crate::time::Time;

impl Sender {
    /// Rule 3. Before the first loss, or in every slow start, `startup` may set the threshold or hold back slow start.
    #[inline]
    pub(super) fn ask_start<O: Observer>(&mut self, now: Time, ack: &AckEvent, cx: &Ctx, obs: &mut O) {
        match self.slots.startup.on_ack(ack, &self.w, cx) {
            Advice::Keep => {}
            Advice::Ssthresh(bytes) => self.write_window(now, Slot::Startup, obs, |s| s.w.ssthresh = bytes),
            Advice::Growth(share) => (self.damped, self.growth) = (share != 1.0, share),
        }
    }

    /// An ACK of new data opens the window.
    #[inline(always)]
    pub(super) fn grow<O: Observer>(&mut self, now: Time, ack: &AckEvent, cx: &Ctx, obs: &mut O) {
        let before = self.seen::<O>();
        self.slots.congestion.on_ack(ack, &mut self.w, cx);
        let w = before.0;
        if self.damped && w.cwnd < w.ssthresh {
            self.w.cwnd = w.cwnd + (self.w.cwnd - w.cwnd) * f64::from(self.growth);
        }
        self.tell_window(now, Slot::Congestion, before, obs);
    }

    /// Whether an ACK that only SACKs opens the window, too.
    #[inline]
    pub(super) fn grows_by_sack(&self, ack: &AckEvent, verdict: Verdict, cx: &Ctx) -> bool {
        let above = self.slots.congestion.grows_by_sack_above().filter(|_| ack.sacked > 0 && !ack.ece);
        let wide = |n| self.slots.detect.dupthresh(&self.w, cx).is_some_and(|d| d > n);
        verdict.lost() == 0 && above.is_some_and(wide)
    }

    /// Rule 15. Lends the window to one writer and reports its changes.
    #[inline]
    pub(super) fn write_window<O: Observer>(
        &mut self,
        now: Time,
        by: Slot,
        obs: &mut O,
        write: impl FnOnce(&mut Self),
    ) {
        let before = self.seen::<O>();
        write(self);
        self.tell_window(now, by, before, obs);
    }

    #[inline(always)]
    pub(super) fn tell_ack<O: Observer>(&self, now: Time, ack: &AckEvent, obs: &mut O) {
        if O::HEARS.acked {
            let (delivered, dup_run, pipe) = (ack.delivered, ack.dup_run, self.board.pipe());
            obs.event(now, Event::Acked { ack: ack.ack, delivered, dup_run, pipe });
        }
    }

    /// The window and, for observers, the inflation.
    #[inline(always)]
    fn seen<O: Observer>(&self) -> (Window, f64) {
        (self.w, if O::HEARS.inflation { self.slots.recovery.inflation() } else { 0.0 })
    }

    #[inline(always)]
    fn tell_window<O: Observer>(&mut self, now: Time, by: Slot, (from, inflated): (Window, f64), obs: &mut O) {
        if O::ENABLED {
            let (to, episode) = (self.w, self.cold.ledger.count());
            if from != to {
                obs.event(now, Event::Window { by, episode, from, to });
            }
        }
        if O::HEARS.inflation {
            let (bytes, episode) = (self.slots.recovery.inflation(), self.cold.ledger.count());
            if bytes != inflated {
                obs.event(now, Event::Inflation { episode, bytes });
            }
        }
    }

    pub(super) fn set_phase<O: Observer>(&mut self, now: Time, to: Phase, why: Why, obs: &mut O) {
        let from = std::mem::replace(&mut self.phase, to);
        if let Some(cap) = self.cold.cap_outside {
            self.cap = if to == Phase::Recovery { u64::MAX } else { cap };
            self.limit = self.find_limit();
        }
        if O::ENABLED && from != to {
            obs.event(now, Event::Phase { from, to, why, episode: self.cold.ledger.count() });
        }
    }
}
