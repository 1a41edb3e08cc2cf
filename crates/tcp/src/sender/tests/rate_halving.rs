//! Rate halving ACK by ACK, as RFC 6937 §3.1 prints it.

use super::*;

#[test]
fn rate_halving_repairs_one_loss_as_rfc_6937_prints_it() {
    let (pipe, cwnd, sends) = trace_of(named("rate-halving"), 0..1);
    assert_eq!(pipe[..19], [19, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10]);
    assert_eq!(cwnd[..19], [20, 20, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11]);
    assert_eq!(sends[..19].concat(), "NNR-N-N-N-N-N-N-N-N");
}

#[test]
fn rate_halving_repairs_fifteen_losses_as_rfc_6937_prints_it() {
    let (pipe, cwnd, sends) = trace_of(named("rate-halving"), 0..15);
    assert_eq!((&pipe[..5], &cwnd[..5]), (&[19, 19, 4, 4, 4][..], &[20, 20, 5, 5, 5][..]));
    assert_eq!(sends[..5], ["N", "N", "R", "R", "R"]);
}

/// The window after a recovery from the loss of the first `lost` segments of twenty.
fn after(lost: u64) -> Window {
    let mut s = Sender::new(&opened(named("rate-halving"), 20), MSS, 1_000_000);
    s.write(1_000_000);
    send(&mut s, ms(0));
    for n in lost..22 {
        ack(&mut s, ms(100 + n), seg(0), 1_000_000, &[(seg(lost), seg(n + 1))]);
        send(&mut s, ms(100 + n));
    }
    let recover = s.recover.unwrap();
    ack(&mut s, ms(300), recover.0, 1_000_000, &[]);
    assert_eq!(s.phase(), Phase::Open);
    s.window()
}

#[test]
fn the_window_at_the_end_is_at_most_half_and_ssthresh_at_least_a_quarter() {
    // Half of twenty; if fewer were in the network, that number, and a quarter of twenty for ssthresh.
    assert_eq!(after(1), Window { cwnd: 10_000.0, ssthresh: 10_000.0 });
    assert_eq!(after(17), Window { cwnd: 3000.0, ssthresh: 5000.0 });
}
