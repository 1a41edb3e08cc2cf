//! Full restore: window and threshold as they were before the episode.
//!
//! Source: Linux 6 (`tcp_undo_cwnd_reduction`, `tcp_current_ssthresh`), in our words.
//!
//! Idea: nothing was lost, so nothing should have changed. An undo never makes the window smaller.
//!
//! | source | here |
//! | --- | --- |
//! | prior_cwnd | `ep.prior.cwnd`, of the interrupted episode if a timeout interrupted one (decision 0051) |
//! | prior_ssthresh = max (ssthresh, 3/4 cwnd) | the same of `ep.prior` |
//!
//! Departures: none known. Unsaid: the burst that the restored window allows may be large; Linux leaves this to pacing,
//! here `limits.maxburst_segs` bounds it.

use super::{GiveBack, Prior, Standing, Undo};
use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Ledger, Mistake};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RestoreSpec {
    /// Whether the threshold is restored, too. Default: yes (Linux 3 left it as it was after a partial ACK).
    pub restore_ssthresh: bool,
    /// Whether the undo of a timeout during a recovery restores the state before that recovery. Default: yes.
    pub before_interrupted: bool,
}

impl Default for RestoreSpec {
    fn default() -> Self {
        RestoreSpec { restore_ssthresh: true, before_interrupted: true }
    }
}

/// The undo at work.
pub struct Restore(RestoreSpec);

impl Restore {
    pub(super) fn new(spec: &RestoreSpec) -> Self {
        Restore(spec.clone())
    }
}

impl Undo for Restore {
    fn on_mistake(&mut self, m: &Mistake, _: Standing, ledger: &mut Ledger, w: &mut Window, _: &Ctx) -> GiveBack {
        let Some(ep) = ledger.get(m.episode).filter(|ep| !ep.void) else { return GiveBack::default() };
        // Once per episode.
        ep.void = true;
        w.cwnd = w.cwnd.max(ep.prior.cwnd);
        if self.0.restore_ssthresh {
            w.ssthresh = w.ssthresh.max(ep.prior.ssthresh).max(0.75 * ep.prior.cwnd);
        }
        GiveBack { congestion: Some(ep.cc_undo.get()), fired: None }
    }
    fn prior_in_recovery(&self) -> Prior {
        if self.0.before_interrupted {
            Prior::BeforeInterrupted
        } else {
            Prior::AtTimeout
        }
    }
}
