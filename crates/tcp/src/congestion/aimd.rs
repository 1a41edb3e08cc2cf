//! Slow start, additive increase, halving.
//!
//! Source: RFC 5681 §3.1 (growth), §3.1 eq. 4 (halving); RFC 3465 §2 (growth by bytes); Jacobson 1988; ns-2.35 for
//! `cut_from = "window"`.
//!
//! Idea: below ssthresh the window grows by one segment per ACK, above it by one segment per round trip; a loss halves it.
//!
//! | source | here |
//! | --- | --- |
//! | cwnd += SMSS · SMSS / cwnd (RFC 5681 eq. 3) | the same, real-valued: 71.43 must not become 71 |
//! | FlightSize / 2 (eq. 4) | `cut_from = "flight"` |
//! | min (cwnd, rwnd) / 2, in whole segments for ssthresh (ns-2's `slowdown`) | `cut_from = "window"` |
//! | min (N, L · SMSS), bytes_acked (RFC 3465 §2.1, §2.2) | `abc_limit_segs`, `counted` |
//!
//! Departures: growth counts ACKs, not bytes (RFC 5681 eq. 2 with N ≥ SMSS and eq. 3; Net/2, ns-2), unless told otherwise
//! (decision 0002). `only_if_limited` is RFC 7661's and Linux's rule; the older sources grow an unused window too.

use super::{Congestion, Cut, CutFrom, LossEvent};
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU8;

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AimdSpec {
    /// The quantity that a loss halves. Of the window ssthresh gets whole segments and cwnd keeps its fraction, and it is halved
    /// again at every timeout (ns-2). Default: "flight" (RFC 5681 eq. 4).
    pub cut_from: CutFrom,
    /// Grow only while the window limits sending. Default: no.
    pub only_if_limited: bool,
    /// Growth by the bytes that an ACK acknowledges; in slow start at most this many segments per ACK. RFC 3465's L, 1 or 2 (1
    /// is also RFC 5681 eq. 2). Default: growth by ACKs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2))]
    pub abc_limit_segs: Option<u32>,
}

impl AimdSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let limit = self.abc_limit_segs.unwrap_or(1);
        let allowed = "1 or 2 (omit it for growth per ACK)";
        StackError::unless((1..=2).contains(&limit), "congestion.abc_limit_segs", &limit, allowed)
    }
}

/// RFC 5681 at work.
pub struct Aimd {
    cut_from: CutFrom,
    only_if_limited: bool,
    /// L of RFC 3465; `None`: growth by ACKs.
    limit: Option<NonZeroU8>,
    /// Bytes acknowledged in congestion avoidance since the window last opened.
    counted: u32,
}

impl Aimd {
    pub(super) fn new(spec: &AimdSpec) -> Self {
        let limit = spec.abc_limit_segs.and_then(|n| NonZeroU8::new(u8::try_from(n).unwrap_or(u8::MAX)));
        Aimd { cut_from: spec.cut_from, only_if_limited: spec.only_if_limited, limit, counted: 0 }
    }

    /// RFC 3465: a receiver that acknowledges a segment in many pieces gains nothing by it.
    #[cold]
    fn grow_by_bytes(&mut self, limit: u8, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        let smss = cx.smss();
        if w.cwnd < w.ssthresh {
            // §2.3: in the slow start after a timeout the limit is 1.
            let limit = if cx.timed_out { 1 } else { limit };
            w.cwnd += (ack.acked() as f64).min(f64::from(limit) * smss);
            return;
        }
        self.counted = self.counted.saturating_add(u32::try_from(ack.acked()).unwrap_or(u32::MAX));
        // §2.1. The cast saturates.
        let window = w.cwnd as u32;
        if self.counted >= window {
            self.counted -= window;
            w.cwnd += smss;
        }
    }
}

