//! The rules for how many duplicates mean a loss, worked out once more from lists of all events.

use super::{board, end_of, flight, mss, segments, threshold_fa, whole};
use ackclock_tcp::detect::threshold::avg::AvgSpec;
use ackclock_tcp::detect::threshold::avg_dev::{AvgDevSpec, TimeBound};
use ackclock_tcp::detect::threshold::ewma::EwmaSpec;
use ackclock_tcp::detect::threshold::inc::{IncSpec, UpdatePer};
use ackclock_tcp::detect::threshold::linux::LinuxSpec;
use ackclock_tcp::detect::threshold::{CapSpec, CapStore, DupThresh, ThresholdSpec};
use ackclock_tcp::detect::Learner;
use ackclock_tcp::event::{Phase, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::ncr::NcrMode;
use ackclock_tcp::facts::reorder::ReorderSample;
use ackclock_tcp::facts::scoreboard::Scoreboard;
use ackclock_tcp::time::Nanos;

/// The second implementation of a rule; one from outside has none.
pub(super) fn of(spec: &ThresholdSpec, mss: u32) -> Box<dyn DupThresh> {
    match spec {
        ThresholdSpec::Fixed(s) => Box::new(Constant(s.segments)),
        // 3 and the logarithm of the paths, rounded up.
        ThresholdSpec::Multipath(s) => {
            Box::new(Constant((3..).find(|n| 1u64 << (n - 3) >= s.paths.into()).unwrap_or(3)))
        }
        ThresholdSpec::Ncr(s) => Box::new(Ncr(s.mode)),
        ThresholdSpec::Inc(s) => Box::new(Learned { by: By::Inc(s.clone()), cap: s.cap, avg: 3.0, n: 3 }),
        ThresholdSpec::Avg(s) => Box::new(Learned { by: By::Avg(s.clone()), cap: s.cap, avg: 3.0, n: 3 }),
        ThresholdSpec::Ewma(s) => Box::new(Learned { by: By::Ewma(s.clone()), cap: s.cap, avg: 3.0, n: 3 }),
        ThresholdSpec::AvgDev(s) => Box::new(AvgDev::new(s)),
        ThresholdSpec::Linux(s) => Box::new(Linux { spec: s.clone(), reordering: s.initial.min(s.max), top: None }),
        ThresholdSpec::Fa(s) => Box::new(threshold_fa::Fa::new(s)),
        ThresholdSpec::Custom(f) => (f.make)(mss),
    }
}

struct Constant(u32);

impl Learner for Constant {}

impl DupThresh for Constant {
    fn segments(&self, _: &Window, _: &Ctx) -> u32 {
        self.0
    }
    fn follows_flight(&self) -> bool {
        false
    }
}

/// RFC 4653 §3.2 (E.6).
struct Ncr(NcrMode);

impl Learner for Ncr {}

impl DupThresh for Ncr {
    fn segments(&self, _: &Window, cx: &Ctx) -> u32 {
        let out = flight(cx);
        // The first whole number that LT_F FlightSize / SMSS does not exceed.
        let enough = |n: u64| match self.0 {
            NcrMode::Careful => 3 * n * u64::from(cx.mss) >= 2 * out,
            NcrMode::Aggressive => 2 * n * u64::from(cx.mss) >= out,
        };
        (3..).find(|n| enough(*n)).unwrap_or(3) as u32
    }
    fn follows_flight(&self) -> bool {
        true
    }
}

enum By {
    Inc(IncSpec),
    Avg(AvgSpec),
    Ewma(EwmaSpec),
}

/// Blanton & Allman 2002 §6.2, §6.3, §6.5 under §6.6's ceiling.
struct Learned {
    by: By,
    cap: CapSpec,
    avg: f64,
    n: u32,
}

impl Learned {
    /// §6.6: 90 % of the window, and a segment less than it.
    fn under_the_ceiling(&self, w: &Window, cx: &Ctx) -> u32 {
        let window = whole(w.cwnd, cx) / u64::from(cx.mss);
        let ceiling = u64::min(window * 9 / 10, window.saturating_sub(1)) as u32;
        let ceiling = u32::max(ceiling, self.cap.floor_segs);
        u32::max(u32::min(self.n, ceiling), self.cap.floor_segs)
    }

    fn keep(&mut self, w: &Window, cx: &Ctx) {
        if self.cap.store == CapStore::Stored {
            self.n = self.under_the_ceiling(w, cx);
        }
    }
}

impl DupThresh for Learned {
    fn segments(&self, w: &Window, cx: &Ctx) -> u32 {
        self.under_the_ceiling(w, cx)
    }
    fn follows_flight(&self) -> bool {
        false
    }
}

impl Learner for Learned {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        let needless = sample.resent.is_some();
        match &self.by {
            By::Inc(s) if needless => match s.update_per {
                UpdatePer::Episode => self.n += s.step,
                UpdatePer::Segment => self.n += s.step * sample.segments,
                UpdatePer::Dsack => return,
            },
            By::Avg(s) if needless => {
                let c = if s.count_filling_ack { sample.dupacks + 1 } else { sample.dupacks };
                self.n = u32::max((self.n + c) / 2, self.n + 1);
            }
            By::Inc(_) | By::Avg(_) => return,
            By::Ewma(s) => {
                let n = f64::from(if s.count_filling_ack { sample.dupacks + 1 } else { sample.dupacks });
                let gain = if n > self.avg { s.alpha } else { s.alpha * s.x };
                self.avg = gain * n + (1.0 - gain) * self.avg;
                self.n = (self.avg + 0.5).floor() as u32;
            }
        }
        self.keep(w, cx);
    }
    fn on_needless(&mut self, w: &Window, cx: &Ctx) {
        if let By::Inc(s) = &self.by
            && s.update_per == UpdatePer::Dsack
        {
            self.n += s.step;
            self.keep(w, cx);
        }
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        self.keep(w, cx);
    }
    fn on_rto(&mut self, _: u32, _: &Window, _: &Ctx) {
        self.n = 3;
        self.avg = 3.0;
    }
}

