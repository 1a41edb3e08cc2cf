//! Components that show the notebook what they are told and what they answer.

use super::view::SharedRto;
use super::witness::Notebook;
use ackclock_tcp::congestion::{Congestion, Cut, LossEvent};
use ackclock_tcp::disorder::Disorder;
use ackclock_tcp::event::{Slot, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::{Flow, Xmit};
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{CcUndo, Episode, Ledger, Mistake};
use ackclock_tcp::facts::gate::Gate;
use ackclock_tcp::facts::pace::Pace;
use ackclock_tcp::facts::rate::{RateSample, Rates};
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::recovery::Recovery;
use ackclock_tcp::rto::{AnyRto, Rto};
use ackclock_tcp::startup::{Advice, Startup};
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::timeout::{Repair, Timeout};
use ackclock_tcp::undo::{GiveBack, Prior, Standing, Undo};
use ackclock_tcp::units::Bytes;
use std::sync::{Arc, Mutex};

/// A component, and the notebook.
pub(super) struct Watched<T: ?Sized> {
    pub(super) inner: Box<T>,
    pub(super) notebook: Arc<Mutex<Notebook>>,
}

impl<T: ?Sized> Watched<T> {
    fn with(&self, note: impl FnOnce(&mut Notebook)) {
        if let Ok(mut notebook) = self.notebook.lock() {
            note(&mut notebook);
        }
    }

    fn see(&self, w: Option<&Window>, cx: &Ctx) {
        self.with(|n| {
            n.check_cx(cx);
            if let Some(w) = w {
                n.check_window(w);
            }
        });
    }
}

impl Recovery for Watched<dyn Recovery> {
    fn enter(
        &mut self,
        ack: Option<&AckEvent>,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        self.see(Some(w), cx);
        self.with(|n| n.check_cut_threshold(w));
        let flow = self.inner.enter(ack, ep, w, board, cx);
        self.with(|n| {
            n.answers(flow, false);
            n.view.flow(flow, false);
            n.view.follow_episode(ep);
            if flow == Flow::Rewind {
                n.go_back(None);
            }
        });
        flow
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        lost: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        self.see(Some(w), cx);
        self.with(|n| {
            n.check_answer(ack, lost);
            n.check_hole_of(ep, ack, cx.now);
        });
        let flow = self.inner.on_ack(ack, lost, ep, w, board, cx);
        self.with(|n| {
            n.answers(flow, false);
            n.view.flow(flow, true);
            n.view.follow_episode(ep);
        });
        flow
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        self.see(Some(w), cx);
        let wanted = self.inner.next(w, board, cx);
        self.with(|n| n.view.wanted = wanted);
        wanted
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.see(None, cx);
        self.with(|n| n.owner_informed(Slot::Recovery));
        self.inner.on_sent(x, sent, cx);
        if sent.start == cx.snd_una && self.inner.restarts_timer() {
            self.with(|n| n.oldest_resent(cx.now));
        }
    }
    fn hold_resends(&mut self, hold: bool) {
        self.with(|n| n.check_hold(hold));
        self.inner.hold_resends(hold);
    }
    fn inflation(&self) -> f64 {
        self.inner.inflation()
    }
    fn open_gate(&self) -> Gate {
        self.inner.open_gate()
    }
    fn passes_cap(&self) -> bool {
        self.inner.passes_cap()
    }
    fn restarts_timer(&self) -> bool {
        self.inner.restarts_timer()
    }
}

impl Timeout for Watched<dyn Timeout> {
    fn enter(&mut self, ep: &mut Episode, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) -> Repair {
        self.see(Some(w), cx);
        self.with(|n| n.check_cut_threshold(w));
        let repair = self.inner.enter(ep, w, board, cx);
        self.with(|n| {
            n.view.follow_episode(ep);
            if let Repair::Rewind { skip_sacked } = repair {
                n.go_back(Some(skip_sacked));
            }
        });
        repair
    }
    fn marked(&mut self, by_time: bool, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) {
        self.see(Some(w), cx);
        self.with(|n| {
            let known = n.judges_by_time;
            n.expect(by_time == known, || format!("judged by time: {by_time}, and it should be {known}"));
        });
        self.inner.marked(by_time, w, board, cx);
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        lost: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> (Flow, Option<Mistake>) {
        // The window may have grown by this ACK, and the view is of before.
        self.with(|n| {
            n.check_window(w);
            n.check_answer(ack, lost);
        });
        let (flow, mistake) = self.inner.on_ack(ack, lost, ep, w, board, cx);
        self.with(|n| {
            n.answers(flow, mistake.is_some());
            n.view.flow(flow, true);
            n.view.follow_episode(ep);
            if mistake.is_some() {
                n.view.no_flow();
            } else if flow == Flow::Rewind {
                n.go_back(None);
            }
        });
        (flow, mistake)
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        self.see(Some(w), cx);
        let wanted = self.inner.next(w, board, cx);
        self.with(|n| n.view.wanted = wanted);
        wanted
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.see(None, cx);
        self.with(|n| n.owner_informed(Slot::Timeout));
        self.inner.on_sent(x, sent, cx);
    }
}

impl Disorder for Watched<dyn Disorder> {
    fn on_enter(&mut self, w: &Window, cx: &Ctx) {
        self.see(Some(w), cx);
        self.inner.on_enter(w, cx);
        self.with(|n| n.view.beyond = self.inner.sent_beyond());
    }
    fn on_dup(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) {
        self.with(|n| {
            n.check_window(w);
            n.expect(ack.is_dup, || format!("{ack:?} is no duplicate"));
        });
        self.inner.on_dup(ack, w, cx);
        self.with(|n| n.view.beyond = self.inner.sent_beyond());
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        self.see(Some(w), cx);
        let wanted = self.inner.next(w, board, cx);
        self.with(|n| n.view.wanted = wanted);
        wanted
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, w: &Window, cx: &Ctx) {
        self.see(Some(w), cx);
        self.with(|n| n.owner_informed(Slot::Disorder));
        self.inner.on_sent(x, sent, w, cx);
        self.with(|n| n.view.beyond = self.inner.sent_beyond());
    }
    fn sent_beyond(&self) -> Bytes {
        self.inner.sent_beyond()
    }
    fn on_resolved(&mut self, w: &mut Window, cx: &Ctx) {
        self.see(Some(w), cx);
        self.inner.on_resolved(w, cx);
        self.with(|n| n.view.beyond = self.inner.sent_beyond());
    }
}

impl Congestion for Watched<dyn Congestion> {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        self.with(|n| n.check_window(w));
        let before = *w;
        self.inner.on_ack(ack, w, cx);
        self.with(|n| n.grown(&before, w));
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        self.with(|n| {
            if l.repeated {
                n.repeated();
            }
        });
        self.see(Some(w), cx);
        let saved = self.inner.save();
        self.with(|n| {
            n.saved = saved;
            n.loss(l, w);
        });
        let cut = self.inner.on_loss(l, w, cx);
        self.with(|n| {
            n.cut(l, cut.cwnd);
            n.await_cut(cut);
        });
        cut
    }
    fn save(&self) -> CcUndo {
        self.inner.save()
    }
    fn restore(&mut self, u: &CcUndo) {
        self.with(|n| {
            let due = n.gives_back.take();
            n.expect(due == Some(*u), || format!("{u:?} is restored, and it should be {due:?}"));
        });
        self.inner.restore(u);
    }
    fn grows_by_sack_above(&self) -> Option<u32> {
        let above = self.inner.grows_by_sack_above();
        self.with(|n| n.view.sack_growth = above);
        above
    }
    fn on_resume(&mut self, last_sent: Time, cx: &Ctx) {
        self.see(None, cx);
        self.with(|n| n.resumes(last_sent));
        self.inner.on_resume(last_sent, cx);
    }
    fn on_restart(&mut self) {
        self.with(Notebook::restarts);
        self.inner.on_restart();
    }
    fn hears_rates(&self) -> bool {
        self.inner.hears_rates()
    }
    fn on_rate(&mut self, rs: &RateSample, rates: &mut Rates, w: &mut Window, cx: &Ctx) {
        self.with(|n| {
            n.check_window(w);
            n.check_sample(rs);
        });
        let threshold = w.ssthresh;
        self.inner.on_rate(rs, rates, w, cx);
        self.with(|n| n.view.threshold_moves(threshold, w.ssthresh));
    }
    fn on_tx_start(&mut self, rates: &Rates, w: &mut Window, cx: &Ctx) {
        self.see(Some(w), cx);
        self.inner.on_tx_start(rates, w, cx);
    }
    fn on_handshake(&mut self, rtt: Nanos, w: &Window) {
        self.with(|n| n.greeted[1].push(rtt));
        self.inner.on_handshake(rtt, w);
    }
    fn pace(&self) -> Option<Pace> {
        self.inner.pace()
    }
}

impl Startup for Watched<dyn Startup> {
    fn initial(&self, mss: u32, rwnd: Bytes) -> Window {
        let w = self.inner.initial(mss, rwnd);
        self.with(|n| n.view.first = n.view.first.or(Some(w)));
        w
    }
    fn on_handshake(&mut self, rtt: Nanos) {
        self.with(|n| n.greeted[0].push(rtt));
        self.inner.on_handshake(rtt);
    }
    fn hears_every_slow_start(&self) -> bool {
        let hears = self.inner.hears_every_slow_start();
        self.with(|n| n.view.hears_every_slow_start = hears);
        hears
    }
    fn on_timeout(&mut self) {
        self.inner.on_timeout();
    }
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) -> Advice {
        self.see(Some(w), cx);
        let advice = self.inner.on_ack(ack, w, cx);
        self.with(|n| {
            n.start_asked();
            match advice {
                Advice::Keep => {}
                Advice::Ssthresh(bytes) => n.advised(Some(bytes), None),
                Advice::Growth(share) => n.advised(None, Some(share)),
            }
        });
        advice
    }
}

