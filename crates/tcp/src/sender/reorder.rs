//! Measures reordering where nothing had to be resent: a hole that filled itself.
//!
//! Blanton & Allman §6.5 call it a pure reordering event and count its length in duplicate ACKs. The other kind, a
//! retransmission proved needless, comes with the judge's verdict ([`crate::sender::episode::Mistake`]).

use crate::time::{Nanos, Time};

/// One measurement of reordering: a hole, and the duplicate ACKs that it caused before it filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReorderSample {
    /// Duplicate ACKs until the hole filled (Blanton & Allman's D, N).
    pub dupacks: u32,
    /// When the first of them came.
    pub first_dup: Time,
    /// When the last of them came.
    pub last_dup: Time,
    /// When the ACK came that filled the hole.
    pub filled: Time,
    /// When the hole was resent, if it was: then this is a retransmission proved needless.
    pub resent: Option<Time>,
    /// Segments that were resent for it, all needlessly.
    pub segments: u32,
}

impl ReorderSample {
    /// Mean time between two of the duplicates; zero if there was one.
    pub fn spacing(&self) -> Nanos {
        Nanos(self.last_dup.since(self.first_dup).0 / u64::from(self.dupacks.saturating_sub(1).max(1)))
    }
}

/// Watches one hole at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reorder {
    /// First and last duplicate.
    dups: Option<(Time, Time)>,
    /// Since when nothing may be sent though there is something.
    stalled: Option<Time>,
}

impl Reorder {
    /// A duplicate ACK arrived outside an episode.
    #[inline]
    pub fn on_dup(&mut self, now: Time) {
        let first = self.dups.map_or(now, |d| d.0);
        self.dups = Some((first, now));
    }

    /// A duplicate ACK let nothing out, though there was something to send.
    pub(crate) fn stall(&mut self, now: Time) {
        self.stalled.get_or_insert(now);
    }

    /// Something may be sent again; for how long nothing could.
    pub(crate) fn end_stall(&mut self, now: Time) -> Option<Nanos> {
        self.stalled.take().map(|since| now.since(since))
    }

    /// When the first and the last duplicate of the hole came.
    pub(crate) fn span(&self) -> Option<(Time, Time)> {
        self.dups
    }

    /// An episode began: what follows is no pure event.
    #[inline]
    pub fn forget(&mut self) {
        self.dups = None;
    }

    /// An ACK advanced after `dupacks` duplicates.
    pub fn on_advance(&mut self, now: Time, dupacks: u32) -> Option<ReorderSample> {
        let (first_dup, last_dup) = self.dups.take()?;
        (dupacks > 0).then_some(ReorderSample { dupacks, first_dup, last_dup, filled: now, resent: None, segments: 0 })
    }
}
