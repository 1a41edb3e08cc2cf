//! PRR ACK by ACK, following the examples of RFC 6937 §3.1 and RFC 9937 §8.

use super::*;
use crate::recovery::prr::{Bound, PrrSpec};
use crate::recovery::RecoverySpec;

fn bounded(bound: Bound) -> Stack {
    let spec = PrrSpec { bound, ..PrrSpec::default() };
    Stack { recovery: RecoverySpec::Prr(spec), ..named("prr") }
}

#[test]
fn prr_of_rfc_9937_repairs_one_loss_with_every_second_ack() {
    // RFC 9937 §6.2, not its figure 1, which at inflight == ssthresh shows the other branch (decision 0041).
    let (pipe, cwnd, sends) = trace_of(bounded(Bound::Rfc9937), 0..1);
    assert_eq!(pipe, [19, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 9, 9]);
    assert_eq!(cwnd, [20, 20, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 10, 10, 10]);
    assert_eq!(sends.concat(), "NNR-N-N-N-N-N-N-N--NN");
}

#[test]
fn prr_of_rfc_9937_repairs_fifteen_losses_with_one_segment_for_each_ack() {
    let (pipe, cwnd, sends) = trace_of(bounded(Bound::Rfc9937), 0..15);
    assert_eq!((&pipe[..5], &cwnd[..5]), (&[19, 19, 4, 4, 4][..], &[20, 20, 5, 5, 5][..]));
    assert_eq!(sends[..5], ["N", "N", "R", "R", "R"]);
}

#[test]
fn both_bounds_of_rfc_6937_repair_one_loss_alike() {
    for bound in [Bound::Ssrb, Bound::Crb] {
        let (pipe, _, sends) = trace_of(bounded(bound), 0..1);
        assert_eq!(pipe, [19, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 12, 12, 11, 11, 10, 9, 9, 9]);
        assert_eq!(sends.concat(), "NNR-N-N-N-N--N-N--NNN", "{bound:?}");
    }
}

#[test]
fn after_fifteen_losses_one_bound_of_rfc_6937_conserves_and_the_other_slow_starts() {
    for (bound, pipes, each) in [(Bound::Crb, [19, 19, 4, 4, 4], "R"), (Bound::Ssrb, [19, 19, 4, 5, 6], "RR")] {
        let (pipe, _, sends) = trace_of(bounded(bound), 0..15);
        assert_eq!((&pipe[..5], &sends[..5]), (&pipes[..], &["N", "N", each, each, each].map(String::from)[..]));
    }
}

#[test]
fn the_window_at_the_end_is_ssthresh() {
    let mut s = Sender::new(&opened(named("prr"), 20), MSS, 1_000_000);
    s.write(1_000_000);
    send(&mut s, ms(0));
    for n in 1..=21 {
        ack(&mut s, ms(100 + n), seg(0), 1_000_000, &[(seg(1), seg(n + 1))]);
        send(&mut s, ms(100 + n));
    }
    ack(&mut s, ms(203), seg(22), 1_000_000, &[]);
    assert_eq!((s.phase(), s.window()), (Phase::Open, Window { cwnd: 10_000.0, ssthresh: 10_000.0 }));
}

#[test]
fn an_ack_that_delivers_nothing_leaves_the_window_as_it_is() {
    let mut s = Sender::new(&opened(named("prr"), 20), MSS, 1_000_000);
    s.write(1_000_000);
    send(&mut s, ms(0));
    for n in 1..=4 {
        ack(&mut s, ms(100 + n), seg(0), 1_000_000, &[(seg(1), seg(n + 1))]);
        send(&mut s, ms(100 + n));
    }
    let before = s.window();
    ack(&mut s, ms(110), seg(0), 1_000_000, &[(seg(1), seg(5))]);
    assert_eq!((s.window(), send(&mut s, ms(110))), (before, vec![]));
}

#[test]
fn below_ssthresh_a_segment_more_goes_only_on_an_ack_that_advances_and_shows_no_further_loss() {
    // RFC 9937 §6.2, SafeACK.
    let went = |ack_of: u64, from: u64| {
        let mut s = Sender::new(&opened(named("prr"), 20), MSS, 1_000_000);
        s.write(20_000);
        send(&mut s, ms(0));
        // 0 to 12 are lost, as 13 to 15 show.
        for n in 14..=16 {
            ack(&mut s, ms(86 + n), seg(0), 1_000_000, &[(seg(13), seg(n))]);
            assert_eq!(send(&mut s, ms(86 + n)).len(), usize::from(n == 16));
        }
        let lost = s.board().lost();
        ack(&mut s, ms(200), seg(ack_of), 1_000_000, &[(seg(from), seg(20)), (seg(13), seg(16))]);
        (s.board().lost() + seg(ack_of) - seg(0) - lost, send(&mut s, ms(200)).len())
    };
    assert_eq!(went(1, 16), (0, 6), "five were delivered, and all of them are good news");
    assert_eq!(went(1, 17), (1000, 4), "four were, and the fifth is lost, too");
    assert_eq!(went(0, 16), (0, 4), "four were, and the retransmission is on its way");
}
