//! The detectors that count, worked out once more.

use super::{advances, board, thresholds};
use ackclock_tcp::detect::dup_ack::DupAckSpec;
use ackclock_tcp::detect::fack::FackSpec;
use ackclock_tcp::detect::threshold::{DupThresh, ThresholdSpec};
use ackclock_tcp::detect::vegas::VegasSpec;
use ackclock_tcp::detect::{Detector, Guard, Learner, Timekeeper, Verdict};
use ackclock_tcp::event::{Phase, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::reorder::ReorderSample;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Nanos;

/// Whether an earlier episode allows a fast retransmit (RFC 6582 §3.2, RFC 6675 §5.1, ns-2).
pub(super) fn allows(guard: Guard, cx: &Ctx) -> bool {
    let Some(recover) = cx.recover else { return true };
    match guard {
        Guard::Off => true,
        Guard::Careful => cx.snd_una.0 > recover.0,
        Guard::LessCareful => cx.snd_una.0 >= recover.0,
        Guard::AfterTimeout => !cx.timed_out || cx.snd_una.0 > recover.0,
    }
}

pub(super) fn repairs(cx: &Ctx) -> bool {
    cx.phase == Phase::Recovery || cx.phase == Phase::Loss
}

/// Marks every hole lost that lies below a place; returns the bytes newly marked. A hole that was resent keeps its copy (RFC 6675
/// §4, NextSeg (1.a)).
pub(super) fn mark_below(board: &mut Scoreboard, place: u64) -> u64 {
    let holes = board::bytes(board, |s| s.start.0 < place && !board::sacked(s) && !board::lost(s));
    board.mark_holes_below(Offset(place));
    holes
}

/// Where `n` SACKed segments begin, counted from the top.
pub(super) fn below_segments(board: &Scoreboard, n: u32) -> Option<u64> {
    let mut sacked: Vec<u64> = board.iter().filter(|s| board::sacked(s)).map(|s| s.start.0).collect();
    sacked.reverse();
    sacked.get(n.max(1) as usize - 1).copied()
}

/// RFC 6675 §4, IsLost: below this place `runs` runs are SACKed, or more than `bytes`.
fn is_lost_below(board: &Scoreboard, runs: u32, bytes: u64) -> Option<u64> {
    let all: Vec<&Sent> = board.iter().collect();
    let (mut seen_runs, mut seen_bytes) = (0, 0);
    for (i, s) in all.iter().enumerate().rev().filter(|(_, s)| board::sacked(s)) {
        let goes_on = all.get(i + 1).is_some_and(|above| board::sacked(above));
        seen_runs += u32::from(!goes_on);
        seen_bytes += u64::from(s.len);
        if seen_runs >= runs || seen_bytes > bytes {
            return Some(s.start.0);
        }
    }
    None
}

/// RFC 5681 §3.2 with any threshold.
pub(super) struct DupAck {
    spec: DupAckSpec,
    threshold: Box<dyn DupThresh>,
    /// Read on the first duplicate of a hole.
    in_force: Option<u32>,
}

impl DupAck {
    pub(super) fn new(spec: &DupAckSpec, mss: u32) -> DupAck {
        DupAck { spec: spec.clone(), threshold: thresholds::of(&spec.threshold, mss), in_force: None }
    }
}

impl Detector for DupAck {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if ack.has_sack || cx.phase != Phase::Open {
            self.threshold.on_ack(ack, board, cx);
        }
        if cx.phase == Phase::Recovery {
            if !self.spec.judge_in_recovery {
                return Verdict::Suspect;
            }
            let below = below_segments(board, self.threshold.segments(w, cx));
            return Verdict::More(below.map_or(0, |place| mark_below(board, place)));
        }
        if !ack.is_dup {
            let doubt = cx.phase == Phase::Disorder && !advances(ack);
            return if doubt { Verdict::Suspect } else { Verdict::Clear };
        }
        if ack.dup_run == 1 {
            self.threshold.on_disorder(w, cx);
            self.in_force = Some(self.threshold.segments(w, cx)).filter(|n| *n > 0);
        }
        if self.in_force == Some(ack.dup_run) && allows(self.spec.guard, cx) {
            return Verdict::Lost(board.mark_head_lost());
        }
        Verdict::Suspect
    }
    fn dupthresh(&self, w: &Window, cx: &Ctx) -> Option<u32> {
        match self.in_force {
            Some(n) if cx.phase == Phase::Disorder => Some(n),
            _ => Some(self.threshold.segments(w, cx)),
        }
    }
}

