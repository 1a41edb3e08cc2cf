//! The order in which copies arrived, as far as the acknowledgments show it.
//!
//! Idea: data that the receiver acknowledges has arrived, and data that it does not acknowledge has not. So if the bytes of a
//! copy are first acknowledged after those of copies sent later, these copies overtook it, by the time between the
//! transmissions.

use super::copies::{Copy, Cover};
use super::place::{Distance, Place};
use super::{older, Sent, Stream};
use crate::seen::Seen;
use std::collections::VecDeque;

/// The fewest missing acknowledgments that can hide an arrival: with timestamps an acknowledgment has room for three blocks (RFC
/// 2018 §3).
const BLOCKS: u64 = 3;
/// The number of such gaps that are remembered.
const GAPS: usize = 64;
/// The number of retransmissions that are remembered.
const AGAIN: usize = 512;

/// The arrivals so far, and how far they were out of order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    /// The place of transmission of the latest copy known to have arrived.
    newest: Option<Place>,
    /// Acknowledgments since the last that advanced. While data is missing, each answers one more copy: if none was lost or
    /// overtaken, the next in the order of transmission.
    heard: u64,
    /// The cumulative acknowledgment at that time.
    una: u64,
    /// The largest distance by which an overtaking copy was sent after the copy that it overtook.
    overtaken: Distance,
    /// Its value before this acknowledgment.
    before: Option<Place>,
    /// Ranges in which the acknowledgment may have passed copies that were never reported, because acknowledgments are missing
    /// there.
    unreported: VecDeque<(Place, Place)>,
    /// Retransmissions, the newest.
    again: VecDeque<Sent>,
    /// When the last retransmission that is no longer in `again` was sent.
    forgotten: Option<i64>,
}

impl Order {
    /// A copy was acknowledged for the first time.
    fn late(&mut self, sent: Place) {
        if let Some(newest) = self.before {
            self.overtaken.stretch(newest.behind(sent));
        }
    }

    /// An acknowledgment arrives, and `skipped` are missing before it, when `newest` was the latest copy known to have arrived.
    fn heard(&mut self, una: u64, newest: Option<Place>, skipped: u64) {
        let before = if una == self.una { self.heard } else { 0 };
        (self.una, self.heard) = (una, before.saturating_add(skipped).saturating_add(1));
        if let (Some(last), Some(newest)) = (self.unreported.back_mut(), newest)
            && last.1 == Place::OPEN
        {
            last.1 = newest;
        }
        if let (Some(newest), BLOCKS..) = (newest, skipped) {
            if self.unreported.len() >= GAPS {
                self.unreported.pop_front();
            }
            self.unreported.push_back((newest, Place::OPEN));
        }
        self.before = newest;
    }

    /// Whether a copy may have arrived without a report. `keeps` returns whether the first of two places arrived before the
    /// second.
    ///
    /// Source: RFC 2018 §4: each block is reported several times, so that only the loss of several acknowledgments can hide it.
    fn unreported(&self, copy: Place, keeps: impl Fn(Place, Place) -> bool) -> bool {
        self.unreported.iter().any(|(from, to)| !keeps(copy, *from) && !keeps(*to, copy))
    }

    /// A retransmission was sent.
    fn again(&mut self, sent: Sent) {
        if self.again.len() >= AGAIN {
            self.forgotten = self.again.pop_front().map(|s| s.at);
        }
        self.again.push_back(sent);
    }

    /// The first retransmission with this timestamp.
    fn first_with(&self, tsval: u32) -> Option<Place> {
        let first = self.again.get(self.again.partition_point(|s| older(s.tsval, tsval)))?;
        (first.tsval == tsval).then(|| first.place())
    }

