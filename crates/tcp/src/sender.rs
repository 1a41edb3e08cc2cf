//! The sequencer. It and the files in its folder are the only code that knows the order of steps. It contains no algorithm.
//!
//! On an ACK: read it (facts), ask the judges (verdicts), let the phase's owner act (consequences), set the timers. The
//! rules are numbered as in ARCHITECTURE.md, "The sequencer", which also says which file implements which rule.

mod cold;
mod ecn;
mod emulated_sack;
mod hold;
mod idle;
mod info;
mod mss;
mod pace;
mod patience;
mod persist;
mod rate;
mod read;
mod reorder;
mod repair;
#[cfg(test)]
mod tests;
mod timers;
mod transmit;
mod view;
mod window;

use crate::congestion::Congestion;
use crate::detect::{Detector, Timekeeper, Verdict};
use crate::disorder::Disorder;
use crate::event::{Cause, Observer, Phase, Slot, Why, Window};
use crate::facts::ack::{AckEvent, DupRule};
use crate::facts::answer::{Flow, Rearm};
use crate::facts::ctx::Ctx;
use crate::facts::gate::Gate;
use crate::facts::scoreboard::Scoreboard;
use crate::recovery::Recovery;
use crate::rto::Rto;
use crate::segment::Segment;
use crate::seq::Offset;
use crate::stack::{Slots, Stack};
use crate::startup::Startup;
use crate::time::Time;
use crate::timeout::Timeout;
use crate::units::Bytes;
use cold::Cold;
use hold::Hold;
pub use mss::TooBig;
use persist::Persist;
use read::{MinRtt, PeerWindow};
use std::num::NonZeroU16;
use timers::Timers;

/// The sending half of a connection after the handshake. The fields that every ACK and every send touches come first: with many
/// flows, the cache holds no more than these.
#[repr(C, align(64))]
pub struct Sender {
    w: Window,
    snd_una: Offset,
    snd_nxt: Offset,
    snd_max: Offset,
    /// Right edge of the peer's window.
    edge: Offset,
    /// End of the data that the application has written, its FIN included.
    stream_end: Offset,
    /// How far new data may go.
    limit: Offset,
    timers: Timers,
    peer: PeerWindow,
    min_rtt: MinRtt,
    mss: u32,
    dup_run: u32,
    maxburst: u32,
    burst_left: u32,
    phase: Phase,
    closed: bool,
    dup_rule: DupRule,
    cwnd_limited: bool,
    /// The recovery's gate in Open; it never changes.
    open_gate: Gate,
    /// Something must be sent regardless of the window.
    urgent: bool,
    /// The detector wants to see every send, or sends are paced.
    watched: bool,
    /// The detector has deadlines, or the congestion control wants to see each ACK.
    clocked: bool,
    /// The congestion control wants samples of the delivery rate.
    rated: bool,
    /// Sends are paced, and therefore all watched.
    paced: bool,
    avoid_silly_window: bool,
    /// ECE if the connection uses ECN, else 0.
    ece_flag: u8,
    /// The next new segment says that the window was reduced (RFC 3168 §6.1.2).
    cwr_due: bool,
    /// Whether SACKed segments are skipped after going back.
    skip_sacked: bool,
    last_sends: u8,
    probed: bool,
    /// The rule that holds back small segments.
    hold: Hold,
    /// The next segment may be the first after an idle period.
    pause_due: bool,
    /// `startup` is told about ACKs.
    starting: bool,
    /// `startup` restrains the growth of slow start.
    damped: bool,
    max_train: u16,
    growth: f32,
    /// The threshold last reported to observers. Values from 65,535 up are reported as 65,535.
    reported_dupthresh: Option<NonZeroU16>,
    /// Of the newest episode: where it ends, and whether a timeout began it. Both are copied from the cold ledger.
    timed_out: bool,
    recover: Option<Offset>,
    cap: Bytes,
    board: Scoreboard,
    slots: Slots,
    // State that only losses touch.
    cold: Box<Cold>,
    persist: Persist,
}

impl Sender {
    /// A sender that may start with data at once. `rwnd` is the peer's window in bytes.
    pub fn new(stack: &Stack, mss: u32, rwnd: Bytes) -> Self {
        Self::opened(stack, mss, rwnd, rwnd)
    }