impl Timekeeper for DupAck {}

/// Passes everything on to a threshold.
macro_rules! learns {
    ($of:ty, $threshold:ident) => {
        impl Learner for $of {
            fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
                self.$threshold.on_reorder(sample, w, cx);
            }
            fn on_needless(&mut self, w: &Window, cx: &Ctx) {
                self.$threshold.on_needless(w, cx);
            }
            fn on_recovered(&mut self, cx: &Ctx) {
                self.after_recovery();
                self.$threshold.on_recovered(cx);
            }
            fn on_cut(&mut self, w: &Window, cx: &Ctx) {
                self.$threshold.on_cut(w, cx);
            }
            fn on_stall(&mut self, idle: Nanos, w: &Window, cx: &Ctx) {
                self.$threshold.on_stall(idle, w, cx);
            }
            fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
                self.after_timeout();
                self.$threshold.on_rto(dup_run, w, cx);
            }
        }
    };
}

impl DupAck {
    fn after_recovery(&mut self) {}
    fn after_timeout(&mut self) {}
}

learns!(DupAck, threshold);

/// RFC 6675 §5.
pub(super) struct Sack {
    threshold: Box<dyn DupThresh>,
    dup_acks: u32,
    dup_thresh: Option<u32>,
}

impl Sack {
    pub(super) fn new(spec: &ThresholdSpec, mss: u32) -> Sack {
        Sack { threshold: thresholds::of(spec, mss), dup_acks: 0, dup_thresh: None }
    }
    fn after_recovery(&mut self) {}
    fn after_timeout(&mut self) {
        self.dup_acks = 0;
    }
}

impl Detector for Sack {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if ack.has_sack || cx.phase != Phase::Open {
            self.threshold.on_ack(ack, board, cx);
        }
        if advances(ack) {
            self.dup_acks = 0;
        }
        let any = board::highest_sacked(board).is_some();
        if ack.sacked == 0 {
            return if any && cx.phase != Phase::Open { Verdict::Suspect } else { Verdict::Clear };
        }
        self.dup_acks += 1;
        let never = self.dup_thresh.is_none();
        let first = self.dup_acks == 1;
        if first || never {
            self.threshold.on_disorder(w, cx);
        }
        let reads = if self.threshold.follows_flight() { !repairs(cx) } else { first };
        if reads || never {
            self.dup_thresh = Some(self.threshold.segments(w, cx)).filter(|n| *n > 0);
        }
        let n = self.dup_thresh.unwrap_or(0);
        if cx.phase != Phase::Recovery && !allows(Guard::LessCareful, cx) {
            return Verdict::Suspect;
        }
        let bytes = u64::from(n.saturating_sub(1)) * u64::from(cx.mss);
        let mut marked = is_lost_below(board, n, bytes).map_or(0, |place| mark_below(board, place));
        if repairs(cx) {
            return if marked == 0 { Verdict::Suspect } else { Verdict::Lost(marked) };
        }
        if self.dup_acks >= n || board::oldest(board).is_some_and(board::lost) {
            marked += board.mark_head_lost();
            return Verdict::Lost(marked);
        }
        Verdict::Suspect
    }
    fn dupthresh(&self, w: &Window, cx: &Ctx) -> Option<u32> {
        match self.dup_thresh {
            Some(n) if self.dup_acks > 0 => Some(n),
            _ => Some(self.threshold.segments(w, cx)),
        }
    }
}

impl Timekeeper for Sack {}

learns!(Sack, threshold);

/// Mathis & Mahdavi 1996.
pub(super) struct Fack(pub(super) FackSpec);

