//! Linux's retransmission timeout: the variation is the largest within a round trip, and the clock has ticks.
//!
//! Source: Linux 6.18 (`tcp_rtt_estimator`, `tcp_ack_update_rtt`, `tcp_set_rto` in `net/ipv4/tcp_input.c`,
//! `__tcp_set_rto` in `include/net/tcp.h`, `tcp_retransmit_timer` in `net/ipv4/tcp_timer.c`), in our words.
//!
//! Idea: the mean deviation is smoothed as in RFC 6298, but the timeout uses its largest value during a round trip, at least
//! `tcp_rto_min`, and falls by a quarter of the difference per round trip. An RTT shorter than expected moves the deviation an
//! eighth as far as a longer one.
//!
//! | Linux | here |
//! | --- | --- |
//! | srtt_us (eight times), mdev_us (four times) | `srtt8`, `mdev4` |
//! | mdev_max_us, rttvar_us (four times) | `mdev_max4`, `rttvar4` |
//! | rtt_seq | `round_end` |
//! | tcp_rto_min, TCP_RTO_MAX, TCP_TIMEOUT_INIT | `min`, `max`, `initial` |
//! | HZ | `hz` |
//! | seq_rtt_us, sack_rtt_us, else the echoed timestamp | `ack.rtt`, else `ack.tsecr` on an ACK that advances |
//!
//! Departures: of several segments that an ACK delivers, Linux times the one sent first; here it is the one sent last. Times are
//! in nanoseconds where Linux has microseconds.

use super::Rto;
use crate::error::StackError;
use crate::facts::ack::AckEvent;
use crate::facts::scoreboard::Sent;
use crate::segment::timestamp;
use crate::seq::Offset;
use crate::time::{Jiffies, Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroI64;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinuxSpec {
    /// Timeout before the first sample, and of the first SYN. Default: 1 s.
    pub initial: Nanos,
    /// Lower limit of the four deviations and of the timeout (`tcp_rto_min`). Default: 200 ms.
    pub min: Nanos,
    /// Upper limit, also of back-off. Default: 120 s.
    pub max: Nanos,
    /// Ticks of the kernel's clock per second, 1 to 1000. Default: 250.
    pub hz: u32,
}

impl Default for LinuxSpec {
    fn default() -> Self {
        let (initial, min, max) = (Nanos::from_secs(1), Nanos::from_millis(200), Nanos::from_secs(120));
        LinuxSpec { initial, min, max, hz: 250 }
    }
}

impl LinuxSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let limit = format!("not below rto.min, which is {}", self.min);
        StackError::unless(self.max >= self.min, "rto.max", &self.max, &limit)?;
        StackError::unless(self.min.0 > 0, "rto.min", &0, "more than 0")?;
        StackError::unless(self.initial.0 > 0, "rto.initial", &0, "more than 0")?;
        StackError::unless((1..=1000).contains(&self.hz), "rto.hz", &self.hz, "1 to 1000 ticks a second")
    }
}

/// Linux's estimator at work.
pub struct Linux {
    min: Nanos,
    max: Nanos,
    jiffies: Jiffies,
    base: Nanos,
    srtt8: Option<NonZeroI64>,
    mdev4: i64,
    mdev_max4: i64,
    rttvar4: i64,
    /// A round trip ends when data beyond this is acknowledged.
    round_end: Offset,
    snd_nxt: Offset,
    backoff: u32,
}

impl Linux {
    pub(super) fn new(s: &LinuxSpec) -> Self {
        Linux {
            min: s.min,
            max: s.max,
            jiffies: Jiffies::per_second(s.hz),
            base: s.initial.min(s.max),
            srtt8: None,
            mdev4: 0,
            mdev_max4: 0,
            rttvar4: 0,
            round_end: Offset::DATA,
            snd_nxt: Offset::DATA,
            backoff: 0,
        }
    }

    /// `tcp_rtt_estimator`, with the current `snd_una`.
    fn estimate(&mut self, rtt: Nanos, snd_una: Offset) {
        let (m, min) = (rtt.0.min(i64::MAX as u64 / 16) as i64, self.min.0 as i64);
        match self.srtt8 {
            None => {
                self.srtt8 = NonZeroI64::new((8 * m).max(1));
                self.mdev4 = 2 * m;
                self.rttvar4 = self.mdev4.max(min);
                (self.mdev_max4, self.round_end) = (self.rttvar4, self.snd_nxt);
            }
            Some(srtt8) => {
                let error = m - srtt8.get() / 8;
                self.srtt8 = NonZeroI64::new((srtt8.get() + error).max(1));
                self.deviate(error);
                if snd_una > self.round_end {
                    self.rttvar4 -= (self.rttvar4 - self.mdev_max4).max(0) / 4;
                    (self.round_end, self.mdev_max4) = (self.snd_nxt, min);
                }
            }
        }
        let srtt = self.srtt8.map_or(0, |s| s.get() / 8);
        self.base = self.jiffies.whole(Nanos((srtt + self.rttvar4) as u64)).clamp(self.min, self.max);
    }

