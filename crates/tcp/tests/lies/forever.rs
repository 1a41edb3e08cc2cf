//! Lies that never end: the transfer stalls for hours, and the sender's memory must not grow meanwhile.

use crate::peer::{Lie, Peer};
use crate::stacks;
use crate::talk::{Reports, Talk};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Nanos;

/// Ten hours of lies, then the truth.
fn every_stack_survives_ten_hours(lie: Lie) {
    let mut all = Reports::default();
    for stack in stacks() {
        let mut talk = Talk::new(&stack, 7);
        talk.hear_long(lie, 5_000, Nanos::from_secs(36_000));
        talk.finish();
        all.add(&talk.reports);
    }
    println!("{all:?}");
    assert!(all.acks > 100_000 && all.timeouts + all.recoveries > 1_000, "too quiet: {all:?}");
}

/// Twenty ACKs with the same number, each with other blocks above and a duplicate below it.
fn flood(peer: &mut Peer, at: u64) -> Vec<Segment> {
    let blocks = |peer: &mut Peer| {
        let mut ack = peer.ack_of(at);
        for reach in [peer.next, 40_000, 40_000] {
            let left = if reach == 40_000 { at + 1000 } else { 1 } + 500 * peer.rng.below(reach / 500 + 1);
            ack.push_sack(Offset(left), Offset(left + 500 * peer.rng.below(6)));
        }
        ack
    };
    (0..20).map(|_| blocks(peer)).collect()
}

#[test]
fn a_receiver_that_never_takes_the_next_segment_and_sacks_at_random_makes_nothing_grow() {
    every_stack_survives_ten_hours(|peer, _| {
        let at = peer.next;
        flood(peer, at)
    });
}

#[test]
fn a_receiver_that_takes_a_byte_at_a_time_and_throws_away_the_rest_makes_nothing_grow() {
    every_stack_survives_ten_hours(|peer, seg| {
        if seg.seq.0 <= peer.next && peer.next < seg.end().0 {
            peer.next += 1;
        }
        let at = peer.next;
        flood(peer, at)
    });
}

#[test]
fn a_receiver_that_reneges_after_every_ack_makes_nothing_grow() {
    every_stack_survives_ten_hours(|peer, seg| {
        // The lowest is never accepted, so nothing above it stays.
        if seg.seq.0 > peer.next {
            _ = peer.take(seg);
        }
        let mut acks = vec![peer.truth(None); 3];
        acks.push(peer.ack_of(peer.next));
        if peer.rng.below(4) == 0 {
            peer.held.clear();
        }
        acks
    });
}
