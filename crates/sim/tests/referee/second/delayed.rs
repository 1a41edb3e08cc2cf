//! Blanton & Allman's DEL, worked out once more.

use super::counting::{allows, below_segments, mark_below};
use super::{advances, mss};
use ackclock_tcp::detect::delayed::{DelayCeiling, DelayTarget, DelayedSpec, Wait};
use ackclock_tcp::detect::{Detector, Learner, StandIn, Timekeeper, Verdict};
use ackclock_tcp::event::{Phase, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::reorder::ReorderSample;
use ackclock_tcp::facts::scoreboard::Scoreboard;
use ackclock_tcp::time::{Nanos, Time};

/// Blanton & Allman 2002 §6.4, §6.6. Times in nanoseconds.
pub(super) struct Delayed {
    spec: DelayedSpec,
    delta: u64,
    /// When the arming duplicate arrived, and when the retransmission is due.
    armed: Option<(u64, u64)>,
    /// When the last one went, and when its arming duplicate had arrived.
    last: Option<(u64, u64)>,
    cwnd_before_the_cut: f64,
    /// In a recovery: since when holes below an offset have enough above them.
    waiting: Vec<(u64, u64)>,
}

impl Delayed {
    pub(super) fn new(spec: &DelayedSpec) -> Delayed {
        let spec = spec.clone();
        Delayed { spec, delta: 0, armed: None, last: None, cwnd_before_the_cut: 0.0, waiting: vec![] }
    }

    fn resend(&mut self, since: u64, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.last = Some((cx.now.0, since));
        self.cwnd_before_the_cut = w.cwnd;
        Verdict::Lost(board.mark_head_lost())
    }

    fn during_recovery(&mut self, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.armed = None;
        if !self.spec.judge_in_recovery {
            return Verdict::Suspect;
        }
        if let Some(place) = below_segments(board, self.spec.arming_dups)
            && self.waiting.iter().all(|w| w.1 < place)
        {
            self.waiting.push((cx.now.0, place));
        }
        let due: Vec<u64> = self.waiting.iter().filter(|w| w.0 + self.delta <= cx.now.0).map(|w| w.1).collect();
        self.waiting.retain(|w| w.0 + self.delta > cx.now.0);
        let out = |at: u64, board: &Scoreboard| board.iter().any(|s| s.start.0 <= at && at < super::end_of(s));
        let mut marked = 0;
        for place in due {
            if out(place, board) {
                marked += mark_below(board, place);
            }
        }
        Verdict::More(marked)
    }

    /// §6.6.
    fn limit(&mut self, w: &Window, cx: &Ctx) {
        let (Wait::Adaptive, Some(srtt)) = (self.spec.wait, cx.srtt) else { return };
        let window = w.cwnd / mss(cx);
        let over = match self.spec.ceiling {
            DelayCeiling::Now => window,
            DelayCeiling::BeforeTheCut => f64::max(window, self.cwnd_before_the_cut / mss(cx)),
        };
        let share = f64::max((0.9 * window - f64::from(self.spec.arming_dups)) / over, 0.0);
        self.delta = u64::min(self.delta, (srtt.0 as f64 * share) as u64);
    }
}

impl Detector for Delayed {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        match self.spec.wait {
            Wait::Adaptive => {}
            Wait::Fixed { delay } => self.delta = delay.0,
            Wait::RoundTrip { share } => {
                self.delta = if let Some(srtt) = cx.srtt { (srtt.0 as f64 * share) as u64 } else { 0 };
            }
        }
        if cx.phase == Phase::Recovery {
            return self.during_recovery(board, cx);
        }
        self.waiting.clear();
        if advances(ack) {
            self.armed = None;
        }
        if !ack.is_dup {
            let doubt = cx.phase == Phase::Disorder && !advances(ack);
            return if doubt { Verdict::Suspect } else { Verdict::Clear };
        }
        if ack.dup_run != self.spec.arming_dups || !allows(self.spec.guard, cx) {
            return Verdict::Suspect;
        }
        if self.delta == 0 {
            return self.resend(cx.now.0, w, board, cx);
        }
        self.armed = Some((cx.now.0, cx.now.0 + self.delta));
        Verdict::Suspect
    }
    fn dupthresh(&self, _: &Window, _: &Ctx) -> Option<u32> {
        Some(self.spec.arming_dups)
    }
}

impl Timekeeper for Delayed {
    fn keeps_time(&self) -> bool {
        true
    }
    fn deadline(&self) -> Option<Time> {
        match (self.armed, self.waiting.first()) {
            (Some((_, due)), _) => Some(Time(due)),
            (None, Some((since, _))) => Some(Time(since + self.delta)),
            (None, None) => None,
        }
    }
    fn on_timer(&mut self, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if cx.phase == Phase::Recovery {
            return self.during_recovery(board, cx);
        }
        self.waiting.clear();
        match self.armed.take() {
            Some((since, _)) => self.resend(since, w, board, cx),
            None => Verdict::Clear,
        }
    }
    fn watches_sends(&self) -> bool {
        false
    }
    fn hold_until(&self) -> Option<Time> {
        None
    }
    fn owns_rto(&self) -> bool {
        false
    }
    fn stands_in_for_rto(&self) -> StandIn {
        StandIn::No
    }
    fn after_rto(&mut self, _: &mut Scoreboard, _: &Ctx) -> bool {
        false
    }
}

impl Learner for Delayed {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        let (Some(resent), Wait::Adaptive) = (sample.resent, self.spec.wait) else { return };
        let gaps = u64::max(u64::from(sample.dupacks).saturating_sub(1), 1);
        let g = (sample.last_dup.0.saturating_sub(sample.first_dup.0)) / gaps;
        let end = match self.spec.target {
            DelayTarget::Fill => sample.filled.0,
            DelayTarget::LastDup => sample.last_dup.0 + g,
        };
        let x = match self.last {
            Some((at, armed)) if at == resent.0 => end.saturating_sub(armed),
            _ => end.saturating_sub(resent.0) + self.delta,
        };
        self.delta = u64::max(self.delta + g, (self.delta + x + g) / 2);
        self.limit(w, cx);
    }
    fn on_recovered(&mut self, _: &Ctx) {
        self.waiting.clear();
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        self.limit(w, cx);
    }
    fn on_rto(&mut self, _: u32, w: &Window, _: &Ctx) {
        self.delta = 0;
        self.armed = None;
        self.cwnd_before_the_cut = w.cwnd;
        self.waiting.clear();
    }
    fn on_stall(&mut self, _: Nanos, _: &Window, _: &Ctx) {}
}
