//! The sender's own state, followed from outside: what each answer of a component leads to. Every component is shown this state, and
//! says in which call it differs.

use super::witness::Notebook;
use ackclock_tcp::congestion::LossEvent;
use ackclock_tcp::detect::{StandIn, Verdict};
use ackclock_tcp::event::{Cause, Event, Phase, Slot, Why, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::{Flow, Rearm, Xmit};
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{CcUndo, Episode};
use ackclock_tcp::facts::rate::RateSample;
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
    pub(super) hold_told: bool,
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
    pub(super) told_cuts: u32,
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
            hold_told: false,
            recover_before: None,
            verdict: Verdict::Clear,
            sack_growth: None,
            dupthresh: None,
            fact: None,
            judged: 0,
            timed: 0,
            losses: 0,
            told_cuts: 0,
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
            let told = (cx.srtt, cx.rto);
            self.expect(told == n || self.view.before_sample == Some(told), || {
                format!("the timer's values are told as {told:?}, and are {n:?}")
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
        let told = (cx.snd_una.0, cx.snd_max.0, cx.phase, cx.now, cx.snd_nxt.0, cx.recover.map(|r| r.0), cx.timed_out);
        let v = &self.view;
        let known = (book.una, book.max, book.phase, book.now, v.nxt, v.recover, v.timed_out);
        self.expect(told == known, || format!("the view is {told:?}, and it should be {known:?}"));
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
        (v.phase, v.hold_told, v.recover_before) = (self.judge.book.phase, false, v.recover);
        let w = self.judge.book.w.or(v.first);
        v.asks = v.starting && (self.judge.book.episode == 0 || w.is_some_and(|w| w.cwnd < w.ssthresh));
        self.view.before_sample = None;
        self.holds_resends = false;
        self.skip_sacked();
    }

    /// The detector is asked about an ACK.
    pub(super) fn asked_about(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) {
        self.forget_answers();
        (self.view.fact, self.view.owner, self.view.rearm) = (Some(*ack), cx.phase, Rearm::OnNewData);
        self.view.judged += 1;
        if let (Some(limited), true) = (self.view.limited, self.stops_at_the_window()) {
            let told = cx.cwnd_limited;
            self.expect(told == limited, || format!("limited by the window: {told}, and it should be {limited}"));
        }
        if let Some(bytes) = self.view.threshold.take().filter(|_| !ack.ece) {
            self.expect(w.ssthresh == bytes, || format!("the start set a threshold of {bytes}, not of {}", w.ssthresh));
        }
    }

    /// Nothing but the window and the lack of data stops this sender.
    fn stops_at_the_window(&self) -> bool {
        let s = &self.judge.book.stack;
        s.pacing == ackclock_tcp::pacing::PacingRule::Off && s.limits.maxburst_segs.is_none() && !self.holds
    }

    pub(super) fn judged(&mut self, verdict: Verdict, dupthresh: Option<u32>) {
        (self.view.verdict, self.view.dupthresh) = (verdict, dupthresh);
    }

    /// The detector's timer has run, and `counts_from` is when a timer that counts from the oldest segment fires.
    pub(super) fn timer_ran(&mut self, verdict: Verdict, cx: &Ctx, own: Option<Time>) {
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

    fn no_timer_without_data(&mut self) {
        if self.judge.book.out.is_empty() || self.view.owns_rto {
            self.view.rto_at = None;
        }
    }

    /// A cut was told to the detector; if a timer led to it, the repair that began says what the timer does.
    pub(super) fn cut_told(&mut self, cx: &Ctx) {
        self.view.told_cuts += 1;
        if std::mem::take(&mut self.view.by_timer) && self.view.rearm == Rearm::Restart {
            self.view.set_timer(cx.now);
            self.no_timer_without_data();
        }
    }

    /// The oldest segment was resent, and that restarts the timer once everybody was told.
    pub(super) fn oldest_resent(&mut self, now: Time) {
        self.view.restart = Some(now);
    }

    fn restart_now(&mut self) {
        if let Some(at) = self.view.restart.take() {
            self.view.set_timer(at);
            self.no_timer_without_data();
        }
    }

    /// The congestion control computes a cut.
    pub(super) fn loss(&mut self, l: &LossEvent, w: &Window) {
        let book = &self.judge.book;
        let repaired = self.view.verdict == Verdict::Repaired && self.judge.ack.is_some();
        let acked = self.judge.ack.as_ref().map_or(0, |a| a.acked);
        let beyond = match (book.phase, l.cause) {
            (Phase::Disorder, _) => self.view.beyond,
            (Phase::Recovery, Cause::Fast) => book.sacked(),
            (Phase::Recovery | Phase::Open | Phase::Loss, _) => 0,
        };
        let flight = book.flight().saturating_sub(beyond) + if repaired && l.cause == Cause::Fast { acked } else { 0 };
        let told = (l.flight, l.rwnd, l.first.0, l.in_recovery);
        let known = (flight, u64::from(book.wnd()), book.una, book.phase == Phase::Recovery);
        self.expect(told == known, || format!("the loss is {told:?}, and it should be {known:?}"));
        self.view.losses += 1;
        self.view.last_loss = Some((*l, *w, 0.0));
    }

    /// The cut; an episode begins with it, except for marks and for losses that are repaired already.
    pub(super) fn cut(&mut self, l: &LossEvent, target: f64) {
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
    pub(super) fn repeated(&mut self) {
        self.view.recover = Some(self.judge.book.max);
    }

    /// The record of a new episode.
    pub(super) fn check_episode(&mut self, ep: &Episode, remembered: Option<(Window, CcUndo)>) {
        let Some((l, w, target)) = self.view.last_loss else { return };
        let book = &self.judge.book;
        let told = (ep.cause, ep.began, ep.recover.0, ep.target, ep.flight, ep.retransmits, ep.filled, ep.ended);
        let known = (l.cause, book.now, book.max, target, l.flight, 0, None, None);
        self.expect(told == known, || format!("the episode is {told:?}, and it should be {known:?}"));
        let (told, known) = ((ep.prior, ep.cc_undo.get()), remembered.unwrap_or((w, self.saved)));
        self.expect(told == known, || format!("it remembers {told:?}, and not {known:?}"));
        let (span, told) = (self.span.take(), (ep.first_dup, ep.last_dup));
        let span = span.unwrap_or((ep.began, ep.began));
        self.expect(told == span, || format!("its duplicates came at {told:?}, and not at {span:?}"));
    }

    /// The start of the connection says something.
    pub(super) fn start_asked(&mut self) {
        self.view.asked += 1;
    }

    pub(super) fn advised(&mut self, threshold: Option<f64>, share: Option<f32>) {
        self.view.threshold = threshold.or(self.view.threshold);
        self.view.share = share.unwrap_or(self.view.share);
    }

    /// The congestion control has opened the window.
    pub(super) fn grown(&mut self, before: &Window, after: &Window) {
        let slower = self.view.share != 1.0 && before.cwnd < before.ssthresh;
        let share = if slower { f64::from(self.view.share) } else { 1.0 };
        let cwnd = before.cwnd + (after.cwnd - before.cwnd) * share;
        self.view.grown += 1;
        self.view.grown_to = Some(Window { cwnd, ..*after });
    }

    pub(super) fn mistake_ends_repair(&mut self) {
        self.view.mistaken = true;
    }

    pub(super) fn copy_timed(&mut self) {
        self.view.before_sample = self.view.ask(|rto| (rto.srtt(), rto.base()));
    }

    pub(super) fn timer_heard(&mut self) {
        self.view.timed += 1;
    }

    /// Nothing was sent in Disorder for that long.
    pub(super) fn stall_told(&mut self, idle: Nanos, now: Time) {
        let since = self.view.may_stall.take();
        let known = self.view.stalled.take().or(since).map(|since| now.since(since));
        let free = !self.stops_at_the_window() || self.next_segment().is_none();
        self.expect_complete(free || known == Some(idle), || format!("a stall of {idle}, and it was {known:?}"));
    }

    /// Follows a report of the sender. The notebook has it already.
    pub(crate) fn follow(&mut self, at: Time, e: &Event, new_data: bool, next: Option<u64>) {
        if !self.complete {
            return;
        }
        self.restart_now();
        match *e {
            Event::Sent { start, len, by, sends, .. } => {
                self.view.may_stall = None;
                self.check_probe(at, start.0, new_data, next);
                let alone = new_data && self.judge.book.out.len() == 1;
                self.sent_after_pause(at, alone);
                let (end, urgent) = (start.0 + u64::from(len), std::mem::take(&mut self.view.urgent));
                self.tally_sent(by, sends > 1, false);
                let probe = urgent || (by == Slot::Sequencer && self.judge.book.phase != Phase::Open);
                let again = by != Slot::Sequencer && self.view.wanted.is_some_and(|x| x != Xmit::New);
                if new_data {
                    self.view.nxt = self.judge.book.max;
                } else if start.0 == self.view.nxt && !probe && !again {
                    self.view.nxt = end;
                    self.skip_sacked();
                }
                if self.view.rto_at.is_none() && !self.view.owns_rto {
                    self.view.set_timer(at);
                }
            }
            Event::Window { by, from, to, .. } => {
                if by == Slot::Startup {
                    self.start_writes(from, to);
                }
                if let (Slot::Congestion, Some(want)) = (by, self.view.grown_to.take()) {
                    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * f64::max(a, b);
                    let same = near(to.cwnd, want.cwnd) && near(to.ssthresh, want.ssthresh);
                    self.expect(same, || format!("the window grows to {to:?}, and it should be {want:?}"));
                }
            }
            Event::Phase { why, to, .. } => {
                if why == Why::Mistaken {
                    self.view.nxt = self.judge.book.max;
                }
                if to == Phase::Recovery {
                    self.view.rearm = Rearm::OnNewData;
                }
            }
            Event::Timeout { backoff, .. } => {
                (self.view.urgent, self.view.fired, self.view.by_timer) = (false, true, false);
                self.presume(0);
                self.no_probe();
                let known = self.view.ask(|rto| rto.backoff_count());
                self.expect(known.is_none_or(|n| n == backoff), || format!("back-off {backoff}, and not {known:?}"));
            }
            Event::Persist { .. } => {
                (self.view.urgent, self.view.probed) = (true, true);
                self.no_probe();
            }
            Event::Acked { pipe, .. } => {
                let (told, known) = (self.view.in_flight.take(), pipe.div_ceil(self.judge.book.mss) as u32);
                self.expect(told.is_none_or(|n| n == known), || format!("{told:?} in flight, and not {known}"));
                self.ack_done(at);
            }
            Event::Inflation { .. } | Event::Mistake { .. } | Event::Threshold { .. } | Event::Rtt { .. } => {}
        }
    }

    /// The timeout after a timeout, when everything else is done.
    pub(crate) fn rto_told(&mut self, at: Time) {
        if std::mem::take(&mut self.view.fired) {
            self.view.set_timer(at);
            let (losses, told) = (self.view.losses, self.view.told_cuts);
            self.expect_complete(losses == told, || format!("{losses} cuts, and {told} were told"));
        }
    }

    fn expect_complete(&mut self, holds: bool, why: impl FnOnce() -> String) {
        self.expect(holds || !self.complete, why);
    }

    /// What a sample of the delivery rate takes from the ACK; the data in flight is reported with the ACK.
    pub(super) fn check_sample(&mut self, rs: &RateSample) {
        self.view.in_flight = Some(rs.in_flight);
        let rtt = self.view.fact.and_then(|a| a.rtt).map(|rtt| rtt.0 / 1000);
        self.expect_complete(rs.rtt_us == rtt, || format!("a sample's RTT is {:?} µs, and not {rtt:?}", rs.rtt_us));
    }

    /// The sender has done all that follows from an ACK.
    fn ack_done(&mut self, at: Time) {
        let v = &mut self.view;
        if v.grown_to.take().is_some_and(|want| self.judge.book.w.is_some_and(|w| w != want)) {
            self.expect(false, || "growth without a report".into());
        }
        let v = &mut self.view;
        let Some(a) = v.fact.take() else { return };
        let advances = super::advances(&a);
        let oldest = self.judge.book.out.first().map(|p| p.last);
        let hears_sacks = v.ask(|rto| rto.hears_sacks()).unwrap_or(false);
        let sack_restarts =
            !advances && hears_sacks && a.rtt.zip(oldest).is_some_and(|(rtt, sent)| rtt > at.since(sent));
        if v.rearm == Rearm::Restart || (v.rearm == Rearm::OnNewData && (advances || sack_restarts)) {
            v.set_timer(at);
        }
        self.no_timer_without_data();
        self.check_calls(&a, advances, hears_sacks);
        self.check_phase(&a, self.view.owner, self.view.verdict);
        self.check_told();
        self.look_for_a_stall(at);
    }

    fn check_calls(&mut self, a: &AckEvent, advances: bool, hears_sacks: bool) {
        let v = &self.view;
        let by_sack = v.verdict.lost() == 0 && !a.ece && a.sacked > 0;
        let by_sack = by_sack && v.sack_growth.zip(v.dupthresh).is_some_and(|(above, d)| d > above);
        let opens = if advances { !a.ece && !v.mistaken } else { by_sack };
        let grows = u32::from(opens && v.owner != Phase::Recovery) + u32::from(v.done_grow && !a.ece);
        let heard = u32::from(advances || (a.rtt.is_some() && hears_sacks));
        let told = (v.judged, v.grown, v.timed, v.asked, v.told_cuts);
        let known = (1, grows, heard, u32::from(v.asks), v.losses);
        self.expect_complete(told == known, || {
            format!(
                "on an ACK detector, growth, timer and start were asked, and cuts told, {told:?} times, not {known:?}"
            )
        });
        let stalled = self.view.stalled.filter(|_| self.judge.book.phase != Phase::Disorder);
        self.expect_complete(stalled.is_none(), || format!("a stall since {stalled:?} was not told"));
    }
}
