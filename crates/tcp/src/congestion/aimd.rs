//! Slow start, additive increase, halving.
//!
//! Source: RFC 5681 §3.1 (growth), §3.1 eq. 4 (halving); Jacobson 1988; ns-2.35 for `halve = "window"`.
//!
//! Idea: below ssthresh a segment more for each ACK, above it a segment more for each round trip; a loss halves.
//!
//! | source | here |
//! | --- | --- |
//! | cwnd += SMSS · SMSS / cwnd (RFC 5681 eq. 3) | the same, real-valued: 71.43 must not become 71 |
//! | FlightSize / 2 (eq. 4) | `halve = "flight"` |
//! | min (cwnd, rwnd) / 2, in whole segments for ssthresh (ns-2's `slowdown`) | `halve = "window"` |
//!
//! Departures: growth counts ACKs, not bytes (RFC 5681 eq. 2 with N ≥ SMSS and eq. 3; Net/2, ns-2).
//! `only_if_limited` is RFC 7661's and Linux's rule; the older sources grow an unused window too.

use super::{Congestion, Cut, LossEvent};
use crate::event::Window;
use crate::sender::ack::AckEvent;
use crate::sender::ctx::Ctx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is halved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Halve {
    /// What is outstanding (RFC 5681 eq. 4): one number for ssthresh and cwnd.
    #[default]
    Flight,
    /// The window: ssthresh in whole segments, cwnd with its fraction; at every timeout anew (ns-2).
    Window,
}

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AimdSpec {
    /// What a loss halves. Default "flight".
    pub halve: Halve,
    /// Grow only while the window is what limits sending. Default no.
    pub only_if_limited: bool,
}

/// RFC 5681 at work.
pub struct Aimd {
    spec: AimdSpec,
}

impl Aimd {
    pub(super) fn new(spec: &AimdSpec) -> Self {
        Aimd { spec: spec.clone() }
    }
}

impl Congestion for Aimd {
    #[inline]
    fn on_ack(&mut self, _: &AckEvent, w: &mut Window, cx: &Ctx) {
        if self.spec.only_if_limited && !cx.cwnd_limited {
            return;
        }
        let smss = cx.smss();
        w.cwnd += if w.cwnd < w.ssthresh { smss } else { smss * smss / w.cwnd };
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        let smss = cx.smss();
        match self.spec.halve {
            // RFC 5681 §3.1: when the timer fires again for the same segment, ssthresh is held.
            Halve::Flight if l.repeated => Cut { ssthresh: w.ssthresh, cwnd: w.cwnd },
            Halve::Flight => {
                let half = (l.flight as f64 / 2.0).max(2.0 * smss);
                Cut { ssthresh: half, cwnd: half }
            }
            Halve::Window => {
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
    use crate::detect::threshold::tests::context;
    use crate::event::Cause;
    use crate::sender::ack::tests::blank;

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
        // 7.5 and a seventh and a half: the fraction is kept.
        assert_eq!((after(7.5, 7.0, 1) * 1000.0).round(), 7633.0);
        assert!((after(10.0, 7.0, 10) - 10.96).abs() < 0.01, "about one a round trip");
    }

    #[test]
    fn an_unused_window_grows_unless_told_not_to() {
        let unused = Ctx { cwnd_limited: false, ..context() };
        let spec = |only_if_limited| AimdSpec { only_if_limited, ..Default::default() };
        assert_eq!([false, true].map(|o| grown(segs(4.0, 64.0), 1, spec(o), &unused)), [5.0, 4.0]);
        assert_eq!(grown(segs(4.0, 64.0), 1, spec(true), &context()), 5.0);
    }

    #[test]
    fn a_loss_halves_the_flight_or_the_window_to_two_segments_at_least() {
        let cut = |halve, flight, cwnd, repeated| {
            let l = LossEvent { flight, rwnd: 100_000, repeated, ..super::super::tests::loss(Cause::Fast, 0) };
            let c = Aimd::new(&AimdSpec { halve, ..Default::default() }).on_loss(&l, &segs(cwnd, 9.0), &context());
            (c.ssthresh / 1000.0, c.cwnd / 1000.0)
        };
        assert_eq!(cut(Halve::Flight, 15_000, 20.0, false), (7.5, 7.5));
        assert_eq!(cut(Halve::Flight, 3_000, 20.0, false), (2.0, 2.0));
        assert_eq!(cut(Halve::Flight, 1_000, 1.0, true).0, 9.0, "the same segment again: held");
        assert_eq!(cut(Halve::Window, 15_000, 15.0, false), (7.0, 7.5));
        assert_eq!(cut(Halve::Window, 15_000, 3.0, false), (2.0, 1.5));
        assert_eq!(cut(Halve::Window, 15_000, 300.0, false), (50.0, 50.0), "no more than the peer's window");
    }
}
