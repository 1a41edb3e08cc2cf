//! CUBIC after RFC 9438, and as in 2008, worked out once more.

use super::{acked, mss};
use ackclock_tcp::congestion::cubic::CubicSpec;
use ackclock_tcp::congestion::cubic_2008::{Cubic2008Spec, FirstCount};
use ackclock_tcp::congestion::{Congestion, Cut, CutFrom, LossEvent};
use ackclock_tcp::event::{Cause, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::CcUndo;
use ackclock_tcp::time::{Nanos, Time};

fn seconds(span: Nanos) -> f64 {
    span.as_secs_f64()
}

/// RFC 9438's variables of an epoch.
#[derive(Clone, Copy)]
struct Epoch {
    start: Time,
    k: f64,
    w_est: f64,
    /// W_est has reached cwnd_prior (§4.3).
    as_reno: bool,
}

/// RFC 9438 §4, windows in segments.
pub(super) struct Cubic {
    spec: CubicSpec,
    w_max: f64,
    cwnd_prior: Option<f64>,
    epoch: Option<Epoch>,
    /// K, W_est and the slope outside of an epoch: an undo may return to them.
    kept: Epoch,
    last_ack: Time,
    timed_out: bool,
}

impl Cubic {
    pub(super) fn new(spec: &CubicSpec) -> Cubic {
        let kept = Epoch { start: Time(0), k: 0.0, w_est: 0.0, as_reno: true };
        let (spec, last_ack) = (spec.clone(), Time(0));
        Cubic { spec, w_max: 0.0, cwnd_prior: None, epoch: None, kept, last_ack, timed_out: false }
    }

    fn begin(&mut self, now: Time, cwnd: f64) -> Epoch {
        if self.cwnd_prior.is_none() {
            (self.cwnd_prior, self.w_max) = (Some(cwnd), cwnd);
        }
        // §4.8: after a timeout W_max is the window of the first congestion avoidance.
        if self.timed_out || self.w_max < cwnd {
            self.w_max = cwnd;
        }
        self.timed_out = false;
        self.last_ack = now;
        Epoch { start: now, k: libm::cbrt((self.w_max - cwnd) / self.spec.c), w_est: cwnd, as_reno: false }
    }
}

impl Congestion for Cubic {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        let since_last = cx.now.since(self.last_ack);
        self.last_ack = cx.now;
        if self.spec.only_if_limited && !cx.cwnd_limited {
            // §5.8.
            if let Some(e) = &mut self.epoch {
                e.start += since_last;
            }
            return;
        }
        let smss = mss(cx);
        if w.cwnd < w.ssthresh {
            w.cwnd += smss;
            return;
        }
        let cwnd = w.cwnd / smss;
        let mut e = match self.epoch {
            Some(e) => e,
            None => self.begin(cx.now, cwnd),
        };
        let beta = self.spec.beta;
        let alpha = if e.as_reno { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) };
        e.w_est += alpha * (acked(ack) as f64 / smss) / cwnd;
        e.as_reno |= matches!(self.cwnd_prior, Some(prior) if e.w_est >= prior);
        (self.epoch, self.kept) = (Some(e), e);
        let w_cubic = |t: f64| self.spec.c * (t - e.k) * (t - e.k) * (t - e.k) + self.w_max;
        let t = seconds(cx.now.since(e.start));
        let next = if w_cubic(t) < e.w_est {
            f64::max(e.w_est, cwnd)
        } else {
            let target = w_cubic(t + cx.srtt.map_or(0.0, seconds));
            cwnd + (f64::min(f64::max(target, cwnd), 1.5 * cwnd) - cwnd) / cwnd
        };
        w.cwnd = next * smss;
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        if l.repeated {
            // §4.8.
            self.epoch = None;
            self.timed_out = true;
            return Cut { ssthresh: w.ssthresh, cwnd: w.cwnd };
        }
        let smss = mss(cx);
        let cwnd = w.cwnd / smss;
        // §4.7.
        self.w_max =
            if self.spec.fast_convergence && cwnd < self.w_max { cwnd * (1.0 + self.spec.beta) / 2.0 } else { cwnd };
        self.cwnd_prior = Some(cwnd);
        self.epoch = None;
        self.timed_out = l.cause == Cause::Rto;
        // §4.6.
        let of = match self.spec.cut_from {
            CutFrom::Flight => l.flight as f64,
            CutFrom::Pipe => l.pipe as f64,
            CutFrom::Window => w.cwnd,
        };
        let least = if l.cause == Cause::Ecn { 1.0 } else { 2.0 };
        let reduced = of * self.spec.beta;
        Cut { ssthresh: f64::max(reduced, 2.0 * smss), cwnd: f64::max(reduced, least * smss) }
    }
    fn save(&self) -> CcUndo {
        let prior = self.cwnd_prior.unwrap_or(0.0);
        CcUndo { num: [prior, self.w_max, self.kept.k, self.kept.w_est], at: self.epoch.map(|e| e.start) }
    }
    fn restore(&mut self, u: &CcUndo) {
        self.cwnd_prior = if u.num[0] > 0.0 { Some(u.num[0]) } else { None };
        self.w_max = u.num[1];
        // The slope is the one in force: §4.9.2 names neither it nor the share of a timeout.
        self.kept = Epoch { k: u.num[2], w_est: u.num[3], ..self.kept };
        self.epoch = u.at.map(|start| Epoch { start, ..self.kept });
        self.timed_out = false;
    }
    fn grows_by_sack_above(&self) -> Option<u32> {
        None
    }
    fn on_resume(&mut self, _: Time, _: &Ctx) {}
    fn on_restart(&mut self) {
        self.epoch = None;
    }
    fn hears_rates(&self) -> bool {
        false
    }
}

