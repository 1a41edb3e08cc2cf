//! Measures reordering without retransmissions: a hole that filled on its own.
//!
//! Blanton & Allman §6.5 call it a pure reordering event and count its length in duplicate ACKs. The other kind, a
//! retransmission proved needless, is reported with the judge's verdict ([`crate::facts::episode::Mistake`]).

use crate::facts::reorder::ReorderSample;
use crate::time::{Nanos, Time};

/// Watches one hole at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reorder {
    /// Times of the first and the last duplicate.
    dups: Option<(Time, Time)>,
    /// Since when nothing may be sent although there is data.
    stalled: Option<Time>,
}

impl Reorder {
    /// A duplicate ACK arrived outside an episode.
    #[inline]
    pub(super) fn on_dup(&mut self, now: Time) {
        let first = self.dups.map_or(now, |d| d.0);
        self.dups = Some((first, now));
    }

    /// A duplicate ACK released nothing, although there was data to send.
    pub(super) fn stall(&mut self, now: Time) {
        self.stalled.get_or_insert(now);
    }

    /// Sending is possible again; returns for how long it was not.
    pub(super) fn end_stall(&mut self, now: Time) -> Option<Nanos> {
        self.stalled.take().map(|since| now.since(since))
    }

    /// Times of the first and the last duplicate of the hole.
    pub(super) fn span(&self) -> Option<(Time, Time)> {
        self.dups
    }

    /// An episode began, so this is no longer an event of reordering alone.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;

    #[test]
    fn a_hole_that_fills_after_duplicates_is_reordering_from_the_first_to_the_last_of_them() {
        let mut r = Reorder::default();
        assert_eq!(r.on_advance(ms(1), 0), None);
        [ms(2), ms(3), ms(5)].into_iter().for_each(|at| r.on_dup(at));
        let found = r.on_advance(ms(6), 3).expect("a sample");
        assert_eq!((found.dupacks, found.first_dup, found.last_dup, found.filled), (3, ms(2), ms(5), ms(6)));
        assert_eq!((found.resent, r.on_advance(ms(7), 1)), (None, None), "it is told once");
        r.on_dup(ms(8));
        assert_eq!(r.on_advance(ms(9), 0), None, "the ACKs before it were no duplicates");
    }
}
