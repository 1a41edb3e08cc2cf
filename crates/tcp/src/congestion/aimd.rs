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
use serde::{Deserialize, Serialize};

/// What is halved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Halve {
    /// What is outstanding (RFC 5681 eq. 4): one number for ssthresh and cwnd.
    #[default]
    Flight,
    /// The window: ssthresh in whole segments, cwnd with its fraction; at every timeout anew (ns-2).
    Window,
}

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
