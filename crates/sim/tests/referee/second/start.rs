//! The starts of a connection, worked out once more from lists of samples.

use super::{advances, mss};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::startup::bdp::BdpSpec;
use ackclock_tcp::startup::hystart::HystartSpec;
use ackclock_tcp::startup::hystart_plus_plus::HystartPlusPlusSpec;
use ackclock_tcp::startup::smooth::SmoothSpec;
use ackclock_tcp::startup::{Advice, Startup};
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::units::Bytes;

/// RFC 7323 §2.3: no window is larger.
const LARGEST: f64 = 1_073_741_824.0;

/// The window before any data is sent, in bytes.
fn first_window(segments: u32, ssthresh: Option<u32>, mss: u32, rwnd: Bytes) -> Window {
    let smss = f64::from(mss);
    let threshold = if let Some(n) = ssthresh { f64::from(n) * smss } else { rwnd as f64 };
    let threshold = if threshold > LARGEST { LARGEST } else { threshold };
    Window { cwnd: f64::from(segments) * smss, ssthresh: f64::max(threshold, 2.0 * smss) }
}

/// The window of a start that has no threshold of its own.
fn no_threshold(segments: u32, mss: u32) -> Window {
    Window { cwnd: f64::from(segments) * f64::from(mss), ssthresh: LARGEST }
}

/// RFC 5681 §3.1.
pub(super) struct Fixed {
    pub(super) segments: u32,
    pub(super) ssthresh: Option<u32>,
}

impl Startup for Fixed {
    fn initial(&self, mss: u32, rwnd: Bytes) -> Window {
        first_window(self.segments, self.ssthresh, mss, rwnd)
    }
    fn on_handshake(&mut self, _: Nanos) {}
    fn hears_every_slow_start(&self) -> bool {
        false
    }
    fn on_timeout(&mut self) {}
    fn on_ack(&mut self, _: &AckEvent, _: &Window, _: &Ctx) -> Advice {
        Advice::Keep
    }
}

/// Smooth-start, as far as it is known (decision 0048).
pub(super) struct Smooth(pub(super) SmoothSpec);

impl Startup for Smooth {
    fn initial(&self, mss: u32, rwnd: Bytes) -> Window {
        first_window(self.0.initial_window_segs, self.0.ssthresh_segs, mss, rwnd)
    }
    fn hears_every_slow_start(&self) -> bool {
        false
    }
    fn on_ack(&mut self, _: &AckEvent, w: &Window, _: &Ctx) -> Advice {
        let half = w.ssthresh / 2.0;
        let mut acks_for_one = 1;
        let mut stage = 0;
        // Each of the stages between half the threshold and the threshold is slower by an ACK.
        while stage < self.0.depth && (w.cwnd - half) / half * f64::from(self.0.depth) >= f64::from(stage) {
            acks_for_one += 1;
            stage += 1;
        }
        Advice::Growth((1.0 / f64::from(acks_for_one)) as f32)
    }
}

/// Hoe 1995 §7.1.
pub(super) struct Bdp {
    spec: BdpSpec,
    rtt: Option<Nanos>,
    /// Times and bytes of closely spaced ACKs.
    points: Vec<(u64, u64)>,
    measured: bool,
}

impl Bdp {
    pub(super) fn new(spec: &BdpSpec) -> Bdp {
        Bdp { spec: spec.clone(), rtt: None, points: vec![], measured: false }
    }
}

impl Startup for Bdp {
    fn initial(&self, mss: u32, rwnd: Bytes) -> Window {
        first_window(self.spec.initial_window_segs, self.spec.ssthresh_segs, mss, rwnd)
    }
    fn on_handshake(&mut self, rtt: Nanos) {
        self.rtt = Some(rtt);
    }
    fn hears_every_slow_start(&self) -> bool {
        false
    }
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) -> Advice {
        let Some(rtt) = self.rtt.filter(|_| !self.measured && advances(ack)) else { return Advice::Keep };
        let close = |last: u64| ((cx.now.0 - last) as f64) < rtt.0 as f64 * self.spec.gap_share;
        if self.points.last().is_some_and(|p| !close(p.0)) {
            self.points.clear();
        }
        self.points.push((cx.now.0, ack.ack.0));
        if self.points.len() < 3 {
            return Advice::Keep;
        }
        // The line of least squares, in whole numbers from the first point on.
        let (t, b) = self.points[0];
        let xy: Vec<(i128, i128)> = self.points.iter().map(|p| (i128::from(p.0 - t), i128::from(p.1 - b))).collect();
        let sum = |f: fn(&(i128, i128)) -> i128| xy.iter().map(f).sum::<i128>();
        let (x, y, xx, along) = (sum(|p| p.0), sum(|p| p.1), sum(|p| p.0 * p.0), sum(|p| p.0 * p.1));
        let spread = 3 * xx - x * x;
        if spread == 0 {
            self.points.clear();
            return Advice::Keep;
        }
        self.measured = true;
        let product = (3 * along - x * y) as f64 * rtt.0 as f64 / spread as f64;
        let segments = f64::max((product / mss(cx) + 1e-9).floor(), 2.0);
        if segments * mss(cx) < w.ssthresh {
            Advice::Ssthresh(segments * mss(cx))
        } else {
            Advice::Keep
        }
    }
}

