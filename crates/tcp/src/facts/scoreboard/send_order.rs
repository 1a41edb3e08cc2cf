//! Queries that need the order of sending instead of the order of sequence numbers (RFC 8985).
//!
//! There are two queues in order of sending, merged by each query: segments sent once are on the board in that order, and
//! resent ones are in a separate list. Each entry is visited once, so the cost of an ACK is proportional to its changes.

use super::{Marks, Scoreboard, Sent};
use crate::facts::ack::{AckEvent, Newest};
use crate::segment::{is_older, timestamp};
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;
use std::collections::VecDeque;

/// How far the order of sending has been judged. Owned by the detector that queries it.
#[derive(Clone, Debug, Default)]
pub struct SendOrder {
    /// Below it, all segments sent once are SACKed or lost.
    judged: Offset,
    /// Below it, no waiting segment sent once is higher than `hole`, the last offset of such a segment.
    seen: Offset,
    hole: Option<Offset>,
    /// Indices on the board where they were last found.
    judged_index: u32,
    seen_index: u32,
    hole_index: u32,
    /// Resent segments: send time, end, start. Some may have been settled since.
    resent: VecDeque<(Time, Offset, Offset)>,
    stale: bool,
}

impl SendOrder {
    /// A segment was resent.
    pub fn resent(&mut self, s: &Sent) {
        let entry = Self::entry(s);
        if s.sends > 2 {
            // Only the last copy counts. Otherwise the list would grow on a dead path, where nothing is ever judged.
            self.resent.retain(|e| e.1 != entry.1);
        }
        let before = self.resent.iter().rev().take_while(|e| **e > entry).count();
        self.resent.insert(self.resent.len() - before, entry);
    }

    /// Marks were removed: everything must be examined again.
    pub fn forget(&mut self) {
        (self.judged, self.seen, self.hole, self.stale) = (Offset(0), Offset(0), None, true);
    }