    /// As [`Sender::new`], for a peer whose window can grow to `largest`.
    pub(crate) fn opened(stack: &Stack, mss: u32, rwnd: Bytes, largest: Bytes) -> Self {
        let (slots, late_sack) = (stack.build(mss), stack.options.late_sack);
        let wnd = u32::try_from(rwnd).unwrap_or(u32::MAX);
        let rated = slots.congestion.hears_rates();
        let maxburst = stack.limits.maxburst_segs.unwrap_or(u32::MAX);
        let cap = stack.limits.cwnd_cap_segs.map_or(u64::MAX, |n| u64::from(n) * u64::from(mss));
        Sender {
            board: Scoreboard::default(),
            w: slots.startup.initial(mss, largest),
            snd_una: Offset::DATA,
            snd_nxt: Offset::DATA,
            snd_max: Offset::DATA,
            edge: Offset::DATA + u64::from(wnd),
            stream_end: Offset::DATA,
            limit: Offset::DATA,
            timers: Timers::default(),
            mss,
            dup_run: 0,
            maxburst,
            burst_left: maxburst,
            phase: Phase::Open,
            closed: false,
            dup_rule: stack.dup_rule,
            cwnd_limited: false,
            open_gate: slots.recovery.open_gate(),
            urgent: false,
            watched: !stack.pacing.is_off() || slots.detect.watches_sends(),
            paced: !stack.pacing.is_off(),
            clocked: slots.detect.keeps_time() || rated,
            rated,
            avoid_silly_window: stack.limits.avoid_silly_window,
            ece_flag: if stack.options.ecn { Segment::ECE } else { 0 },
            cwr_due: false,
            skip_sacked: true,
            last_sends: 0,
            probed: false,
            hold: Hold::default(),
            pause_due: false,
            starting: true,
            max_train: stack.limits.max_train,
            damped: false,
            growth: 1.0,
            reported_dupthresh: None,
            peer: PeerWindow { wnd, max_wnd: wnd, wl1: Offset::DATA, wl2: Offset::DATA },
            cap,
            recover: None,
            timed_out: false,
            min_rtt: MinRtt::default(),
            cold: Box::new(Cold {
                agreed_mss: mss,
                idle_rule: stack.idle,
                late_sack,
                cap_outside: slots.recovery.passes_cap().then_some(cap),
                rates: rated.then(Box::default),
                ..Cold::default()
            }),
            slots,
            persist: Persist::default(),
        }
    }

