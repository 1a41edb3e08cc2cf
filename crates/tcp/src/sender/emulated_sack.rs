//! Rule 2, where duplicates count as if they were SACKs: how much of what is outstanding has arrived, though nobody says which.
//!
//! Source: Linux 6.18 (`tcp_add_reno_sack`, `tcp_remove_reno_sacks`, `tcp_limit_reno_sacked`, `tcp_check_reno_reordering`,
//! `tcp_process_loss` and `tcp_fastretrans_alert` in `net/ipv4/tcp_input.c`), in our words.
//!
//! | Linux | here |
//! | --- | --- |
//! | sacked_out | `board.presumed()`, bytes, in whole segments |
//! | packets_out, lost_out | `board.len()`, `board.lost()` |
//! | high_seq | `recover` |
//! | reordering | the detector's, told by `on_excess` |
//! | state Open, Recovery or Loss while snd_una = high_seq | `is_held` |

use super::Sender;
use crate::detect::Learner;
use crate::event::Phase;
use crate::facts::scoreboard::Delivered;
use crate::units::Bytes;

impl Sender {
    /// Counts a duplicate as a segment that arrived, or takes back what an ACK of `acked` segments explains; makes `d.bytes` what
    /// has newly arrived by this reckoning.
    pub(super) fn emulate_sack(&mut self, acked: usize, is_dup: bool, d: &mut Delivered) {
        let mss = u64::from(self.mss);
        let before = self.board.presumed() / mss;
        let mut count = before;
        if acked > 0 {
            let acked = acked as u64;
            // One of them filled the hole; the others are what duplicates told of.
            d.bytes = d.bytes.saturating_sub(before * mss).max(mss.min(d.bytes));
            count = self.limited(before.saturating_sub(acked - 1), acked);
        }
        let over = match self.phase {
            Phase::Open | Phase::Disorder | Phase::Loss => acked > 0,
            Phase::Recovery => self.recover.is_some_and(|r| self.snd_una >= r),
        };
        if over {
            count = 0;
        }
        if is_dup && self.counts_duplicates() {
            let more = self.limited(count + 1, 0);
            d.bytes = more.saturating_sub(count) * mss;
            count = more;
        }
        self.board.presume(count * mss);
    }

    /// Everything that was outstanding when the last episode began is acknowledged, and nothing above it: what comes now may
    /// be echoes of its retransmissions (`tcp_is_non_sack_preventing_reopen`).
    fn is_held(&self) -> bool {
        self.recover == Some(self.snd_una)
    }

    /// After a timeout a duplicate tells of new data alone, of which there is some beyond what was outstanding then.
    fn counts_duplicates(&self) -> bool {
        let loss = self.phase == Phase::Loss;
        !self.is_held() && (!loss || self.recover.is_some_and(|r| self.snd_max > r))
    }

    /// At least one segment, or all that are held to be lost, cannot have arrived. More duplicates than that show reordering of
    /// what was outstanding, of which `acked` segments are acknowledged by now.
    fn limited(&mut self, count: Bytes, acked: u64) -> Bytes {
        let out = self.board.len() as u64;
        let holes = self.board.lost().div_ceil(u64::from(self.mss)).max(1).min(out);
        if count + holes <= out {
            return count;
        }
        self.slots.detect.on_excess(u32::try_from(out + acked).unwrap_or(u32::MAX));
        out - holes
    }
}
