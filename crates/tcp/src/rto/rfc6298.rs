//! RFC 6298's retransmission timeout.
//!
//! Source: RFC 6298 §2 to §5; Karn & Partridge 1987; ns-2.35's `rtt_update` for coarse clocks; RFC 7323 §4.1, App. G for
//! timestamps; RFC 4015 §3.1 (0), (11) after a needless timeout.
//!
//! Idea: a smoothed mean and a smoothed mean deviation; the timeout is the mean and four deviations, at least a second.
//!
//! | source | here |
//! | --- | --- |
//! | SRTT | `srtt8 / 8`, in units of the clock |
//! | RTTVAR | `rttvar4 / 4`, in units of the clock |
//! | G | `tick` |
//! | K = 4, alpha = 1/8, beta = 1/4 | the scaling by 4 and 8 |
//! | ExpectedSamples (RFC 7323 App. G) | `samples_expected` |
//! | SRTT_prev, RTTVAR_prev (RFC 4015) | `More::before` |
//!
//! Departures: one segment is timed per round trip unless `every_ack` or `timestamps`; any retransmission ends the timing
//! (Karn, BSD). An echo from the future gives no sample. With a `tick`, an RTT is the number of clock ticks during it, at
//! least one, and the timeout is a whole number of ticks; the deadline is the time of arming plus the timeout, not rounded
//! to a tick.

use super::Rto;
use crate::error::StackError;
use crate::facts::ack::AckEvent;
use crate::facts::scoreboard::Sent;
use crate::segment::{is_older, timestamp};
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroI64;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rfc6298Spec {
    /// Timeout before the first sample, and of the first SYN. Default: 1 s (RFC 6298 §2.1; RFC 2988: 3 s).
    pub initial: Nanos,
    /// Lower limit. Default: 1 s (RFC 6298 §2.4; Linux: 200 ms).
    pub min: Nanos,
    /// Upper limit, also of back-off. Default: 60 s (RFC 6298 §2.5).
    pub max: Nanos,
    /// Tick of the clock that measures RTTs. Default: 1 ns, which means no tick.
    pub tick: Nanos,
    /// Take a sample from every ACK instead of timing one segment at a time. Default: no.
    pub every_ack: bool,
    /// Take a sample from the timestamp echoed by every advancing ACK, even for segments sent twice (RFC 7323 §4.1); without
    /// a timestamp, as with `every_ack`. Default: no.
    pub timestamps: bool,
    /// Divide alpha and beta by the number of samples per round trip (RFC 7323 App. G). Default: no.
    pub divide_gains: bool,
}

impl Default for Rfc6298Spec {
    fn default() -> Self {
        Rfc6298Spec {
            initial: Nanos::from_secs(1),
            min: Nanos::from_secs(1),
            max: Nanos::from_secs(60),
            tick: Nanos(1),
            every_ack: false,
            timestamps: false,
            divide_gains: false,
        }
    }
}

impl Rfc6298Spec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let limit = format!("not below rto.min, which is {}", self.min);
        StackError::unless(self.max >= self.min, "rto.max", &self.max, &limit)?;
        StackError::unless(self.tick.0 > 0, "rto.tick", &0, "1 ns or more")?;
        StackError::unless(self.max.0 > 0, "rto.max", &0, "more than 0")?;
        let many = !self.divide_gains || self.every_ack || self.timestamps;
        let allowed = "only together with rto.every_ack or rto.timestamps, otherwise a round trip gives one sample";
        StackError::unless(many, "rto.divide_gains", &"true", allowed)?;
        let fires = self.initial.max(self.min).0 > 0;
        StackError::unless(
            fires,
            "rto.initial",
            &0,
            "more than 0 if rto.min is 0, otherwise it fires repeatedly without delay",
        )
    }
}

/// The estimator at work.
pub struct Rfc6298 {
    tick: u64,
    min: Nanos,
    max: Nanos,
    base: Nanos,
    /// Eight times SRTT, in ticks: at least 8 at the first sample, then at least 1.
    srtt8: Option<NonZeroI64>,
    /// Four times RTTVAR, in ticks.
    rttvar4: i64,
    /// The segment being timed: its end and when it was sent.
    timing: Option<(Offset, Time)>,
    backoff: u32,
    timestamps: bool,
    /// A sample from every ACK; then nothing is timed.
    many: bool,
    divide_gains: bool,
    /// State that is seldom needed.
    more: Option<Box<More>>,
}

