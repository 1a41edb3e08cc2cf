//! Eifel's response: the window is set slightly above the data in flight, and the threshold is restored.
//!
//! Source: RFC 4015 §3.1 (0), (8), (9), (11); Ludwig & Katz 2000 for fast retransmits.
//!
//! Idea: the cut is undone without a burst, since one ACK may release no more than an initial window; and the timer that
//! fired too early becomes slower.
//!
//! | source | here |
//! | --- | --- |
//! | pipe_prev = max (FlightSize, ssthresh) (0) | `max (ep.flight, ep.prior.ssthresh)` |
//! | (8) SND.NXT = SND.MAX | done by the sequencer, for every mistake (decision 0051) |
//! | FlightSize, bytes_acked, IW (9) | `outstanding`, `acked` (decision 0051), `initial_window` |
//! | (11) | `fired`: when the timer fired spuriously |
//!
//! Departures: never above the window before the cut (decision 0051). An ACK with an ECN echo restores nothing (9): the
//! sequencer has made the episode void (decision 0040).
//! Unsaid: fast retransmits; after Ludwig & Katz cwnd = min (pipe_prev, FlightSize + IW). The judge decides whether an episode
//! was a mistake at all.

use super::{GiveBack, Standing, Undo};
use crate::error::StackError;
use crate::event::{Cause, Window};
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Ledger, Mistake};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EifelResponseSpec {
    /// IW of step (9) in segments. Default: RFC 3390's, min (4 SMSS, max (2 SMSS, 4380 bytes)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window_segs: Option<u32>,
    /// Whether the timer adapts (step (11)). Default: yes.
    pub adapt_timer: bool,
}

impl Default for EifelResponseSpec {
    fn default() -> Self {
        EifelResponseSpec { initial_window_segs: None, adapt_timer: true }
    }
}

impl EifelResponseSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let iw = self.initial_window_segs;
        let allowed = "1 or more (omit it for RFC 3390's value)";
        StackError::unless(iw != Some(0), "undo.initial_window_segs", &0, allowed)
    }
}

/// The response at work.
pub struct EifelResponse(EifelResponseSpec);

impl EifelResponse {
    pub(super) fn new(spec: &EifelResponseSpec) -> Self {
        EifelResponse(spec.clone())
    }

    fn initial_window(&self, cx: &Ctx) -> f64 {
        let smss = cx.smss();
        let rfc_3390 = (4.0 * smss).min((2.0 * smss).max(4380.0));
        self.0.initial_window_segs.map_or(rfc_3390, |n| f64::from(n) * smss)
    }
}

impl Undo for EifelResponse {
    fn on_mistake(&mut self, m: &Mistake, at: Standing, ledger: &mut Ledger, w: &mut Window, cx: &Ctx) -> GiveBack {
        let Some(ep) = ledger.get(m.episode).filter(|ep| !ep.void) else { return GiveBack::default() };
        // Once per episode.
        ep.void = true;
        let pipe_prev = (ep.flight as f64).max(ep.prior.ssthresh);
        let (flight, iw) = (at.outstanding as f64, self.initial_window(cx));
        // RFC 4015 §3.1 (9).
        let cwnd = match m.cause {
            Cause::Rto => flight + (at.acked as f64).min(iw),
            Cause::Fast | Cause::Ecn => pipe_prev.min(flight + iw),
        };
        w.cwnd = cwnd.min(ep.prior.cwnd).max(cx.smss());
        w.ssthresh = pipe_prev.min(ep.prior.ssthresh.max(ep.prior.cwnd)).max(w.ssthresh);
        let fired = (m.cause == Cause::Rto && self.0.adapt_timer).then_some(ep.began);
        GiveBack { congestion: Some(ep.cc_undo.get()), fired }
    }
}
