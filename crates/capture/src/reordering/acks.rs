//! Reordering inferred from acknowledgments alone.
//!
//! Idea: at the sender's side arrivals are not visible. Data has arrived by the time when an acknowledgment or a SACK block
//! first covers it, and data covered earlier arrived earlier. Retransmitted data is ignored: the second copy may have filled
//! the hole. An acknowledgment does not show the order of the data that it covers, either; that data is taken in the order of
//! its numbers.

use super::{since, OrderSource, Reordered};
use crate::ranges::Ranges;
use crate::seen::Seen;
use ackclock_sim::reordering::Reordering;
use ackclock_tcp::time::Nanos;

/// Data of one direction, in the order in which acknowledgments covered it.
#[derive(Clone, Debug, Default)]
pub struct ByAcks {
    first: Option<i64>,
    /// Everything below has been acknowledged; 0 before the first data.
    una: u64,
    sent: u64,
    sacked: Ranges,
    again: Ranges,
    order: Reordering,
    /// Payload of a full segment, bytes.
    segment: u32,
}

/// SACKed ranges, or retransmitted ranges, beyond this number are not followed.
const MOST: usize = 4096;

impl ByAcks {
    /// The state before any data; a full segment has this payload in bytes, 0 if unknown.
    pub(crate) fn new(segment: u32) -> Self {
        ByAcks { segment, ..ByAcks::default() }
    }

    /// Sets the payload of a full segment.
    pub fn full_segment(&mut self, bytes: u32) {
        self.segment = bytes;
    }

    /// A packet with data is sent.
    #[inline]
    pub fn sent(&mut self, seen: &Seen) {
        let end = seen.seq.wrapping_add(u64::from(seen.len));
        if self.first.is_none() {
            self.first = Some(seen.at);
            (self.una, self.sent) = (seen.seq, seen.seq);
        }
        let known = end.min(self.sent);
        if seen.seq < known && self.again.len() < MOST && !self.again.covers(seen.seq, known) {
            self.again.add(seen.seq, known, |_, _| ());
        }
        self.sent = self.sent.max(end);
    }

    /// An acknowledgment from the other end.
    #[inline]
    pub fn acked(&mut self, seen: &Seen) {
        let (Some(first), Some(ack)) = (self.first, seen.ack) else { return };
        // Data beyond this was sent, but not captured here.
        let ack = ack.min(self.sent);
        if ack <= self.una && seen.sacks == 0 {
            return;
        }
        let at = since(first, seen.at);
        if ack > self.una {
            let mut from = self.una;
            if !self.sacked.is_empty() {
                for (left, right) in self.sacked.iter().take_while(|r| r.0 < ack) {
                    cover(&mut self.order, &self.again, at, (from, left), self.segment);
                    from = from.max(right);
                }
            }
            cover(&mut self.order, &self.again, at, (from, ack), self.segment);
            self.una = ack;
            self.sacked.forget_below(ack);
            self.again.forget_below(ack);
        }
        // The first block reports the newest arrival (RFC 2018 §4), and a receiver may hold back several reports.
        let (mut blocks, count) = (seen.sack, seen.blocks().len());
        blocks[..count].sort_unstable();
        for &(left, right) in &blocks[..count] {
            let (left, right) = (left.max(self.una), right.min(self.sent));
            if left < right && self.sacked.len() < MOST {
                let (order, again, segment) = (&mut self.order, &self.again, self.segment);
                self.sacked.add(left, right, |l, r| cover(order, again, at, (l, r), segment));
            }
        }
    }

    /// Everything below has been sent; 0 before the first data.
    pub(crate) fn sent_below(&self) -> u64 {
        self.sent
    }

    /// Whether an acknowledgment up to `una` without SACK blocks has no news.
    pub(crate) fn knows(&self, una: u64) -> bool {
        self.first.is_none() || una <= self.una
    }

    /// Whether everything up to `una` has been acknowledged and nothing else, so that later acknowledgments need only be counted
    /// ([`ByAcks::on_arrivals`]); returns the payload of a full segment, bytes.
    pub(crate) fn countable(&self, una: u64) -> Option<u32> {
        let even = self.una == una && self.order.next() == una;
        (even && self.sacked.is_empty() && self.again.is_empty()).then_some(self.segment)
    }

