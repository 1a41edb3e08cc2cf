//! The timeouts of QUIC and of BSD Net/2, worked out once more.

use super::end_of;
use super::timer::doubled;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::scoreboard::Sent;
use ackclock_tcp::rto::net2_ticks::{Arithmetic, Net2TicksSpec};
use ackclock_tcp::rto::quic::QuicSpec;
use ackclock_tcp::rto::Rto;
use ackclock_tcp::time::{Nanos, Time};

/// RFC 9002 §5.3, §6.2.1, nanoseconds.
pub(super) struct Quic {
    spec: QuicSpec,
    rtt: Option<(u64, u64)>,
    backoff: u32,
}

impl Quic {
    pub(super) fn new(spec: &QuicSpec) -> Quic {
        Quic { spec: spec.clone(), rtt: None, backoff: 0 }
    }
}

impl Rto for Quic {
    fn on_sent(&mut self, _: &Sent) {}
    fn on_ack(&mut self, ack: &AckEvent, _: Time) {
        self.backoff = 0;
        if let Some(rtt) = ack.rtt {
            self.on_sample(rtt);
        }
    }
    fn hears_sacks(&self) -> bool {
        false
    }
    fn on_sample(&mut self, rtt: Nanos) {
        self.rtt = Some(match self.rtt {
            None => (rtt.0, rtt.0 / 2),
            Some((srtt, rttvar)) => {
                let off = srtt.abs_diff(rtt.0);
                ((7 * srtt + rtt.0) / 8, (3 * rttvar + off) / 4)
            }
        });
    }
    fn on_spurious_timeout(&mut self, _: Time) {}
    fn srtt(&self) -> Option<Nanos> {
        self.rtt.map(|r| Nanos(r.0))
    }
    fn rttvar(&self) -> Option<Nanos> {
        self.rtt.map(|r| Nanos(r.1))
    }
    fn base(&self) -> Nanos {
        let s = &self.spec;
        let pto = match self.rtt {
            // §6.2.2: twice the variation of half the initial round trip on each side.
            None => 3 * s.initial_rtt.0,
            Some((srtt, rttvar)) => srtt + u64::max(4 * rttvar, s.granularity.0) + s.max_ack_delay.0,
        };
        Nanos(u64::min(pto, s.max.0))
    }
    fn backed_off(&self) -> Nanos {
        doubled(self.base().0, self.backoff, self.spec.max.0)
    }
    fn back_off(&mut self) {
        self.backoff += 1;
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

/// 4.3BSD Net/2's counters, as Hoe 1995 §3.2.1 has them.
pub(super) struct Net2Ticks {
    spec: Net2TicksSpec,
    /// t_srtt and t_rttvar.
    t: Option<(f64, f64)>,
    t_rxtcur: u64,
    timed: Option<(u64, u64)>,
    t_rxtshift: u32,
}

impl Net2Ticks {
    pub(super) fn new(spec: &Net2TicksSpec) -> Net2Ticks {
        let t_rxtcur = u64::from(spec.initial_ticks);
        Net2Ticks { spec: spec.clone(), t: None, t_rxtcur, timed: None, t_rxtshift: 0 }
    }

    /// The clock ticks at `phase` and every `tick` after it; how often it has by `at`, and once more if the phase is still to come.
    fn ticks_by(&self, at: u64) -> u64 {
        let tick = self.spec.tick.0;
        (at + tick - self.spec.phase.0 % tick) / tick
    }

    /// `tcp_xmit_timer`.
    fn xmit_timer(&mut self, rtt: f64) {
        let real = self.spec.arithmetic == Arithmetic::Real;
        let shift = |x: f64| if real { x } else { x.floor() };
        let least = if real { f64::MIN_POSITIVE } else { 1.0 };
        let (srtt, rttvar) = match self.t {
            None => (rtt * 8.0, rtt * 2.0),
            Some((srtt, rttvar)) => {
                let delta = rtt - 1.0 - shift(srtt / 8.0);
                let off = if delta < 0.0 { -delta } else { delta };
                (f64::max(srtt + delta, least), f64::max(rttvar + off - shift(rttvar / 4.0), least))
            }
        };
        self.t = Some((srtt, rttvar));
        let (min, max) = (u64::from(self.spec.min_ticks), u64::from(self.spec.max_ticks));
        let ticks = (shift(srtt / 8.0) + rttvar).floor() as u64;
        let ticks = if self.spec.arithmetic == Arithmetic::FixedMin { min } else { ticks };
        self.t_rxtcur = u64::min(u64::max(ticks, min), max);
    }
}

impl Rto for Net2Ticks {
    fn on_sent(&mut self, sent: &Sent) {
        if sent.sends > 1 {
            self.timed = None;
        } else if self.timed.is_none() {
            self.timed = Some((end_of(sent), sent.at.0));
        }
    }
    fn on_ack(&mut self, ack: &AckEvent, now: Time) {
        let Some((_, at)) = self.timed.filter(|t| t.0 <= ack.ack.0) else { return };
        (self.timed, self.t_rxtshift) = (None, 0);
        self.xmit_timer((self.ticks_by(now.0) - self.ticks_by(at) + 1) as f64);
    }
    fn hears_sacks(&self) -> bool {
        false
    }
    fn on_sample(&mut self, rtt: Nanos) {
        self.xmit_timer((rtt.0 / self.spec.tick.0 + 1) as f64);
    }
    fn on_spurious_timeout(&mut self, _: Time) {}
    fn srtt(&self) -> Option<Nanos> {
        self.t.map(|t| Nanos((t.0 / 8.0 * self.spec.tick.0 as f64) as u64))
    }
    fn rttvar(&self) -> Option<Nanos> {
        self.t.map(|t| Nanos((t.1 / 4.0 * self.spec.tick.0 as f64) as u64))
    }
    fn base(&self) -> Nanos {
        Nanos(self.t_rxtcur * self.spec.tick.0)
    }
    fn backed_off(&self) -> Nanos {
        let mut ticks = self.t_rxtcur;
        for _ in 0..self.t_rxtshift.min(16) {
            ticks *= 2;
        }
        Nanos(u64::min(ticks, u64::from(self.spec.max_ticks)) * self.spec.tick.0)
    }
    fn back_off(&mut self) {
        self.t_rxtshift += 1;
        self.timed = None;
    }
    fn backoff_count(&self) -> u32 {
        self.t_rxtshift
    }
    fn deadline(&self, set: Time) -> Time {
        // The counter is decremented at each tick and fires at zero.
        let (tick, n) = (self.spec.tick.0, self.backed_off().0 / self.spec.tick.0);
        let mut at = (self.ticks_by(set.0)) * tick + self.spec.phase.0 % tick;
        at += (n - 1) * tick;
        Time(at)
    }
    fn next_tick(&self, now: Time) -> Time {
        Time(now.0 + 1)
    }
}
