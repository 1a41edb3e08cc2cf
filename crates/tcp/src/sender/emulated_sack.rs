//! Rule 2, if duplicates count as SACKs: how much of the outstanding data has arrived, although it is unknown which part.
//!
//! Source: Linux 6.18 (`tcp_add_reno_sack`, `tcp_remove_reno_sacks`, `tcp_limit_reno_sacked`, `tcp_check_reno_reordering`,
//! `tcp_process_loss` and `tcp_fastretrans_alert` in `net/ipv4/tcp_input.c`), in our words.
//!
//! | Linux | here |
//! | --- | --- |
//! | sacked_out | `board.presumed()`, bytes, in whole segments |
//! | packets_out, lost_out | `board.len()`, `board.lost()` |
//! | high_seq | `recover` |
//! | reordering | the detector's, reported by `on_excess` |
//! | state Open, Recovery or Loss while snd_una = high_seq | `is_held` |

use super::Sender;
use crate::detect::Learner;
use crate::event::Phase;
use crate::facts::scoreboard::Delivered;
use crate::units::Bytes;

impl Sender {
    /// Counts a duplicate as a segment that arrived, or removes the segments that an ACK of `acked` segments explains; sets
    /// `d.bytes` to the bytes newly arrived by this count.
    pub(super) fn emulate_sack(&mut self, acked: usize, is_dup: bool, d: &mut Delivered) {
        let mss = u64::from(self.mss);
        let before = self.board.presumed() / mss;
        let mut count = before;
        if acked > 0 {
            let acked = acked as u64;
            // One of them filled the hole; duplicates had already reported the others.
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

    /// Everything that was outstanding when the last episode began is acknowledged, and nothing above it: ACKs from now on may be
    /// echoes of its retransmissions (`tcp_is_non_sack_preventing_reopen`).
    fn is_held(&self) -> bool {
        self.recover == Some(self.snd_una)
    }

    /// After a timeout, duplicates count only if new data was sent beyond the data outstanding at that time.
    fn counts_duplicates(&self) -> bool {
        let loss = self.phase == Phase::Loss;
        !self.is_held() && (!loss || self.recover.is_some_and(|r| self.snd_max > r))
    }

    /// At least one segment, or all those marked lost, cannot have arrived. More duplicates than the rest show reordering of the
    /// data that was outstanding, of which `acked` segments are acknowledged by now.
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
