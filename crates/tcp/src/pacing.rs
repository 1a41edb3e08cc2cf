//! And how fast? Pacing: data that the window allows is sent at a rate, in bursts of a few segments, not all at once.
//!
//! Source: Linux 6.18, in our words: `tcp_update_skb_after_send`, `tcp_pacing_check`, `tcp_pace_kick`, `tcp_tso_autosize`,
//! `tcp_tso_segs` and `tcp_cwnd_test` in `net/ipv4/tcp_output.c`, `tcp_update_pacing_rate` in `net/ipv4/tcp_input.c`.
//!
//! Idea: each segment reserves the time that it takes at the rate, and nothing more is sent before that time has passed. The rate
//! is two windows per round trip in early slow start, and 1.2 windows after that. A congestion control may set its own rate.
//!
//! | Linux | here |
//! | --- | --- |
//! | tcp_wstamp_ns | `Pacer::next` |
//! | credit | `Pacer::credit` |
//! | data_segs_out | `Pacer::sent` |
//! | tcp_pacing_ss_ratio, tcp_pacing_ca_ratio | `SS_RATIO`, `CA_RATIO` |
//! | sk_pacing_shift; tcp_tso_rtt_log, tcp_min_tso_segs | `facts/pace.rs`; `RTT_LOG`, `MIN_BURST` |
//!
//! Departures: the rate is computed at each send, in the kernel at the preceding ACK; only `packets_out` can differ. A large
//! packet of the kernel is a burst of segments here; it never waits until the window allows a full burst
//! (`tcp_tso_should_defer`).

use crate::facts::gate;
use crate::facts::pace::{Pace, LARGEST_BURST};
use crate::time::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Percentage of a window per round trip, below half of `ssthresh`.
const SS_RATIO: u128 = 200;
/// The same percentage above that.
const CA_RATIO: u128 = 120;
/// A burst is larger over short paths: `LARGEST_BURST` more, halved for each 2⁹ µs of the smallest RTT.
const RTT_LOG: u32 = 9;
/// The smallest burst, segments.
const MIN_BURST: u32 = 2;
/// The first segments of a connection are not paced.
const FREE: u32 = 10;

/// Whether and how sends are paced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacingRule {
    /// Data that the window allows is sent at once. Default.
    #[default]
    Off,
    /// Sends at a rate, in bursts of two segments or one millisecond, from the eleventh segment on (Linux).
    Linux,
}

impl PacingRule {
    /// Whether it is the default, which files can omit.
    pub(crate) fn is_off(&self) -> bool {
        *self == PacingRule::Off
    }
}

impl Pace {
    /// The pace of a window of `cwnd` bytes, with `out` bytes (or more) outstanding, for a smoothed RTT
    /// (`tcp_update_pacing_rate`).
    pub(crate) fn of_window(cwnd: f64, ssthresh: f64, out: u64, mss: u32, srtt: Nanos) -> Pace {
        let segs = |bytes: f64| (bytes / f64::from(mss)) as u64;
        let ratio = if segs(cwnd) < segs(ssthresh) / 2 { SS_RATIO } else { CA_RATIO };
        let bytes = gate::whole_segments(cwnd, mss).max(out);
        let rate = u128::from(bytes) * ratio * 10_000_000 / u128::from(srtt.0.max(1));
        Pace { rate: u64::try_from(rate).unwrap_or(u64::MAX), min_burst: MIN_BURST }
    }

    /// Segments sent together (`tcp_tso_autosize`, and at most half of the window: `tcp_cwnd_test`).
    pub(crate) fn burst(self, cwnd: f64, mss: u32, min_rtt: Option<Nanos>) -> u32 {
        let halvings = min_rtt.map_or(u64::MAX, |rtt| (rtt.0 / 1000) >> RTT_LOG);
        let more = if halvings < 32 { LARGEST_BURST >> halvings } else { 0 };
        let bytes = (self.burst_bytes() + more).min(LARGEST_BURST);
        let half = (cwnd / f64::from(mss) / 2.0) as u32;
        ((bytes / u64::from(mss)) as u32).max(self.min_burst).min(half.max(1))
    }
}

/// Decides when the next segment may be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    next: Time,
    /// When the current burst began, and how many segments may still follow in it.
    burst: (Time, u32),
    /// How much later than allowed the burst began; up to half of the time that it reserves may be taken from this.
    credit: u64,
    /// Segments sent, counted until pacing begins.
    sent: u32,
}

impl Pacer {
    /// When the next burst may be sent.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Whether a segment may be sent.
    pub(crate) fn admits(&self, now: Time) -> bool {
        self.next <= now || self.in_burst(now)
    }