    /// Processes an ACK, in the order given in ARCHITECTURE.md.
    pub fn on_ack<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) {
        // Rule 1. An unacceptable ACK changes nothing.
        if seg.ack < self.snd_una || seg.ack > self.snd_max {
            return self.on_late_ack(now, seg, obs);
        }
        // Rule 2. The facts. The usual ACK takes a shorter path, without the steps that cannot apply to it.
        let Some(at) = self.take_plain(seg) else { return self.on_unusual_ack(now, seg, obs) };
        let ack = self.read_plain(now, seg, at);
        self.weigh(now, &ack, obs);
    }

    /// Rules 3 to 10.
    #[inline(always)]
    fn weigh<O: Observer>(&mut self, now: Time, ack: &AckEvent, obs: &mut O) {
        self.burst_left = self.maxburst;
        // Rule 3. Estimates.
        if ack.advances() || (ack.rtt.is_some() && self.slots.rto.hears_sacks()) {
            self.slots.rto.on_ack(ack, now);
        }
        let mut cx = self.context(now);
        if self.starting && (self.w.cwnd < self.w.ssthresh || self.cold.ledger.count() == 0) {
            self.ask_start(now, ack, &cx, obs);
        }
        // Rule 4.
        if self.phase == Phase::Disorder && ack.advances() {
            self.hole_filled_itself(now, ack, &cx);
        }
        let mut grows = ack.advances();
        if ack.ece {
            // RFC 3168 §6.1.2: an echo does not open the window; RFC 4015 §3.1 (9): nor is a cut undone by its ACK.
            grows = false;
            self.on_ece(now, obs);
            cx = self.ctx(now);
        }
        // Rule 5. Was an earlier episode a mistake?
        self.judge_past(now, ack, &mut cx, &mut grows, obs);
        // Rule 6. Is something lost?
        let before = self.phase;
        let verdict = self.slots.detect.on_ack(ack, &self.w, &mut self.board, &cx);
        if !ack.advances() {
            grows = self.grows_by_sack(ack, verdict, &cx);
        }
        // Rule 7. The owner of the phase acts.
        let rearm = match self.phase {
            Phase::Open => self.in_open(now, ack, grows, verdict, &cx, obs),
            Phase::Disorder => self.in_disorder(now, ack, grows, verdict, &cx, obs),
            Phase::Recovery => self.in_recovery(now, ack, verdict, &cx, obs),
            Phase::Loss => self.in_loss(now, ack, grows, verdict, &cx, obs),
        };
        // Rule 10. Timers; the run of duplicates ends with an ACK that advances.
        self.rearm(now, rearm, ack.advances() || self.sack_restarts(now, ack));
        if ack.advances() {
            self.dup_run = 0;
        }
        if self.clocked {
            self.after_judging(now, ack, verdict, obs);
        }
        if self.persist.is_running() {
            self.window_may_have_opened(now);
        }
        if O::ENABLED {
            // Growth alone does not change the threshold in force: it is read when the next hole begins.
            if before != Phase::Open || self.phase != Phase::Open || self.reported_dupthresh.is_none() {
                self.tell_dupthresh(now, obs);
            }
            self.tell_rto(now, obs);
        }
        self.tell_ack(now, ack, obs);
        self.check();
    }

    #[inline(always)]
    fn in_open<O: Observer>(
        &mut self,
        now: Time,
        ack: &AckEvent,
        grows: bool,
        verdict: Verdict,
        cx: &Ctx,
        obs: &mut O,
    ) -> Rearm {
        if grows {
            self.grow(now, ack, cx, obs);
        }
        match verdict {
            Verdict::Clear => Rearm::OnNewData,
            Verdict::Suspect => {
                self.set_phase(now, Phase::Disorder, Why::Suspected, obs);
                let cx = self.ctx(now);
                self.slots.disorder.on_enter(&self.w, &cx);
                if ack.is_dup {
                    self.cold.reorder.on_dup(now);
                    self.slots.disorder.on_dup(ack, &self.w, &cx);
                }
                Rearm::OnNewData
            }
            loss => self.act_on(now, loss, Some(ack), obs),
        }
    }

    fn in_disorder<O: Observer>(
        &mut self,
        now: Time,
        ack: &AckEvent,
        grows: bool,
        verdict: Verdict,
        cx: &Ctx,
        obs: &mut O,
    ) -> Rearm {
        if ack.advances() {
            self.end_stall(now);
            self.write_window(now, Slot::Disorder, obs, |s| s.slots.disorder.on_resolved(&mut s.w, cx));
        }
        if grows {
            self.grow(now, ack, cx, obs);
        }
        match verdict {
            // Only an advancing ACK can end Disorder.
            Verdict::Clear if ack.advances() => self.set_phase(now, Phase::Open, Why::Resolved, obs),
            Verdict::Clear | Verdict::Suspect => {
                if ack.is_dup {
                    self.cold.reorder.on_dup(now);
                    self.slots.disorder.on_dup(ack, &self.w, cx);
                }
            }
            loss => return self.act_on(now, loss, Some(ack), obs),
        }
        Rearm::OnNewData
    }

    fn in_recovery<O: Observer>(
        &mut self,
        now: Time,
        ack: &AckEvent,
        verdict: Verdict,
        cx: &Ctx,
        obs: &mut O,
    ) -> Rearm {
        let mut flow = Flow::Continue(Rearm::OnNewData);
        self.write_window(now, Slot::Recovery, obs, |s| {
            if let Some(ep) = s.cold.ledger.open() {
                // Rule 30.
                match (ack.advances(), ep.filled) {
                    (true, None) => (ep.filled, ep.dupacks_to_fill) = (Some(now), ack.dup_run),
                    (false, None) if ack.is_dup => ep.last_dup = now,
                    _ => {}
                }
                flow = s.slots.recovery.on_ack(ack, verdict.lost(), ep, &mut s.w, &mut s.board, cx);
            }
        });
        self.note_recover();
        self.follow(now, flow, Some(ack), obs)
    }

    fn in_loss<O: Observer>(
        &mut self,
        now: Time,
        ack: &AckEvent,
        grows: bool,
        verdict: Verdict,
        cx: &Ctx,
        obs: &mut O,
    ) -> Rearm {
        if grows {
            self.grow(now, ack, cx, obs);
        }
        let (mut flow, mut mistake) = (Flow::Continue(Rearm::OnNewData), None);
        self.write_window(now, Slot::Timeout, obs, |s| {
            if let Some(ep) = s.cold.ledger.open() {
                (flow, mistake) = s.slots.timeout.on_ack(ack, verdict.lost(), ep, &mut s.w, &mut s.board, cx);
            }
        });
        self.note_recover();
        if let Some(m) = mistake {
            self.mistake(now, &m, Some(ack), obs);
            return Rearm::OnNewData;
        }
        self.follow(now, flow, Some(ack), obs)
    }

    /// Carries out the answer of the owner of Recovery or Loss.
    fn follow<O: Observer>(&mut self, now: Time, flow: Flow, ack: Option<&AckEvent>, obs: &mut O) -> Rearm {
        match flow {
            Flow::Continue(rearm) => rearm,
            // Rule 9.
            Flow::Done { grow } => {
                self.end_episode(now, ack, grow, obs);
                Rearm::OnNewData
            }
            // Rule 14.
            Flow::Restart => {
                self.set_phase(now, Phase::Loss, Why::Restarted, obs);
                self.enter_loss(now, obs);
                Rearm::Restart
            }
            // Rule 16.
            Flow::Rewind => {
                self.rewind();
                Rearm::OnNewData
            }
            // Rule 8.
            Flow::Begin => {
                if self.phase == Phase::Recovery {
                    self.cold.ledger.close(now);
                }
                self.begin(now, Cause::Fast, ack, obs)
            }
        }
    }
}
