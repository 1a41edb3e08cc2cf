//! The ACKs that arrive at a kernel's sender, counted as an engine counts them.

use crate::kernel::Ranges;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;

/// The ACKs of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Acks {
    /// Data begins after the SYN.
    una: Offset,
    wnd: u32,
    run: u32,
    delivered: Ranges,
}

impl Default for Acks {
    fn default() -> Self {
        Acks { una: Offset::DATA, wnd: 0, run: 0, delivered: Ranges::default() }
    }
}

/// The content of one ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AckContent {
    /// The cumulative acknowledgment.
    pub(crate) ack: Offset,
    /// Bytes newly reported as delivered, cumulatively or by SACK.
    pub(crate) delivered: u64,
    /// Duplicates in a row, this one included; on an advancing ACK, the length of the run that just ended.
    pub(crate) dup_run: u32,
}

impl Acks {
    /// Processes an ACK; `outstanding` says whether its sender has data outstanding. Returns `None` for an ACK older than
    /// another.
    pub(crate) fn arrived(&mut self, seg: &Segment, outstanding: bool) -> Option<AckContent> {
        if !seg.has(Segment::ACK) || seg.has(Segment::SYN) || seg.has(Segment::RST) || seg.ack < self.una {
            return None;
        }
        let advances = seg.ack > self.una;
        // RFC 5681 §2: no data, and no window update except with SACK blocks.
        let again = outstanding && seg.seq_len() == 0 && (seg.blocks > 0 || seg.wnd == self.wnd);
        let dup_run = match (advances, again) {
            (true, _) => std::mem::take(&mut self.run),
            (false, true) => {
                self.run += 1;
                self.run
            }
            (false, false) => self.run,
        };
        // A block below the acknowledgment is a DSACK.
        let blocks = seg.sack_blocks().filter(|(left, _)| *left >= seg.ack);
        let delivered = blocks.chain([(self.una, seg.ack)]).map(|(from, to)| self.news(from, to)).sum();
        (self.una, self.wnd) = (seg.ack, seg.wnd);
        Some(AckContent { ack: seg.ack, delivered, dup_run })
    }

    fn news(&mut self, from: Offset, to: Offset) -> u64 {
        let new = self.delivered.missing(from, to).iter().map(|(a, b)| *b - *a).sum();
        if from < to {
            self.delivered.take(from, to);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(to: u64, wnd: u32, sack: &[(u64, u64)]) -> Segment {
        let mut seg = Segment { ack: Offset(to), wnd, flags: Segment::ACK, ..Segment::EMPTY };
        sack.iter().for_each(|(a, b)| seg.push_sack(Offset(*a), Offset(*b)));
        seg
    }

    #[test]
    fn what_acks_say_is_counted_once() {
        let mut acks = Acks::default();
        let mut arrived = |seg: Segment| acks.arrived(&seg, true).map(|s| (s.ack.0, s.delivered, s.dup_run));
        assert_eq!(arrived(ack(1001, 9000, &[])), Some((1001, 1000, 0)));
        assert_eq!(arrived(ack(1001, 9000, &[(2001, 3001)])), Some((1001, 1000, 1)));
        assert_eq!(arrived(ack(1001, 9000, &[(2001, 4001)])), Some((1001, 1000, 2)));
        assert_eq!(arrived(ack(1001, 9500, &[])), Some((1001, 0, 2)), "the window alone");
        assert_eq!(arrived(ack(4001, 9500, &[(2001, 3001)])), Some((4001, 1000, 2)), "the block is a DSACK");
        assert_eq!(arrived(ack(4001, 9500, &[])), Some((4001, 0, 1)));
        assert_eq!(arrived(ack(3001, 9500, &[])), None, "overtaken");
        assert_eq!(acks.arrived(&ack(4001, 9500, &[]), false).map(|s| s.dup_run), Some(1), "nothing is outstanding");
    }
}
