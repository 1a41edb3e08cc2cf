//! QUIC's NewReno: growth by bytes, half the window at a loss, the minimum window after persistent congestion.
//!
//! Source: RFC 9002 §7.2, §7.3, §7.6.2, §7.8, B.2, B.5, B.6, B.8.
//!
//! Idea: RFC 5681's rules by acknowledged bytes. Data sent before the last cut does not open the window.
//!
//! | source | here |
//! | --- | --- |
//! | kLossReductionFactor, kMinimumWindow | `loss_reduction`, `minimum_window_segs` |
//! | InCongestionRecovery (sent_time) | offsets below `cx.recover`, the first unsent one at the cut |
//! | persistent congestion | a loss with `Cause::Rto`, reported by the detector |
//! | congestion_recovery_start_time = 0 after it | `cx.timed_out`: everything opens the window |
//!
//! Departures: a retransmission counts by its offset, not by its send time. Bytes count when they are acknowledged cumulatively.
//! The ACK that reveals a loss has opened the window before it is cut.

use super::{Congestion, Cut, LossEvent};
use crate::error::StackError;
use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuicSpec {
    /// Share of the window that a loss leaves, above 0 to 1. Default: 0.5 (RFC 9002 B.2).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss_reduction: f64,
    /// The minimum window, in segments. Default: 2 (RFC 9002 §7.2).
    #[schemars(range(min = 1, max = 65_535))]
    pub minimum_window_segs: u16,
}

impl Default for QuicSpec {
    fn default() -> Self {
        QuicSpec { loss_reduction: 0.5, minimum_window_segs: 2 }
    }
}

impl QuicSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let (x, n) = (self.loss_reduction, self.minimum_window_segs);
        StackError::unless(x > 0.0 && x <= 1.0, "congestion.loss_reduction", &x, "more than 0 and at most 1")?;
        StackError::unless(n > 0, "congestion.minimum_window_segs", &n, "1 segment or more")
    }
}

/// RFC 9002's NewReno at work.
pub struct Quic {
    loss_reduction: f64,
    least_segs: u16,
}

impl Quic {
    pub(super) fn new(spec: &QuicSpec) -> Self {
        Quic { loss_reduction: spec.loss_reduction, least_segs: spec.minimum_window_segs }
    }
}

impl Congestion for Quic {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        // §7.8: not while the application limits sending.
        if !cx.cwnd_limited {
            return;
        }
        let from = match cx.recover {
            Some(recover) if !cx.timed_out => ack.prior_una.max(recover),
            _ => ack.prior_una,
        };
        let bytes = ack.ack.0.saturating_sub(from.0) as f64;
        w.cwnd += if w.cwnd < w.ssthresh { bytes } else { cx.smss() * bytes / w.cwnd };
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        let least = f64::from(self.least_segs) * cx.smss();
        let reduced = w.cwnd * self.loss_reduction;
        if l.cause != Cause::Rto {
            return Cut { ssthresh: reduced, cwnd: reduced.max(least) };
        }
        // B.8: data sent before the last cut was covered by it; persistent congestion alone leaves ssthresh as it is.
        let answered = cx.recover.is_some_and(|recover| l.first < recover);
        Cut { ssthresh: if answered { w.ssthresh } else { reduced }, cwnd: least }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{context, loss, whole};
    use super::*;
    use crate::seq::Offset;
    use crate::testing::blank;

    fn grown(w: Window, from: u64, to: u64, cx: &Ctx) -> f64 {
        let mut w = w;
        let ack = AckEvent { prior_una: Offset(from), ack: Offset(to), ..blank() };
        Quic::new(&QuicSpec::default()).on_ack(&ack, &mut w, cx);
        w.cwnd
    }

    #[test]
    fn growth_counts_bytes_that_were_sent_after_the_last_cut() {
        let (slow, avoid) = (Window { cwnd: 8000.0, ssthresh: 1e9 }, whole(8.0));
        assert_eq!((grown(slow, 1, 3001, &context()), grown(avoid, 1, 3001, &context())), (11_000.0, 8375.0));
        let cut = Ctx { recover: Some(Offset(2001)), ..context() };
        assert_eq!([2001, 3001].map(|to| grown(avoid, 1, to, &cut)), [8000.0, 8125.0]);
        assert_eq!(
            grown(slow, 1, 2001, &Ctx { timed_out: true, ..cut }),
            10_000.0,
            "after persistent congestion, all data counts"
        );
        assert_eq!(grown(slow, 1, 3001, &Ctx { cwnd_limited: false, ..context() }), 8000.0);
    }

    #[test]
    fn a_loss_halves_the_window_and_persistent_congestion_leaves_two_segments() {
        let cut = |cause, segs, cx: &Ctx| Quic::new(&QuicSpec::default()).on_loss(&loss(cause, 9), &whole(segs), cx);
        assert_eq!(cut(Cause::Fast, 15.0, &context()), Cut { ssthresh: 7500.0, cwnd: 7500.0 });
        assert_eq!(cut(Cause::Fast, 3.0, &context()), Cut { ssthresh: 1500.0, cwnd: 2000.0 });
        assert_eq!(cut(Cause::Rto, 15.0, &context()), Cut { ssthresh: 7500.0, cwnd: 2000.0 });
        let answered = Ctx { recover: Some(Offset(9001)), ..context() };
        assert_eq!(cut(Cause::Rto, 15.0, &answered), Cut { ssthresh: 15_000.0, cwnd: 2000.0 });
    }
}
