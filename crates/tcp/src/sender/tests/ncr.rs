//! TCP-NCR with twelve segments outstanding, the first of which is late or lost.

use super::*;

/// SACKs segments 1, 2, … one by one until a recovery begins. Returns the SACKs on which new data was sent, how many SACKs
/// it took, FlightSize in segments before the last of them, and the window.
fn until_recovery(name: &str) -> (Vec<u64>, u64, u64, Window) {
    let mut s = Sender::new(&opened(named(name), 12), MSS, 1_000_000);
    s.write(1_000_000);
    assert_eq!(send(&mut s, ms(0)).len(), 12);
    let mut sent_on = vec![];
    for n in 1..30 {
        let out = s.positions().2 - s.positions().0;
        ack(&mut s, ms(100 + n), seg(0), 1_000_000, &[(seg(1), seg(n + 1))]);
        if s.phase() == Phase::Recovery {
            return (sent_on, n, out / 1000, s.window());
        }
        match send(&mut s, ms(100 + n))[..] {
            [] => {}
            [(_, 1000)] => sent_on.push(n),
            ref more => panic!("{more:?} on SACK {n}"),
        }
    }
    panic!("no recovery");
}

#[test]
fn careful_sends_on_every_second_sack_and_resends_on_the_twelfth() {
    // RFC 4653 §3; spec C3.
    let halved = Window { cwnd: 6000.0, ssthresh: 6000.0 };
    assert_eq!(until_recovery("ncr-careful"), (vec![1, 3, 5, 7, 9, 11], 12, 18, halved));
}

#[test]
fn aggressive_sends_on_every_sack_and_resends_on_the_eleventh() {
    let halved = Window { cwnd: 6000.0, ssthresh: 6000.0 };
    assert_eq!(until_recovery("ncr-aggressive"), ((1..=10).collect(), 11, 22, halved));
}

/// After `sacks` SACKs the hole closes, or moves to segment `next`: returns the window, the phase, and how many segments
/// are then sent.
fn late(sacks: u64, next: Option<u64>) -> (Window, Phase, usize) {
    let mut s = Sender::new(&opened(named("ncr-careful"), 12), MSS, 1_000_000);
    s.write(1_000_000);
    send(&mut s, ms(0));
    for n in 1..=sacks {
        ack(&mut s, ms(100 + n), seg(0), 1_000_000, &[(seg(1), seg(n + 1))]);
        send(&mut s, ms(100 + n));
    }
    match next {
        None => ack(&mut s, ms(120), seg(sacks + 1), 1_000_000, &[]),
        Some(hole) => ack(&mut s, ms(120), seg(hole), 1_000_000, &[(seg(hole + 1), seg(hole + 2))]),
    }
    (s.window(), s.phase(), send(&mut s, ms(120)).len())
}

#[test]
fn when_the_hole_closes_the_window_is_what_is_out_and_one_more_and_ssthresh_what_was_out() {
    // RFC 4653 §3.3. After 7 SACKs 16 have been sent, and 8 are acknowledged: 8 are outstanding, 9 may be.
    assert_eq!(late(7, None), (Window { cwnd: 9000.0, ssthresh: 12_000.0 }, Phase::Open, 1));
    // One SACK: 13 sent, 2 acknowledged, 11 outstanding.
    assert_eq!(late(1, None), (Window { cwnd: 12_000.0, ssthresh: 12_000.0 }, Phase::Open, 1));
}

#[test]
fn another_hole_restarts_it() {
    // 12 outstanding at first; 16 sent, 8 acknowledged, segment 9 SACKed above the hole: room for 12 - 7 = 5, taken by
    // halves.
    let (w, phase, sent) = late(7, Some(8));
    assert_eq!((w, phase), (Window { cwnd: 9000.0, ssthresh: 12_000.0 }, Phase::Disorder));
    assert_eq!(sent, 3);
}