/// Leung & Ma 2005 §III.
struct AvgDev {
    spec: AvgDevSpec,
    avg: f64,
    mdev: f64,
    dupthresh: u32,
    tmo: Option<u32>,
    fired_at: Option<u64>,
    events: u32,
}

impl AvgDev {
    fn new(spec: &AvgDevSpec) -> AvgDev {
        let spec = spec.clone();
        AvgDev { spec, avg: 3.0, mdev: 0.0, dupthresh: 3, tmo: None, fired_at: None, events: 0 }
    }

    fn settle(&mut self, w: &Window, cx: &Ctx) {
        let s = &self.spec;
        let window = w.cwnd / mss(cx);
        let mut n = (self.avg + s.lambda * self.mdev).floor();
        // §IV-D.
        n = f64::min(n, window.floor() - 1.0);
        // Eq. 11.
        if let Some(rtt) = cx.srtt.filter(|r| *r > Nanos(0)) {
            let bound = ((s.gamma * (cx.rto.0 as f64 / rtt.0 as f64) - 2.0) * window + 1e-9).floor();
            if bound >= 3.0 || s.time_bound == TimeBound::Clamp {
                n = f64::min(n, bound);
            }
        }
        // Eq. 12.
        n = self.tmo.map_or(n, |tmo| f64::min(n, f64::from(tmo)));
        self.dupthresh = u32::max(if n > 0.0 { n as u32 } else { 0 }, s.floor_segs);
    }
}

impl DupThresh for AvgDev {
    fn segments(&self, _: &Window, _: &Ctx) -> u32 {
        self.dupthresh
    }
    fn follows_flight(&self) -> bool {
        false
    }
    fn on_disorder(&mut self, w: &Window, cx: &Ctx) {
        self.settle(w, cx);
    }
}

impl Learner for AvgDev {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        if sample.resent.is_none() {
            return;
        }
        let s = &self.spec;
        let r = f64::from(sample.dupacks) + if s.count_filling_ack { 1.0 } else { 0.0 };
        self.events += 1;
        if self.events == 1 && s.start_at_first {
            (self.avg, self.mdev) = (r, 0.0);
        } else {
            // Eqs. 1 to 3.
            let error = if r > self.avg { r - self.avg } else { self.avg - r };
            self.mdev = s.beta * error + (1.0 - s.beta) * self.mdev;
            self.avg = s.alpha * r + (1.0 - s.alpha) * self.avg;
        }
        self.settle(w, cx);
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        let again = self.fired_at == Some(cx.snd_una.0);
        self.fired_at = Some(cx.snd_una.0);
        if again && !self.spec.every_timeout_shrinks {
            return;
        }
        let waited = dup_run > 0 && self.dupthresh > 3;
        if waited || self.spec.every_timeout_bounds {
            self.tmo = Some(self.dupthresh);
        }
        (self.avg, self.mdev) = (self.avg * self.spec.c1, self.mdev * self.spec.c2);
        self.settle(w, cx);
    }
}

/// Linux's `tcp_check_sack_reordering` in a counting detector.
struct Linux {
    spec: LinuxSpec,
    reordering: u32,
    /// The highest SACKed byte so far.
    top: Option<u64>,
}

impl Linux {
    fn seen(&mut self, metric: u64) {
        let metric = u64::min(metric, u64::from(self.spec.max)) as u32;
        self.reordering = u32::max(self.reordering, metric);
    }
}

impl DupThresh for Linux {
    fn segments(&self, _: &Window, _: &Ctx) -> u32 {
        self.reordering
    }
    fn follows_flight(&self) -> bool {
        false
    }
    fn on_ack(&mut self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) {
        let mut low = None;
        if let Some(top) = self.top {
            low = board::newly(board).filter(|s| s.sends == 1 && s.start.0 < top).map(|s| s.start.0).min();
        }
        if let Some((left, _)) = ack.dsack {
            let held = board.iter().find(|s| s.start <= left && left.0 < end_of(s));
            let resent = held.filter(|s| board::sacked(s) && s.sends > 1).map(|s| s.start.0);
            low = [low, resent].into_iter().flatten().min();
        }
        self.top = self.top.max(board::highest_sacked(board));
        if let (Some(low), Some(top)) = (low, self.top) {
            self.seen(segments(top - low, cx));
        }
        // tcp_check_reno_reordering: more duplicates than segments.
        let out = board.iter().count() as u64;
        if board::highest_sacked(board).is_none() && !ack.has_sack && ack.is_dup && u64::from(ack.dup_run) >= out {
            self.seen(out);
        }
    }
}

impl Learner for Linux {
    fn on_reorder(&mut self, sample: &ReorderSample, _: &Window, _: &Ctx) {
        if sample.resent.is_some() {
            self.seen(u64::from(sample.dupacks) + 1);
        }
    }
    fn on_rto(&mut self, dup_run: u32, _: &Window, cx: &Ctx) {
        let outside = cx.phase == Phase::Open || cx.phase == Phase::Disorder;
        if outside && dup_run >= self.spec.initial {
            self.reordering = u32::min(self.reordering, self.spec.initial);
        }
    }
}
