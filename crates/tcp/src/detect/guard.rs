//! Whether an earlier episode forbids a fast retransmit.

use crate::facts::ctx::Ctx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a fast retransmit is forbidden because of an earlier episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    /// Until `snd_una > recover` (RFC 6582 §3.2 "covers more than recover"; ns-2's `bug_fix`). Default.
    #[default]
    Careful,
    /// Until `snd_una ≥ recover` (RFC 2582 §4 "less careful"; RFC 6675 §5.1 after a timeout).
    LessCareful,
    /// Until `snd_una > recover` after a timeout, never after a fast recovery (ns-2's Sack1).
    AfterTimeout,
    /// Never: several fast retransmits for one window of losses (Net/2, ns-2 with `bug_fix` off).
    Off,
}

impl Guard {
    /// Whether a fast retransmit may start now. Before the first episode nothing forbids it.
    pub fn admits(self, cx: &Ctx) -> bool {
        match (self, cx.recover) {
            (Guard::Off, _) | (_, None) => true,
            (Guard::AfterTimeout, _) if !cx.timed_out => true,
            (Guard::Careful | Guard::AfterTimeout, Some(recover)) => cx.snd_una > recover,
            (Guard::LessCareful, Some(recover)) => cx.snd_una >= recover,
        }
    }
}
