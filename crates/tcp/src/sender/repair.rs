//! Rules 5, 8, 9, 12, 14, 16 and 17. An episode begins, continues after a timeout, ends, or turns out to have been a mistake.

use super::Sender;
use crate::congestion::{Congestion, LossEvent};
use crate::detect::{Detector, Learner, Timekeeper, Verdict};
use crate::disorder::Disorder;
use crate::event::{Cause, Event, Observer, Phase, Slot, Why, Window};
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm};
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Mistake};
use crate::facts::gate::Gate;
use crate::recovery::Recovery;
use crate::rto::Rto;
use crate::spurious::Spurious;
use crate::startup::Startup;
use crate::time::Time;
use crate::timeout::{Repair, Timeout};
use crate::undo::{GiveBack, Prior, Standing, Undo};
use std::num::NonZeroU16;

impl Sender {
    /// Rule 8. Acts on a verdict of loss outside an episode.
    pub(super) fn act_on<O: Observer>(
        &mut self,
        now: Time,
        verdict: Verdict,
        ack: Option<&AckEvent>,
        obs: &mut O,
    ) -> Rearm {
        match verdict {
            Verdict::Lost(_) | Verdict::Collapsed(_) => self.begin(now, verdict.cause(), ack, obs),
            Verdict::Repaired => {
                let cx = self.ctx(now);
                self.write_window(now, Slot::Congestion, obs, |s| {
                    let mut loss = s.loss_event(Cause::Fast, false);
                    // The repair is acknowledged by now, but the data was outstanding when it was lost.
                    loss.flight += ack.map_or(0, AckEvent::acked);
                    let cut = s.slots.congestion.on_loss(&loss, &s.w, &cx);
                    s.w = Window { cwnd: cut.cwnd, ssthresh: cut.ssthresh };
                });
                self.slots.detect.on_cut(&self.w, &self.ctx(now));
                Rearm::OnNewData
            }
            Verdict::Probe => {
                self.urgent = true;
                Rearm::Restart
            }
            Verdict::Clear | Verdict::Suspect | Verdict::More(_) => Rearm::OnNewData,
        }
    }

    /// Rule 8. A new episode begins with a verdict of loss.
    pub(super) fn begin<O: Observer>(&mut self, now: Time, cause: Cause, ack: Option<&AckEvent>, obs: &mut O) -> Rearm {
        if ack.is_some_and(|a| a.is_dup) {
            self.cold.reorder.on_dup(now);
        }
        self.end_stall(now);
        self.open_episode(now, cause, obs);
        self.set_phase(now, Phase::Recovery, Why::Lost, obs);
        let cx = self.ctx(now);
        self.slots.spurious.on_begin(&mut self.cold.ledger, &self.board, &cx);
        let mut flow = Flow::Continue(Rearm::OnNewData);
        self.write_window(now, Slot::Recovery, obs, |s| {
            if let Some(ep) = s.cold.ledger.open() {
                flow = s.slots.recovery.enter(ack, ep, &mut s.w, &mut s.board, &cx);
            }
        });
        self.note_recover();
        let rearm = self.follow(now, flow, None, obs);
        self.slots.detect.on_cut(&self.w, &self.ctx(now));
        rearm
    }

    /// Cuts ssthresh and writes the episode into the ledger.
    fn open_episode<O: Observer>(&mut self, now: Time, cause: Cause, obs: &mut O) {
        let cx = self.ctx(now);
        let loss = self.loss_event(cause, false);
        let open = self.cold.ledger.open().filter(|_| cause == Cause::Rto);
        let interrupted = open.map(|ep| (ep.prior, ep.cc_undo.clone()));
        let (prior, cc_undo) = match (interrupted, self.slots.undo.prior_in_recovery()) {
            (Some(older), Prior::BeforeInterrupted) => older,
            (None, Prior::BeforeInterrupted) | (_, Prior::AtTimeout) => (self.w, self.slots.congestion.save().into()),
        };
        self.damped = false;
        self.starting &= self.slots.startup.hears_every_slow_start();
        self.cwr_due = self.ece_flag != 0;
        let cut = self.slots.congestion.on_loss(&loss, &self.w, &cx);
        let (first_dup, last_dup) = self.cold.reorder.span().unwrap_or((now, now));
        self.cold.ledger.begin(Episode {
            id: 0,
            cause,
            began: now,
            recover: self.snd_max,
            prior,
            target: cut.cwnd,
            cc_undo,
            flight: loss.flight,
            retransmits: 0,
            proven_spurious: 0,
            dupacks_to_fill: 0,
            first_dup,
            last_dup,
            filled: None,
            ended: None,
            void: false,
        });
        self.note_recover();
        self.cold.reorder.forget();
        self.write_window(now, Slot::Congestion, obs, |s| s.w.ssthresh = cut.ssthresh);
    }

