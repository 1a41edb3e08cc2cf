//! The data that the kernel's receiver takes, inferred from its packets: the kernel only reports how often its TCP threw
//! something away, not which data.
//!
//! Source: Linux, `net/ipv4/tcp_input.c`: `tcp_validate_incoming`, `tcp_paws_discard`, `tcp_replace_ts_recent`,
//! `tcp_sequence`; `include/net/tcp.h`: `tcp_paws_check`, `TCP_PAWS_WINDOW`. RFC 7323 §5.3.

use super::ranges::Ranges;
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;

/// Timestamps may go back by one tick (`TCP_PAWS_WINDOW`).
const PAWS_WINDOW: i32 = 1;

/// A receiver of the kernel, observed at its device.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    /// `TS.Recent`, after the first timestamp.
    ts_recent: Option<u32>,
    /// The last acknowledgment that it sent (`rcv_wup`).
    rcv_wup: Offset,
    /// The end of the window that it announced.
    edge: Offset,
    /// The ranges of data that it has.
    held: Ranges,
}

impl Receiver {
    /// It has sent a segment.
    pub fn sent(&mut self, seg: &Segment) {
        if seg.has(Segment::ACK) && !seg.has(Segment::RST) {
            self.rcv_wup = self.rcv_wup.max(seg.ack);
            self.edge = self.edge.max(seg.ack + u64::from(seg.wnd));
        }
    }

    /// A segment arrives at the receiver. If the receiver takes no byte of the segment, returns the reason.
    pub fn arrived(&mut self, seg: &Segment) -> Option<Refusal> {
        if seg.seq_len() == 0 || seg.has(Segment::RST) {
            return None;
        }
        let stamp = (seg.opts & Segment::TIMESTAMPS != 0).then_some(seg.tsval);
        if let (Some(recent), Some(stamp)) = (self.ts_recent, stamp)
            && recent.wrapping_sub(stamp) as i32 > PAWS_WINDOW
        {
            return Some(Refusal::Paws);
        }
        // An old duplicate is answered immediately (`tcp_sequence`); its timestamp, however young, is not taken.
        if seg.end() < self.rcv_wup {
            return None;
        }
        // Before the answer to the SYN, no window was announced.
        if self.edge > Offset::SYN && seg.seq > self.edge {
            return Some(Refusal::Window);
        }
        if let Some(stamp) = stamp.filter(|_| seg.seq <= self.rcv_wup)
            && self.ts_recent.is_none_or(|recent| recent.wrapping_sub(stamp) as i32 <= 0)
        {
            self.ts_recent = Some(stamp);
        }
        self.held.take(seg.seq, seg.end());
        None
    }

    /// The parts of `from..to` that it lacks.
    pub fn missing(&self, from: Offset, to: Offset) -> Vec<(Offset, Offset)> {
        self.held.missing(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(seq: u64, tsval: u32) -> Segment {
        let opts = Segment::TIMESTAMPS;
        Segment { seq: Offset(seq), len: 100, tsval, opts, flags: Segment::ACK, ..Segment::EMPTY }
    }

    fn ack(to: u64) -> Segment {
        Segment { ack: Offset(to), wnd: 10_000, flags: Segment::ACK, ..Segment::EMPTY }
    }

    #[test]
    fn an_original_that_a_younger_retransmission_has_overtaken_is_refused() {
        let mut r = Receiver::default();
        r.sent(&ack(1));
        assert_eq!((r.arrived(&data(1, 50)), r.arrived(&data(201, 50))), (None, None));
        r.sent(&ack(101));
        // The retransmission of 101 fills the hole; its timestamp is taken, and the original arrives too late.
        assert_eq!(r.arrived(&data(101, 90)), None);
        r.sent(&ack(301));
        assert_eq!(r.arrived(&data(101, 60)), Some(Refusal::Paws));
        assert_eq!(r.arrived(&data(301, 89)), None, "one tick is forgiven");
        assert_eq!(r.arrived(&data(401, 88)), Some(Refusal::Paws));
        assert_eq!(r.missing(Offset(350), Offset(600)), [(Offset(401), Offset(600))]);
    }

    #[test]
    fn the_timestamp_of_an_old_duplicate_is_not_taken() {
        let mut r = Receiver::default();
        r.sent(&ack(1));
        assert_eq!((r.arrived(&data(1, 50)), r.arrived(&data(101, 50))), (None, None));
        r.sent(&ack(201));
        assert_eq!(r.arrived(&data(1, 90)), None, "a needless retransmission");
        assert_eq!(r.arrived(&data(201, 60)), None, "data sent before that retransmission");
        // The segment ends at the last acknowledgment: the kernel processes it further, and takes its timestamp.
        r.sent(&ack(301));
        assert_eq!((r.arrived(&data(201, 90)), r.arrived(&data(301, 60))), (None, Some(Refusal::Paws)));
    }

    #[test]
    fn a_timestamp_beyond_a_hole_is_not_recent() {
        let mut r = Receiver::default();
        r.sent(&ack(1));
        assert_eq!((r.arrived(&data(101, 90)), r.arrived(&data(1, 50))), (None, None));
        assert_eq!(r.missing(Offset(1), Offset(201)), []);
    }

    #[test]
    fn what_begins_beyond_the_window_is_refused() {
        let mut r = Receiver::default();
        r.sent(&ack(1));
        assert_eq!(r.arrived(&data(10_002, 1)), Some(Refusal::Window));
        assert_eq!(r.missing(Offset(1), Offset(3)), [(Offset(1), Offset(3))]);
    }
}
