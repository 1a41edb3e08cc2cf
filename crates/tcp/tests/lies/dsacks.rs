//! False reports of duplicates (RFC 2883): the data did not arrive twice, or was never sent.

use crate::every_stack_survives;
use crate::peer::Peer;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;

/// The true ACK with a DSACK in front.
fn with_dsack(peer: &mut Peer, seg: &Segment, left: u64, right: u64) -> Vec<Segment> {
    _ = peer.take(seg);
    let truth = peer.truth(None);
    let mut lie = Segment { blocks: 0, ..truth };
    lie.push_sack(Offset(left), Offset(right));
    truth.sack_blocks().for_each(|b| lie.push_sack(b.0, b.1));
    vec![lie]
}

#[test]
fn duplicates_of_what_was_sent_once_do_no_harm() {
    // Only resent data can be truthfully reported below the ACK; here any data is.
    every_stack_survives(|peer, seg| {
        let left = 1 + peer.rng.below(peer.next);
        with_dsack(peer, seg, left, left + 1000)
    });
    every_stack_survives(|peer, seg| with_dsack(peer, seg, seg.seq.0, seg.end().0));
}

#[test]
fn a_duplicate_of_data_never_sent_does_no_harm() {
    every_stack_survives(|peer, seg| {
        let left = peer.max + 50_000 + peer.rng.below(50_000);
        with_dsack(peer, seg, left, left + 1000)
    });
    // Inside an equally distant second block (RFC 2883 §4), and from before the connection.
    every_stack_survives(|peer, seg| {
        let (left, far) = (peer.max + 90_000, peer.rng.below(2) == 0);
        let mut acks = with_dsack(peer, seg, if far { left } else { 0 }, if far { left + 1000 } else { 1 });
        acks[0].blocks = acks[0].blocks.min(1);
        acks[0].push_sack(Offset(left - 1000), Offset(left + 2000));
        acks
    });
}

#[test]
fn duplicates_of_everything_in_every_ack_do_no_harm() {
    let reports = every_stack_survives(|peer, seg| {
        let all = peer.next.max(2);
        with_dsack(peer, seg, 1, all)
    });
    assert!(reports.mistakes > 50, "nobody believed it: {reports:?}");
    every_stack_survives(|peer, seg| with_dsack(peer, seg, 1, seg.end().0));
}

#[test]
fn a_segment_s_every_retransmission_reported_many_times_is_one_mistake_at_most() {
    let reports = every_stack_survives(|peer, seg| {
        let ack = with_dsack(peer, seg, seg.seq.0, seg.end().0)[0];
        vec![ack; 5]
    });
    assert!(reports.mistakes <= reports.recoveries + reports.timeouts, "{reports:?}");
}
