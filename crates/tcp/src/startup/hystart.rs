//! HyStart: slow start ends when ACKs arrive as a long train, or when the RTT grows.
//!
//! Source: Ha & Rhee 2011, in the form used in Linux 6.18 (`hystart_update` in `net/ipv4/tcp_cubic.c`), in our words.
//!
//! Idea: in slow start, data is sent in trains. When the ACKs of a train span half the path's RTT, the window fills the path;
//! when the smallest RTT of a round has grown, there is a queue. Either ends slow start at once. After a timeout it begins again.
//!
//! | Linux | here |
//! | --- | --- |
//! | hystart_low_window | `low_window_segs` |
//! | hystart_ack_delta | `ack_delta` |
//! | delay_min | `cx.min_rtt` |
//! | HYSTART_MIN_SAMPLES, HYSTART_DELAY_MIN, HYSTART_DELAY_MAX | constants |
//!
//! | found | `over` |
//!
//! Departures: pacing, which makes Linux wait longer for the train, is not considered. Linux takes no samples in the first second
//! of a cubic's epoch, which matters only if an undo restored slow start.

use super::fixed::FixedSpec;
use super::{Advice, Startup, UNBOUNDED};
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MIN_SAMPLES: u32 = 8;
const DELAY_MIN: Nanos = Nanos::from_millis(4);
const DELAY_MAX: Nanos = Nanos::from_millis(16);

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HystartSpec {
    /// Initial window in segments. Default: 10 (RFC 6928).
    pub initial_window_segs: u32,
    /// Windows below this many segments are not judged. Default: 16.
    pub low_window_segs: u32,
    /// Largest gap between ACKs of a train. Default: 2 ms.
    pub ack_delta: Nanos,
}

impl Default for HystartSpec {
    fn default() -> Self {
        HystartSpec { initial_window_segs: 10, low_window_segs: 16, ack_delta: Nanos::from_millis(2) }
    }
}

impl HystartSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        FixedSpec { initial_window_segs: self.initial_window_segs, ssthresh_segs: None }.validate()
    }
}

/// HyStart at work.
pub struct Hystart {
    spec: HystartSpec,
    /// The round ends when this offset is acknowledged; `None` before the first round.
    end_seq: Option<Offset>,
    round_start: Time,
    last_ack: Time,
    now_min: Option<Nanos>,
    samples: u32,
    over: bool,
}

impl Hystart {
    pub(super) fn new(spec: &HystartSpec) -> Self {
        Hystart {
            spec: spec.clone(),
            end_seq: None,
            round_start: Time(0),
            last_ack: Time(0),
            now_min: None,
            samples: 0,
            over: false,
        }
    }

    fn found(&mut self, ack: &AckEvent, min_rtt: Nanos, now: Time) -> bool {
        if now.since(self.last_ack) <= self.spec.ack_delta {
            self.last_ack = now;
            if now.since(self.round_start).0 > min_rtt.0 / 2 {
                return true;
            }
        }
        let Some(rtt) = ack.rtt else { return false };
        self.now_min = Some(self.now_min.map_or(rtt, |m| m.min(rtt)));
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let allowed = min_rtt.0 + Nanos(min_rtt.0 / 8).clamp(DELAY_MIN, DELAY_MAX).0;
        self.now_min.is_some_and(|m| m.0 > allowed)
    }
}

impl Startup for Hystart {
    fn initial(&self, mss: u32, _rwnd: Bytes) -> Window {
        Window { cwnd: f64::from(self.spec.initial_window_segs) * f64::from(mss), ssthresh: UNBOUNDED }
    }
    fn hears_every_slow_start(&self) -> bool {
        true
    }
    fn on_timeout(&mut self) {
        *self = Hystart::new(&self.spec);
    }
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) -> Advice {
        if self.over || !ack.advances() || w.cwnd >= w.ssthresh {
            return Advice::Keep;
        }
        self.in_slow_start(ack, w, cx)
    }
}

impl Hystart {
    fn in_slow_start(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) -> Advice {
        if self.end_seq.is_none_or(|end| ack.ack > end) {
            (self.end_seq, self.round_start, self.last_ack) = (Some(cx.snd_nxt), cx.now, cx.now);
            (self.now_min, self.samples) = (None, 0);
        }
        let large = w.cwnd >= f64::from(self.spec.low_window_segs) * cx.smss();
        match cx.min_rtt {
            Some(min_rtt) if large && self.found(ack, min_rtt, cx.now) => {
                self.over = true;
                Advice::Ssthresh(w.cwnd)
            }
            _ => Advice::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::blank;
    use crate::testing::context;

    /// ACKs of one round, `spacing` µs apart with RTTs of `rtt` ms over a path of 100 ms; returns how many arrive before the end.
    fn acks_until_the_end(segs: f64, spacing: u64, rtt: u64) -> Option<u64> {
        let mut h = Hystart::new(&HystartSpec::default());
        let w = Window { cwnd: segs * 1000.0, ssthresh: 1e9 };
        (0..100).find(|n| {
            let ack = AckEvent {
                prior_una: Offset(1 + n),
                ack: Offset(2 + n),
                rtt: Some(Nanos::from_millis(rtt)),
                ..blank()
            };
            let min_rtt = Some(Nanos::from_millis(100));
            let cx = Ctx { now: Time(n * spacing * 1000), min_rtt, snd_nxt: Offset(1_000_000), ..context() };
            h.on_ack(&ack, &w, &cx) == Advice::Ssthresh(w.cwnd)
        })
    }

    #[test]
    fn a_train_of_acks_longer_than_half_the_round_trip_ends_slow_start() {
        assert_eq!(acks_until_the_end(20.0, 2000, 100), Some(26), "the first after more than 50 ms");
        assert_eq!(acks_until_the_end(20.0, 2001, 100), None, "ACKs further apart are not a train");
    }

    #[test]
    fn the_least_of_eight_samples_an_eighth_above_the_paths_round_trip_ends_slow_start() {
        assert_eq!(acks_until_the_end(20.0, 3000, 113), Some(8));
        assert_eq!(acks_until_the_end(20.0, 3000, 112), None);
    }

    #[test]
    fn a_round_trip_of_exactly_an_eighth_more_is_still_allowed() {
        // Linux: HYSTART_DELAY, curr_rtt > delay_min + the threshold.
        for (rtt, ends) in [(112_500_000, false), (112_500_001, true)] {
            let mut h = Hystart { samples: MIN_SAMPLES, ..Hystart::new(&HystartSpec::default()) };
            let ack = AckEvent { rtt: Some(Nanos(rtt)), ..blank() };
            assert_eq!(h.found(&ack, Nanos::from_millis(100), Time(1_000_000_000)), ends);
        }
    }

    #[test]
    fn below_16_segments_nothing_is_judged() {
        assert_eq!(acks_until_the_end(15.0, 3000, 150), None);
    }

    #[test]
    fn after_a_timeout_slow_start_is_judged_again() {
        let mut h = Hystart::new(&HystartSpec::default());
        h.over = true;
        assert!(h.hears_every_slow_start());
        h.on_timeout();
        assert!(!h.over);
    }
}
