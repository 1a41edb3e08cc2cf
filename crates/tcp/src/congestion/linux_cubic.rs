//! CUBIC as in Linux: whole segments, a clock in jiffies, integer arithmetic.
//!
//! Source: Linux 6.18, `net/ipv4/tcp_cubic.c`, in our words; Ha, Rhee & Xu 2008. HyStart is a separate `startup`,
//! [`crate::startup::hystart`].
//!
//! Idea: as [`super::cubic`]; the window opens by one segment for every `cnt` segments delivered. `cnt` is recomputed when the
//! window has changed or 1/32 of a second has passed, at most once per jiffy.
//!
//! | Linux | here |
//! | --- | --- |
//! | HZ | `hz` |
//! | beta | `beta_1024` |
//! | cnt, last_max_cwnd, last_cwnd, last_time, bic_origin_point, bic_K, epoch_start, ack_cnt, tcp_cwnd | the same, without `bic_` |
//! | delay_min | `cx.min_rtt` |
//! | bic_scale, BICTCP_HZ, cube_rtt_scale, cube_factor | constants |
//! | cubictcp_cwnd_event (CA_EVENT_TX_START) | `on_resume` |
//!
//! Departures: the cube root is exact; the kernel's is off by up to 0.2 %. `delay_min` also takes samples from the first second
//! of an epoch; the smallest RTT of a connection seldom occurs only there.

use super::linux::{whole, Count, Growth, REORDERING};
use super::{Congestion, Cut, LossEvent};
use crate::error::StackError;
use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::time::{Jiffies, Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time is counted in 1024ths of a second (`BICTCP_HZ`).
const TIME_SHIFT: u32 = 10;
/// C in 1024ths, times ten for a round trip of 100 ms (`cube_rtt_scale`).
const C: u64 = 410;
/// No window gets as far as the curve does 256 s from its origin: 6.9 million segments up or down.
const FAR: u64 = 256 << TIME_SHIFT;
/// A full share of the window, in the units of `beta_1024`.
const ONE: u32 = 1024;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinuxCubicSpec {
    /// Factor by which a loss multiplies the window, in 1024ths, 1 to 1023. Default: 717 (0.7).
    pub beta_1024: u32,
    /// Aims lower after a second reduction. Default: yes.
    pub fast_convergence: bool,
    /// Never grows more slowly than additive increase would. Default: yes.
    pub friendliness: bool,
    /// Ticks of the kernel's clock per second, 1 to 1000. Default: 250.
    pub hz: u32,
}

impl Default for LinuxCubicSpec {
    fn default() -> Self {
        LinuxCubicSpec { beta_1024: 717, fast_convergence: true, friendliness: true, hz: 250 }
    }
}

impl LinuxCubicSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let share = (1..ONE).contains(&self.beta_1024);
        StackError::unless(share, "congestion.beta_1024", &self.beta_1024, "1 to 1023")?;
        let ticks = (1..=1000).contains(&self.hz);
        StackError::unless(ticks, "congestion.hz", &self.hz, "1 to 1000 ticks a second")
    }
}

/// The state of an epoch, in segments and jiffies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cubic {
    cnt: u32,
    last_max_cwnd: u32,
    /// When the count was last computed, and for which window.
    last: Option<(u64, u32)>,
    origin_point: u32,
    /// In 1024ths of a second.
    k: u64,
    epoch_start: Option<u64>,
    ack_cnt: u32,
    tcp_cwnd: u32,
}

/// Linux's CUBIC at work.
pub struct LinuxCubic {
    growth: Growth,
    curve: Curve,
}

/// How many segments must be delivered for each one that the window opens by.
struct Curve {
    spec: LinuxCubicSpec,
    jiffies: Jiffies,
    /// `beta_scale`.
    scale: u32,
    cubic: Cubic,
}

impl LinuxCubic {
    pub(super) fn new(spec: &LinuxCubicSpec) -> Self {
        let curve = Curve {
            spec: spec.clone(),
            jiffies: Jiffies::per_second(spec.hz),
            scale: 8 * (ONE + spec.beta_1024) / 3 / (ONE - spec.beta_1024),
            cubic: Cubic::default(),
        };
        LinuxCubic { growth: Growth::default(), curve }
    }
}

