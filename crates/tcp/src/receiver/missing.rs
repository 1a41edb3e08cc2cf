//! The data that has not arrived yet.

use super::Receiver;
use crate::seq::Offset;

impl Receiver {
    /// The parts of `from..to` that the receiver does not have, as (left, right) in sequence order: neither passed by
    /// [`Receiver::rcv_nxt`] nor held out of order. A FIN takes one offset.
    pub fn missing(&self, from: Offset, to: Offset) -> Vec<(Offset, Offset)> {
        let fin = self.held.as_ref().and_then(|h| h.fin).map(|at| (at, at + 1));
        let mut missing = Vec::new();
        let mut at = from.max(self.rcv_nxt);
        for (left, right) in self.out_of_order().chain(fin) {
            if at < left.min(to) {
                missing.push((at, left.min(to)));
            }
            at = at.max(right);
        }
        if at < to {
            missing.push((at, to));
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Consume, ReceiverConfig};
    use super::*;
    use crate::ack::AckSpec;
    use crate::segment::Segment;
    use crate::time::Time;

    #[test]
    fn what_is_missing_is_neither_passed_nor_held() {
        let mut r = Receiver::new(&ReceiverConfig {
            rcv_nxt: Offset(1),
            buffer: 10_000,
            mss: 1000,
            wscale: 0,
            sack: true,
            dsack: true,
            receive_window: crate::receive_window::ReceiveWindowSpec::Fixed,
            edge: crate::stack::WindowEdge::Segment,
            sack_blocks: 4,
            timestamps: false,
            ts_recent: None,
            ack: AckSpec::Every,
            consume: Consume::AtOnce,
        });
        let data = |seq, len| Segment { seq: Offset(seq), len, flags: Segment::ACK, ..Segment::EMPTY };
        for seg in [data(1, 100), data(201, 100), data(401, 100)] {
            r.on_segment(Time(0), &seg);
        }
        r.on_segment(Time(0), &Segment { flags: Segment::ACK | Segment::FIN, ..data(600, 1) });
        let missing = |from, to| -> Vec<(u64, u64)> {
            r.missing(Offset(from), Offset(to)).into_iter().map(|(left, right)| (left.0, right.0)).collect()
        };
        assert_eq!(missing(1, 101), []);
        assert_eq!(missing(50, 150), [(101, 150)]);
        assert_eq!(missing(210, 290), []);
        assert_eq!(missing(1, 1000), [(101, 201), (301, 401), (501, 600), (602, 1000)], "the FIN stands at 601");
        assert_eq!(missing(601, 602), []);
        assert_eq!(missing(450, 450), []);
    }
}