/// How much the smallest RTT of a round may exceed the one before: an eighth, 4 to 16 ms.
fn eighth(rtt: Nanos) -> u64 {
    u64::min(u64::max(rtt.0 / 8, 4_000_000), 16_000_000)
}

/// Linux's `hystart_update`.
pub(super) struct Hystart {
    spec: HystartSpec,
    found: bool,
    /// Of the round: its last offset, its beginning, its last ACK of the train, its samples.
    end_seq: Option<u64>,
    round_start: Time,
    last_ack: Time,
    samples: Vec<u64>,
}

impl Hystart {
    pub(super) fn new(spec: &HystartSpec) -> Hystart {
        let (spec, zero) = (spec.clone(), Time(0));
        Hystart { spec, found: false, end_seq: None, round_start: zero, last_ack: zero, samples: vec![] }
    }
}

impl Startup for Hystart {
    fn initial(&self, mss: u32, _: Bytes) -> Window {
        no_threshold(self.spec.initial_window_segs, mss)
    }
    fn hears_every_slow_start(&self) -> bool {
        true
    }
    fn on_timeout(&mut self) {
        *self = Hystart::new(&self.spec);
    }
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) -> Advice {
        if self.found || !advances(ack) || w.cwnd >= w.ssthresh {
            return Advice::Keep;
        }
        if !matches!(self.end_seq, Some(end) if ack.ack.0 <= end) {
            (self.round_start, self.last_ack) = (cx.now, cx.now);
            self.end_seq = Some(cx.snd_nxt.0);
            self.samples.clear();
        }
        let low = w.cwnd < f64::from(self.spec.low_window_segs) * mss(cx);
        let Some(delay_min) = cx.min_rtt.filter(|_| !low) else { return Advice::Keep };
        let now = cx.now;
        let mut found = false;
        if now.0 - self.last_ack.0 <= self.spec.ack_delta.0 {
            self.last_ack = now;
            found = now.0 - self.round_start.0 > delay_min.0 / 2;
        }
        // A train ends the matter; otherwise the ninth sample on may show a delay.
        if let Some(rtt) = ack.rtt.filter(|_| !found) {
            self.samples.push(rtt.0);
            let least = self.samples.iter().min().copied().unwrap_or(0);
            found = self.samples.len() > 8 && least > delay_min.0 + eighth(delay_min);
        }
        self.found = found;
        if found {
            Advice::Ssthresh(w.cwnd)
        } else {
            Advice::Keep
        }
    }
}

/// RFC 9406 §4.2, §4.3.
pub(super) struct HystartPlusPlus {
    spec: HystartPlusPlusSpec,
    window_end: Option<u64>,
    last_round: Option<u64>,
    samples: Vec<u64>,
    /// In Conservative Slow Start: cssBaselineMinRtt, and its rounds.
    css: Option<(u64, u32)>,
    done: bool,
}

impl HystartPlusPlus {
    pub(super) fn new(spec: &HystartPlusPlusSpec) -> HystartPlusPlus {
        let spec = spec.clone();
        HystartPlusPlus { spec, window_end: None, last_round: None, samples: vec![], css: None, done: false }
    }
}

impl Startup for HystartPlusPlus {
    fn initial(&self, mss: u32, _: Bytes) -> Window {
        no_threshold(self.spec.initial_window_segs, mss)
    }
    fn hears_every_slow_start(&self) -> bool {
        false
    }
    fn on_timeout(&mut self) {}
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) -> Advice {
        if self.done || !advances(ack) {
            return Advice::Keep;
        }
        if w.cwnd >= w.ssthresh {
            self.done = true;
            return Advice::Growth(1.0);
        }
        if !matches!(self.window_end, Some(end) if ack.ack.0 < end) {
            self.window_end = Some(cx.snd_nxt.0);
            self.last_round = self.samples.iter().min().copied();
            self.samples.clear();
            if let Some((_, rounds)) = &mut self.css {
                if *rounds >= self.spec.css_rounds {
                    self.done = true;
                    return Advice::Ssthresh(w.cwnd);
                }
                *rounds += 1;
            }
        }
        self.samples.extend(ack.rtt.map(|r| r.0));
        let (Some(last), Some(now)) = (self.last_round, self.samples.iter().min().copied()) else {
            return Advice::Keep;
        };
        if self.samples.len() < 8 {
            return Advice::Keep;
        }
        if let Some((baseline, _)) = self.css {
            if now < baseline {
                self.css = None;
                return Advice::Growth(1.0);
            }
        } else if now >= last + eighth(Nanos(last)) {
            self.css = Some((now, 1));
            return Advice::Growth(1.0 / self.spec.css_growth_divisor as f32);
        }
        Advice::Keep
    }
}