    /// Whether the scoreboard alone gives the order.
    pub(in crate::facts) fn is_plain(&self) -> bool {
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
    /// Whether, by one quick check, nothing outstanding was sent before `newest` (send time, end).
    #[inline(always)]
    pub fn is_in_order(&self, order: &SendOrder, newest: (Time, Offset)) -> bool {
        !self.is_empty() && self.at(self.head).is_in_order(newest) && order.is_plain()
    }

    /// The most recently sent of the segments that `ack` delivered, unless it may be for an earlier copy (RFC 8985 §6.2 step 2).
    /// A copy takes at least a round trip of `min_rtt`.
    pub fn newest_delivered(&self, ack: &AckEvent, min_rtt: Option<Nanos>, now: Time) -> Option<Newest> {
        let n = ack.newest?;
        // The echo is of the segment that moved the cumulative point (RFC 7323 §4.3). It says nothing of data that is SACKed
        // (Linux: tcp_skb_spurious_retrans in tcp_clean_rtx_queue, but not in tcp_sacktag_one).
        let of_last_copy = |at: Time, end: Offset| {
            let echoed_earlier = end <= ack.ack && ack.tsecr.is_some_and(|echo| is_older(echo, timestamp(at)));
            !echoed_earlier && min_rtt.is_none_or(|min| now.since(at) >= min)
        };
        if !n.retransmitted || of_last_copy(n.at, n.end) {
            return Some(n);
        }
        let own = |s: &&Sent| s.sends == 1 || of_last_copy(s.at, s.end());
        let newest = self.newly().filter(own).max_by_key(|s| s.key())?;
        Some(Newest { at: newest.at, end: newest.end(), retransmitted: newest.sends > 1 })
    }

    /// Marks lost every segment last sent before `newest` (send time, and the end, which decides at equal times) and not
    /// after `by`; a retransmission counts like any other transmission. Returns the bytes newly marked. Also returns the
    /// send time of the newest segment that was sent before `newest` and may still arrive. `newest` must not decrease
    /// from call to call. `each` gets each record as it was.
    #[inline]
    pub fn mark_sent_before(
        &mut self,
        order: &mut SendOrder,
        newest: (Time, Offset),
        by: Option<Time>,
        mut each: impl FnMut(&Sent),
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
        let lost = self.judge_once(order, newest, by, &mut each);
        if order.resent.is_empty() {
            return (lost, self.waits_once(order, newest));
        }
        let lost = lost + self.judge_resent(order, newest, by, &mut each);
        (lost, self.waits_once(order, newest).max(self.waits_resent(order, newest)))
    }

    /// Marks lost every segment last sent before `by`, and calls `each` with each record as it was. Returns the bytes newly
    /// marked. Also returns the key ([`Sent::key`]) of the oldest segment that was sent before `newest` and may still arrive.
    /// `by` is at most `newest`, which must not decrease from call to call.
    pub fn mark_overtaken(
        &mut self,
        order: &mut SendOrder,
        by: (Time, Offset),
        newest: (Time, Offset),
        mut each: impl FnMut(&Sent),
    ) -> (Bytes, Option<(Time, Offset)>) {
        if self.is_empty() {
            order.resent.clear();
            return (0, None);
        }
        if order.stale {
            order.relist(self);
        }
        let (mut i, mut marked) = (self.index_from(order.judged, order.judged_index), 0);
        let mut oldest = None;
        while i != self.tail {
            let s = *self.at(i);
            if s.waits_once() {
                if s.key() >= by {
                    oldest = Some(s.key());
                    break;
                }
                each(&s);
                marked += self.mark_index_lost(i);
            } else if s.is_in_order(newest) {
                break;
            }
            i = i.wrapping_add(1);
        }
        (order.judged, order.judged_index) = (self.offset_of(i), i);
        while let Some(&(at, end, start)) = order.resent.front() {
            if self.waits_again(at, end, start) {
                if (at, end) >= by {
                    oldest = Some(oldest.map_or((at, end), |key| key.min((at, end))));
                    break;
                }
                self.get(last_of(end)).iter().for_each(|s| each(s));
                marked += self.mark_lost(last_of(end));
            }
            order.resent.pop_front();
        }
        (marked, oldest.filter(|key| *key < newest))
    }

    /// Index of the record at `at`, or of the lowest one above it.
    fn index_from(&self, at: Offset, hint: u32) -> u32 {
        match self.iter().next() {
            Some(s) if at > s.start => self.find_near(at, hint).unwrap_or(self.tail),
            _ => self.head,
        }
    }

    /// Index of the record that contains `at`, which usually still is `hint`.
    fn find_near(&self, at: Offset, hint: u32) -> Option<u32> {
        let out = hint.wrapping_sub(self.head) < self.tail.wrapping_sub(self.head);
        let holds = |s: &Sent| s.start <= at && at < s.end();
        if out && holds(self.at(hint)) {
            return Some(hint);
        }
        self.find(at)
    }

    /// Start of the record at `i`, or the end of the board if there is none.
    fn offset_of(&self, i: u32) -> Offset {
        if i == self.tail {
            self.iter().next_back().map_or(Offset(0), Sent::end)
        } else {
            self.at(i).start
        }
    }

    /// Segments sent once are on the board in the order of sending: marks up to the first that must still wait.
    fn judge_once(
        &mut self,
        order: &mut SendOrder,
        newest: (Time, Offset),
        by: Option<Time>,
        each: &mut impl FnMut(&Sent),
    ) -> Bytes {
        let (mut i, mut marked) = (self.index_from(order.judged, order.judged_index), 0);
        while i != self.tail {
            let s = self.at(i);
            if s.waits_once() {
                if (s.at, s.end()) >= newest || by.is_none_or(|by| s.at > by) {
                    break;
                }
                each(s);
                marked += self.mark_index_lost(i);
            } else if s.is_in_order(newest) {
                break;
            }
            i = i.wrapping_add(1);
        }
        (order.judged, order.judged_index) = (self.offset_of(i), i);
        marked
    }

    /// Send time of the highest segment that was sent once, before `newest`, and is neither SACKed nor lost.
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
        // If the hole has been filled: the record below it, unless acknowledged.
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

    /// Resent segments are in the list in the order of sending; those settled since are dropped.
    #[inline(never)]
    fn judge_resent(
        &mut self,
        order: &mut SendOrder,
        newest: (Time, Offset),
        by: Option<Time>,
        each: &mut impl FnMut(&Sent),
    ) -> Bytes {
        let mut marked = 0;
        while let Some(&(at, end, start)) = order.resent.front().filter(|e| (e.0, e.1) < newest) {
            if self.waits_again(at, end, start) {
                if by.is_none_or(|by| at > by) {
                    break;
                }
                self.get(last_of(end)).iter().for_each(|s| each(s));
                marked += self.mark_lost(last_of(end));
            }
            order.resent.pop_front();
        }
        marked
    }

    /// Send time of the last segment that was resent, before `newest`, and is neither SACKed nor lost again.
    #[inline(never)]
    fn waits_resent(&self, order: &SendOrder, newest: (Time, Offset)) -> Option<Time> {
        if order.resent.is_empty() {
            return None;
        }
        let before = order.resent.partition_point(|e| (e.0, e.1) < newest);
        let waits = |e: &&(Time, Offset, Offset)| self.waits_again(e.0, e.1, e.2);
        order.resent.range(..before).rev().find(waits).map(|e| e.0)
    }

    /// Whether the copy sent at `at` of the segment from `start` to `end` is still in flight, as far as is known.
    fn waits_again(&self, at: Time, end: Offset, start: Offset) -> bool {
        let live = |s: &Sent| s.at == at && s.start >= start && s.end() == end && !s.is_settled();
        self.get(last_of(end)).is_some_and(live)
    }
}

/// The last offset of a segment that ends at `end`: it is still on the board when the segment's beginning has been
/// acknowledged.
fn last_of(end: Offset) -> Offset {
    Offset(end.0 - 1)
}

impl Sent {
    /// Its place in the order of sending: when it was last sent, and its end, which decides at equal times.
    #[inline]
    pub fn key(&self) -> (Time, Offset) {
        (self.at, self.end())
    }

    /// SACKed, or lost and not resent since.
    pub(crate) fn is_settled(&self) -> bool {
        self.marks.any(Marks::SACKED) || (self.marks.any(Marks::LOST) && !self.marks.any(Marks::REXMIT))
    }

    /// Sent once, and not before `newest`; then so was every segment above it that was sent once.
    fn is_in_order(&self, newest: (Time, Offset)) -> bool {
        self.sends == 1 && (self.at, self.end()) >= newest
    }

    /// Sent once, and neither SACKed nor lost.
    fn waits_once(&self) -> bool {
        self.sends == 1 && !self.marks.any(Marks::SACKED | Marks::LOST)
    }
}