impl Detector for Fack {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let Some(fack) = board::highest_sacked(board) else { return Verdict::Clear };
        let everything = |board: &mut Scoreboard| {
            let top = below_segments(board, 1).unwrap_or(0);
            mark_below(board, top)
        };
        if cx.phase == Phase::Recovery {
            return Verdict::More(everything(board));
        }
        if ack.sacked == 0 {
            return if cx.phase == Phase::Open { Verdict::Clear } else { Verdict::Suspect };
        }
        let n = self.0.threshold_segs;
        let far = fack > cx.snd_una.0 + u64::from(n) * u64::from(cx.mss);
        if (far || (ack.is_dup && ack.dup_run >= n)) && allows(self.0.guard, cx) {
            return Verdict::Lost(everything(board));
        }
        Verdict::Suspect
    }
    fn dupthresh(&self, _: &Window, _: &Ctx) -> Option<u32> {
        None
    }
}

impl Timekeeper for Fack {}
impl Learner for Fack {}

/// gVisor's `detectLoss` without RACK.
#[derive(Default)]
pub(super) struct Netstack(u32);

impl Netstack {
    fn mark(board: &mut Scoreboard, cx: &Ctx) -> u64 {
        // Two full segments, or three runs.
        is_lost_below(board, 3, 2 * u64::from(cx.mss) - 1).map_or(0, |place| mark_below(board, place))
    }
}

impl Detector for Netstack {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let open = board::highest_sacked(board).is_some();
        let nothing = if open { Verdict::Suspect } else { Verdict::Clear };
        if cx.phase == Phase::Recovery {
            let marked = Netstack::mark(board, cx);
            return if marked > 0 { Verdict::Lost(marked) } else { nothing };
        }
        if !ack.is_dup {
            self.0 = 0;
            return nothing;
        }
        self.0 += 1;
        if !allows(Guard::Careful, cx) {
            return nothing;
        }
        let marked = Netstack::mark(board, cx);
        if marked == 0 && self.0 < 3 {
            return nothing;
        }
        self.0 = 0;
        Verdict::Lost(marked + board.mark_head_lost())
    }
    fn dupthresh(&self, _: &Window, _: &Ctx) -> Option<u32> {
        Some(2)
    }
}

impl Timekeeper for Netstack {}

impl Learner for Netstack {
    fn on_rto(&mut self, _: u32, _: &Window, _: &Ctx) {
        self.0 = 0;
    }
}

/// Brakmo & Peterson 1995 §3.1.
pub(super) struct Vegas {
    dup_ack: DupAck,
    /// The fine-grained estimate, nanoseconds.
    rtt: Option<(f64, f64)>,
    checks: u32,
}

impl Vegas {
    pub(super) fn new(spec: &VegasSpec, mss: u32) -> Vegas {
        let threshold = ThresholdSpec::Fixed(ackclock_tcp::detect::threshold::fixed::FixedSpec { segments: 3 });
        let plain = DupAckSpec { threshold, guard: spec.guard, judge_in_recovery: false };
        Vegas { dup_ack: DupAck::new(&plain, mss), rtt: None, checks: 0 }
    }
    fn after_recovery(&mut self) {
        self.checks = 2;
    }
    fn after_timeout(&mut self) {}
}

impl Detector for Vegas {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if let Some(m) = ack.rtt.map(|r| r.0 as f64) {
            self.rtt = match self.rtt {
                None => Some((m, m / 2.0)),
                Some((srtt, var)) => Some((srtt + (m - srtt) / 8.0, var + ((m - srtt).abs() - var) / 4.0)),
            };
        }
        // On the first duplicate, and on the first two ACKs of new data after a retransmission.
        let mut asks = ack.is_dup && ack.dup_run == 1;
        if advances(ack) && self.checks > 0 {
            asks |= !ack.is_dup;
            self.checks -= 1;
        }
        let verdict = self.dup_ack.on_ack(ack, w, board, cx);
        let (Some((srtt, var)), Some(sent)) = (self.rtt, board::oldest(board).map(|s| s.at.0)) else { return verdict };
        let late = (cx.now.0 - sent) as f64 > srtt + 4.0 * var;
        if asks && late && !repairs(cx) && !matches!(verdict, Verdict::Lost(_)) {
            return Verdict::Lost(board.mark_head_lost());
        }
        verdict
    }
    fn dupthresh(&self, w: &Window, cx: &Ctx) -> Option<u32> {
        self.dup_ack.dupthresh(w, cx)
    }
}

impl Timekeeper for Vegas {}

learns!(Vegas, dup_ack);
