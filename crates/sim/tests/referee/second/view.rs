//! The sender's own state, followed from outside: what each answer of a component leads to. Every component is shown this state, and
//! says in which call it differs.

mod inputs;
mod reports;

use super::witness::Notebook;
use ackclock_tcp::congestion::LossEvent;
use ackclock_tcp::detect::{StandIn, Verdict};
use ackclock_tcp::event::{Cause, Phase, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::{Flow, Rearm, Xmit};
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::Episode;
use ackclock_tcp::rto::Rto;
use ackclock_tcp::time::{Nanos, Time};
use std::sync::{Arc, Mutex};

/// The timer's slot, which the sender and the notebook ask for the same values.
pub(crate) type SharedRto = Arc<Mutex<Box<dyn Rto>>>;

/// What is known of the sender.
pub(crate) struct View {
    pub(super) rto: Option<SharedRto>,
    /// `snd_nxt`, and whether it skips SACKed segments after going back.
    nxt: u64,
    skips: bool,
    /// Of the newest episode.
    pub(super) recover: Option<u64>,
    timed_out: bool,
    /// When the retransmission timer fires; unknown once a closed window was probed.
    rto_at: Option<Time>,
    probed: bool,
    pub(super) owns_rto: bool,
    pub(super) stand_in: StandIn,
    rearm: Rearm,
    restart: Option<Time>,
    /// SRTT and the timeout before a sample that a judge of mistakes took on this ACK.
    before_sample: Option<(Option<Nanos>, Nanos)>,
    /// The timer has fired, and not everything that follows is done.
    fired: bool,
    /// What the last sample said to be in flight.
    in_flight: Option<u32>,
    /// The detector's timer has run.
    by_timer: bool,
    /// What the owner of the phase last asked for.
    pub(super) wanted: Option<Xmit>,
    /// A probe was asked for: the next segment is sent in any case.
    urgent: bool,
    /// Sending stopped because the window was full.
    limited: Option<bool>,
    /// The detector's deadline, and when it named it.
    pub(super) deadline: Option<(Time, Time)>,
    /// The first window; the window that this ACK's growth must give; the threshold that the start asked for.
    pub(super) first: Option<Window>,
    grown_to: Option<Window>,
    threshold: Option<f64>,
    /// The share of its usual growth that slow start has, below 1 if it is damped.
    share: f32,
    /// Whether the start is told about ACKs, is so after the first loss, and was told about this one.
    starting: bool,
    pub(super) hears_every_slow_start: bool,
    asked: u32,
    asks: bool,
    /// Growth on this ACK: how often there was, and what decides how often there should have been.
    grown: u32,
    mistaken: bool,
    done_grow: bool,
    owner: Phase,
    /// The phase in which this ACK came, and whether the recovery was told if it may resend.
    pub(super) phase: Phase,
    pub(super) hold_reported: bool,
    pub(super) recover_before: Option<u64>,
    verdict: Verdict,
    /// `grows_by_sack_above`, and the detector's threshold after it judged.
    pub(super) sack_growth: Option<u32>,
    pub(super) dupthresh: Option<u32>,
    fact: Option<AckEvent>,
    /// Calls of the detector and of the timer on this ACK.
    judged: u32,
    timed: u32,
    /// Cuts computed, and cuts told to the detector.
    losses: u32,
    pub(super) reported_cuts: u32,
    /// What is sent in Disorder beyond the window.
    pub(super) beyond: u64,
    /// The last loss, and the window before it.
    last_loss: Option<(LossEvent, Window, f64)>,
    /// Since when nothing could be sent in Disorder; whether the last ACK released nothing so far.
    stalled: Option<Time>,
    may_stall: Option<Time>,
}

impl View {
    pub(crate) fn new() -> View {
        View {
            rto: None,
            nxt: 1,
            skips: true,
            recover: None,
            timed_out: false,
            rto_at: None,
            probed: false,
            owns_rto: false,
            stand_in: StandIn::No,
            rearm: Rearm::OnNewData,
            restart: None,
            before_sample: None,
            wanted: None,
            fired: false,
            in_flight: None,
            by_timer: false,
            urgent: false,
            limited: None,
            deadline: None,
            first: None,
            grown_to: None,
            threshold: None,
            share: 1.0,
            starting: true,
            hears_every_slow_start: false,
            asked: 0,
            asks: false,
            grown: 0,
            mistaken: false,
            done_grow: false,
            owner: Phase::Open,
            phase: Phase::Open,
            hold_reported: false,
            recover_before: None,
            verdict: Verdict::Clear,
            sack_growth: None,
            dupthresh: None,
            fact: None,
            judged: 0,
            timed: 0,
            losses: 0,
            reported_cuts: 0,
            beyond: 0,
            last_loss: None,
            stalled: None,
            may_stall: None,
        }
    }

    pub(super) fn was_probed(&self) -> bool {
        self.probed
    }

    pub(super) fn nxt(&self) -> u64 {
        self.nxt
    }

    pub(super) fn ask<T>(&self, question: impl FnOnce(&dyn Rto) -> T) -> Option<T> {
        let rto = self.rto.as_ref()?.lock().ok()?;
        Some(question(rto.as_ref()))
    }

    fn set_timer(&mut self, from: Time) {
        self.rto_at = self.ask(|rto| rto.deadline(from));
    }

    /// The answer of an owner of Recovery or Loss.
    pub(super) fn flow(&mut self, flow: Flow, by_ack: bool) {
        self.rearm = match flow {
            Flow::Continue(rearm) => rearm,
            Flow::Restart => Rearm::Restart,
            Flow::Done { .. } | Flow::Rewind | Flow::Begin => Rearm::OnNewData,
        };
        self.done_grow |= by_ack && flow == Flow::Done { grow: true };
    }

    /// A mistake was found in Loss: its answer does not count.
    pub(super) fn no_flow(&mut self) {
        (self.rearm, self.done_grow) = (Rearm::OnNewData, false);
    }

    /// Somebody else sets the threshold after the start of the connection did on this ACK.
    pub(super) fn threshold_moves(&mut self, from: f64, to: f64) {
        self.threshold = self.threshold.filter(|_| from == to);
    }

    pub(super) fn follow_episode(&mut self, ep: &Episode) {
        (self.recover, self.timed_out) = (Some(ep.recover.0), ep.cause == Cause::Rto);
    }

    pub(super) fn follow_newest(&mut self, newest: Option<&Episode>) {
        if let Some(ep) = newest {
            self.follow_episode(ep);
        }
    }
}

impl Notebook {
    /// The view that a component gets is what the answers so far lead to.
    pub(super) fn check_cx(&mut self, cx: &Ctx) {
        if !self.complete {
            return;
        }
        self.check_state(cx);
        let (now, stands_in) = (cx.now, self.view.stand_in != StandIn::No);
        if self.view.restart.is_some_and(|at| at < now) {
            self.restart_now();
        }
        if let Some(n) = self.view.ask(|rto| (rto.srtt(), rto.base())) {
            let seen = (cx.srtt, cx.rto);
            self.expect(seen == n || self.view.before_sample == Some(seen), || {
                format!("the timer's values are told as {seen:?}, and are {n:?}")
            });
            let fires = self.view.rto_at == Some(now) && cx.rto_at.is_none();
            if fires || self.view.probed {
                self.view.rto_at = cx.rto_at;
            }
            if cx.rto_at != self.view.rto_at {
                self.restart_now();
            }
            let known = self.view.rto_at;
            self.expect(cx.rto_at == known, || {
                format!("at {now:?} the timer is due at {:?}, not at {known:?}", cx.rto_at)
            });
            let late = known.is_some_and(|at| at < now);
            self.expect(!late || stands_in || self.view.probed, || format!("the timer was due at {known:?}"));
        }
        let missed = self.view.deadline.is_some_and(|(at, named)| at.max(named) < now);
        let deadline = self.view.deadline;
        self.expect(!missed, || format!("the detector's deadline was missed: {deadline:?}"));
    }

    fn check_state(&mut self, cx: &Ctx) {
        if self.judge.ack.is_none() {
            // Timers make no noise.
            self.judge.book.now = self.judge.book.now.max(cx.now);
        }
        let book = &self.judge.book;
        let seen = (cx.snd_una.0, cx.snd_max.0, cx.phase, cx.now, cx.snd_nxt.0, cx.recover.map(|r| r.0), cx.timed_out);
        let v = &self.view;
        let known = (book.una, book.max, book.phase, book.now, v.nxt, v.recover, v.timed_out);
        self.expect(seen == known, || format!("the view is {seen:?}, and it should be {known:?}"));
        self.check_room(cx);
    }

    pub(super) fn check_window(&mut self, w: &Window) {
        if !self.complete {
            return;
        }
        if let Some(want) = self.view.grown_to.take() {
            self.expect_complete(want == *w, || format!("the window grows to {w:?}, and it should be {want:?}"));
        }
        let window = self.judge.book.w;
        let same = window.is_none_or(|b| b == *w);
        self.expect(same, || format!("a window of {w:?}, and {window:?} was reported"));
    }

    /// After going back, SACKed data is skipped.
    fn skip_sacked(&mut self) {
        let (book, v) = (&self.judge.book, &mut self.view);
        while v.skips && v.nxt < book.max {
            let at = book.out.iter().find(|p| p.start <= v.nxt && v.nxt < p.end).filter(|p| p.sacked.is_some());
            let Some(p) = at else { return };
            v.nxt = p.end;
        }
    }

    pub(super) fn go_back(&mut self, skips: Option<bool>) {
        self.view.nxt = self.judge.book.una;
        self.view.skips = skips.unwrap_or(self.view.skips);
    }

    /// A segment is about to reach the sender.
    pub(crate) fn before_ack(&mut self) {
        self.probe_was_sent();
        self.view.limited = self.next_segment().map(|(_, len)| len > 0);
        self.restart_now();
        self.view.by_timer = false;
        self.stall_holds();
    }

    /// Nothing was sent since.
    fn stall_holds(&mut self) {
        if let Some(at) = self.view.may_stall.take() {
            self.view.stalled.get_or_insert(at);
        }
    }

    /// In Disorder nothing may be sent from now on, as long as nothing is.
    fn look_for_a_stall(&mut self, now: Time) {
        self.stall_holds();
        let disorder = self.judge.book.phase == Phase::Disorder;
        let waits = self.next_segment().is_some_and(|(_, len)| len > 0);
        if self.stops_at_the_window() && disorder && waits {
            self.view.may_stall = Some(now);
        }
    }

    /// The notebook has taken the segment.
    pub(crate) fn ack_taken(&mut self) {
        let Some(ack) = &self.judge.ack else { return };
        let (late, una) = (ack.ack < self.judge.book.una, self.judge.book.una);
        if late && ack.news.is_empty() && ack.dsack.is_none() {
            // Nobody is told of it.
            self.judge.ack = None;
            return;
        }
        let v = &mut self.view;
        v.nxt = v.nxt.max(una);
        (v.rearm, v.grown, v.mistaken, v.done_grow, v.fact, v.judged) = (Rearm::OnNewData, 0, false, false, None, 0);
        (v.timed, v.asked, v.verdict) = (0, 0, Verdict::Clear);
        (v.phase, v.hold_reported, v.recover_before) = (self.judge.book.phase, false, v.recover);
        let w = self.judge.book.w.or(v.first);
        v.asks = v.starting && (self.judge.book.episode == 0 || w.is_some_and(|w| w.cwnd < w.ssthresh));
        self.view.before_sample = None;
        self.holds_resends = false;
        self.skip_sacked();
    }
}
