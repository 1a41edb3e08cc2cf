//! When each segment of one direction was sent, and when an acknowledgment first covered it.

use crate::ranges::Ranges;
use crate::seen::Seen;
use crate::verdict::{Retransmission, Verdict};

/// The largest number of SACKed ranges that is followed.
const MOST_RANGES: usize = 4096;

/// The fate of the first copy of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was sent once.
    #[default]
    Once,
    /// It arrived, but was retransmitted nevertheless.
    Needless,
    /// It arrived, and the receiver discarded it.
    Refused,
    /// It was lost.
    Lost,
    /// It was retransmitted, and whether it was lost is unknown.
    Open,
}

/// A segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) seq: u64,
    pub(crate) at: i64,
    /// 0 while nothing covers it.
    pub(crate) covered: i64,
    pub(crate) len: u32,
    pub(crate) fate: Fate,
}

/// One direction of a connection, captured where its data begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) sent: Vec<Sent>,
    /// When retransmissions were sent.
    pub(crate) again: Vec<i64>,
    /// Counts of in-order acknowledgments that covered one new segment, two, or more.
    pub(crate) advances: [u64; 3],
    /// The largest window of the receiver, and the most data in flight, bytes.
    pub(crate) window: u64,
    pub(crate) flight: u64,
    /// The time in which everything was acknowledged and nothing was sent, beyond the time a sender needs to answer.
    pub(crate) idle: i64,
    /// The part of such times in which the receiver's window had no room for another segment.
    pub(crate) closed: i64,
    pub(crate) last_news: i64,
    hi: u64,
    una: u64,
    /// The first entry of `sent` that is not acknowledged.
    pos: usize,
    sacked: Ranges,
    /// Since when the window has no room, and for how long it had none before, since the last news.
    shut: (Option<i64>, i64),
}

/// An application that answers within this time, in nanoseconds, does not count as idle.
const ANSWER: i64 = 10_000_000;

impl Log {
    /// A segment with data; returns the number of places it took.
    pub(crate) fn data(&mut self, seen: &Seen) -> usize {
        if seen.len == 0 {
            return 0;
        }
        if self.sent.is_empty() {
            (self.hi, self.una) = (seen.seq, seen.seq);
        }
        let end = seen.seq + u64::from(seen.len);
        if end <= self.hi {
            self.again.push(seen.at);
            return 1;
        }
        let seq = seen.seq.max(self.hi);
        if self.una >= self.hi && self.last_news > 0 {
            let shut = self.shut.1 + self.shut.0.map_or(0, |since| seen.at - since);
            self.closed += shut;
            self.idle += (seen.at - self.last_news - ANSWER - shut).max(0);
        }
        let len = (end - seq) as u32;
        self.sent.push(Sent { seq, at: seen.at, covered: 0, len, fate: Fate::Once });
        self.hi = end;
        self.flight = self.flight.max(self.hi - self.una);
        1
    }

    /// An acknowledgment from the other end; `shift` is its window scale.
    pub(crate) fn ack(&mut self, seen: &Seen, shift: u8) {
        let Some(ack) = seen.ack else { return };
        let window = u64::from(seen.window) << shift;
        self.window = self.window.max(window);
        let Some(last) = self.sent.last() else { return };
        let has_room = window >= u64::from(last.len);
        let ack = ack.min(self.hi);
        if ack > self.una {
            self.shut = (None, 0);
            let before = self.pos;
            while let Some(s) = self.sent.get_mut(self.pos).filter(|s| s.seq + u64::from(s.len) <= ack) {
                if s.covered == 0 {
                    s.covered = seen.at;
                }
                self.pos += 1;
            }
            if self.sacked.is_empty() && seen.sacks == 0 {
                let n = self.pos - before;
                if let Some(i) = n.checked_sub(1) {
                    self.advances[i.min(2)] += 1;
                }
            }
            self.una = ack;
            self.last_news = seen.at;
            self.sacked.forget_below(ack);
        }
        match (has_room, self.shut.0) {
            (false, None) => self.shut.0 = Some(seen.at),
            (true, Some(since)) => self.shut = (None, self.shut.1 + seen.at - since),
            (true, None) | (false, Some(_)) => {}
        }
        for &(left, right) in seen.blocks() {
            self.block(left.max(self.una), right.min(self.hi), seen.at);
        }
    }

    fn block(&mut self, left: u64, right: u64, at: i64) {
        if left >= right || self.sacked.len() >= MOST_RANGES {
            return;
        }
        let (sent, pos) = (&mut self.sent, self.pos);
        self.sacked.add(left, right, |l, r| {
            let from = pos + sent[pos..].partition_point(|s| s.seq < l);
            for s in sent[from..].iter_mut().take_while(|s| s.seq + u64::from(s.len) <= r) {
                if s.covered == 0 {
                    s.covered = at;
                }
            }
        });
    }

    /// Records the fate of the first copy of each retransmitted segment.
    pub(crate) fn judge(&mut self, verdicts: &[Retransmission]) {
        for r in verdicts {
            let fate = match r.judged.verdict {
                Verdict::Needless => Fate::Needless,
                Verdict::Needed => Fate::Lost,
                Verdict::Refused => Fate::Refused,
                Verdict::Undecided => Fate::Open,
            };
            let from = self.sent.partition_point(|s| s.seq + u64::from(s.len) <= r.seq);
            let end = r.seq + u64::from(r.len);
            // The first retransmission shows the fate of the first copy; if a later one was needless, one of the earlier
            // copies arrived.
            self.sent[from..]
                .iter_mut()
                .take_while(|s| s.seq < end)
                .filter(|s| s.fate == Fate::Once)
                .for_each(|s| s.fate = fate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_which_the_window_is_closed_is_not_the_applications() {
        const MS: i64 = 1_000_000;
        let mut log = Log::default();
        let data = |log: &mut Log, n: u64, at| log.data(&Seen { seq: 1000 * n, len: 1000, at, ..Seen::default() });
        let ack = |log: &mut Log, n: u64, at, window| {
            log.ack(&Seen { ack: Some(1000 * n), at, window, ..Seen::default() }, 0);
        };
        data(&mut log, 0, MS);
        ack(&mut log, 1, 51 * MS, 0);
        ack(&mut log, 1, 551 * MS, 65_535);
        data(&mut log, 1, 552 * MS);
        assert_eq!((log.closed, log.idle), (500 * MS, 0));
        ack(&mut log, 2, 602 * MS, 65_535);
        data(&mut log, 2, 1602 * MS);
        assert_eq!((log.closed, log.idle), (500 * MS, 990 * MS));
    }

    #[test]
    fn a_sack_block_covers_the_segments_in_it_and_none_below() {
        let mut log = Log::default();
        for n in 0..5 {
            log.data(&Seen { seq: 1000 * n, len: 1000, at: 1 + n as i64, ..Seen::default() });
        }
        let sack = [(2000, 4000), (0, 0), (0, 0), (0, 0)];
        log.ack(&Seen { ack: Some(0), sack, sacks: 1, at: 90, ..Seen::default() }, 0);
        assert_eq!(log.sent.iter().map(|s| s.covered).collect::<Vec<_>>(), [0, 0, 90, 90, 0]);
    }
}