    /// Rule 17. Copies the values that every `Ctx` needs from the ledger; called after any step that may have moved `recover`.
    pub(super) fn note_recover(&mut self) {
        let newest = self.cold.ledger.newest();
        self.recover = newest.map(|ep| ep.recover);
        self.timed_out = newest.is_some_and(|ep| ep.cause == Cause::Rto);
    }

    pub(super) fn loss_event(&self, cause: Cause, repeated: bool) -> LossEvent {
        let beyond = match (self.phase, cause) {
            (Phase::Disorder, _) => self.slots.disorder.sent_beyond(),
            // The second cut of one window counts from the data still in flight (decision 0041).
            (Phase::Recovery, Cause::Fast) => self.board.sacked(),
            (Phase::Recovery, Cause::Rto | Cause::Ecn) | (Phase::Open | Phase::Loss, _) => 0,
        };
        let lost = self.board.first_lost().and_then(|at| self.board.get(at)).or_else(|| self.board.iter().next());
        LossEvent {
            cause,
            flight: (self.snd_max - self.snd_una).saturating_sub(beyond),
            pipe: self.board.pipe().saturating_sub(if self.phase == Phase::Disorder { beyond } else { 0 }),
            rwnd: u64::from(self.peer.wnd),
            first: self.snd_una,
            cwnd_at_send: lost.map_or(self.w.cwnd, |s| s.cwnd),
            sent_at: lost.map_or(Time(0), |s| s.at),
            sends: lost.map_or(0, |s| s.sends),
            repeated,
            in_recovery: self.phase == Phase::Recovery,
        }
    }

    /// Rule 9. The phase of the running episode is over.
    pub(super) fn end_episode<O: Observer>(&mut self, now: Time, ack: Option<&AckEvent>, grow: bool, obs: &mut O) {
        self.set_phase(now, Phase::Open, Why::Repaired, obs);
        let cx = self.ctx(now);
        let m = self.cold.ledger.open().and_then(|ep| self.slots.spurious.on_episode_end(ep, &cx));
        self.cold.ledger.close(now);
        if let Some(m) = m {
            self.mistake(now, &m, ack, obs);
        }
        let cx = self.ctx(now);
        self.slots.detect.on_recovered(&cx);
        // RFC 3168 §6.1.2: an echo does not open the window.
        if let Some(ack) = ack.filter(|ack| grow && !ack.ece) {
            self.grow(now, ack, &cx, obs);
        }
    }

    /// Rule 5. Calls the judge of mistakes. An ACK that ends a repair this way does not also open the window (RFC 4015 §3.2
    /// (9)).
    #[inline(always)]
    pub(super) fn judge_past<O: Observer>(
        &mut self,
        now: Time,
        ack: &AckEvent,
        cx: &mut Ctx,
        grows: &mut bool,
        obs: &mut O,
    ) {
        if self.phase == Phase::Recovery {
            self.hear_late_original(ack, cx);
        }
        let mistake = self.slots.spurious.on_ack(ack, &mut self.cold.ledger, &self.board, cx);
        if ack.dsack.is_some() && self.slots.spurious.needless() {
            self.slots.detect.on_needless(&self.w, cx);
        }
        if let Some(m) = mistake {
            *grows &= self.cold.ledger.open().is_none_or(|ep| ep.id != m.episode);
            self.mistake(now, &m, Some(ack), obs);
            *cx = self.ctx(now);
        }
        if ack.dsack.is_some()
            && let Some(rtt) = self.slots.spurious.rtt(cx)
        {
            self.slots.rto.on_sample(rtt);
        }
    }

    /// Rule 5. A partial ACK may show that resent data was only late. While retransmissions are outstanding this undoes
    /// nothing, but nothing more is marked lost or resent on this ACK.
    #[inline(never)]
    fn hear_late_original(&mut self, ack: &AckEvent, cx: &Ctx) {
        let partial = ack.advances() && self.recover.is_some_and(|recover| ack.ack < recover);
        let late = partial && self.slots.spurious.answers_late_original(ack);
        let waits = late && self.board.resends_out() > 0;
        if late {
            self.slots.detect.on_late_original(ack.prior_una, waits, &self.board, cx);
        }
        self.slots.recovery.hold_resends(waits);
    }

    /// Rule 5. A judge found a mistake on that ACK: the detector learns from it, and the undo slot responds.
    #[cold]
    pub(super) fn mistake<O: Observer>(&mut self, now: Time, m: &Mistake, ack: Option<&AckEvent>, obs: &mut O) {
        if self.cold.ledger.open().is_some_and(|ep| ep.id == m.episode) {
            self.stop_repairing(now, obs);
        }
        let cx = self.ctx(now);
        if let Some(sample) = &m.sample {
            self.slots.detect.on_reorder(sample, &self.w, &cx);
        }
        let before = self.w;
        self.write_window(now, Slot::Undo, obs, |s| {
            let outstanding = match s.open_gate {
                Gate::Window => cx.flight(),
                Gate::Pipe => s.board.pipe(),
            };
            let at = Standing { acked: ack.map_or(0, |a| a.delivered), outstanding };
            let GiveBack { congestion, fired } = s.slots.undo.on_mistake(m, at, &mut s.cold.ledger, &mut s.w, &cx);
            if let Some(saved) = congestion {
                s.slots.congestion.restore(&saved);
            }
            if let Some(fired) = fired {
                s.slots.rto.on_spurious_timeout(fired);
            }
        });
        self.note_recover();
        if O::ENABLED {
            obs.event(now, Event::Mistake { episode: m.episode, cause: m.cause, undone: before != self.w });
        }
        self.tell_dupthresh(now, obs);
    }

