//! RR-TCP's threshold, worked out once more from a list of all lengths.

use super::{mss, whole};
use ackclock_tcp::detect::threshold::fa::{AvoidTimeouts, Events, FaSpec, Rule};
use ackclock_tcp::detect::threshold::DupThresh;
use ackclock_tcp::detect::Learner;
use ackclock_tcp::event::{Phase, Window};
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::reorder::ReorderSample;
use ackclock_tcp::time::{Nanos, Time};

/// Zhang, Karp, Floyd & Peterson 2003.
pub(super) struct Fa {
    spec: FaSpec,
    ratio: f64,
    lengths: Vec<u32>,
    dupthresh: u32,
    counted: u64,
    stalled: Option<(Time, Nanos, f64)>,
}

impl Fa {
    pub(super) fn new(spec: &FaSpec) -> Fa {
        let (spec, ratio) = (spec.clone(), spec.ratio);
        Fa { spec, ratio, lengths: vec![], dupthresh: 3, counted: 1, stalled: None }
    }

    fn note(&mut self, length: u32) {
        self.lengths.push(length);
        if self.lengths.len() > self.spec.samples as usize {
            self.lengths.remove(0);
        }
    }

    fn settle(&mut self) {
        let count = self.lengths.len();
        let n = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        if count == 0 {
            self.dupthresh = 3;
            return;
        }
        let mut sorted = self.lengths.clone();
        sorted.sort_unstable();
        let threshold = match self.spec.rule {
            Rule::Percentile => {
                // The smallest length that this share of the events does not exceed.
                let covered = |length: u32| sorted.iter().filter(|l| **l <= length).count() as f64;
                let least = sorted.iter().find(|l| covered(**l) >= self.ratio * n - 1e-9).copied();
                least.unwrap_or(sorted[count - 1]) + 1
            }
            Rule::Mean => {
                let mean = sorted.iter().map(|l| f64::from(*l)).sum::<f64>() / n;
                let variance = sorted.iter().map(|l| (f64::from(*l) - mean) * (f64::from(*l) - mean)).sum::<f64>() / n;
                let wanted = (mean + normal_quantile(self.ratio) * variance.sqrt()).ceil();
                f64::max(wanted, 0.0) as u32
            }
        };
        self.dupthresh = u32::max(threshold, 3);
    }

    fn turn(&mut self, by: f64) {
        self.ratio = (self.ratio + by).clamp(0.01, 0.99);
        self.settle();
    }

    fn round_trips(idle: Nanos, cx: &Ctx) -> f64 {
        match cx.srtt {
            Some(srtt) if srtt.0 > 0 => idle.0 as f64 / srtt.0 as f64,
            _ => 0.0,
        }
    }
}

/// Where the standard normal distribution has this share below.
fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if 0.5 * libm::erfc(-middle / std::f64::consts::SQRT_2) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

impl DupThresh for Fa {
    fn segments(&self, w: &Window, cx: &Ctx) -> u32 {
        let window = (whole(w.cwnd, cx) / u64::from(cx.mss)) as f64;
        let most = (self.spec.flight_cwnds * window).floor() as u32;
        u32::max(u32::min(self.dupthresh, most.saturating_sub(1)), 3)
    }
    fn follows_flight(&self) -> bool {
        false
    }
}

impl Learner for Fa {
    fn on_reorder(&mut self, sample: &ReorderSample, _: &Window, cx: &Ctx) {
        let needless = sample.resent.is_some();
        if !needless && self.spec.events != Events::All {
            return;
        }
        if self.spec.in_order {
            // All but the reordered one of the segments acknowledged since the last event.
            let advanced = (cx.snd_una.0.max(self.counted) - self.counted) / u64::from(cx.mss);
            self.counted = cx.snd_una.0;
            let many = u64::min(advanced, u64::from(self.spec.samples));
            (1..many).for_each(|_| self.note(0));
        }
        self.note(sample.dupacks);
        match self.spec.avoid_timeouts {
            Some(AvoidTimeouts { step, .. }) if needless => self.turn(step),
            _ => self.settle(),
        }
    }
    fn on_stall(&mut self, idle: Nanos, w: &Window, cx: &Ctx) {
        let Some(AvoidTimeouts { step, .. }) = self.spec.avoid_timeouts else { return };
        self.stalled = Some((cx.now, idle, self.ratio));
        let window = w.cwnd / mss(cx);
        let cost = window * Fa::round_trips(idle, cx) / (window / 2.0);
        self.turn(-step * cost);
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        let Some(AvoidTimeouts { step, count_growth }) = self.spec.avoid_timeouts else { return };
        let mut idle = Nanos(0);
        // A stall that ends now is a part of this timeout's cost, and no cost of its own.
        if let Some((at, stalled, ratio)) = self.stalled.take()
            && at == cx.now
        {
            (idle, self.ratio) = (stalled, ratio);
        }
        if cx.phase != Phase::Disorder || dup_run < 3 {
            return self.turn(0.0);
        }
        let window = w.cwnd / mss(cx);
        let half = f64::max(window / 2.0, 1.0);
        // Slow start from one segment to half the window, against sending a window in each of its rounds.
        let slow_start = window * libm::log2(half) - half + 1.0;
        let growth = if count_growth { window * window / 8.0 } else { 0.0 };
        let cost = window * Fa::round_trips(idle, cx) + slow_start + growth;
        self.turn(-step * (cost / (window / 2.0)));
    }
}