    /// The number of segments in this many acknowledged bytes.
    #[inline]
    pub(crate) fn segments(bytes: u64, segment: u32) -> u64 {
        if segment == 0 {
            1
        } else {
            bytes.div_ceil(segment.into())
        }
    }

    /// Data was sent in order up to `sent`, and acknowledged in order up to `una`, in `segments` segments.
    pub(crate) fn on_arrivals(&mut self, sent: u64, una: u64, segments: u64) {
        self.sent = sent;
        if segments > 0 {
            let bytes = una - self.una;
            self.order.arrive_next(segments, bytes, bytes);
            self.una = una;
        }
    }

    /// The results so far; `None` without data.
    pub fn finish(self) -> Option<Reordered> {
        self.first?;
        Some(Reordered { source: OrderSource::Acks, order: self.order, late: Vec::new() })
    }
}

/// Data was covered for the first time, segment by segment.
#[inline]
fn cover(order: &mut Reordering, again: &Ranges, at: ackclock_tcp::time::Time, data: (u64, u64), segment: u32) {
    let (mut from, to) = data;
    if again.is_empty() {
        return order.arrive_spans(at, from, to, segment);
    }
    while from < to {
        let end = if segment == 0 { to } else { from.saturating_add(segment.into()).min(to) };
        if again.touches(from, end) {
            order.arrive_original(at, from, end, (end - from) as u32, Nanos::ZERO);
        } else {
            order.arrive_span(at, from, end, (end - from) as u32);
        }
        from = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_tcp::segment::Segment;

    const BASE: u64 = 1 << 32;

    fn data(n: u64) -> Seen {
        Seen { seq: BASE + n * 1000, len: 1000, flags: Segment::ACK, at: n as i64, ..Seen::default() }
    }

    fn ack(at: i64, upto: u64, blocks: &[(u64, u64)]) -> Seen {
        let mut sack = [(0, 0); 4];
        for (place, b) in sack.iter_mut().zip(blocks) {
            *place = (BASE + b.0 * 1000, BASE + b.1 * 1000);
        }
        Seen {
            at,
            ack: Some(BASE + upto * 1000),
            sack,
            sacks: blocks.len() as u8,
            flags: Segment::ACK,
            ..Seen::default()
        }
    }

    fn measured(resend: bool) -> Reordering {
        let mut by = ByAcks::default();
        by.full_segment(1000);
        (0..10).for_each(|n| by.sent(&data(n)));
        by.acked(&ack(100, 2, &[]));
        by.acked(&ack(101, 2, &[(3, 4)]));
        by.acked(&ack(102, 2, &[(3, 6)]));
        if resend {
            by.sent(&Seen { at: 103, ..data(2) });
        }
        by.acked(&ack(104, 6, &[]));
        by.acked(&ack(105, 10, &[]));
        by.acked(&ack(106, 10, &[(2, 3)]));
        by.finish().unwrap().order
    }

    #[test]
    fn a_hole_that_fills_without_a_retransmission_was_reordering() {
        let order = measured(false);
        assert_eq!((order.packets(), order.late().packets, order.late().median_extent()), (10, 1, Some(3)));
        assert_eq!((order.late().bytes, order.late().longest.0, order.duplicates()), (3000, 3, 0));
    }

    #[test]
    fn blocks_that_one_ack_reports_together_show_no_order() {
        let mut by = ByAcks::default();
        by.full_segment(1000);
        (0..10).for_each(|n| by.sent(&data(n)));
        by.acked(&ack(100, 2, &[]));
        by.acked(&ack(101, 2, &[(7, 9), (3, 5)]));
        by.sent(&Seen { at: 103, ..data(2) });
        by.acked(&ack(104, 10, &[]));
        assert_eq!(by.finish().unwrap().order.late().packets, 2, "5 and 6 arrived after 7");
    }

    #[test]
    fn a_resent_hole_shows_nothing() {
        let order = measured(true);
        assert_eq!((order.packets(), order.late().packets, order.duplicates()), (9, 0, 0));
    }
}