impl Undo for Watched<dyn Undo> {
    fn on_mistake(&mut self, m: &Mistake, at: Standing, ledger: &mut Ledger, w: &mut Window, cx: &Ctx) -> GiveBack {
        self.see(Some(w), cx);
        self.with(|n| n.check_mistake(m, at));
        let threshold = w.ssthresh;
        let given = self.inner.on_mistake(m, at, ledger, w, cx);
        self.with(|n| {
            n.view.threshold_moves(threshold, w.ssthresh);
            n.view.follow_newest(ledger.newest());
            (n.gives_back, n.spurious_at) = (given.congestion, given.fired);
        });
        given
    }
    fn prior_in_recovery(&self) -> Prior {
        let prior = self.inner.prior_in_recovery();
        self.with(|n| n.before_interrupted = prior == Prior::BeforeInterrupted);
        prior
    }
}

/// The timer, shared with the notebook, and the engine's own beside it: it gets the same calls, and must say the same.
pub(super) struct WatchedRto {
    pub(super) inner: SharedRto,
    pub(super) own: AnyRto,
    pub(super) notebook: Arc<Mutex<Notebook>>,
}

impl WatchedRto {
    fn with<T>(&self, ask: impl FnOnce(&mut dyn Rto) -> T) -> T {
        ask(self.inner.lock().expect("no panic").as_mut())
    }

