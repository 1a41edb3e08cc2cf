//! Pacing in the sequencer (Linux's `tcp_pacing_check`).

use super::*;
use crate::pacing::PacingRule;

/// A paced sender with an unbounded threshold, whose first ten segments took 100 ms to be acknowledged.
fn paced(name: &str) -> Sender {
    let mut stack = opened(named(name), 10);
    stack.pacing = PacingRule::Linux;
    let mut s = Sender::new(&stack, MSS, 1_000_000);
    s.write(500_000);
    assert_eq!(send(&mut s, ms(0)).len(), 10, "the first ten are free");
    assert_eq!(s.paced_until(), None);
    (1..=10).for_each(|n| ack(&mut s, ms(100), seg(n), 1_000_000, &[]));
    s
}

/// The times until `end` at which segments are sent, and how many.
fn course(s: &mut Sender, mut now: Time, end: Time) -> Vec<(u64, usize)> {
    let mut course = vec![];
    loop {
        let n = send(s, now).len();
        if n > 0 {
            course.push((now.0, n));
        }
        match s.next_timer() {
            Some(at) if at < end => now = at.max(now),
            _ => return course,
        }
        s.on_timer(now, &mut ());
    }
}

#[test]
fn a_window_goes_in_bursts_of_two_over_half_a_round_trip_in_young_slow_start() {
    // 20 segments in 100 ms, at twice that rate: two segments every 5 ms. After the pause, the first burst reserves only
    // half.
    let mut s = paced("reno");
    s.w.ssthresh = 1e9;
    let got = course(&mut s, ms(100), ms(200));
    let want: Vec<_> = (0..10).map(|n| (if n == 0 { 100_000_000 } else { 97_500_000 + n * 5_000_000 }, 2)).collect();
    assert_eq!(got, want);
    assert_eq!(s.next_timer(), s.timers.rto, "the window is full: nothing waits for its time");
    assert!(s.cwnd_limited);
}

#[test]
fn a_stack_without_pacing_sends_its_window_at_once() {
    let mut s = Sender::new(&opened(named("reno"), 10), MSS, 1_000_000);
    s.write(500_000);
    send(&mut s, ms(0));
    (1..=10).for_each(|n| ack(&mut s, ms(100), seg(n), 1_000_000, &[]));
    assert_eq!(send(&mut s, ms(100)).len(), 20);
}

#[test]
fn new_data_that_wait_for_their_time_do_not_make_the_window_the_limit() {
    let mut s = paced("reno");
    assert_eq!(send(&mut s, ms(100)).len(), 2);
    assert!(!s.cwnd_limited);
}

#[test]
fn retransmissions_of_a_recovery_are_paced_too() {
    let mut s = paced("rfc-6675");
    course(&mut s, ms(100), ms(200));
    // Segments 10 to 19 are lost, and 20 to 29 arrive at once.
    (21..=30).for_each(|n| ack(&mut s, ms(200), seg(10), 1_000_000, &[(seg(20), seg(n))]));
    assert_eq!(s.phase(), Phase::Recovery);
    let got = course(&mut s, ms(200), ms(230));
    assert!(got.len() >= 2 && got.iter().all(|g| g.1 <= 2), "{got:?}");
}

#[test]
fn what_a_timeout_resends_does_not_wait() {
    let mut s = paced("reno");
    assert_eq!(send(&mut s, ms(100)).len(), 2);
    assert_eq!(send(&mut s, ms(100)).len(), 0, "the next waits");
    s.on_rto(ms(101), &mut ());
    assert_eq!(send(&mut s, ms(101)), [(seg(10), 1000)]);
}
