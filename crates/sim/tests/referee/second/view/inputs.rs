//! What each component is told, and what its answer leads to.

use crate::second::witness::Notebook;
use ackclock_tcp::congestion::LossEvent;
use ackclock_tcp::detect::{StandIn, Verdict};
use ackclock_tcp::event::{Cause, Phase, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Rearm;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{CcUndo, Episode};
use ackclock_tcp::time::{Nanos, Time};

impl Notebook {
    /// The detector is asked about an ACK.
    pub(in crate::second) fn asked_about(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) {
        self.forget_answers();
        (self.view.fact, self.view.owner, self.view.rearm) = (Some(*ack), cx.phase, Rearm::OnNewData);
        self.view.judged += 1;
        if let (Some(limited), true) = (self.view.limited, self.stops_at_the_window()) {
            let seen = cx.cwnd_limited;
            self.expect(seen == limited, || format!("limited by the window: {seen}, and it should be {limited}"));
        }
        if let Some(bytes) = self.view.threshold.take().filter(|_| !ack.ece) {
            self.expect(w.ssthresh == bytes, || format!("the start set a threshold of {bytes}, not of {}", w.ssthresh));
        }
    }

    /// Nothing but the window and the lack of data stops this sender.
    pub(super) fn stops_at_the_window(&self) -> bool {
        let s = &self.judge.book.stack;
        s.pacing == ackclock_tcp::pacing::PacingRule::Off && s.limits.maxburst_segs.is_none() && !self.holds
    }

    pub(in crate::second) fn judged(&mut self, verdict: Verdict, dupthresh: Option<u32>) {
        (self.view.verdict, self.view.dupthresh) = (verdict, dupthresh);
    }

    /// The detector's timer has run, and `counts_from` is when a timer that counts from the oldest segment fires.
    pub(in crate::second) fn timer_ran(&mut self, verdict: Verdict, cx: &Ctx, own: Option<Time>) {
        let (now, due) = (cx.now, cx.rto_at.is_some_and(|at| at <= cx.now));
        let oldest = self.judge.book.out.first().map(|p| p.last);
        let v = &mut self.view;
        match v.stand_in {
            StandIn::CountFromOldest => {
                let tick = v.ask(|rto| rto.next_tick(now)).unwrap_or(now);
                let not_before = own.map_or(tick, |at| at.max(tick));
                v.rto_at = oldest.and_then(|at| v.ask(|rto| rto.deadline(at))).map(|at| at.max(not_before));
            }
            StandIn::Restart if due => v.set_timer(now),
            StandIn::Restart | StandIn::No => {}
        }
        (v.verdict, v.rearm, v.by_timer) = (verdict, Rearm::OnNewData, true);
        if verdict == Verdict::Probe {
            v.urgent = true;
            v.set_timer(now);
        }
        self.no_timer_without_data();
        match verdict {
            Verdict::Lost(_) | Verdict::Collapsed(_) | Verdict::Probe => self.stall_holds(),
            Verdict::Clear | Verdict::Suspect | Verdict::More(_) | Verdict::Repaired => self.look_for_a_stall(now),
        }
    }

    pub(super) fn no_timer_without_data(&mut self) {
        if self.judge.book.out.is_empty() || self.view.owns_rto {
            self.view.rto_at = None;
        }
    }

    /// A cut was told to the detector; if a timer led to it, the repair that began says what the timer does.
    pub(in crate::second) fn cut_reported(&mut self, cx: &Ctx) {
        self.view.reported_cuts += 1;
        if std::mem::take(&mut self.view.by_timer) && self.view.rearm == Rearm::Restart {
            self.view.set_timer(cx.now);
            self.no_timer_without_data();
        }
    }

    /// The oldest segment was resent, and that restarts the timer once everybody was told.
    pub(in crate::second) fn oldest_resent(&mut self, now: Time) {
        self.view.restart = Some(now);
    }

    pub(super) fn restart_now(&mut self) {
        if let Some(at) = self.view.restart.take() {
            self.view.set_timer(at);
            self.no_timer_without_data();
        }
    }

    /// The congestion control computes a cut.
    pub(in crate::second) fn loss(&mut self, l: &LossEvent, w: &Window) {
        let book = &self.judge.book;
        let repaired = self.view.verdict == Verdict::Repaired && self.judge.ack.is_some();
        let acked = self.judge.ack.as_ref().map_or(0, |a| a.acked);
        let beyond = match (book.phase, l.cause) {
            (Phase::Disorder, _) => self.view.beyond,
            (Phase::Recovery, Cause::Fast) => book.sacked(),
            (Phase::Recovery | Phase::Open | Phase::Loss, _) => 0,
        };
        let flight = book.flight().saturating_sub(beyond) + if repaired && l.cause == Cause::Fast { acked } else { 0 };
        let seen = (l.flight, l.rwnd, l.first.0, l.in_recovery);
        let known = (flight, u64::from(book.wnd()), book.una, book.phase == Phase::Recovery);
        self.expect(seen == known, || format!("the loss is {seen:?}, and it should be {known:?}"));
        self.view.losses += 1;
        self.view.last_loss = Some((*l, *w, 0.0));
    }

    /// The cut; an episode begins with it, except for marks and for losses that are repaired already.
    pub(in crate::second) fn cut(&mut self, l: &LossEvent, target: f64) {
        let begins = !l.repeated && l.cause != Cause::Ecn && self.view.verdict != Verdict::Repaired;
        let begins = begins || (l.cause == Cause::Rto && !l.repeated);
        if let Some(last) = &mut self.view.last_loss {
            last.2 = target;
        }
        if begins {
            self.span = self.dups.first().copied().zip(self.dups.last().copied());
            self.dups.clear();
            (self.view.recover, self.view.timed_out) = (Some(self.judge.book.max), l.cause == Cause::Rto);
            self.view.starting &= self.view.hears_every_slow_start;
        }
        if begins || l.cause == Cause::Ecn {
            self.view.share = 1.0;
        }
    }

    /// The timer fired again for the same loss: everything sent by now belongs to it.
    pub(in crate::second) fn repeated(&mut self) {
        self.view.recover = Some(self.judge.book.max);
    }

    /// The record of a new episode.
    pub(in crate::second) fn check_episode(&mut self, ep: &Episode, remembered: Option<(Window, CcUndo)>) {
        let Some((l, w, target)) = self.view.last_loss else { return };
        let book = &self.judge.book;
        let seen = (ep.cause, ep.began, ep.recover.0, ep.target, ep.flight, ep.retransmits, ep.filled, ep.ended);
        let known = (l.cause, book.now, book.max, target, l.flight, 0, None, None);
        self.expect(seen == known, || format!("the episode is {seen:?}, and it should be {known:?}"));
        let (seen, known) = ((ep.prior, ep.cc_undo.get()), remembered.unwrap_or((w, self.saved)));
        self.expect(seen == known, || format!("it remembers {seen:?}, and not {known:?}"));
        let (span, seen) = (self.span.take(), (ep.first_dup, ep.last_dup));
        let span = span.unwrap_or((ep.began, ep.began));
        self.expect(seen == span, || format!("its duplicates came at {seen:?}, and not at {span:?}"));
    }

    /// The start of the connection says something.
    pub(in crate::second) fn start_asked(&mut self) {
        self.view.asked += 1;
    }

    pub(in crate::second) fn advised(&mut self, threshold: Option<f64>, share: Option<f32>) {
        self.view.threshold = threshold.or(self.view.threshold);
        self.view.share = share.unwrap_or(self.view.share);
    }

    /// The congestion control has opened the window.
    pub(in crate::second) fn grown(&mut self, before: &Window, after: &Window) {
        let slower = self.view.share != 1.0 && before.cwnd < before.ssthresh;
        let share = if slower { f64::from(self.view.share) } else { 1.0 };
        let cwnd = before.cwnd + (after.cwnd - before.cwnd) * share;
        self.view.grown += 1;
        self.view.grown_to = Some(Window { cwnd, ..*after });
    }

    pub(in crate::second) fn mistake_ends_repair(&mut self) {
        self.view.mistaken = true;
    }

    pub(in crate::second) fn copy_timed(&mut self) {
        self.view.before_sample = self.view.ask(|rto| (rto.srtt(), rto.base()));
    }

    pub(in crate::second) fn timer_heard(&mut self) {
        self.view.timed += 1;
    }

    /// Nothing was sent in Disorder for that long.
    pub(in crate::second) fn stall_reported(&mut self, idle: Nanos, now: Time) {
        let since = self.view.may_stall.take();
        let known = self.view.stalled.take().or(since).map(|since| now.since(since));
        let free = !self.stops_at_the_window() || self.next_segment().is_none();
        self.expect_complete(free || known == Some(idle), || format!("a stall of {idle}, and it was {known:?}"));
    }
}