    /// Whether the receiver may have refused a copy for a younger timestamp, if no copy sent later than this one by more than
    /// `beyond` overtook it: only data below it in sequence can have carried such a timestamp.
    ///
    /// Source: RFC 7323 §4.3 and §5.3.
    fn refusable(&self, sent: &Sent, beyond: impl Fn(Place) -> bool) -> bool {
        let from = self.again.partition_point(|f| f.at < sent.at);
        let mut near = self.again.iter().skip(from).take_while(|f| !beyond(f.place()));
        self.forgotten.is_some_and(|at| at >= sent.at) || near.any(|f| f.seq < sent.seq && older(sent.tsval, f.tsval))
    }
}

impl Stream {
    /// Whether acknowledgments identify the copy that filled a hole.
    pub(crate) fn names_copies(&self) -> bool {
        self.timestamps && self.echoed.is_some()
    }

    /// Whether an acknowledgment was overtaken by an earlier one; if not, it becomes the last.
    #[inline(always)]
    pub(crate) fn overtaken_ack(&mut self, s: &Seen, order: u64) -> bool {
        let value = s.timestamps.map(|t| t.value);
        let overtaken = match (order, value, self.last_ack.1) {
            (1.., _, _) if self.last_ack.0 != 0 => order <= self.last_ack.0,
            (_, Some(value), Some(last)) => older(value, last),
            _ => false,
        };
        if overtaken {
            self.facts.acks_overtaken += 1;
        } else {
            self.last_ack = (order, value);
        }
        overtaken
    }

    /// The largest distance by which an overtaking copy was sent after the copy that it overtook.
    pub(crate) fn farthest(&self) -> Distance {
        self.order.as_deref().map_or(Distance::default(), |o| o.overtaken)
    }

    /// Whether a copy may have arrived without a report. `keeps` returns whether the first of two places arrived before the
    /// second.
    pub(crate) fn unreported(&self, copy: Place, keeps: impl Fn(Place, Place) -> bool) -> bool {
        self.order.as_deref().is_some_and(|o| o.unreported(copy, keeps))
    }

    /// Whether the receiver may have refused a copy for a younger timestamp, if no copy sent `beyond` reach overtook it.
    pub(crate) fn refusable(&self, sent: &Sent, beyond: impl Fn(Place) -> bool) -> bool {
        self.order.as_deref().is_some_and(|o| o.refusable(sent, beyond))
    }

    fn order_mut(&mut self) -> &mut Order {
        self.order.get_or_insert_with(Box::default)
    }

    /// The place of transmission of the latest copy known to have arrived.
    pub(super) fn newest(&self) -> Option<Place> {
        let passed = self.acked.checked_sub(1).and_then(|i| self.ring.get(i));
        self.order.as_deref().and_then(|o| o.newest).max(passed.as_ref().map(Sent::place))
    }

    /// An acknowledgment arrives; returns the latest copy known to have arrived before.
    pub(super) fn heard(&mut self, skipped: u64) -> Option<Place> {
        let newest = self.newest();
        let una = self.una;
        if let Some(order) = self.order.as_deref_mut() {
            order.heard(una, newest, skipped);
        }
        newest
    }

    /// That acknowledgment has no news.
    pub(super) fn repeated(&mut self) {
        if self.order.is_none() {
            let (una, newest) = (self.una, self.newest());
            self.order_mut().heard(una, newest, 0);
        }
    }

    /// A retransmission was sent.
    pub(super) fn sent_again(&mut self, sent: Sent) {
        self.order_mut().again(sent);
    }

    /// A SACK block has news: `first` and `last` are the ends of the reported data, each sent once.
    pub(super) fn arrived(&mut self, first: Sent, last: Sent) {
        let order = self.order_mut();
        order.late(first.place());
        order.newest = order.newest.max(Some(last.place()));
    }

    /// The last copy sent up to this place in the order of transmission.
    fn sent_by(&self, order: u64) -> Option<Place> {
        let first = self.ring.partition_point(|s| s.order <= order).checked_sub(1).and_then(|i| self.ring.get(i));
        let again = &self.order.as_deref()?.again;
        let again = again.partition_point(|s| s.order <= order).checked_sub(1).map(|i| again[i]);
        first.as_ref().map(Sent::place).max(again.as_ref().map(Sent::place))
    }

