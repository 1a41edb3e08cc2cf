//! FACK: the forward-most byte begins a recovery, and `awnd` paces it.

use super::*;
use crate::recovery::fack::FackSpec;
use crate::recovery::RecoverySpec;

/// The state after one SACK of segment `n` of ten.
fn first_sack(n: u64) -> (Phase, Vec<(u64, u64)>) {
    let mut s = Sender::new(&opened(named("fack"), 10), MSS, 1_000_000);
    s.write(1_000_000);
    send(&mut s, ms(0));
    ack(&mut s, ms(100), seg(0), 1_000_000, &[(seg(n), seg(n + 1))]);
    (s.phase(), send(&mut s, ms(100)))
}

#[test]
fn one_ack_begins_a_recovery_if_the_forward_most_byte_is_more_than_three_segments_away() {
    // Mathis & Mahdavi 1996.
    assert_eq!(first_sack(2), (Phase::Disorder, vec![]));
    assert_eq!(first_sack(3), (Phase::Recovery, vec![(seg(0), 1000)]));
}

#[test]
fn three_duplicates_begin_one_as_well_however_small_the_segments() {
    let mut s = Sender::new(&opened(named("fack"), 10), MSS, 1_000_000);
    for _ in 0..6 {
        s.write(500);
        assert_eq!(send(&mut s, ms(0)).len(), 1);
    }
    for n in 1..=3 {
        assert_eq!(s.episodes(), 0);
        ack(&mut s, ms(100 + n), 1, 1_000_000, &[(501, 501 + 500 * n)]);
    }
    assert_eq!((s.phase(), send(&mut s, ms(104))[0]), (Phase::Recovery, (1, 500)));
}

#[test]
fn a_burst_of_losses_is_seen_at_the_first_ack_and_repaired_at_the_new_window() {
    // Twenty outstanding, fifteen lost, awnd 4 after the first ACK: the halved window has room for six copies
    // at once.
    let (pipe, cwnd, sends) = trace_of(named("fack"), 0..15);
    assert_eq!((pipe[0], cwnd[0], sends[0].as_str()), (4, 10, "RRRRRR"));
    assert_eq!((pipe[1], sends[1].as_str()), (9, "R"));
}

#[test]
fn after_one_loss_nothing_goes_until_half_the_window_has_arrived_or_with_rampdown_every_second_segment() {
    let (pipe, _, sends) = trace_of(named("fack"), 0..1);
    assert_eq!(pipe[..12], [19, 18, 16, 16, 15, 14, 13, 12, 11, 10, 9, 9]);
    assert_eq!(sends[..12].concat(), "--R-------NN");
    let ramp = Stack { recovery: RecoverySpec::Fack(FackSpec { rampdown: true }), ..named("fack") };
    let (_, cwnd, sends) = trace_of(ramp, 0..1);
    assert_eq!(cwnd[..9], [20, 20, 16, 15, 15, 14, 14, 13, 13]);
    assert_eq!(sends[..9].concat(), "--R---N-N");
}
