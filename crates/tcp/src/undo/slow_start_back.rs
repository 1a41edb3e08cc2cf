//! Undo by slow start: the threshold is set to the window before the cut.
//!
//! Source: Blanton & Allman 2002 §5; RFC 4015 §3.1 has a related response.
//!
//! Idea: `ssthresh` becomes the window before the mistake, so that slow start leads back to it, clocked by ACKs; setting
//! `cwnd` would release a burst.
//!
//! | source | here |
//! | --- | --- |
//! | cwnd_prev | `ep.prior.cwnd` |
//!
//! Unsaid: an episode begun by a timeout (`undo_timeouts`, default no); a threshold that is already higher stays.

use super::{GiveBack, Standing, Undo};
use crate::event::{Cause, Window};
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Ledger, Mistake};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SlowStartBackSpec {
    /// Whether `cwnd` is also set, at once. Default: no.
    pub restore_cwnd: bool,
    /// Whether timeouts are also undone. Default: no.
    pub undo_timeouts: bool,
}

/// The undo at work.
pub struct SlowStartBack(SlowStartBackSpec);

impl SlowStartBack {
    pub(super) fn new(spec: &SlowStartBackSpec) -> Self {
        SlowStartBack(spec.clone())
    }
}

impl Undo for SlowStartBack {
    fn on_mistake(&mut self, m: &Mistake, _: Standing, ledger: &mut Ledger, w: &mut Window, _: &Ctx) -> GiveBack {
        let Some(ep) = ledger.get(m.episode).filter(|ep| !ep.void) else { return GiveBack::default() };
        if m.cause == Cause::Rto && !self.0.undo_timeouts {
            return GiveBack::default();
        }
        // Once per episode.
        ep.void = true;
        w.ssthresh = w.ssthresh.max(ep.prior.cwnd);
        if self.0.restore_cwnd {
            w.cwnd = w.cwnd.max(ep.prior.cwnd);
        }
        GiveBack { congestion: Some(ep.cc_undo.get()), fired: None }
    }
}
