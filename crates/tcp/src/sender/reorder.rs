//! Measures reordering where nothing had to be resent: a hole that filled itself.
//!
//! Blanton & Allman §6.5 call it a pure reordering event and count its length in duplicate ACKs. The other kind, a
//! retransmission proved needless, comes with the judge's verdict ([`crate::facts::episode::Mistake`]).

use crate::facts::reorder::ReorderSample;
use crate::time::{Nanos, Time};

/// Watches one hole at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reorder {
    /// First and last duplicate.
    dups: Option<(Time, Time)>,
    /// Since when nothing may be sent though there is something.
    stalled: Option<Time>,
}

impl Reorder {
    /// A duplicate ACK arrived outside an episode.
    #[inline]
    pub(super) fn on_dup(&mut self, now: Time) {
        let first = self.dups.map_or(now, |d| d.0);
        self.dups = Some((first, now));
    }

    /// A duplicate ACK let nothing out, though there was something to send.
    pub(super) fn stall(&mut self, now: Time) {
        self.stalled.get_or_insert(now);
    }

    /// Something may be sent again; for how long nothing could.
    pub(super) fn end_stall(&mut self, now: Time) -> Option<Nanos> {
        self.stalled.take().map(|since| now.since(since))
    }

    /// When the first and the last duplicate of the hole came.
    pub(super) fn span(&self) -> Option<(Time, Time)> {
        self.dups
    }

    /// An episode began: what follows is no pure event.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.dups = None;
    }

    /// An ACK advanced after `dupacks` duplicates.
    pub(super) fn on_advance(&mut self, now: Time, dupacks: u32) -> Option<ReorderSample> {
        let (first_dup, last_dup) = self.dups.take()?;
        (dupacks > 0).then_some(ReorderSample { dupacks, first_dup, last_dup, filled: now, resent: None, segments: 0 })
    }
}
