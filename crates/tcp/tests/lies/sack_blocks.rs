//! SACK blocks that make no sense.

use crate::every_stack_survives;
use crate::peer::Peer;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;

/// The true ACK with its blocks replaced.
fn with_blocks(peer: &mut Peer, seg: &Segment, blocks: &[(u64, u64)]) -> Vec<Segment> {
    let mut ack = Segment { blocks: 0, ..peer.honest(seg)[0] };
    blocks.iter().for_each(|b| ack.push_sack(Offset(b.0), Offset(b.1)));
    vec![ack]
}

#[test]
fn blocks_outside_the_window_do_no_harm() {
    every_stack_survives(|peer, seg| {
        let far = peer.edge + 1000 * peer.rng.below(100);
        with_blocks(peer, seg, &[(far, far + 3000), (far + 5000, far + 6000), (1 << 40, 1 << 41)])
    });
    // From inside to outside, by one byte, and by enough bytes to make a 32-bit difference small.
    every_stack_survives(|peer, seg| {
        let (max, next) = (peer.max, peer.next);
        with_blocks(peer, seg, &[(next + 1, max + 1), (next + 1000, u64::from(u32::MAX)), (next, max + 100_000)])
    });
}

#[test]
fn blocks_that_overlap_lie_inside_each_other_or_end_in_mid_segment_do_no_harm() {
    every_stack_survives(|peer, seg| {
        let blocks: Vec<(u64, u64)> = (0..4)
            .map(|_| {
                let left = peer.next + peer.rng.below(8_000);
                (left, left + peer.rng.below(8_000))
            })
            .collect();
        with_blocks(peer, seg, &blocks)
    });
}

#[test]
fn blocks_that_are_empty_or_run_backwards_do_no_harm() {
    every_stack_survives(|peer, seg| {
        let (next, max) = (peer.next, peer.max);
        with_blocks(peer, seg, &[(max, next), (next + 1000, next + 1000), (max + 1, 0), (0, 0)])
    });
}

#[test]
fn more_blocks_than_there_is_room_for_do_no_harm() {
    every_stack_survives(|peer, seg| {
        let ack = peer.honest(seg)[0];
        vec![Segment { blocks: 255, ..ack }]
    });
}
