//! Copies of segments: resent ones, and copies that the path dropped, where a simulator tells.

use super::{Marks, Scoreboard, Sent};
use crate::seq::Offset;
use crate::time::Time;

impl Scoreboard {
    /// Whether a segment resent at `began` or later is lost. Segments are resent in ascending order, so the lowest one decides.
    pub fn is_resent_lost_since(&self, began: Time) -> bool {
        let first = self.first_lost().and_then(|at| self.get(at));
        first.is_some_and(|s| s.sends > 1 && s.at >= began)
    }

    /// Segments with a retransmission in flight, as far as one can tell (Linux's `retrans_out`). Counted on each call.
    pub fn resends_out(&self) -> u32 {
        let out = |s: &&Sent| s.marks.any(Marks::REXMIT) && !s.marks.any(Marks::SACKED);
        u32::try_from(self.iter().filter(out).count()).unwrap_or(u32::MAX)
    }

    /// The path dropped copy number `sends` of the segment at `start`. A copy other than the last one changes nothing.
    #[cold]
    pub(crate) fn drop_copy(&mut self, start: Offset, sends: u8) {
        let Some(i) = self.find(start) else { return };
        let slot = self.slot(i);
        let s = &mut self.ring[slot];
        if s.sends == sends && !s.marks.any(Marks::SACKED) {
            s.marks.0 |= Marks::DROPPED;
        }
    }
}
