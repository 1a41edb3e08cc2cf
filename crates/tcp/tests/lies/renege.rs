//! Reneging: SACKed data is dropped, or was never there (RFC 2018 §8 allows the first).

use crate::every_stack_survives;
use ackclock_tcp::seq::Offset;

#[test]
fn a_receiver_that_throws_away_what_it_has_sacked_still_gets_everything() {
    let reports = every_stack_survives(|peer, seg| {
        let acks = peer.honest(seg);
        if peer.rng.below(8) == 0 {
            peer.held.clear();
        }
        acks
    });
    assert!(reports.timeouts > 100, "{reports:?}");
}

#[test]
fn a_receiver_that_sacks_what_never_arrived_still_gets_everything() {
    every_stack_survives(|peer, seg| {
        let mut ack = peer.honest(seg)[0];
        ack.blocks = 0;
        // All data that may be missing; sometimes the oldest bytes, too.
        let skip = 1000 * peer.rng.below(3);
        ack.push_sack(Offset(peer.next + skip), Offset(peer.max.max(peer.next + skip + 1)));
        vec![ack]
    });
}