/// State needed only for needless timeouts and divided gains.
#[derive(Clone, Copy, Default)]
struct More {
    mss: u64,
    /// One past the highest offset sent.
    snd_max: Offset,
    /// `srtt8` and `rttvar4` before the first back-off. A stack whose detector keeps the time never backs off here.
    before: Option<(Option<NonZeroI64>, i64)>,
    /// Time of a needless timeout: RFC 4015 §3.1 (11) uses the first sample of data first sent since then.
    adapt_since: Option<Time>,
}

impl Rfc6298 {
    pub(super) fn new(s: &Rfc6298Spec, mss: u32) -> Self {
        let base = s.initial.max(s.min).min(s.max);
        let tick = s.tick.0.max(1);
        let more = More { mss: u64::from(mss), ..More::default() };
        Rfc6298 {
            tick,
            min: s.min,
            max: s.max,
            base,
            srtt8: None,
            rttvar4: 0,
            timing: None,
            backoff: 0,
            timestamps: s.timestamps,
            many: s.every_ack || s.timestamps,
            divide_gains: s.divide_gains,
            more: s.divide_gains.then(|| Box::new(more)),
        }
    }

    /// RFC 6298 §2.2, §2.3 in whole ticks; shifts round down, as in BSD and ns-2. A sample is one of `share` per round trip.
    fn update(&mut self, m: i64, share: i64) {
        if let Some(srtt8) = self.srtt8 {
            let delta = m - (srtt8.get() >> 3);
            let (mean, deviation) = (delta, delta.abs() - (self.rttvar4 >> 2));
            let (mean, deviation) = if share > 1 { (mean / share, deviation / share) } else { (mean, deviation) };
            self.srtt8 = NonZeroI64::new((srtt8.get() + mean).max(1));
            self.rttvar4 = (self.rttvar4 + deviation).max(1);
        } else {
            (self.srtt8, self.rttvar4) = (NonZeroI64::new(m * 8), m * 2);
        }
        self.set_base();
    }

    fn set_base(&mut self) {
        let srtt = self.srtt8.map_or(0, |srtt8| srtt8.get() >> 3);
        let ticks = (srtt + self.rttvar4.max(1)) as u64;
        self.base = Nanos(times(ticks, self.tick)).max(self.min).min(self.max);
    }

    /// RFC 7323 App. G: ExpectedSamples = ceiling (FlightSize / (SMSS · 2)).
    fn samples_expected(&self, ack: &AckEvent) -> i64 {
        match &self.more {
            Some(more) if self.divide_gains => {
                (more.snd_max.max(ack.ack) - ack.prior_una).div_ceil(2 * more.mss.max(1)) as i64
            }
            _ => 1,
        }
    }

    /// RFC 7323 §4.1: the send time of the segment whose timestamp an advancing ACK echoes.
    fn echoed(&self, ack: &AckEvent, now: Time) -> Option<Time> {
        let (echo, at) = (ack.tsecr?, timestamp(now));
        let ago = Nanos::from_millis(u64::from(at.wrapping_sub(echo)));
        (!is_older(at, echo)).then(|| Time(now.0.saturating_sub(ago.0)))
    }

    /// The send time of the segment that this advancing ACK samples, if every ACK may give a sample.
    #[inline]
    fn echoed_or_newest(&self, ack: &AckEvent, now: Time) -> Option<Time> {
        let echoed = if self.timestamps { self.echoed(ack, now) } else { None };
        echoed.or_else(|| ack.rtt.map(|rtt| Time(now.0 - rtt.0)))
    }

    /// A segment sent at `sent` was acknowledged.
    fn sample(&mut self, sent: Option<Time>, ack: &AckEvent, now: Time) {
        let Some(sent) = sent else { return };
        self.timing = None;
        // RFC 6298 §5.7 and Karn: a valid sample ends the back-off.
        self.backoff = 0;
        let ticks = if self.tick == 1 { now.0 - sent.0 } else { now.0 / self.tick - sent.0 / self.tick };
        let m = (ticks as i64).max(1);
        if ack.covers_retransmit || !self.adapted(m, sent) {
            self.update(m, self.samples_expected(ack));
        }
    }

    #[cold]
    fn note_sent(&mut self, sent: &Sent) {
        if let Some(more) = &mut self.more {
            more.snd_max = more.snd_max.max(sent.end());
        }
    }

    /// RFC 4015 §3.1 (11): after a needless timeout the first sample of new data alone sets the estimate. Returns whether it
    /// did.
    fn adapted(&mut self, m: i64, sent: Time) -> bool {
        let Some(more) = &mut self.more else { return false };
        if more.adapt_since.is_none_or(|since| sent < since) {
            return false;
        }
        let (srtt8, rttvar4) = more.before.unwrap_or_default();
        more.adapt_since = None;
        // (0): SRTT_prev = SRTT + 2 G.
        let srtt8 = srtt8.map_or(0, NonZeroI64::get) + 16;
        (self.srtt8, self.rttvar4) = (NonZeroI64::new(srtt8.max(m * 8)), rttvar4.max(m * 2));
        self.set_base();
        true
    }
}