    fn in_burst(&self, now: Time) -> bool {
        let (began, left) = self.burst;
        began == now && left > 0
    }

    /// A segment of `len` bytes of payload was sent; without a pace it reserves no time. A burst has `burst` segments.
    pub(crate) fn on_sent(&mut self, now: Time, len: u32, pace: Option<Pace>, burst: u32) {
        if !self.in_burst(now) {
            let begins = self.next.max(now);
            self.credit = begins.since(self.next).0;
            (self.next, self.burst) = (begins, (now, burst));
        }
        self.burst.1 = self.burst.1.saturating_sub(1);
        self.sent = (self.sent + 1).min(FREE);
        if let Some(pace) = pace.filter(|p| p.rate > 0 && self.sent >= FREE) {
            let takes = u64::from(len) * 1_000_000_000 / pace.rate;
            let credited = (takes / 2).min(self.credit);
            self.credit -= credited;
            self.next += Nanos(takes - credited);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;

    /// A megabyte per second: a segment of 1000 bytes takes a millisecond.
    const PACE: Pace = Pace { rate: 1_000_000, min_burst: 2 };

    /// A pacer that has sent the unpaced first segments.
    fn warm() -> Pacer {
        let mut pacer = Pacer::default();
        (0..FREE - 1).for_each(|_| pacer.on_sent(ms(0), 1000, Some(PACE), 2));
        assert_eq!((pacer.next(), pacer.admits(ms(0))), (ms(0), true), "nine are free");
        pacer.on_sent(ms(0), 1000, Some(PACE), 1);
        pacer
    }

    #[test]
    fn the_rate_is_twice_the_window_in_young_slow_start_and_a_fifth_more_than_it_later() {
        let rate = |cwnd, ssthresh, out| Pace::of_window(cwnd, ssthresh, out, 1000, Nanos::from_millis(100)).rate;
        assert_eq!(rate(10_000.0, 1e9, 0), 200_000);
        assert_eq!(rate(10_000.0, 21_999.0, 0), 120_000, "ten are half of 21");
        assert_eq!(rate(10_000.0, 22_000.0, 0), 200_000);
        assert_eq!(rate(10_999.0, 0.0, 15_000), 180_000, "15 are outstanding");
    }

    #[test]
    fn a_burst_is_two_segments_or_a_1024th_of_a_second_and_more_over_a_short_path() {
        let burst =
            |rate, cwnd, rtt: Option<u64>| Pace { rate, min_burst: 2 }.burst(cwnd, 1448, rtt.map(Nanos::from_micros));
        assert_eq!(burst(625_000, 1e9, None), 2);
        assert_eq!(burst(125_000_000, 1e9, Some(100_000)), 45, "122,070 bytes are more than the largest");
        assert_eq!(burst(12_500_000, 1e9, Some(100_000)), 8, "12,207 bytes");
        assert_eq!(burst(12_500_000, 1e9, Some(1024)), 19, "and a quarter of 65,215: 28,510 bytes");
        assert_eq!(burst(12_500_000, 1e9, Some(32 * 512)), 8);
        assert_eq!(burst(12_500_000, 3.9 * 1448.0, None), 1, "half of three");
    }

    #[test]
    fn from_the_tenth_segment_on_each_books_the_time_that_it_takes() {
        let mut pacer = warm();
        assert_eq!((pacer.next(), pacer.admits(Time(999_999)), pacer.admits(ms(1))), (ms(1), false, true));
        pacer.on_sent(ms(1), 500, Some(PACE), 2);
        assert_eq!((pacer.next(), pacer.admits(ms(1))), (Time(1_500_000), true), "one more segment of the burst");
        pacer.on_sent(ms(1), 1000, Some(PACE), 2);
        assert_eq!((pacer.next(), pacer.admits(ms(1))), (Time(2_500_000), false));
        assert!(!pacer.admits(Time(1_000_001)));
    }

    #[test]
    fn who_comes_late_makes_good_half_of_what_it_sends_at_most() {
        let mut pacer = warm();
        pacer.on_sent(Time(1_300_000), 1000, Some(PACE), 1);
        assert_eq!(pacer.next(), ms(2), "the 0.3 ms of lateness are credited");
        pacer.on_sent(ms(100), 1000, Some(PACE), 2);
        pacer.on_sent(ms(100), 1000, Some(PACE), 2);
        assert_eq!(pacer.next(), ms(101), "after a pause, half of the time of two segments is credited");
    }

    #[test]
    fn without_a_pace_nothing_is_booked() {
        let mut pacer = warm();
        pacer.on_sent(ms(1), 1000, None, 1);
        assert_eq!(pacer.next(), ms(1));
    }
}
