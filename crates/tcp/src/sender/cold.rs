//! State that the usual path does not touch.

use super::pace::Pacing;
use super::patience::Patience;
use super::reorder::Reorder;
use crate::facts::episode::Ledger;
use crate::facts::rate::Rates;
use crate::idle::IdleRule;
use crate::seq::Offset;
use crate::time::Time;
use crate::units::Bytes;

/// State that only losses and reordering touch.
#[derive(Default)]
pub(super) struct Cold {
    /// SACK blocks of an ACK below `snd_una` are processed.
    pub(super) late_sack: bool,
    /// The cap outside Recovery, if Recovery has none.
    pub(super) cap_outside: Option<Bytes>,
    pub(super) ledger: Ledger,
    pub(super) reorder: Reorder,
    /// Congestion marks below this offset have led to a cut (RFC 3168 §6.1.2: once per window).
    pub(super) ecn_recover: Option<Offset>,
    /// Segments retransmitted since the connection was established; saturates.
    pub(super) retransmits: u32,
    /// End of the last small segment (Linux's `snd_sml`); kept while small segments may have to wait.
    pub(super) snd_sml: Offset,
    /// Payload of a full segment as agreed in the handshake.
    pub(super) agreed_mss: u32,
    pub(super) finds_black_holes: bool,
    /// When a segment was last resent.
    pub(super) resent_at: Time,
    pub(super) idle_rule: IdleRule,
    pub(super) patience: Patience,
    pub(super) pacing: Pacing,
    pub(super) rates: Option<Box<Rates>>,
}
