//! Transmissions in the order of sending: the packets that RFC 9002 numbers (A.1, A.7).

use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::{Marks, Scoreboard, Sent};
use crate::seq::Offset;
use crate::time::Time;
use std::collections::VecDeque;

/// A transmission: its segment, named by its end, and its send time.
#[derive(Clone, Copy)]
pub(super) struct Packet {
    pub(super) end: Offset,
    pub(super) at: Time,
}

/// The fate of a transmission.
pub(super) enum Fate {
    /// Its segment is outstanding, and this is its last copy.
    Outstanding,
    /// Its segment was resent without being marked lost: a probe.
    Probed,
    /// Acknowledged, or marked lost by another component.
    Settled,
}

/// Transmissions not judged yet, oldest first. The packet number of the first is `first`.
#[derive(Default)]
pub(super) struct Packets {
    sent: VecDeque<Packet>,
    first: u64,
}

impl Packets {
    pub(super) fn push(&mut self, sent: &Sent) {
        self.sent.push_back(Packet { end: sent.end(), at: sent.at });
    }

    /// Removes all: nothing is outstanding.
    pub(super) fn clear(&mut self) {
        self.first += self.sent.len() as u64;
        self.sent.clear();
    }

    /// The oldest transmission and its packet number.
    pub(super) fn oldest(&self) -> Option<(u64, Packet)> {
        self.sent.front().map(|p| (self.first, *p))
    }

    /// Removes the oldest: it is judged and never examined again.
    pub(super) fn pop(&mut self) {
        self.first += u64::from(self.sent.pop_front().is_some());
    }

    /// A.7: the largest packet number that this ACK acknowledges, if it is still remembered. TCP does not say which copy arrived;
    /// it is taken to be the last one, unless that was sent less than the smallest RTT ago.
    pub(super) fn largest_in(&self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) -> Option<u64> {
        let own = |at: Time| cx.min_rtt.is_none_or(|min| cx.now.since(at) >= min);
        let n = ack.newest?;
        let (at, end) = if !n.retransmitted || own(n.at) {
            (n.at, n.end)
        } else {
            board.newly().filter(|s| s.sends == 1 || own(s.at)).map(|s| (s.at, s.end())).max()?
        };
        self.number(at, end)
    }

    /// The packet number of the last transmission of a segment.
    fn number(&self, at: Time, end: Offset) -> Option<u64> {
        let after = self.sent.partition_point(|p| p.at <= at);
        let same_time = self.sent.range(..after).rev().take_while(|p| p.at == at);
        let back = same_time.enumerate().find(|(_, p)| p.end == end)?.0;
        Some(self.first + (after - 1 - back) as u64)
    }
}

impl Packet {
    /// The last offset of its segment.
    pub(super) fn last(&self) -> Offset {
        Offset(self.end.0 - 1)
    }

    pub(super) fn fate(&self, board: &Scoreboard) -> Fate {
        match board.get(self.last()) {
            Some(s) if s.marks.any(Marks::SACKED) => Fate::Settled,
            Some(s) if s.at != self.at => Fate::Probed,
            Some(s) if !s.marks.any(Marks::LOST) || s.marks.any(Marks::REXMIT) => Fate::Outstanding,
            _ => Fate::Settled,
        }
    }
}