    /// Tells observers the duplicate ACK threshold in force if it has changed.
    pub(super) fn tell_dupthresh<O: Observer>(&mut self, now: Time, obs: &mut O) {
        if !O::ENABLED {
            return;
        }
        let Some(dupthresh) = self.slots.detect.dupthresh(&self.w, &self.ctx(now)) else { return };
        let short = NonZeroU16::new(u16::try_from(dupthresh).unwrap_or(u16::MAX));
        if std::mem::replace(&mut self.reported_dupthresh, short) != short {
            obs.event(now, Event::Threshold { dupthresh, mss: self.mss, cwnd: self.w.cwnd });
        }
    }

    /// Rule 17. Nothing was lost: the repair ends, and sending continues where it had stopped.
    fn stop_repairing<O: Observer>(&mut self, now: Time, obs: &mut O) {
        self.snd_nxt = self.snd_max;
        self.board.unmark_lost();
        self.set_phase(now, Phase::Open, Why::Mistaken, obs);
        self.cold.ledger.close(now);
        self.slots.detect.on_recovered(&self.ctx(now));
    }

    /// Data that could not be sent in Disorder may be sent now, or other rules apply.
    pub(super) fn end_stall(&mut self, now: Time) {
        if let Some(idle) = self.cold.reorder.end_stall(now) {
            self.slots.detect.on_stall(idle, &self.w, &self.ctx(now));
        }
    }

    /// Rule 12. The retransmission timer fired.
    pub(super) fn on_rto<O: Observer>(&mut self, now: Time, obs: &mut O) {
        let backoff = self.slots.rto.backoff_count();
        let again = self.phase == Phase::Loss
            && backoff > 0
            && self.cold.ledger.newest().is_some_and(|ep| ep.cause == Cause::Rto);
        self.urgent = false;
        self.pace_timeout();
        self.end_stall(now);
        if again {
            let snd_max = self.snd_max;
            if let Some(ep) = self.cold.ledger.open() {
                ep.recover = snd_max;
            }
            self.note_recover();
            let cx = self.ctx(now);
            self.write_window(now, Slot::Congestion, obs, |s| {
                s.w.ssthresh = s.slots.congestion.on_loss(&s.loss_event(Cause::Rto, true), &s.w, &cx).ssthresh;
            });
        } else {
            if let Some(ep) = self.cold.ledger.open() {
                ep.void = true;
            }
            self.open_episode(now, Cause::Rto, obs);
            let cx = self.ctx(now);
            self.slots.spurious.on_begin(&mut self.cold.ledger, &self.board, &cx);
        }
        if O::ENABLED {
            obs.event(now, Event::Timeout { episode: self.cold.ledger.count(), backoff });
        }
        self.slots.rto.back_off();
        let cx = self.ctx(now);
        self.slots.detect.on_rto(self.dup_run, &self.w, &cx);
        self.slots.startup.on_timeout();
        self.dup_run = 0;
        self.board.presume(0);
        self.set_phase(now, Phase::Loss, Why::Timeout, obs);
        self.enter_loss(now, obs);
        let cx = self.ctx(now);
        let by_time = self.slots.detect.after_rto(&mut self.board, &cx);
        self.write_window(now, Slot::Timeout, obs, |s| s.slots.timeout.marked(by_time, &mut s.w, &mut s.board, &cx));
        self.slots.detect.on_cut(&self.w, &cx);
        self.tell_dupthresh(now, obs);
        self.timers.rto = self.no_later_than_giving_up(self.slots.rto.deadline(now));
        self.tell_rto(now, obs);
        self.burst_left = self.maxburst;
        self.check();
    }

    /// Rules 12 and 14. The owner of Loss takes over and says how to repair.
    pub(super) fn enter_loss<O: Observer>(&mut self, now: Time, obs: &mut O) {
        let cx = self.ctx(now);
        let mut repair = Repair::Marks;
        self.write_window(now, Slot::Timeout, obs, |s| {
            if let Some(ep) = s.cold.ledger.open() {
                repair = s.slots.timeout.enter(ep, &mut s.w, &mut s.board, &cx);
            }
        });
        self.note_recover();
        if let Repair::Rewind { skip_sacked } = repair {
            self.skip_sacked = skip_sacked;
            self.rewind();
        }
    }

    /// Rule 16. Go back N: only the sequencer moves `snd_nxt`.
    pub(super) fn rewind(&mut self) {
        self.snd_nxt = self.snd_una;
        self.board.rewind();
    }
}
