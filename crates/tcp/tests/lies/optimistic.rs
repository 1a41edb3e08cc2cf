//! Acknowledging data that has not arrived, or was not even sent (Savage, Cardwell, Wetherall & Anderson
//! 1999).

use crate::every_stack_survives;

#[test]
fn an_ack_of_what_was_never_sent_says_nothing() {
    // The rest of such a segment does not count either; otherwise the false window would be used.
    every_stack_survives(|peer, seg| {
        let truth = peer.honest(seg)[0];
        let beyond = peer.edge + 1 + peer.rng.below(5_000);
        let mut lie = peer.ack_of(beyond);
        lie.wnd = 1_000_000;
        vec![lie, truth]
    });
}

#[test]
fn an_ack_of_all_that_may_be_on_its_way_gives_up_what_was_lost_and_no_more() {
    // Only the peer lacks the data, and through its own fault.
    let reports = every_stack_survives(|peer, seg| {
        _ = peer.take(seg);
        if peer.rng.below(3) == 0 {
            peer.next = peer.max;
            peer.settle();
        }
        vec![peer.truth(None)]
    });
    assert!(reports.timeouts < reports.sent, "{reports:?}");
}

#[test]
fn acks_that_run_ahead_of_the_data_do_no_harm() {
    // Each is a guess; wrong guesses are beyond the data sent.
    every_stack_survives(|peer, seg| {
        let truth = peer.honest(seg)[0];
        let max = peer.max;
        let mut acks: Vec<_> = [1, 2, 8, 3].map(|n| peer.ack_of(max + 1000 * n)).into();
        acks.push(truth);
        acks
    });
}