    fn note(&self, note: impl FnOnce(&mut Notebook)) {
        if let Ok(mut notebook) = self.notebook.lock() {
            note(&mut notebook);
        }
    }

    /// Everything that a timer can be asked.
    fn says(rto: &dyn Rto, at: Time) -> String {
        let estimate = (rto.srtt(), rto.rttvar(), rto.base(), rto.backed_off(), rto.backoff_count());
        format!("{estimate:?}, {:?}, {:?}, {}", rto.deadline(at), rto.next_tick(at), rto.hears_sacks())
    }

    fn both(&mut self, at: Time, call: impl Fn(&mut dyn Rto)) {
        call(&mut self.own);
        self.with(|rto| call(rto));
        let (own, second) = (Self::says(&self.own, at), self.with(|rto| Self::says(rto, at)));
        self.note(|n| {
            n.expect(own == second, || format!("the engine's timer says {own}, and the second one {second}"))
        });
    }
}

impl Rto for WatchedRto {
    fn on_sent(&mut self, sent: &Sent) {
        self.note(Notebook::timer_informed);
        self.both(sent.at, |rto| rto.on_sent(sent));
    }
    fn on_ack(&mut self, ack: &AckEvent, now: Time) {
        self.note(Notebook::timer_heard);
        self.both(now, |rto| rto.on_ack(ack, now));
    }
    fn hears_sacks(&self) -> bool {
        self.with(|rto| rto.hears_sacks())
    }
    fn on_sample(&mut self, rtt: Nanos) {
        self.note(|n| {
            if n.greets {
                return n.greeted[3].push(rtt);
            }
            n.copy_timed();
            let timed = n.timed_copy.take();
            n.expect(timed == Some(rtt), || format!("a sample of {rtt}, and it should be {timed:?}"));
        });
        self.both(Time(rtt.0), |rto| rto.on_sample(rtt));
    }
    fn on_spurious_timeout(&mut self, fired: Time) {
        self.note(|n| {
            let known = n.spurious_at.take();
            n.expect(known == Some(fired), || format!("spurious at {fired:?}, and it should be {known:?}"));
        });
        self.both(fired, |rto| rto.on_spurious_timeout(fired));
    }
    fn srtt(&self) -> Option<Nanos> {
        self.with(|rto| rto.srtt())
    }
    fn rttvar(&self) -> Option<Nanos> {
        self.with(|rto| rto.rttvar())
    }
    fn base(&self) -> Nanos {
        self.with(|rto| rto.base())
    }
    fn backed_off(&self) -> Nanos {
        self.with(|rto| rto.backed_off())
    }
    fn back_off(&mut self) {
        self.both(Time(1), |rto| rto.back_off());
    }
    fn backoff_count(&self) -> u32 {
        self.with(|rto| rto.backoff_count())
    }
    fn deadline(&self, set: Time) -> Time {
        self.with(|rto| rto.deadline(set))
    }
    fn next_tick(&self, now: Time) -> Time {
        self.with(|rto| rto.next_tick(now))
    }
}
