//! Questions that need the order of sending instead of the order of sequence numbers (RFC 8985).
//!
//! Two queues in order of sending, merged by whoever asks: what was sent once stands on the board in that order; what was
//! sent again stands in a list of its own. Each is passed over once, so an ACK costs what it changes.

use super::{Marks, Scoreboard, Sent};
use crate::seq::Offset;
use crate::time::Time;
use crate::units::Bytes;
use std::collections::VecDeque;

/// How far the order of sending has been judged. It belongs to the detector that asks.
#[derive(Clone, Debug, Default)]
pub struct SendOrder {
    /// Below it, what was sent once is SACKed or lost.
    judged: Offset,
    /// Below it, nothing that was sent once and waits is higher than `hole`, the last offset of such a segment.
    seen: Offset,
    hole: Option<Offset>,
    /// Where on the board they were found last.
    judged_index: u32,
    seen_index: u32,
    hole_index: u32,
    /// What was sent again: when, its end, its start. Some of it has been settled since.
    resent: VecDeque<(Time, Offset, Offset)>,
    stale: bool,
}

impl SendOrder {
    /// A segment was sent again.
    pub fn resent(&mut self, s: &Sent) {
        let entry = Self::entry(s);
        if s.sends > 2 {
            // Only its last copy counts; else a dead path, on which nothing is ever judged, would make the list grow.
            self.resent.retain(|e| e.1 != entry.1);
        }
        let before = self.resent.iter().rev().take_while(|e| **e > entry).count();
        self.resent.insert(self.resent.len() - before, entry);
    }

    /// Marks were taken back: everything is to be looked at again.
    pub fn forget(&mut self) {
        (self.judged, self.seen, self.hole, self.stale) = (Offset(0), Offset(0), None, true);
    }

    /// Whether the scoreboard alone tells the order.
    fn is_plain(&self) -> bool {
        !self.stale && self.resent.is_empty()
    }

    fn entry(s: &Sent) -> (Time, Offset, Offset) {
        (s.at, s.end(), s.start)
    }

    #[cold]
    fn relist(&mut self, board: &Scoreboard) {
        self.stale = false;
        self.resent.clear();
        self.resent.extend(board.iter().filter(|s| s.sends > 1 && !s.is_settled()).map(Self::entry));
        self.resent.make_contiguous().sort_unstable();
    }
}

impl Scoreboard {
    /// Whether nothing that is out was sent before `newest` (when, and its end), as far as one look tells.
    #[inline(always)]
    pub fn is_in_order(&self, order: &SendOrder, newest: (Time, Offset)) -> bool {
        !self.is_empty() && self.at(self.head).is_in_order(newest) && order.is_plain()
    }

    /// Marks lost what was sent last before `newest` (when, and its end, which decides at equal times) and not after
    /// `by`; a retransmission counts like any other transmission. Returns the bytes newly marked, and when the newest of
    /// those was sent that were sent before `newest` and may still arrive. `newest` must not fall from call to call.
    pub fn mark_sent_before(
        &mut self,
        order: &mut SendOrder,
        newest: (Time, Offset),
        by: Option<Time>,
    ) -> (Bytes, Option<Time>) {
        let Some(first) = self.iter().next() else {
            order.resent.clear();
            return (0, None);
        };
        if order.stale {
            order.relist(self);
        }
        if first.is_in_order(newest) && order.is_plain() {
            return (0, None);
        }
        let lost = self.judge_once(order, newest, by);
        if order.resent.is_empty() {
            return (lost, self.waits_once(order, newest));
        }
        let lost = lost + self.judge_resent(order, newest, by);
        (lost, self.waits_once(order, newest).max(self.waits_resent(order, newest)))
    }

    /// Index of the record at `at` or of the oldest above it.
    fn index_from(&self, at: Offset, hint: u32) -> u32 {
        match self.iter().next() {
            Some(s) if at > s.start => self.find_near(at, hint).unwrap_or(self.tail),
            _ => self.head,
        }
    }

    /// Index of the record that contains `at`, which mostly still is `hint`.
    fn find_near(&self, at: Offset, hint: u32) -> Option<u32> {
        let out = hint.wrapping_sub(self.head) < self.tail.wrapping_sub(self.head);
        let holds = |s: &Sent| s.start <= at && at < s.end();
        if out && holds(self.at(hint)) {
            return Some(hint);
        }
        self.find(at)
    }

