//! RFC 9002, tested in a whole sender.

use super::*;

const RWND: u32 = 1_000_000;

/// Twenty segments sent at once, with a known RTT of 100 ms.
fn sender() -> Sender {
    let mut s = Sender::new(&opened(named("quic-9002"), 20), MSS, u64::from(RWND));
    s.on_handshake(Nanos::from_millis(100), Time::ZERO);
    s.write(1_000_000);
    assert_eq!(send(&mut s, ms(0)).len(), 20);
    s
}

#[test]
fn several_losses_of_one_flight_cut_the_window_once_and_go_out_again_at_once() {
    let mut s = sender();
    let mut resent = vec![];
    for n in [1, 3, 5, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19] {
        ack(&mut s, ms(100 + n), seg(0), RWND, &[(seg(n), seg(n + 1))]);
        resent.extend(send(&mut s, ms(100 + n)).into_iter().filter(|x| x.0 < seg(20)));
    }
    assert_eq!((s.episodes(), s.window()), (1, Window { cwnd: 10_000.0, ssthresh: 10_000.0 }));
    assert_eq!(resent, [0, 2, 4, 6, 8].map(|n| (seg(n), 1000)));
    assert_eq!(s.phase(), Phase::Open, "there is no other");
}

#[test]
fn when_nothing_comes_back_new_data_probe_and_the_window_stays() {
    let mut s = sender();
    let before = s.window();
    // PTO: 100 + 4 · 50 + 25 ms, then twice that.
    for at in [325, 975] {
        assert_eq!(s.next_timer(), Some(ms(at)));
        s.on_timer(ms(at), &mut ());
        assert_eq!(send(&mut s, ms(at)).len(), 1);
    }
    assert_eq!((s.window(), s.board().lost(), s.positions().2), (before, 0, Offset(seg(22))));
}

#[test]
fn persistent_congestion_leaves_two_segments_and_slow_start() {
    let mut s = sender();
    for at in [325, 975, 2275] {
        assert_eq!(s.next_timer(), Some(ms(at)));
        s.on_timer(ms(at), &mut ());
        send(&mut s, ms(at));
    }
    // Only the third probe arrived: everything before it is lost, from 0 to 975 ms, exactly three times 325.
    ack(&mut s, ms(2375), seg(0), RWND, &[(seg(22), seg(23))]);
    assert_eq!(s.window().cwnd, 10_000.0, "not more than three PTOs");
    // With one more millisecond it is persistent congestion.
    let mut s = sender();
    for at in [325, 975, 2275, 4875] {
        s.on_timer(ms(at), &mut ());
        send(&mut s, ms(at));
    }
    ack(&mut s, ms(4975), seg(0), RWND, &[(seg(23), seg(24))]);
    assert_eq!(s.window(), Window { cwnd: 2000.0, ssthresh: 10_000.0 });
    assert_eq!(send(&mut s, ms(4975)), [(seg(0), 1000), (seg(1), 1000)]);
    ack(&mut s, ms(5075), seg(2), RWND, &[(seg(23), seg(24))]);
    assert_eq!(s.window().cwnd, 4000.0);
}

#[test]
fn a_threshold_below_a_segment_leaves_a_window_of_one_whatever_repairs() {
    use crate::congestion::{quic::QuicSpec, CongestionSpec};
    // Half of one segment, for a peer without SACK; and a tenth of five.
    let mut s = Sender::new(&opened(named("quic-9002").without_sack(), 1), MSS, u64::from(RWND));
    s.write(1_000_000);
    send(&mut s, ms(0));
    for n in 1..4 {
        ack(&mut s, ms(100 + n), seg(0), RWND, &[]);
    }
    assert_eq!((s.phase(), s.window().ssthresh), (Phase::Recovery, 500.0));
    send(&mut s, ms(110));
    ack(&mut s, ms(200), seg(1), RWND, &[]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Open, 1000.0));
    let congestion = CongestionSpec::Quic(QuicSpec { loss_reduction: 0.1, minimum_window_segs: 1 });
    let mut tried = 0;
    for name in Stack::names() {
        let stack = Stack { congestion: congestion.clone(), ..opened(named(name), 5) };
        if stack.validate().is_err() {
            continue;
        }
        let mut s = Sender::new(&stack, MSS, u64::from(RWND));
        s.write(1_000_000);
        send(&mut s, ms(0));
        for n in 2..=5 {
            ack(&mut s, ms(100 + n), seg(0), RWND, &[(seg(1), seg(n))]);
        }
        send(&mut s, ms(110));
        let max = s.positions().2;
        ack(&mut s, ms(200), max.0, RWND, &[]);
        assert!(s.window().cwnd >= 1000.0, "{name}");
        tried += 1;
    }
    assert!(tried > 20, "{tried}");
}