/// The product, or else the largest number. WebAssembly finds an overflow only by a multiplication of 128 bits, which is a call.
#[inline]
fn times(ticks: u64, tick: u64) -> u64 {
    if cfg!(target_family = "wasm") && (ticks | tick) >> 32 == 0 {
        return ticks * tick;
    }
    ticks.saturating_mul(tick)
}

impl Rto for Rfc6298 {
    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        if sent.sends > 1 {
            self.timing = None;
        } else if self.timing.is_none() {
            match self.many {
                false => self.timing = Some((sent.end(), sent.at)),
                true => self.note_sent(sent),
            }
        }
    }
    #[inline]
    fn on_ack(&mut self, ack: &AckEvent, now: Time) {
        match self.timing {
            Some((end, at)) if ack.ack >= end => self.sample(Some(at), ack, now),
            None if self.many => self.sample(self.echoed_or_newest(ack, now), ack, now),
            _ => {}
        }
    }
    fn on_sample(&mut self, rtt: Nanos) {
        self.update(((rtt.0 / self.tick) as i64).max(1), 1);
    }
    fn on_spurious_timeout(&mut self, fired: Time) {
        if let Some(more) = &mut self.more {
            more.adapt_since = more.before.map(|_| fired);
        }
    }
    #[inline]
    fn srtt(&self) -> Option<Nanos> {
        self.srtt8.map(|srtt8| Nanos(times(srtt8.get() as u64, self.tick) / 8))
    }
    fn rttvar(&self) -> Option<Nanos> {
        self.srtt8.map(|_| Nanos(times(self.rttvar4 as u64, self.tick) / 4))
    }
    #[inline]
    fn base(&self) -> Nanos {
        self.base
    }
    #[inline]
    fn backed_off(&self) -> Nanos {
        Nanos(times(self.base.0, 1 << self.backoff.min(32))).min(self.max)
    }
    fn back_off(&mut self) {
        if self.backoff == 0 {
            let before = (self.srtt8, self.rttvar4);
            let more = self.more.get_or_insert_default();
            (more.before, more.adapt_since) = (Some(before), None);
        }
        self.backoff += 1;
        self.timing = None;
    }
    #[inline]
    fn backoff_count(&self) -> u32 {
        self.backoff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eight(r: &Rfc6298) -> i64 {
        r.srtt8.map_or(0, NonZeroI64::get)
    }

    fn after(samples_ms: &[u64], min: Nanos) -> (f64, f64, f64) {
        let mut r = Rfc6298::new(&Rfc6298Spec { min, ..Rfc6298Spec::default() }, 1000);
        for s in samples_ms {
            r.on_sample(Nanos::from_millis(*s));
        }
        (eight(&r) as f64 / 8e9, r.rttvar4 as f64 / 4e9, r.base().as_secs_f64())
    }

    #[test]
    fn these_samples_give_by_the_rfcs_formulas_these_timeouts() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-8;
        let rows = [
            (0.1, 0.05, 0.3),
            (0.1025, 0.0425, 0.2725),
            (0.127_187_5, 0.08125, 0.452_187_5),
            (0.123_789_062_5, 0.067_734_375, 0.394_726_562_5),
        ];
        for (n, want) in rows.iter().enumerate() {
            let got = after(&[100, 120, 300, 100][..=n], Nanos::ZERO);
            assert!(near(got.0, want.0) && near(got.1, want.1) && near(got.2, want.2), "{n}: {got:?} {want:?}");
        }
        for (n, want) in [3.0, 3.0625, 2.792_187_5].iter().enumerate() {
            assert!(near(after(&[1000, 1500, 800][..=n], Nanos::from_secs(1)).2, *want));
        }
    }

    #[test]
    fn the_timeout_never_falls_below_the_minimum_and_backing_off_stops_at_the_maximum() {
        let mut r = Rfc6298::new(&Rfc6298Spec::default(), 1000);
        r.on_sample(Nanos::from_millis(1));
        assert_eq!(r.backed_off(), Nanos::from_secs(1));
        (0..100).for_each(|_| r.back_off());
        assert_eq!(r.backed_off(), Nanos::from_secs(60));
    }

    #[test]
    fn a_coarse_clock_counts_the_ticks_it_saw_and_at_least_one() {
        let spec = Rfc6298Spec { tick: Nanos::from_millis(500), ..Rfc6298Spec::default() };
        for (sent_ms, ack_ms, srtt_ms) in [(100, 300, 500), (400, 600, 500), (400, 1100, 1000)] {
            let mut r = Rfc6298::new(&spec, 1000);
            let at = Time(sent_ms * 1_000_000);
            r.timing = Some((Offset(10), at));
            let ack = AckEvent { ack: Offset(10), ..crate::testing::blank() };
            r.on_ack(&ack, Time(ack_ms * 1_000_000));
            assert_eq!(r.srtt(), Some(Nanos::from_millis(srtt_ms)));
        }
    }

    /// ACKs of one segment each, with a window of 20 segments, `ms` milliseconds after the timestamps that they echo;
    /// returns SRTT and RTTVAR in ms.
    fn echoed(spec: &Rfc6298Spec, ms: &[u64]) -> (f64, f64) {
        let mut r = Rfc6298::new(spec, 1000);
        let sent = |start| Sent {
            start: Offset(start),
            at: Time(0),
            cwnd: 0.0,
            len: 1000,
            marks: Default::default(),
            sends: 1,
        };
        r.on_sent(&sent(19_001));
        for (n, ago) in ms.iter().enumerate() {
            let (una, at) = (1 + 1000 * n as u64, 5_000 + n as u64);
            r.on_sent(&sent(una + 19_000));
            let ack = AckEvent {
                ack: Offset(una + 1000),
                prior_una: Offset(una),
                tsecr: Some((at - ago) as u32),
                ..crate::testing::blank()
            };
            r.on_ack(&ack, Time(at * 1_000_000));
        }
        (eight(&r) as f64 / 8e6, r.rttvar4 as f64 / 4e6)
    }

    #[test]
    fn every_advancing_ack_gives_a_sample_of_its_timestamp() {
        // RFC 7323 §4.1, with RFC 6298's gains: 100, 120, 300 as in the sequence above.
        let spec = Rfc6298Spec { timestamps: true, ..Rfc6298Spec::default() };
        let (srtt, rttvar) = echoed(&spec, &[100, 120, 300]);
        assert!((srtt - 127.187_5).abs() < 1e-3 && (rttvar - 81.25).abs() < 1e-3, "{srtt} {rttvar}");
        // An echo from the future gives no sample; after it, a segment sent only once gives one.
        let mut r = Rfc6298::new(&spec, 1000);
        let ack = AckEvent { ack: Offset(10), tsecr: Some(7), ..crate::testing::blank() };
        r.on_ack(&ack, Time(5_000_000));
        assert_eq!(r.srtt(), None);
        r.on_ack(&AckEvent { rtt: Some(Nanos::from_millis(4)), ..ack }, Time(5_000_000));
        assert_eq!(r.srtt(), Some(Nanos::from_millis(4)));
    }

    #[test]
    fn divided_gains_count_a_sample_as_one_of_half_a_window() {
        // RFC 7323 App. G: FlightSize of 20 segments, so 10 samples are expected: 1/80 of 20 ms, 1/40 of (20 - 50) ms.
        let spec = Rfc6298Spec { timestamps: true, divide_gains: true, ..Rfc6298Spec::default() };
        let (srtt, rttvar) = echoed(&spec, &[100, 120]);
        assert!((srtt - 100.25).abs() < 1e-3 && (rttvar - 49.25).abs() < 1e-3, "{srtt} {rttvar}");
    }

    #[test]
    fn after_a_needless_timeout_a_sample_of_older_data_does_not_count_for_the_new() {
        // RFC 4015 §3.1 (11): only data sent since then.
        let mut r = Rfc6298::new(&Rfc6298Spec { every_ack: true, min: Nanos::ZERO, ..Rfc6298Spec::default() }, 1000);
        let mut ack = |at_ms: u64, rtt_ms: u64| {
            let rtt = Some(Nanos::from_millis(rtt_ms));
            r.on_ack(&AckEvent { rtt, ..crate::testing::blank() }, Time(at_ms * 1_000_000));
            r.base().0 / 1_000_000
        };
        assert_eq!(ack(100, 100), 300);
        r.back_off();
        r.on_spurious_timeout(Time(1_000_000_000));
        let mut ack = |at_ms: u64, rtt_ms: u64| {
            let rtt = Some(Nanos::from_millis(rtt_ms));
            r.on_ack(&AckEvent { rtt, ..crate::testing::blank() }, Time(at_ms * 1_000_000));
            (eight(&r) / 8_000_000, r.rttvar4 / 4_000_000)
        };
        assert_eq!(ack(1001, 100), (100, 37));
        // SRTT_prev was 100, RTTVAR_prev 50: the larger values are kept.
        assert_eq!(ack(1200, 80), (100, 50));
    }
}
