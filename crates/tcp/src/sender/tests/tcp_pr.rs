//! TCP-PR (Bohacek and others 2003): its timers, one by one.

use super::*;
use crate::startup::{fixed::FixedSpec, StartupSpec};

const RWND: u32 = 1_000_000;

/// A sender with a window of `cwnd` segments, where segment 0 was acknowledged after 100 ms: mxrtt
/// is 300 ms.
fn sender(cwnd: u32) -> Sender {
    let fixed = FixedSpec { initial_window_segs: cwnd, ssthresh_segs: Some(2) };
    let mut s = Sender::new(&Stack { startup: StartupSpec::Fixed(fixed), ..named("tcp-pr") }, MSS, u64::from(RWND));
    s.write(10_000_000);
    send(&mut s, ms(0));
    ack(&mut s, ms(100), seg(1), RWND, &[]);
    send(&mut s, ms(100));
    s
}

/// Fires the timers up to `until`; returns the segments sent, as (time in ms, segment).
fn wait(s: &mut Sender, until: u64) -> Vec<(u64, u64)> {
    let mut sent = vec![];
    while let Some(t) = s.next_timer().filter(|t| *t <= ms(until)) {
        s.on_timer(t, &mut ());
        sent.extend(send(s, t).iter().map(|x| (t.0 / 1_000_000, (x.0 - 1) / 1000)));
        assert!(s.next_timer().is_none_or(|next| next > t), "a timer stands still");
    }
    sent
}

fn segs(w: Window) -> (f64, f64) {
    (w.cwnd / 1000.0, w.ssthresh / 1000.0)
}

#[test]
fn duplicates_mean_nothing_and_the_ack_of_a_late_segment_opens_the_window_by_all_it_acknowledges() {
    let mut s = sender(10);
    let before = s.window().cwnd;
    for n in 2..=10 {
        ack(&mut s, ms(100 + n), seg(1), RWND, &[(seg(2), seg(n + 1))]);
        // SACKed segments have left the path.
        assert!(send(&mut s, ms(100 + n)).iter().all(|x| x.0 > seg(9)));
    }
    assert_eq!((s.phase(), s.episodes(), s.window().cwnd), (Phase::Open, 0, before));
    ack(&mut s, ms(120), seg(11), RWND, &[]);
    let ten = (0..10).fold(before, |cwnd, _| cwnd + 1e6 / cwnd);
    assert!((s.window().cwnd - ten).abs() < 1e-6);
}

#[test]
fn a_shorter_round_trip_that_makes_a_loss_long_overdue_is_acted_on_at_once() {
    let fixed = FixedSpec { initial_window_segs: 2, ssthresh_segs: None };
    let mut s = Sender::new(&Stack { startup: StartupSpec::Fixed(fixed), ..named("tcp-pr") }, MSS, u64::from(RWND));
    for at in [ms(0), ms(2000)] {
        s.write(1000);
        assert_eq!(send(&mut s, at).len(), 1);
    }
    assert_eq!(s.next_timer(), Some(ms(3000)), "nothing is known yet");
    ack(&mut s, ms(2050), seg(0), RWND, &[(seg(1), seg(2))]);
    assert_eq!(
        (send(&mut s, ms(2050)), s.next_timer()),
        (vec![], Some(ms(150))),
        "three times 50 ms after it was sent"
    );
    s.on_timer(ms(2050), &mut ());
    assert_eq!(send(&mut s, ms(2050)), [(seg(0), 1000)]);
    assert!(s.next_timer().is_some_and(|t| t > ms(2050)));
}