/// Linux's CUBIC of 2008, as Fukuda, Nobayashi & Ikenaga 2018 describe it. Windows and counts in whole segments.
pub(super) struct Cubic2008 {
    spec: Cubic2008Spec,
    last_max: u64,
    /// Time to the origin, and the origin.
    k: f64,
    origin: u64,
    epoch: Option<Time>,
    /// ACKs since the window last opened.
    cwnd_cnt: u64,
    /// What additive increase would have, and the ACKs since it last opened.
    tcp_cwnd: u64,
    ack_cnt: f64,
}

impl Cubic2008 {
    pub(super) fn new(spec: &Cubic2008Spec) -> Cubic2008 {
        let spec = spec.clone();
        Cubic2008 { spec, last_max: 0, k: 0.0, origin: 0, epoch: None, cwnd_cnt: 0, tcp_cwnd: 0, ack_cnt: 0.0 }
    }

    fn cnt(&mut self, t: f64, delay_min: f64, cwnd: u64) -> f64 {
        let window = cwnd as f64;
        let past = t - self.k;
        // Eq. 2.
        let target = (self.origin as f64 + self.spec.c * past * past * past).trunc();
        let mut cnt = if target > window { (window / (target - window)).floor() } else { 100.0 * window };
        if self.spec.limit_rate && past >= 0.0 {
            // At most 16 segments in 100 ms.
            cnt = f64::max(cnt, (window / f64::max(160.0 * delay_min, 1e-9)).floor());
        }
        if self.last_max == 0 {
            cnt = match self.spec.first_count {
                FirstCount::Free => cnt,
                FirstCount::Fifty => 50.0,
                FirstCount::AtMostTwenty => f64::min(cnt, 20.0),
            };
        }
        if self.spec.friendliness {
            let beta = f64::from(self.spec.beta_1024);
            let each = (window * (1024.0 + beta) / (3.0 * (1024.0 - beta))).floor();
            self.ack_cnt += 1.0;
            while self.ack_cnt > each {
                self.ack_cnt -= f64::max(each, 1.0);
                self.tcp_cwnd += 1;
            }
            if self.tcp_cwnd > cwnd {
                cnt = f64::min(cnt, (cwnd / (self.tcp_cwnd - cwnd)) as f64);
            }
        }
        f64::max(cnt, 1.0)
    }
}

impl Congestion for Cubic2008 {
    fn on_ack(&mut self, _: &AckEvent, w: &mut Window, cx: &Ctx) {
        let smss = mss(cx);
        if w.cwnd < w.ssthresh {
            w.cwnd += smss;
            return;
        }
        let cwnd = (w.cwnd / smss).floor() as u64;
        if self.epoch.is_none() {
            self.epoch = Some(cx.now);
            (self.ack_cnt, self.tcp_cwnd) = (0.0, cwnd);
            let below = self.last_max.saturating_sub(cwnd);
            self.k = libm::cbrt(below as f64 / self.spec.c);
            self.origin = cwnd + below;
        }
        let delay_min = cx.min_rtt.map_or(0.0, seconds);
        let t = seconds(cx.now.since(self.epoch.unwrap_or(cx.now))) + delay_min;
        let cnt = self.cnt(t, delay_min, cwnd);
        if (self.cwnd_cnt as f64) < cnt {
            self.cwnd_cnt += 1;
        } else {
            self.cwnd_cnt = 0;
            w.cwnd += smss;
        }
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        if l.repeated {
            // Every entry into Loss.
            *self = Cubic2008::new(&self.spec);
            return Cut { ssthresh: w.ssthresh, cwnd: w.cwnd };
        }
        let cwnd = (w.cwnd / mss(cx)).floor() as u64;
        let beta = u64::from(self.spec.beta_1024);
        let again = self.spec.fast_convergence && self.last_max > cwnd;
        self.last_max = if again { cwnd * (1024 + beta) / 2048 } else { cwnd };
        self.epoch = None;
        if l.cause == Cause::Rto {
            *self = Cubic2008::new(&self.spec);
        }
        // Eq. 1.
        let cut = u64::max(cwnd * beta / 1024, 2) as f64 * mss(cx);
        Cut { ssthresh: cut, cwnd: cut }
    }
    fn save(&self) -> CcUndo {
        CcUndo { num: [self.last_max as f64, self.k, self.origin as f64, self.cwnd_cnt as f64], at: self.epoch }
    }
    fn restore(&mut self, u: &CcUndo) {
        (self.last_max, self.k) = (u.num[0] as u64, u.num[1]);
        (self.origin, self.cwnd_cnt) = (u.num[2] as u64, u.num[3] as u64);
        self.epoch = u.at;
    }
    fn grows_by_sack_above(&self) -> Option<u32> {
        None
    }
    fn on_resume(&mut self, _: Time, _: &Ctx) {}
    fn on_restart(&mut self) {}
    fn hears_rates(&self) -> bool {
        false
    }
}
