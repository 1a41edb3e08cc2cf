//! Which blocks an ACK reports.
//!
//! Source: RFC 2018 §4 and RFC 2883 §4.
//! Idea: the block of the newest segment comes first, then the most recently reported ones, as many as fit. Each is
//! thus repeated in about three ACKs, so that one lost ACK loses nothing. A duplicate is reported once, before all of
//! them.
//!
//! Departures: RFC 2883 §4 (1) speaks of the most recent packet only; if several arrive before an ACK can be sent, the
//! last duplicate among them is still reported. If it is above the cumulative ACK, its own block follows it (§4 (4)),
//! before that of the newest segment.

use super::reassembly::Reassembly;
use crate::segment::Segment;
use crate::seq::Offset;

/// Adds at most `room` blocks (up to 4) to a segment whose `ack` is already written.
pub(super) fn fill(out: &mut Segment, held: &mut Reassembly, dsack: Option<(Offset, Offset)>, room: usize) {
    let mut room = room;
    if let Some((left, right)) = dsack {
        if left >= out.ack {
            held.touch(left);
        }
        let before = out.blocks;
        out.push_sack(left, right);
        room -= usize::from(out.blocks - before);
    }
    held.newest_first(room, |left, right| out.push_sack(left, right));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(room: usize, dsack: Option<(u64, u64)>) -> Vec<(u64, u64)> {
        let mut held = Reassembly::new(1 << 16);
        for left in [50, 10, 70, 30, 90] {
            held.insert(Offset(left), Offset(left + 5));
        }
        let mut out = Segment { ack: Offset(8), ..Segment::EMPTY };
        fill(&mut out, &mut held, dsack.map(|(l, r)| (Offset(l), Offset(r))), room);

        out.sack_blocks().map(|(l, r)| (l.0, r.0)).collect()
    }

    #[test]
    fn blocks_are_reported_newest_first_as_many_as_fit() {
        assert_eq!(blocks(4, None), [(90, 95), (30, 35), (70, 75), (10, 15)]);
        assert_eq!(blocks(3, None), [(90, 95), (30, 35), (70, 75)]);
    }

    #[test]
    fn a_duplicate_goes_first_and_its_own_block_second() {
        assert_eq!(blocks(3, Some((1, 4))), [(1, 4), (90, 95), (30, 35)]);
        assert_eq!(blocks(3, Some((11, 12))), [(11, 12), (10, 15), (90, 95)]);
    }
}
