//! Congestion marks together with losses in the same window (RFC 3168 §6.1.2).

use super::*;

/// Processes an ACK that echoes a mark.
fn echo(s: &mut Sender, now: Time, ack: u64) {
    let flags = Segment::ACK | Segment::ECE;
    let seg = Segment { seq: Offset::DATA, ack: Offset(ack), wnd: 1_000_000, flags, ..Segment::EMPTY };
    s.on_ack(now, &seg, &mut ());
}

#[test]
fn an_echo_after_a_loss_of_the_same_window_was_answered_cuts_no_further_and_one_of_the_next_window_does() {
    let mut s = Sender::new(&opened(named("rfc-6675"), 10), MSS, 1_000_000);
    s.use_ecn(true);
    s.write(1_000_000);
    send(&mut s, ms(0));
    for n in 1..=3 {
        ack(&mut s, ms(100 + n), seg(0), 1_000_000, &[(seg(1), seg(n + 1))]);
        send(&mut s, ms(100 + n));
    }
    let recover = s.recover.unwrap().0;
    ack(&mut s, ms(200), recover, 1_000_000, &[]);
    let halved = Window { cwnd: 5000.0, ssthresh: 5000.0 };
    assert_eq!((s.phase(), s.window()), (Phase::Open, halved));
    assert_eq!(send(&mut s, ms(200)).len(), 5);
    echo(&mut s, ms(201), recover);
    assert_eq!(s.window(), halved);
    echo(&mut s, ms(300), recover + 1000);
    assert_eq!(s.window(), Window { cwnd: 2000.0, ssthresh: 2000.0 });
}

#[test]
fn an_echo_on_the_ack_that_ends_a_recovery_does_not_open_the_window() {
    // RFC 3168 §6.1.2: "should not increase the congestion window in response to the receipt of an ECN-Echo ACK packet".
    for (marked, cwnd) in [(false, 5200.0), (true, 5000.0)] {
        let mut s = Sender::new(&opened(named("reno"), 10), MSS, 1_000_000);
        s.use_ecn(true);
        s.write(1_000_000);
        send(&mut s, ms(0));
        for n in 1..=3 {
            ack(&mut s, ms(100 + n), seg(0), 1_000_000, &[]);
            send(&mut s, ms(100 + n));
        }
        assert_eq!(s.phase(), Phase::Recovery);
        if marked {
            echo(&mut s, ms(200), seg(10));
        } else {
            ack(&mut s, ms(200), seg(10), 1_000_000, &[]);
        }
        assert_eq!((s.phase(), s.window().cwnd), (Phase::Open, cwnd));
    }
}
