//! The retransmission timeouts, worked out once more.

use super::{advances, end_of};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::scoreboard::Sent;
use ackclock_tcp::rto::linux::LinuxSpec;
use ackclock_tcp::rto::rfc6298::Rfc6298Spec;
use ackclock_tcp::rto::Rto;
use ackclock_tcp::time::{Nanos, Time};

/// `base` doubled `times` times, at most `most`.
pub(super) fn doubled(base: u64, times: u32, most: u64) -> Nanos {
    let mut rto = u128::from(base);
    for _ in 0..times.min(32) {
        rto *= 2;
    }
    Nanos(u128::min(rto, u128::from(most)) as u64)
}

/// When a kernel's timer fires that is set for `span` (`mod_timer`): a wheel of eight levels, each eight times coarser than the
/// one before.
pub(super) fn wheel(hz: u32, set: u64, span: u64) -> u64 {
    let jiffy = 1_000_000_000 / u64::from(hz);
    let ahead = span.div_ceil(jiffy);
    let expires = set / jiffy + ahead;
    let mut grain = 1;
    while grain < 8u64.pow(8) && ahead >= 63 * grain {
        grain *= 8;
    }
    (expires / grain + 1) * grain * jiffy
}

/// RFC 6298, in the clock's ticks.
pub(super) struct Rfc6298 {
    spec: Rfc6298Spec,
    mss: u64,
    /// Eight times SRTT and four times RTTVAR.
    estimate: Option<(i64, i64)>,
    base: u64,
    timed: Option<(u64, u64)>,
    backoff: u32,
    /// One past the highest offset that has been sent while nothing was timed.
    snd_max: u64,
    /// RFC 4015 §3.1 (0), (11): the estimate before the timer fired, if it has fired, and since when the timer adapts.
    before: Option<Option<(i64, i64)>>,
    adapts: Option<u64>,
}

impl Rfc6298 {
    pub(super) fn new(spec: &Rfc6298Spec, mss: u32) -> Rfc6298 {
        Rfc6298 {
            spec: spec.clone(),
            mss: u64::from(mss),
            estimate: None,
            base: u64::min(u64::max(spec.initial.0, spec.min.0), spec.max.0),
            timed: None,
            backoff: 0,
            snd_max: 0,
            before: None,
            adapts: None,
        }
    }

    fn every_ack(&self) -> bool {
        self.spec.every_ack || self.spec.timestamps
    }

    fn set(&mut self, srtt8: i64, rttvar4: i64) {
        self.estimate = Some((srtt8, rttvar4));
        let ticks = srtt8.div_euclid(8) + i64::max(rttvar4, 1);
        let rto = u128::from(ticks as u64) * u128::from(self.spec.tick.0);
        let rto = u128::max(rto, u128::from(self.spec.min.0));
        self.base = u128::min(rto, u128::from(self.spec.max.0)) as u64;
    }

    /// §2.2, §2.3, with the gains divided by `samples` per round trip.
    fn sample(&mut self, r: i64, samples: i64) {
        let Some((srtt8, rttvar4)) = self.estimate else { return self.set(8 * r, 2 * r) };
        let error = r - srtt8.div_euclid(8);
        let deviation = error.abs() - rttvar4.div_euclid(4);
        self.set(i64::max(srtt8 + error / samples, 1), i64::max(rttvar4 + deviation / samples, 1));
    }

    /// When the segment was sent that this ACK acknowledges, if it gives a sample.
    fn sent(&self, ack: &AckEvent, now: Time) -> Option<u64> {
        if !self.every_ack() || self.timed.is_some() {
            return self.timed.filter(|t| ack.ack.0 >= t.0).map(|t| t.1);
        }
        if let Some(echo) = ack.tsecr.filter(|_| self.spec.timestamps) {
            let ms = (now.0 / 1_000_000) as u32;
            if ms.wrapping_sub(echo) < 1 << 31 {
                return Some(now.0.saturating_sub(u64::from(ms.wrapping_sub(echo)) * 1_000_000));
            }
        }
        ack.rtt.map(|r| now.0 - r.0)
    }
}

impl Rto for Rfc6298 {
    fn on_sent(&mut self, sent: &Sent) {
        if sent.sends != 1 {
            // Karn.
            self.timed = None;
        } else if self.every_ack() {
            self.snd_max = u64::max(self.snd_max, end_of(sent));
        } else if self.timed.is_none() {
            self.timed = Some((end_of(sent), sent.at.0));
        }
    }
    fn on_ack(&mut self, ack: &AckEvent, now: Time) {
        let Some(sent) = self.sent(ack, now) else { return };
        (self.timed, self.backoff) = (None, 0);
        let tick = self.spec.tick.0;
        let r = i64::max((now.0 / tick - sent / tick) as i64, 1);
        if !ack.covers_retransmit && self.adapts.is_some_and(|since| sent >= since) {
            self.adapts = None;
            let (srtt8, rttvar4) = self.before.flatten().unwrap_or((0, 0));
            return self.set(i64::max(srtt8 + 16, 8 * r), i64::max(rttvar4, 2 * r));
        }
        // RFC 7323 appendix G.
        let mut samples = 1;
        if self.spec.divide_gains {
            let flight = u64::max(self.snd_max, ack.ack.0) - ack.prior_una.0;
            samples = flight.div_ceil(2 * self.mss);
        }
        self.sample(r, i64::max(samples as i64, 1));
    }
    fn hears_sacks(&self) -> bool {
        false
    }
    fn on_sample(&mut self, rtt: Nanos) {
        self.sample(i64::max((rtt.0 / self.spec.tick.0) as i64, 1), 1);
    }
    fn on_spurious_timeout(&mut self, fired: Time) {
        self.adapts = self.before.and(Some(fired.0));
    }
    fn srtt(&self) -> Option<Nanos> {
        self.estimate.map(|(srtt8, _)| Nanos(srtt8 as u64 * self.spec.tick.0 / 8))
    }
    fn rttvar(&self) -> Option<Nanos> {
        self.estimate.map(|(_, rttvar4)| Nanos(rttvar4 as u64 * self.spec.tick.0 / 4))
    }
    fn base(&self) -> Nanos {
        Nanos(self.base)
    }
    fn backed_off(&self) -> Nanos {
        doubled(self.base, self.backoff, self.spec.max.0)
    }
    fn back_off(&mut self) {
        if self.backoff == 0 {
            (self.before, self.adapts) = (Some(self.estimate), None);
        }
        self.backoff += 1;
        self.timed = None;
    }
    fn backoff_count(&self) -> u32 {
        self.backoff
    }
    fn deadline(&self, set: Time) -> Time {
        Time(set.0 + self.backed_off().0)
    }
    fn next_tick(&self, now: Time) -> Time {
        Time(now.0 + 1)
    }
}

