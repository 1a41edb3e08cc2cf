//! A ceiling on any adaptive threshold, so that a small window can still trigger a fast retransmit.
//!
//! Source: Blanton & Allman 2002 §6.6: at most 90 % of `cwnd`, and `cwnd − 1` segments.
//!
//! Idea: with fewer segments outstanding than the threshold needs duplicates, a loss would always wait for the timer.
//!
//! | source | here |
//! | --- | --- |
//! | min (0.9 cwnd, cwnd − 1) | `ceiling`, in whole segments |
//!
//! Unsaid: whether the ceiling is written back into the threshold when it binds (`stored`, the default: a threshold cut by a
//! small window stays cut) or only applied when it is read (`test`); and the ceiling at 3 segments and below (`floor_segs`).

use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::gate::whole_segments;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When the ceiling takes effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CapStore {
    /// Written back at each change of the threshold and each cut of the window.
    #[default]
    Stored,
    /// Applied when the threshold is read, without changing it (§6.6 to the letter: "must always be less than cwnd").
    Test,
}

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CapSpec {
    /// When the ceiling takes effect. Default: "stored".
    pub store: CapStore,
    /// Lowest value of the ceiling, in duplicates. Default: 3.
    #[schemars(range(min = 1, max = 1000))]
    pub floor_segs: u32,
}

impl Default for CapSpec {
    fn default() -> Self {
        CapSpec { store: CapStore::Stored, floor_segs: 3 }
    }
}

impl CapSpec {
    /// The largest threshold that the window allows.
    pub(super) fn ceiling(&self, w: &Window, cx: &Ctx) -> u32 {
        let segs = whole_segments(w.cwnd, cx.mss) / u64::from(cx.mss);
        let cap = (segs * 9 / 10).min(segs.saturating_sub(1));
        u32::try_from(cap).unwrap_or(u32::MAX).max(self.floor_segs)
    }

    /// `dupthresh` with the ceiling and the floor applied.
    pub(super) fn asked(&self, dupthresh: u32, w: &Window, cx: &Ctx) -> u32 {
        dupthresh.min(self.ceiling(w, cx)).max(self.floor_segs)
    }

    /// Writes the ceiling back if it is stored.
    pub(super) fn store(&self, dupthresh: &mut u32, w: &Window, cx: &Ctx) {
        if self.store == CapStore::Stored {
            *dupthresh = self.asked(*dupthresh, w, cx);
        }
    }
}