impl Curve {
    /// `bictcp_update`: how many segments must be delivered to open the window by one.
    fn update(&mut self, cwnd: u32, acked: u32, cx: &Ctx) -> u32 {
        self.cubic.ack_cnt = self.cubic.ack_cnt.saturating_add(acked);
        let now = self.jiffies.count(cx.now.0);
        let c = &self.cubic;
        if c.last.is_some_and(|(at, of)| of == cwnd && now - at <= u64::from(self.spec.hz / 32)) {
            return self.cubic.cnt;
        }
        let this_jiffy = c.epoch_start.is_some() && c.last.is_some_and(|(at, _)| at == now);
        if !this_jiffy {
            self.cubic.last = Some((now, cwnd));
            self.begin(now, cwnd, acked);
            self.by_the_cubic(now, cwnd, cx.min_rtt.unwrap_or_default());
        }
        if self.spec.friendliness {
            self.befriend(cwnd);
        }
        // At most half as much again per round trip.
        self.cubic.cnt = self.cubic.cnt.max(2);
        self.cubic.cnt
    }

    /// An epoch begins with the first growth after a cut.
    fn begin(&mut self, now: u64, cwnd: u32, acked: u32) {
        let c = &mut self.cubic;
        if c.epoch_start.is_some() {
            return;
        }
        (c.epoch_start, c.ack_cnt, c.tcp_cwnd) = (Some(now), acked, cwnd);
        let below = c.last_max_cwnd.saturating_sub(cwnd);
        c.origin_point = c.last_max_cwnd.max(cwnd);
        c.k = libm::cbrt(((1u64 << (10 + 3 * TIME_SHIFT)) / C) as f64 * f64::from(below)) as u64;
    }

    fn by_the_cubic(&mut self, now: u64, cwnd: u32, delay_min: Nanos) {
        let elapsed = now - self.cubic.epoch_start.unwrap_or(now) + self.jiffies.count(delay_min.0);
        let c = &mut self.cubic;
        let t = (elapsed << TIME_SHIFT) / u64::from(self.spec.hz);
        let off = t.abs_diff(c.k).min(FAR);
        let delta = u32::try_from((C * off * off * off) >> (10 + 3 * TIME_SHIFT)).unwrap_or(u32::MAX);
        let target = if t < c.k { c.origin_point.saturating_sub(delta) } else { c.origin_point.saturating_add(delta) };
        c.cnt = match target.checked_sub(cwnd) {
            None | Some(0) => cwnd.saturating_mul(100),
            Some(ahead) => cwnd / ahead,
        };
        // While the path's capacity is unknown: at least 5 % per round trip.
        if c.last_max_cwnd == 0 {
            c.cnt = c.cnt.min(20);
        }
    }

    /// Bounds the count by the window that additive increase would have reached by now.
    fn befriend(&mut self, cwnd: u32) {
        let c = &mut self.cubic;
        let every = (u64::from(cwnd) * u64::from(self.scale) / 8) as u32;
        if c.ack_cnt > every {
            // Often enough to leave at most `every`.
            let times = (c.ack_cnt - 1) / every.max(1);
            c.ack_cnt -= times * every;
            c.tcp_cwnd = c.tcp_cwnd.saturating_add(times);
        }
        if let Some(ahead) = c.tcp_cwnd.checked_sub(cwnd).filter(|n| *n > 0) {
            c.cnt = c.cnt.min(cwnd / ahead);
        }
    }
}

