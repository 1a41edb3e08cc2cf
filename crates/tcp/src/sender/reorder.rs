//! Measures reordering where nothing had to be resent: a hole that filled itself.
//!
//! Blanton & Allman §6.5 call it a pure reordering event and count its length in duplicate ACKs. The other kind, a
//! retransmission proved needless, comes with the judge's verdict ([`crate::sender::episode::Mistake`]).

use crate::time::{Nanos, Time};

/// One measurement of reordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReorderSample {
    /// Duplicate ACKs between the hole's first and the ACK that filled it.
    pub dupacks: u32,
    /// Time between the two.
    pub delay: Nanos,
    /// Whether the hole had been resent.
    pub retransmitted: bool,
}

/// Watches one hole at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reorder {
    since: Option<Time>,
}

impl Reorder {
    /// A duplicate ACK arrived outside an episode.
    #[inline]
    pub fn on_dup(&mut self, now: Time) {
        self.since.get_or_insert(now);
    }

    /// When the first duplicate of the hole came.
    pub(crate) fn since(&self) -> Option<Time> {
        self.since
    }

    /// An episode began: what follows is no pure event.
    #[inline]
    pub fn forget(&mut self) {
        self.since = None;
    }

    /// An ACK advanced after `dupacks` duplicates.
    pub fn on_advance(&mut self, now: Time, dupacks: u32) -> Option<ReorderSample> {
        let since = self.since.take()?;
        (dupacks > 0).then(|| ReorderSample { dupacks, delay: now.since(since), retransmitted: false })
    }
}