    /// The cumulative acknowledgment is about to advance from `self.una`. Returns the place of transmission of the copy that
    /// caused it.
    ///
    /// Source: RFC 7323 §4.3: the acknowledgment of a segment that fills a hole echoes its timestamp.
    pub(super) fn filled(&mut self, cover: &Cover) -> Option<Place> {
        self.expect_in_order();
        let una = self.una;
        let Some(piece) = self.cases.as_deref().and_then(|c| c.at(una)) else {
            let sent = self.ring.get(self.acked).filter(|o| o.seq <= una)?.place();
            if let Some(order) = self.order.as_deref_mut() {
                order.late(sent);
            }
            return Some(sent);
        };
        let echo = cover.echo.filter(|_| self.timestamps);
        let floor = self.onward.smallest().unwrap_or(0) / 2;
        let cases = self.cases.as_deref()?;
        let may = |c: &&Copy| c.sent.at + floor <= cover.at && echo.is_none_or(|e| e == c.sent.tsval);
        let sent = piece.copies.iter().map(|c| &cases.copies[*c as usize]).filter(may).map(|c| c.sent.place());
        let (first, last) = (sent.clone().min(), sent.max());
        if let Some(echo) = echo {
            let order = self.order_mut();
            first.into_iter().for_each(|first| order.late(first));
            // If acknowledgments are missing, the hole that was filled last is another one.
            let first = first.or_else(|| order.first_with(echo));
            order.newest = order.newest.max(first);
        }
        last
    }

    /// Without SACK: the latest copy that arrived before the one that filled the hole, if none was lost or overtaken.
    fn expect_in_order(&mut self) {
        let Some(order) = self.order.as_deref_mut() else { return };
        // The last acknowledgment is the reply to the segment that filled the hole.
        let others = std::mem::take(&mut order.heard).saturating_sub(1);
        if let Some(newest) = order.before.filter(|n| others > 0 && !self.facts.sack_seen && n.order != 0) {
            let expected = self.sent_by(newest.order.saturating_add(others)).unwrap_or(newest);
            self.order_mut().before = Some(expected);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(at: i64, order: u64) -> Place {
        Place { at, order }
    }

    #[test]
    fn only_a_younger_retransmission_from_below_that_is_near_makes_the_receiver_refuse_a_copy() {
        let sent = |at: i64, seq, tsval| Sent { seq, at, frame: 0, order: at as u64, len: 100, tsval };
        let copy = sent(1000, 500, 10);
        let beyond = |f: Place| f.at - copy.at > 50;
        for (again, refusable) in [
            (sent(1030, 400, 11), true),
            (sent(1030, 400, 10), false),
            (sent(1030, 600, 11), false),
            (sent(1060, 400, 11), false),
            (sent(990, 400, 11), false),
        ] {
            let mut order = Order::default();
            order.again(again);
            assert_eq!(order.refusable(&copy, beyond), refusable, "{again:?}");
        }
        let mut order = Order::default();
        (0..=AGAIN as i64).for_each(|i| order.again(sent(2000 + i, 0, 11)));
        assert!(order.refusable(&copy, beyond), "no record is kept of the segments sent in between");
    }

    #[test]
    fn a_copy_may_have_come_unreported_where_three_acknowledgments_in_a_row_are_missing() {
        let keeps = |a: Place, b: Place| b.at > a.at;
        let mut order = Order::default();
        order.heard(0, Some(place(100, 1)), 0);
        order.heard(0, Some(place(200, 2)), 2);
        order.heard(0, Some(place(300, 3)), 3);
        assert!(order.unreported(place(350, 4), keeps), "the gap goes on");
        order.heard(0, Some(place(400, 5)), 0);
        for (at, hidden) in [(250, false), (300, true), (350, true), (450, false)] {
            assert_eq!(order.unreported(place(at, 4), keeps), hidden, "sent at {at}");
        }
    }
}
