//! A measured initial threshold: the bandwidth-delay product of the path, from the handshake and three ACKs.
//!
//! Source: Hoe 1995 §7.1.
//!
//! Idea: closely spaced ACKs arrive at the rate of the bottleneck. A line through three of them (bytes against time, least
//! squares) gives the bandwidth, the SYN gives the delay, and slow start ends at their product instead of overrunning the
//! path.
//!
//! | source | here |
//! | --- | --- |
//! | RTT of the SYN | `rtt0` |
//! | three closely spaced ACKs | `points`: time, and bytes acknowledged by then |
//! | bandwidth | the slope in `product` |
//!
//! Departures: none. Unsaid: which three ACKs (the first consecutive ones with gaps below `gap_share` of the RTT), the
//! variable of the regression (bytes), the rounding (down to whole segments, at least two), whether it may raise the
//! threshold (no, as in ns-2's port). Without a handshake nothing is measured.

use super::fixed::{Fixed, FixedSpec};
use super::{Advice, Startup};
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BdpSpec {
    /// Initial window in segments. Default: 1 (§7.1 begins slow start as usual).
    #[schemars(range(min = 1, max = 65_535))]
    pub initial_window_segs: u32,
    /// Threshold until the path has been measured, in segments. Default: the peer's window.
    #[schemars(range(min = 2))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh_segs: Option<u32>,
    /// ACKs count as closely spaced if the gaps are below this share of the handshake's RTT, 0 to 1. Default: 0.25.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gap_share: f64,
}

impl Default for BdpSpec {
    fn default() -> Self {
        BdpSpec { initial_window_segs: 1, ssthresh_segs: None, gap_share: 0.25 }
    }
}

impl BdpSpec {
    fn fixed(&self) -> FixedSpec {
        FixedSpec { initial_window_segs: self.initial_window_segs, ssthresh_segs: self.ssthresh_segs }
    }

    pub(super) fn validate(&self) -> Result<(), StackError> {
        let share = self.gap_share;
        StackError::unless((0.0..=1.0).contains(&share), "startup.gap_share", &share, "0 to 1")?;
        self.fixed().validate()
    }
}

/// The measurement at work.
pub struct Bdp {
    fixed: Fixed,
    gap_share: f64,
    rtt0: Option<Nanos>,
    points: [(Time, Offset); 3],
    /// Points taken; three when the threshold is known.
    taken: usize,
}

impl Bdp {
    pub(super) fn new(spec: &BdpSpec) -> Self {
        let points = [(Time::ZERO, Offset::DATA); 3];
        Bdp { fixed: Fixed::new(&spec.fixed()), gap_share: spec.gap_share, rtt0: None, points, taken: 0 }
    }

    /// Slope of bytes over time by least squares, times the RTT, in bytes. `None` if all points have the same time.
    fn product(&self, rtt0: Nanos) -> Option<f64> {
        let first = self.points[0];
        let xy = self.points.map(|(t, b)| (t.since(first.0).0 as f64, (b - first.1) as f64));
        let mean = xy.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / 3.0, m.1 + p.1 / 3.0));
        let sum = |f: fn(f64, f64) -> f64| xy.iter().map(|p| f(p.0 - mean.0, p.1 - mean.1)).sum::<f64>();
        let (along, spread) = (sum(|x, y| x * y), sum(|x, _| x * x));
        (spread > 0.0).then(|| along * rtt0.0 as f64 / spread)
    }
}

