//! Without SACK, Linux counts each duplicate as a segment that has arrived (`tcp_add_reno_sack`, `tcp_remove_reno_sacks`,
//! `tcp_limit_reno_sacked`). The same count, kept by the notebook.

use super::board;
use super::witness::Notebook;
use ackclock_tcp::event::Phase;
use ackclock_tcp::facts::ack::DupRule;
use ackclock_tcp::facts::scoreboard::Scoreboard;

/// Segments that are said to have arrived, and what was told about more of them than can have.
#[derive(Default)]
pub(super) struct Presumed {
    count: u64,
    pub(super) excess: Vec<u32>,
}

impl Notebook {
    pub(super) fn presumes(&self) -> bool {
        self.judge.book.stack.dup_rule == DupRule::EmulatedSack
    }

    pub(super) fn presume(&mut self, bytes: u64) {
        self.presumed.count = bytes / self.judge.book.mss;
        self.presumed.excess.clear();
    }

    /// The bytes that the ACK just taken delivers, and a check of the count. `phase` is the one in which it came.
    pub(super) fn check_presumed(&mut self, board: &Scoreboard, phase: Phase, recover: Option<u64>) -> u64 {
        let Some(ack) = &self.judge.ack else { return 0 };
        let (mss, una, max) = (self.judge.book.mss, self.judge.book.una, self.judge.book.max);
        let (dup, mut bytes) = (ack.dup, ack.delivered);
        let out = self.judge.book.out.len() as u64;
        let acked = ack.before.len() as u64 - out;
        let mut excess = vec![];
        // tcp_limit_reno_sacked: the oldest, or what is lost, has not arrived.
        let mut limit = |count: u64, acked: u64| {
            let lost = board::bytes(board, board::lost);
            let missing = u64::max(lost / mss + u64::from(!lost.is_multiple_of(mss)), 1).min(out);
            if count + missing > out {
                excess.push((out + acked) as u32);
                out - missing
            } else {
                count
            }
        };
        let before = self.presumed.count;
        let mut count = before;
        if acked > 0 {
            // tcp_remove_reno_sacks: one of them filled the hole, and duplicates had reported the others.
            let one = u64::min(mss, bytes);
            bytes = u64::max(bytes.saturating_sub(before * mss), one);
            count = limit(before.saturating_sub(acked - 1), acked);
        }
        let ends = if phase == Phase::Recovery { recover.is_some_and(|r| una >= r) } else { acked > 0 };
        if ends {
            count = 0;
        }
        // tcp_is_non_sack_preventing_reopen; after a timeout only what was sent beyond it counts.
        let held = recover == Some(una);
        let beyond = phase != Phase::Loss || recover.is_some_and(|r| max > r);
        if dup && !held && beyond {
            let more = limit(count + 1, 0);
            bytes = more.saturating_sub(count) * mss;
            count = more;
        }
        self.presumed.count = count;
        let seen = (board.presumed(), std::mem::take(&mut self.presumed.excess));
        let known = (count * mss, excess);
        self.expect(seen == known, || format!("presumed to have arrived, and too many: {seen:?}, and not {known:?}"));
        bytes
    }
}