impl Congestion for LinuxCubic {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        let LinuxCubic { growth, curve } = self;
        growth.on_ack(ack, w, cx, |cwnd, acked| curve.update(cwnd, acked, cx));
    }
    fn grows_by_sack_above(&self) -> Option<u32> {
        Some(REORDERING)
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        self.growth.count = Count::default();
        // tcp_enter_loss: the phase has made its cut.
        if l.repeated || (l.in_recovery && l.cause == Cause::Rto) {
            self.curve.cubic = Cubic::default();
            return Cut { ssthresh: w.ssthresh, cwnd: w.cwnd };
        }
        let (cwnd, beta) = (whole(w.cwnd, cx), self.curve.spec.beta_1024);
        let share = |n: u32, of: u32| (u64::from(cwnd) * u64::from(n) / u64::from(of)) as u32;
        let c = &mut self.curve.cubic;
        let converge = self.curve.spec.fast_convergence && cwnd < c.last_max_cwnd;
        c.last_max_cwnd = if converge { share(ONE + beta, 2 * ONE) } else { cwnd };
        c.epoch_start = None;
        if l.cause == Cause::Rto {
            self.curve.cubic = Cubic::default();
        }
        let cut = f64::from(share(beta, ONE).max(2)) * cx.smss();
        Cut { ssthresh: cut, cwnd: cut }
    }
    fn on_resume(&mut self, last_sent: Time, cx: &Ctx) {
        let now = self.curve.jiffies.count(cx.now.0);
        let pause = now - self.curve.jiffies.count(last_sent.0);
        self.curve.cubic.epoch_start = self.curve.cubic.epoch_start.map(|at| (at + pause).min(now));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{context, loss, whole as window};
    use super::*;
    use crate::seq::Offset;
    use crate::testing::blank;

    const MS: u64 = 1_000_000;

    /// The context `ms` milliseconds after the start, with a smallest RTT of 100 ms.
    fn at(ms: u64) -> Ctx {
        Ctx { now: Time(ms * MS), min_rtt: Some(Nanos(100 * MS)), ..context() }
    }

    /// An ACK that delivers `n` segments.
    fn delivers(n: u64) -> AckEvent {
        AckEvent { ack: Offset(1 + 1000 * n), delivered: 1000 * n, ..blank() }
    }

    #[test]
    fn after_a_cut_from_100_segments_the_window_follows_the_kernels_integers() {
        // The figures are computed by hand with the kernel's arithmetic: HZ 250, an ACK of two segments every jiffy.
        let mut c = LinuxCubic::new(&LinuxCubicSpec::default());
        let mut w = Window { cwnd: 100_000.0, ssthresh: 100_000.0 };
        let cut = c.on_loss(&loss(Cause::Fast, 1), &w, &at(0));
        assert_eq!(cut.cwnd, 70_000.0);
        w = Window { cwnd: cut.cwnd, ssthresh: cut.ssthresh };
        let mut course = vec![];
        for n in 0..3000 {
            c.on_ack(&delivers(2), &mut w, &at(4 * (1000 + n)));
            if n % 500 == 0 || n == 2999 {
                course.push(((w.cwnd / 1000.0) as u32, c.curve.cubic.cnt));
            }
        }
        let want = [(70, 23), (96, 96), (100, 10_000), (102, 10_200), (120, 40), (169, 14), (265, 8)];
        assert_eq!((c.curve.cubic.k, &course[..]), (4316, &want[..]));
    }

    #[test]
    fn fast_convergence_aims_lower_and_a_timeout_forgets_the_path() {
        let mut c = LinuxCubic::new(&LinuxCubicSpec::default());
        c.on_loss(&loss(Cause::Fast, 1), &window(100.0), &at(0));
        assert_eq!(c.curve.cubic.last_max_cwnd, 100);
        c.on_loss(&loss(Cause::Fast, 1), &window(80.0), &at(0));
        assert_eq!(c.curve.cubic.last_max_cwnd, 68, "80 times 1741, divided by 2048");
        let cut = c.on_loss(&loss(Cause::Rto, 1), &window(80.0), &at(0));
        assert_eq!((cut.ssthresh, c.curve.cubic), (56_000.0, Cubic::default()));
    }

    #[test]
    fn on_an_unknown_path_the_window_grows_by_a_twentieth_a_round_trip_at_least() {
        let mut c = LinuxCubic::new(&LinuxCubicSpec { friendliness: false, ..LinuxCubicSpec::default() });
        c.curve.update(200, 1, &at(4));
        assert_eq!(c.curve.cubic.cnt, 20);
        c.curve.cubic.last_max_cwnd = 200;
        c.curve.cubic.epoch_start = None;
        c.curve.update(200, 1, &at(80));
        assert_eq!(c.curve.cubic.cnt, 20_000, "at the origin, a hundred windows of ACKs are needed");
    }

    #[test]
    fn the_count_is_made_once_a_jiffy_and_for_an_unchanged_window_every_thirty_second_of_a_second() {
        let mut c = LinuxCubic::new(&LinuxCubicSpec::default());
        c.curve.update(100, 1, &at(4));
        let first = c.curve.cubic.last;
        c.curve.update(100, 1, &at(4 + 28));
        assert_eq!(c.curve.cubic.last, first);
        c.curve.update(100, 1, &at(4 + 32));
        assert_eq!(c.curve.cubic.last, Some((9, 100)));
        c.curve.update(101, 1, &at(4 + 32));
        assert_eq!(c.curve.cubic.last, Some((9, 100)), "no second update in one jiffy, even for another window");
    }

    #[test]
    fn a_pause_is_no_time_on_the_cubic() {
        let mut c = LinuxCubic::new(&LinuxCubicSpec::default());
        c.curve.update(100, 1, &at(400));
        c.on_resume(Time(1000 * MS), &at(5000));
        assert_eq!(c.curve.cubic.epoch_start, Some(100 + 1000));
        c.on_resume(Time(0), &at(5000));
        assert_eq!(c.curve.cubic.epoch_start, Some(1250), "never in the future");
    }

    #[test]
    fn a_beta_or_a_clock_that_cannot_be_is_refused_by_name() {
        for (spec, key) in [
            (LinuxCubicSpec { beta_1024: 1024, ..Default::default() }, "congestion.beta_1024"),
            (LinuxCubicSpec { hz: 0, ..Default::default() }, "congestion.hz"),
        ] {
            assert_eq!(spec.validate().unwrap_err().key, key);
        }
    }
}