impl Congestion for Aimd {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        if self.only_if_limited && !cx.cwnd_limited {
            return;
        }
        if let Some(limit) = self.limit {
            return self.grow_by_bytes(limit.get(), ack, w, cx);
        }
        let smss = cx.smss();
        w.cwnd += if w.cwnd < w.ssthresh { smss } else { smss * smss / w.cwnd };
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        let smss = cx.smss();
        self.counted = 0;
        let half = |bytes: u64| {
            let half = (bytes as f64 / 2.0).max(2.0 * smss);
            Cut { ssthresh: half, cwnd: half }
        };
        match self.cut_from {
            // RFC 5681 §3.1: when the timer fires again for the same segment, ssthresh is kept.
            CutFrom::Flight | CutFrom::Pipe if l.repeated => Cut { ssthresh: w.ssthresh, cwnd: w.cwnd },
            CutFrom::Flight => half(l.flight),
            CutFrom::Pipe => half(l.pipe),
            CutFrom::Window => {
                let segs = w.cwnd.min(l.rwnd as f64) / smss;
                let ssthresh = libm::floor(segs / 2.0).max(2.0) * smss;
                Cut { ssthresh, cwnd: (segs / 2.0).max(1.0) * smss }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Cause;
    use crate::seq::Offset;
    use crate::testing::blank;
    use crate::testing::context;

    /// The window in segments after ACKs that acknowledge these numbers of bytes.
    fn grown_by(limit: u32, w: Window, acks: &[u64], cx: &Ctx) -> f64 {
        let spec = AimdSpec { abc_limit_segs: Some(limit), ..AimdSpec::default() };
        let (mut a, mut w) = (Aimd::new(&spec), w);
        for n in acks {
            let ack = AckEvent { prior_una: Offset(1), ack: Offset(1 + n), ..blank() };
            a.on_ack(&ack, &mut w, cx);
        }
        w.cwnd / 1000.0
    }

    #[test]
    fn by_bytes_slow_start_adds_what_is_acknowledged_up_to_the_limit_and_one_segment_after_a_timeout() {
        let after_timeout = Ctx { timed_out: true, ..context() };
        let slow = || segs(4.0, 64.0);
        assert_eq!([1, 2].map(|l| grown_by(l, slow(), &[500, 1000, 2000, 5000], &context())), [7.5, 9.5]);
        assert_eq!([1, 2].map(|l| grown_by(l, slow(), &[500, 1000, 2000, 5000], &after_timeout)), [7.5, 7.5]);
    }

    #[test]
    fn by_bytes_congestion_avoidance_adds_a_segment_for_each_window_acknowledged() {
        let avoid = || segs(4.0, 4.0);
        let at = |n: usize| grown_by(1, avoid(), &[1000; 9][..n], &context());
        assert_eq!([3, 4, 8, 9].map(at), [4.0, 5.0, 5.0, 6.0]);
        assert_eq!(grown_by(1, avoid(), &[100; 40], &context()), 5.0, "the number of ACKs does not matter");
    }

    #[test]
    fn a_limit_of_none_or_more_than_two_segments_is_refused_by_name() {
        for n in [0, 3] {
            let e = AimdSpec { abc_limit_segs: Some(n), ..AimdSpec::default() }.validate().unwrap_err();
            assert_eq!(e.key, "congestion.abc_limit_segs");
        }
    }

    fn segs(cwnd: f64, ssthresh: f64) -> Window {
        Window { cwnd: cwnd * 1000.0, ssthresh: ssthresh * 1000.0 }
    }

    fn grown(w: Window, acks: usize, spec: AimdSpec, cx: &Ctx) -> f64 {
        let (mut a, mut w) = (Aimd::new(&spec), w);
        (0..acks).for_each(|_| a.on_ack(&blank(), &mut w, cx));
        w.cwnd / 1000.0
    }

    #[test]
    fn below_ssthresh_each_ack_adds_a_segment_and_from_it_on_a_segment_divided_by_the_window() {
        let after = |cwnd, ssthresh, acks| grown(segs(cwnd, ssthresh), acks, AimdSpec::default(), &context());
        assert_eq!([1, 2, 5].map(|n| after(1.0, 64.0, n)), [2.0, 3.0, 6.0]);
        assert_eq!(after(63.5, 64.0, 1), 64.5);
        assert_eq!(after(8.0, 8.0, 1), 8.125, "equal is congestion avoidance");
        // 7.5 plus 1/7.5: the fraction is kept.
        assert_eq!((after(7.5, 7.0, 1) * 1000.0).round(), 7633.0);
        assert!((after(10.0, 7.0, 10) - 10.96).abs() < 0.01, "about one a round trip");
    }

    #[test]
    fn an_unused_window_grows_by_default() {
        let unused = Ctx { cwnd_limited: false, ..context() };
        let spec = |only_if_limited| AimdSpec { only_if_limited, ..Default::default() };
        assert_eq!([false, true].map(|o| grown(segs(4.0, 64.0), 1, spec(o), &unused)), [5.0, 4.0]);
        assert_eq!(grown(segs(4.0, 64.0), 1, spec(true), &context()), 5.0);
    }

    #[test]
    fn a_loss_halves_the_flight_the_pipe_or_the_window_to_two_segments_at_least() {
        let cut = |cut_from, flight, cwnd, repeated| {
            let l = LossEvent {
                flight,
                pipe: flight / 2,
                rwnd: 100_000,
                repeated,
                ..super::super::tests::loss(Cause::Fast, 0)
            };
            let c = Aimd::new(&AimdSpec { cut_from, ..Default::default() }).on_loss(&l, &segs(cwnd, 9.0), &context());
            (c.ssthresh / 1000.0, c.cwnd / 1000.0)
        };
        assert_eq!(cut(CutFrom::Flight, 15_000, 20.0, false), (7.5, 7.5));
        assert_eq!(cut(CutFrom::Flight, 3_000, 20.0, false), (2.0, 2.0));
        assert_eq!(cut(CutFrom::Flight, 1_000, 1.0, true).0, 9.0, "the timer fired again for the same segment");
        // This loss has half of the flight in the network.
        assert_eq!(cut(CutFrom::Pipe, 15_000, 20.0, false), (3.75, 3.75));
        assert_eq!(cut(CutFrom::Pipe, 1_000, 1.0, true).0, 9.0);
        assert_eq!(cut(CutFrom::Window, 15_000, 15.0, false), (7.0, 7.5));
        assert_eq!(cut(CutFrom::Window, 15_000, 3.0, false), (2.0, 1.5));
        assert_eq!(cut(CutFrom::Window, 15_000, 300.0, false), (50.0, 50.0), "no more than the peer's window");
    }
}