/// A sender with undo has sent twenty segments at once and knows the RTT of 100 ms. Segment 0 is late, and `dups` others are
/// acknowledged before it, one per millisecond.
fn late(dups: u64) -> Sender {
    let mut s = Sender::new(&opened(named("quic-undo"), 20), MSS, u64::from(RWND));
    s.on_handshake(Nanos::from_millis(100), Time::ZERO);
    s.write(1_000_000);
    send(&mut s, ms(0));
    for n in 1..=dups {
        ack(&mut s, ms(100 + n), seg(0), RWND, &[(seg(1), seg(n + 1))]);
        send(&mut s, ms(100 + n));
    }
    s
}

const CUT: Window = Window { cwnd: 10_000.0, ssthresh: 10_000.0 };

#[test]
fn a_packet_declared_lost_that_arrives_before_it_is_resent_restores_the_window() {
    let mut s = late(3);
    assert_eq!((s.episodes(), s.window(), s.board().lost()), (1, CUT, 1000));
    ack(&mut s, ms(104), seg(4), RWND, &[]);
    assert_eq!(
        s.window(),
        Window { cwnd: 24_000.0, ssthresh: 1_000_000.0 },
        "as before, and four segments of slow start"
    );
    // The loss of a segment sent before the cut is a new event again.
    for n in 6..=8 {
        ack(&mut s, ms(104 + n), seg(4), RWND, &[(seg(5), seg(n))]);
    }
    assert_eq!((s.episodes(), s.window().cwnd), (2, 12_000.0));
}

#[test]
fn a_packet_that_comes_too_soon_after_it_was_resent_came_by_its_first_copy() {
    let mut s = late(13);
    assert_eq!((s.window(), s.board().lost(), s.board().lost_to_send()), (CUT, 1000, 0), "it was resent");
    ack(&mut s, ms(150), seg(14), RWND, &[]);
    assert_eq!(s.window(), Window { cwnd: 34_000.0, ssthresh: 1_000_000.0 });
    // A round trip after the resend it is unknown which copy arrived.
    let mut s = late(13);
    ack(&mut s, ms(213), seg(14), RWND, &[]);
    assert_eq!(s.window().ssthresh, 10_000.0);
}

#[test]
fn one_real_loss_beside_what_only_came_late_keeps_the_cut() {
    let mut s = late(3);
    // Segment 5 is lost, and both are resent; then 0 arrives, and 5 a round trip later.
    for n in 7..=15 {
        ack(&mut s, ms(100 + n), seg(0), RWND, &[(seg(6), seg(n)), (seg(1), seg(5))]);
        send(&mut s, ms(100 + n));
    }
    assert_eq!((s.board().lost(), s.board().lost_to_send()), (2000, 0));
    ack(&mut s, ms(116), seg(5), RWND, &[(seg(6), seg(15))]);
    assert_eq!((s.window().ssthresh, s.board().lost()), (10_000.0, 1000));
    ack(&mut s, ms(230), seg(20), RWND, &[]);
    assert_eq!((s.window().ssthresh, s.episodes()), (10_000.0, 1));
}

#[test]
fn once_something_sent_after_the_cut_is_acknowledged_nothing_is_given_back() {
    let mut s = late(13);
    let resent_at = s.board().get(Offset(seg(0))).map(|x| x.at);
    assert_eq!(resent_at, Some(ms(112)));
    let new = s.positions().2;
    ack(&mut s, ms(114), seg(0), RWND, &[(seg(1), seg(16))]);
    send(&mut s, ms(114));
    assert!(s.positions().2 > new, "new data after the cut");
    ack(&mut s, ms(205), seg(0), RWND, &[(new.0, new.0 + 1000), (seg(1), seg(16))]);
    ack(&mut s, ms(206), seg(16), RWND, &[(new.0, new.0 + 1000)]);
    assert_eq!(s.window().ssthresh, 10_000.0);
}