    /// Where the record at `i` begins; where the board ends, if there is none.
    fn offset_of(&self, i: u32) -> Offset {
        if i == self.tail {
            self.iter().next_back().map_or(Offset(0), Sent::end)
        } else {
            self.at(i).start
        }
    }

    /// What was sent once is on the board in the order of sending: marks up to the first that waits.
    fn judge_once(&mut self, order: &mut SendOrder, newest: (Time, Offset), by: Option<Time>) -> Bytes {
        let (mut i, mut marked) = (self.index_from(order.judged, order.judged_index), 0);
        while i != self.tail {
            let s = self.at(i);
            if s.waits_once() {
                if (s.at, s.end()) >= newest || by.is_none_or(|by| s.at > by) {
                    break;
                }
                marked += self.mark_index_lost(i);
            } else if s.is_in_order(newest) {
                break;
            }
            i = i.wrapping_add(1);
        }
        (order.judged, order.judged_index) = (self.offset_of(i), i);
        marked
    }

    /// When the highest of those was sent that were sent once, before `newest`, and are neither SACKed nor lost.
    fn waits_once(&self, order: &mut SendOrder, newest: (Time, Offset)) -> Option<Time> {
        let mut i = self.index_from(order.seen.max(order.judged), order.seen_index);
        while i != self.tail {
            let s = self.at(i);
            if s.is_in_order(newest) {
                break;
            }
            if s.waits_once() {
                (order.hole, order.hole_index) = (Some(last_of(s.end())), i);
            }
            i = i.wrapping_add(1);
        }
        (order.seen, order.seen_index) = (self.offset_of(i), i);
        // It may have been filled: then the one below it, if it is not acknowledged.
        let mut i = self.find_near(order.hole.take()?, order.hole_index)?;
        if !self.at(i).waits_once() {
            let lowest = self.index_from(order.judged, order.judged_index);
            while !self.at(i).waits_once() {
                if i.wrapping_sub(self.head) <= lowest.wrapping_sub(self.head) {
                    return None;
                }
                i = i.wrapping_sub(1);
            }
        }
        let s = self.at(i);
        (order.hole, order.hole_index) = (Some(last_of(s.end())), i);
        Some(s.at)
    }

    /// What was sent again stands in the list in the order of sending; what has been settled since is dropped.
    #[inline(never)]
    fn judge_resent(&mut self, order: &mut SendOrder, newest: (Time, Offset), by: Option<Time>) -> Bytes {
        let mut marked = 0;
        while let Some(&(at, end, start)) = order.resent.front().filter(|e| (e.0, e.1) < newest) {
            if self.waits_again(at, end, start) {
                if by.is_none_or(|by| at > by) {
                    break;
                }
                marked += self.mark_lost(last_of(end));
            }
            order.resent.pop_front();
        }
        marked
    }

    /// When the last of those was sent that were sent again, before `newest`, and are neither SACKed nor lost again.
    #[inline(never)]
    fn waits_resent(&self, order: &SendOrder, newest: (Time, Offset)) -> Option<Time> {
        if order.resent.is_empty() {
            return None;
        }
        let before = order.resent.partition_point(|e| (e.0, e.1) < newest);
        let waits = |e: &&(Time, Offset, Offset)| self.waits_again(e.0, e.1, e.2);
        order.resent.range(..before).rev().find(waits).map(|e| e.0)
    }

    /// Whether the copy sent at `at` of the segment from `start` to `end` is still on its way, as far as is known.
    fn waits_again(&self, at: Time, end: Offset, start: Offset) -> bool {
        let live = |s: &Sent| s.at == at && s.start >= start && s.end() == end && !s.is_settled();
        self.get(last_of(end)).is_some_and(live)
    }
}

/// The last offset of a segment that ends at `end`: still on the board when its beginning has been acknowledged.
fn last_of(end: Offset) -> Offset {
    Offset(end.0 - 1)
}

impl Sent {
    /// SACKed, or lost and not sent since.
    fn is_settled(&self) -> bool {
        self.marks.any(Marks::SACKED) || (self.marks.any(Marks::LOST) && !self.marks.any(Marks::REXMIT))
    }

    /// Sent once, and not before `newest`; then so is all above it that was sent once.
    fn is_in_order(&self, newest: (Time, Offset)) -> bool {
        self.sends == 1 && (self.at, self.end()) >= newest
    }

    /// Sent once, and neither SACKed nor lost.
    fn waits_once(&self) -> bool {
        self.sends == 1 && !self.marks.any(Marks::SACKED | Marks::LOST)
    }
}