    fn deviate(&mut self, error: i64) {
        let mut more = error.abs() - self.mdev4 / 4;
        if error < 0 && more > 0 {
            more /= 8;
        }
        self.mdev4 += more;
        if self.mdev4 > self.mdev_max4 {
            self.mdev_max4 = self.mdev4;
            self.rttvar4 = self.rttvar4.max(self.mdev_max4);
        }
    }
}

impl Rto for Linux {
    fn on_sent(&mut self, sent: &Sent) {
        self.snd_nxt = self.snd_nxt.max(sent.end());
    }
    fn on_ack(&mut self, ack: &AckEvent, now: Time) {
        // The timestamp clock counts milliseconds, and a sample is at least one.
        let echoed = ack.tsecr.filter(|_| ack.advances()).map(|echo| timestamp(now).wrapping_sub(echo).max(1));
        let echoed = echoed.filter(|ms| *ms < 1 << 31).map(|ms| Nanos::from_millis(ms.into()));
        if let Some(rtt) = ack.rtt.or(echoed) {
            self.estimate(rtt, ack.ack);
            self.backoff = 0;
        }
    }
    fn hears_sacks(&self) -> bool {
        true
    }
    fn on_sample(&mut self, rtt: Nanos) {
        self.estimate(rtt, Offset::DATA);
    }
    fn srtt(&self) -> Option<Nanos> {
        self.srtt8.map(|s| Nanos(s.get() as u64 / 8))
    }
    fn rttvar(&self) -> Option<Nanos> {
        self.srtt8.map(|_| Nanos(self.rttvar4 as u64 / 4))
    }
    fn base(&self) -> Nanos {
        self.base
    }
    fn backed_off(&self) -> Nanos {
        if self.backoff == 0 {
            return self.base;
        }
        Nanos(self.base.0.saturating_mul(1 << self.backoff.min(32))).min(self.max)
    }
    fn back_off(&mut self) {
        self.backoff += 1;
    }
    fn backoff_count(&self) -> u32 {
        self.backoff
    }
    fn deadline(&self, set: Time) -> Time {
        self.jiffies.deadline(set, self.backed_off())
    }
    fn next_tick(&self, now: Time) -> Time {
        self.jiffies.deadline(now, Nanos(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::blank;

    const MS: u64 = 1_000_000;

    fn sample(r: &mut Linux, ms: u64, una: u64) {
        let ack = AckEvent { prior_una: Offset(una), ack: Offset(una + 1), rtt: Some(Nanos(ms * MS)), ..blank() };
        r.on_ack(&ack, Time(ms * MS));
    }

    #[test]
    fn a_round_trip_keeps_its_largest_deviation_and_the_next_ones_come_down_by_quarters() {
        let mut r = Linux::new(&LinuxSpec::default());
        r.snd_nxt = Offset(100);
        sample(&mut r, 100, 1);
        assert_eq!(r.base(), Nanos(300 * MS), "SRTT is 100 ms, and the deviations have their minimum of 200 ms");
        sample(&mut r, 500, 2);
        // SRTT 150; mdev4 = 200 + 400 - 50 = 550.
        assert_eq!((r.srtt(), r.base()), (Some(Nanos(150 * MS)), Nanos(700 * MS)));
        (3..50).for_each(|una| sample(&mut r, 150, una));
        assert_eq!(r.rttvar4, 550 * MS as i64, "until the round trip is over");
        r.snd_nxt = Offset(200);
        sample(&mut r, 150, 101);
        assert!(r.rttvar4 == 550 * MS as i64, "this round's largest is the same");
        sample(&mut r, 150, 201);
        assert_eq!(r.rttvar4, 550 * MS as i64 - 350 * MS as i64 / 4, "a quarter of the way to 200 ms");
    }

    #[test]
    fn a_shorter_round_trip_moves_the_deviation_by_an_eighth_of_what_a_longer_one_does() {
        let after = |ms| {
            let mut r = Linux::new(&LinuxSpec::default());
            [1000, ms].iter().zip(1..).for_each(|(ms, una)| sample(&mut r, *ms, una));
            r.mdev4 / MS as i64
        };
        assert_eq!([after(1900), after(100)], [2000 + 900 - 500, 2000 + (900 - 500) / 8]);
    }

    #[test]
    fn a_timer_fires_on_a_tick_and_the_timeout_is_whole_ticks() {
        let mut r = Linux::new(&LinuxSpec::default());
        sample(&mut r, 101, 1);
        assert_eq!(r.base(), Nanos(304 * MS), "101 and 202, in ticks of 4 ms");
        // Set on tick 1 for 76 ticks; the timer wheel rounds up to the next multiple of eight.
        assert_eq!(r.deadline(Time(7 * MS)), Time(80 * 4 * MS));
        r.back_off();
        assert_eq!(r.backed_off(), Nanos(608 * MS));
    }
}
