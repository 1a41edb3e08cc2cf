//! Questions that need the order of sending instead of the order of sequence numbers (RFC 8985).

use super::{Marks, Scoreboard};
use crate::seq::Offset;
use crate::time::Time;
use crate::units::Bytes;

impl Scoreboard {
    /// Marks lost what was sent last before `newest` (when, and its end, which decides at equal times) and not after
    /// `by`; a retransmission counts like any other transmission. Returns the bytes newly marked, and when the newest of
    /// those was sent that were sent before `newest` and may still arrive.
    pub fn mark_sent_before(&mut self, newest: (Time, Offset), by: Option<Time>) -> (Bytes, Option<Time>) {
        let (mut marked, mut waits) = (0, None);
        let mut i = self.head;
        while i != self.tail {
            let s = self.at(i);
            let (at, before) = (s.at, (s.at, s.end()) < newest);
            if !before && s.sends == 1 {
                // What was sent once was sent in order, so nothing above was sent earlier.
                break;
            }
            let settled = s.marks.any(Marks::SACKED) || (s.marks.any(Marks::LOST) && !s.marks.any(Marks::REXMIT));
            if before && !settled {
                if by.is_some_and(|by| at <= by) {
                    marked += self.mark_index_lost(i);
                } else {
                    waits = waits.max(Some(at));
                }
            }
            i = i.wrapping_add(1);
        }
        (marked, waits)
    }

    /// Whether a retransmission sent at `since` or later is held to be lost and has not been replaced.
    pub fn lost_again_since(&self, since: Time) -> bool {
        self.lost_to_send > 0 && self.iter().any(|s| s.sends > 1 && s.at >= since && s.marks.waits_to_be_sent())
    }
}