impl Startup for Bdp {
    fn initial(&self, mss: u32, rwnd: Bytes) -> Window {
        self.fixed.initial(mss, rwnd)
    }
    fn on_handshake(&mut self, rtt: Nanos) {
        self.rtt0 = Some(rtt);
    }
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) -> Advice {
        let Some(rtt0) = self.rtt0.filter(|_| self.taken < 3 && ack.advances()) else { return Advice::Keep };
        let apart = |last: Time| cx.now.since(last).0 as f64 >= rtt0.0 as f64 * self.gap_share;
        if self.taken > 0 && apart(self.points[self.taken - 1].0) {
            self.taken = 0;
        }
        self.points[self.taken] = (cx.now, ack.ack);
        self.taken += 1;
        if self.taken < 3 {
            return Advice::Keep;
        }
        let Some(product) = self.product(rtt0) else {
            self.taken = 0;
            return Advice::Keep;
        };
        // The tiny addend keeps rounding errors from turning twenty into nineteen.
        let ssthresh = libm::floor(product / cx.smss() + 1e-9).max(2.0) * cx.smss();
        if ssthresh < w.ssthresh {
            Advice::Ssthresh(ssthresh)
        } else {
            Advice::Keep
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::blank;
    use crate::testing::context;

    const MSS: u32 = 1024;

    /// The advice on ACKs at these times in microseconds, each for one more segment.
    fn hears(rtt0_ms: Option<u64>, at_us: &[u64]) -> Vec<Advice> {
        let mut bdp = Bdp::new(&BdpSpec::default());
        rtt0_ms.into_iter().for_each(|ms| bdp.on_handshake(Nanos::from_millis(ms)));
        let w = bdp.initial(MSS, 51_200);
        let ack = |n: usize| Offset(1 + n as u64 * u64::from(MSS));
        let mut hear = |(n, us): (usize, &u64)| {
            let cx = Ctx { now: Time(us * 1000), mss: MSS, ..context() };
            bdp.on_ack(&AckEvent { prior_una: ack(n), ack: ack(n + 1), ..blank() }, &w, &cx)
        };
        at_us.iter().enumerate().map(&mut hear).collect()
    }

    #[test]
    fn three_acks_5_ms_apart_and_a_round_trip_of_100_ms_give_20480_bytes() {
        assert_eq!(hears(Some(100), &[0, 5000, 10_000])[2], Advice::Ssthresh(20_480.0));
    }

    #[test]
    fn acks_far_apart_restart_the_measurement_and_it_ends_after_three() {
        let got = hears(Some(100), &[0, 100_000, 105_000, 205_000, 210_000, 215_000, 217_000, 219_000]);
        assert_eq!(got[5], Advice::Ssthresh(20_480.0));
        assert!(got.iter().enumerate().all(|(n, a)| n == 5 || *a == Advice::Keep), "{got:?}");
    }

    #[test]
    fn a_product_above_the_threshold_is_left_and_one_below_two_segments_is_two() {
        // One segment per millisecond is 100 segments per round trip, more than the window of 50.
        assert_eq!(hears(Some(100), &[0, 1000, 2000])[2], Advice::Keep);
        assert_eq!(hears(Some(100), &[0, 24_000, 48_000])[2], Advice::Ssthresh(4.0 * 1024.0));
        let mut slow = Bdp::new(&BdpSpec { gap_share: 1.0, ..BdpSpec::default() });
        slow.on_handshake(Nanos::from_millis(100));
        let at = |n: u64| (Time(n * 90_000_000), Offset(1 + n * u64::from(MSS)));
        (slow.points, slow.taken) = ([at(0), at(1), at(2)], 2);
        let cx = Ctx { now: at(2).0, mss: MSS, ..context() };
        let ack = AckEvent { prior_una: at(1).1, ack: at(2).1, ..blank() };
        let w = Window { cwnd: 2048.0, ssthresh: 51_200.0 };
        assert_eq!(slow.on_ack(&ack, &w, &cx), Advice::Ssthresh(2048.0));
    }

    #[test]
    fn without_a_handshake_or_at_one_instant_nothing_is_measured() {
        assert_eq!(hears(None, &[0, 5000, 10_000]), [Advice::Keep; 3]);
        assert_eq!(hears(Some(100), &[7, 7, 7]), [Advice::Keep; 3]);
    }
}