/// Linux's `tcp_rtt_estimator` and its timers.
pub(super) struct Linux {
    spec: LinuxSpec,
    /// srtt_us, mdev_us, mdev_max_us, rttvar_us; nanoseconds here.
    us: Option<[i64; 4]>,
    rtt_seq: u64,
    snd_nxt: u64,
    base: u64,
    backoff: u32,
}

impl Linux {
    pub(super) fn new(spec: &LinuxSpec) -> Linux {
        let base = u64::min(spec.initial.0, spec.max.0);
        Linux { spec: spec.clone(), us: None, rtt_seq: 1, snd_nxt: 1, base, backoff: 0 }
    }

    fn jiffy(&self) -> u64 {
        1_000_000_000 / u64::from(self.spec.hz)
    }

    fn fires(&self, set: u64, span: u64) -> Time {
        Time(wheel(self.spec.hz, set, span))
    }

    fn estimate(&mut self, rtt: u64, una: u64) {
        let (m, min) = (rtt as i64, self.spec.min.0 as i64);
        let mut next;
        if let Some([srtt, mdev, mdev_max, rttvar]) = self.us {
            next = [srtt, mdev, mdev_max, rttvar];
            let error = m - srtt / 8;
            next[0] = i64::max(srtt + error, 1);
            let mut by = error.abs() - mdev / 4;
            if by > 0 && error < 0 {
                by /= 8;
            }
            next[1] = mdev + by;
            if next[1] > next[2] {
                next[2] = next[1];
                next[3] = i64::max(next[3], next[2]);
            }
            if una > self.rtt_seq {
                if next[2] < next[3] {
                    next[3] -= (next[3] - next[2]) / 4;
                }
                self.rtt_seq = self.snd_nxt;
                next[2] = min;
            }
        } else {
            let rttvar = i64::max(2 * m, min);
            next = [i64::max(8 * m, 1), 2 * m, rttvar, rttvar];
            self.rtt_seq = self.snd_nxt;
        }
        self.us = Some(next);
        let rto = (next[0] / 8 + next[3]) as u64;
        let whole = rto.div_ceil(self.jiffy()) * self.jiffy();
        self.base = u64::min(u64::max(whole, self.spec.min.0), self.spec.max.0);
    }
}

impl Rto for Linux {
    fn on_sent(&mut self, sent: &Sent) {
        self.snd_nxt = u64::max(self.snd_nxt, end_of(sent));
    }
    fn on_ack(&mut self, ack: &AckEvent, now: Time) {
        let mut rtt = ack.rtt.map(|r| r.0);
        if let (None, Some(echo), true) = (rtt, ack.tsecr, advances(ack)) {
            // At least a millisecond of the timestamp clock.
            let ms = u32::max(((now.0 / 1_000_000) as u32).wrapping_sub(echo), 1);
            rtt = Some(u64::from(ms) * 1_000_000).filter(|_| ms < 1 << 31);
        }
        if let Some(rtt) = rtt {
            self.backoff = 0;
            self.estimate(rtt, ack.ack.0);
        }
    }
    fn hears_sacks(&self) -> bool {
        true
    }
    fn on_sample(&mut self, rtt: Nanos) {
        self.estimate(rtt.0, 1);
    }
    fn on_spurious_timeout(&mut self, _: Time) {}
    fn srtt(&self) -> Option<Nanos> {
        self.us.map(|us| Nanos(us[0] as u64 / 8))
    }
    fn rttvar(&self) -> Option<Nanos> {
        self.us.map(|us| Nanos(us[3] as u64 / 4))
    }
    fn base(&self) -> Nanos {
        Nanos(self.base)
    }
    fn backed_off(&self) -> Nanos {
        if self.backoff == 0 {
            return Nanos(self.base);
        }
        doubled(self.base, self.backoff, self.spec.max.0)
    }
    fn back_off(&mut self) {
        self.backoff += 1;
    }
    fn backoff_count(&self) -> u32 {
        self.backoff
    }
    fn deadline(&self, set: Time) -> Time {
        self.fires(set.0, self.backed_off().0)
    }
    fn next_tick(&self, now: Time) -> Time {
        self.fires(now.0, 1)
    }
}