#[test]
fn a_packet_is_lost_three_maximum_round_trips_after_it_was_sent_and_cuts_by_the_window_of_then() {
    let mut s = sender(10);
    ack(&mut s, ms(100), seg(1), RWND, &[(seg(2), seg(10))]);
    send(&mut s, ms(100));
    assert_eq!(wait(&mut s, 299), []);
    // The window is 10 when it is sent and has grown since.
    assert!(s.window().cwnd > 10_000.0);
    assert_eq!(s.next_timer(), Some(ms(300)));
    s.on_timer(ms(300), &mut ());
    assert_eq!((s.phase(), s.episodes(), segs(s.window())), (Phase::Open, 1, (5.0, 5.0)));
    assert_eq!(send(&mut s, ms(300)), [], "ten new ones are on their way");
    ack(&mut s, ms(301), seg(1), RWND, &[(seg(2), seg(18))]);
    assert_eq!(send(&mut s, ms(301))[0], (seg(1), 1000), "what is lost goes first");
}

#[test]
fn losses_of_packets_that_were_on_their_way_at_a_cut_cut_no_more_and_later_ones_do() {
    let mut s = sender(10);
    // Segment 2 is also lost, and so is one sent at 100 ms.
    ack(&mut s, ms(100), seg(1), RWND, &[(seg(3), seg(10))]);
    let newest = send(&mut s, ms(100)).last().unwrap().0;
    ack(&mut s, ms(200), seg(1), RWND, &[(seg(3), newest)]);
    let at_200 = send(&mut s, ms(200)).len();
    assert!(at_200 > 5, "{at_200}");
    let after: Vec<u64> = wait(&mut s, 300).iter().map(|x| x.1).collect();
    assert_eq!((s.board().lost(), s.episodes(), segs(s.window())), (2000, 1, (5.0, 5.0)));
    assert_eq!(after, [0u64; 0], "more than five are on their way");
    // All but the newest one sent at 100 ms arrive: the two lost ones are resent at 300 ms.
    let (max, newest_end) = (s.positions().2 .0, newest + 1000);
    ack(&mut s, ms(300), seg(1), RWND, &[(newest_end, max), (seg(3), newest)]);
    assert_eq!(send(&mut s, ms(300))[..2], [(seg(1), 1000), (seg(2), 1000)]);
    // It was in the network at the cut.
    wait(&mut s, 599);
    assert_eq!((s.board().get(Offset(newest)).unwrap().sends, s.episodes()), (2, 1));
    assert_eq!(segs(s.window()), (5.0, 5.0));
    // The retransmissions are lost: sent after the cut, they are a new event with a window of 5.
    wait(&mut s, 600);
    assert_eq!((s.episodes(), segs(s.window())), (2, (2.5, 2.5)));
}

#[test]
fn when_more_than_half_a_window_is_lost_sending_stops_for_a_second_and_begins_with_one_segment() {
    let mut s = sender(10);
    // Everything is lost: the nine of the first window at 300 ms, 10 and 11 at 400 ms.
    let sent = wait(&mut s, 1299);
    assert_eq!((sent, segs(s.window())), (vec![], (1.0, 5.0)));
    assert_eq!(wait(&mut s, 1300), [(1300, 1)]);
    // And again after twice the time, until an ACK arrives.
    assert_eq!(wait(&mut s, 2300), [(2300, 1)]);
    assert_eq!(wait(&mut s, 4300), [(4300, 1)]);
    ack(&mut s, ms(4400), seg(2), RWND, &[]);
    assert_eq!(send(&mut s, ms(4400)), [(seg(2), 1000), (seg(3), 1000)]);
    assert_eq!(s.next_timer(), Some(ms(4700)), "three times 100 ms again");
}

#[test]
fn a_limit_is_never_longer_than_the_ceiling() {
    let mut s = sender(4);
    ack(&mut s, ms(30_000), seg(2), RWND, &[]);
    assert_eq!(s.next_timer(), Some(ms(60_000)));
    send(&mut s, ms(30_000));
    let max = s.positions().2 .0;
    ack(&mut s, ms(100_000), max, RWND, &[]);
    send(&mut s, ms(100_000));
    assert_eq!(s.next_timer(), Some(ms(160_000)));
}
