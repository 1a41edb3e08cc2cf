//! A peer that vanishes costs bounded time.

use super::*;
use crate::time::Nanos;

const DAY: u64 = 86_400;

fn secs(n: u64) -> Time {
    ms(1000 * n)
}

/// Both ends of a connection opened by a handshake at 0.
fn opened(stack: &Stack) -> (Connection, Connection) {
    let (mut a, mut b) = (Connection::connect(stack, MSS, RWND), Connection::listen(stack, MSS, RWND));
    converse(&mut a, &mut b, Time::ZERO);
    assert_eq!((a.state(), b.state()), (State::Established, State::Established));
    (a, b)
}

/// Lets time pass with no peer, and returns the segments sent, with their times.
fn silence(c: &mut Connection, until: Time) -> Vec<(Time, Segment)> {
    let mut sent = Vec::new();
    while let Some(at) = c.next_timer().filter(|t| *t <= until) {
        c.on_timer(at, &mut ());
        sent.extend(speak(c, at).into_iter().map(|s| (at, s)));
        assert!(c.next_timer().is_none_or(|t| t > at), "a timer stands still");
        assert!(sent.len() < 10_000, "never gives up");
    }
    sent
}

/// A peer that answers every segment with the same ACK.
fn answers(c: &mut Connection, ack: u64, wnd: u32, until: Time) -> usize {
    let mut sent = 0;
    while let Some(at) = c.next_timer().filter(|t| *t <= until) {
        c.on_timer(at, &mut ());
        assert!(c.next_timer().is_none_or(|t| t > at), "a timer stands still");
        for _ in speak(c, at) {
            sent += 1;
            hear(c, at, &[from_peer(ack, wnd)]);
        }
    }
    sent
}

fn from_peer(ack: u64, wnd: u32) -> Segment {
    Segment { seq: Offset::DATA, ack: Offset(ack), wnd, flags: Segment::ACK, ..Segment::EMPTY }
}

#[test]
fn every_stack_gives_a_silent_peer_up_after_five_minutes() {
    for name in Stack::names() {
        let (mut a, _) = opened(&named(name));
        a.write(5000);
        speak(&mut a, secs(1));
        let sent = silence(&mut a, secs(DAY));
        assert_eq!((a.state(), a.close_reason()), (State::Closed, Some(CloseReason::TimedOut)), "{name}");
        assert_eq!(a.next_timer(), None, "{name}");
        let last = sent.last().expect("something was sent again").0;
        assert!(last > secs(1 + 100), "{name}: {last:?}, R2 is at least 100 s");
        assert!(last <= secs(1 + 300) && sent.len() < 60, "{name}: {} times, until {last:?}", sent.len());
    }
}

#[test]
fn the_user_timeout_counts_from_the_first_transmission_to_the_second() {
    let (mut a, _) = opened(&stack());
    a.set_user_timeout(Some(Nanos::from_secs(20)));
    a.write(1000);
    speak(&mut a, secs(5));
    silence(&mut a, Time(secs(25).0 - 1));
    assert_eq!((a.state(), a.next_timer()), (State::Established, Some(secs(25))));
    silence(&mut a, secs(25));
    assert_eq!(a.close_reason(), Some(CloseReason::TimedOut));
}

#[test]
fn any_newly_acknowledged_data_restarts_the_user_timeout() {
    let (mut a, _) = opened(&stack());
    a.set_user_timeout(Some(Nanos::from_secs(20)));
    a.write(3000);
    speak(&mut a, secs(5));
    for k in 1..=2 {
        silence(&mut a, secs(5 + 15 * k));
        hear(&mut a, secs(5 + 15 * k), &[from_peer(1 + 1000 * k, 20_000)]);
        speak(&mut a, secs(5 + 15 * k));
    }
    silence(&mut a, secs(50));
    assert_eq!(a.state(), State::Established);
    silence(&mut a, secs(60));
    assert_eq!(a.close_reason(), Some(CloseReason::TimedOut));
}

#[test]
fn an_ack_that_acknowledges_nothing_new_keeps_nothing_alive() {
    let (mut a, _) = opened(&stack());
    a.write(1000);
    speak(&mut a, secs(1));
    answers(&mut a, 1, 20_000, secs(DAY));
    assert_eq!(a.close_reason(), Some(CloseReason::TimedOut));
}

#[test]
fn connections_without_a_user_timeout_or_without_a_handshake_wait_for_ever() {
    let (mut a, _) = opened(&stack());
    a.set_user_timeout(None);
    let mut b = Connection::established(&stack(), Sides::Both, MSS, RWND);
    for c in [&mut a, &mut b] {
        c.write(1000);
        speak(c, secs(1));
        assert!(silence(c, secs(DAY)).len() > 1000);
        assert_eq!(c.state(), State::Established);
    }
}

#[test]
fn a_shut_window_is_waited_for_as_long_as_probes_are_answered() {
    // Once with nothing outstanding, once with a window that closed on outstanding data.
    for first in [1001, 1] {
        let (mut a, _) = opened(&stack());
        a.write(3000);
        a.set_user_timeout(Some(Nanos::from_secs(100)));
        assert_eq!(speak(&mut a, secs(1)).len(), 1);
        hear(&mut a, secs(1), &[from_peer(first, 0)]);
        speak(&mut a, secs(1));
        assert!(answers(&mut a, first, 0, secs(DAY)) > 1000);
        assert_eq!(a.state(), State::Established, "{first}");
        let sent = silence(&mut a, secs(2 * DAY));
        assert_eq!(a.close_reason(), Some(CloseReason::TimedOut), "{first}");
        assert!(sent.iter().all(|s| s.0 <= secs(DAY + 60 + 100)), "{first}: {sent:?}");
    }
}

#[test]
fn nobody_waits_for_a_shut_window_when_the_application_has_gone() {
    let (mut a, _) = opened(&stack());
    a.write(3000);
    speak(&mut a, secs(1));
    hear(&mut a, secs(1), &[from_peer(1001, 0)]);
    a.orphan(secs(1));
    speak(&mut a, secs(1));
    answers(&mut a, 1001, 0, secs(400));
    assert_eq!(a.close_reason(), Some(CloseReason::TimedOut));
}

#[test]
fn an_idle_connection_without_keep_alive_says_nothing_for_ever() {
    let (mut a, _) = opened(&stack());
    assert_eq!((a.next_timer(), silence(&mut a, secs(DAY)).len()), (None, 0));
    assert_eq!(KeepAlive::default().idle, Nanos::from_secs(7200));
}

#[test]
fn keep_alive_probes_just_below_the_next_offset_and_ends_a_connection_that_never_answers() {
    let (mut a, mut b) = opened(&stack());
    a.set_keep_alive(secs(0), Some(KeepAlive::default()));
    a.write(1000);
    let data = speak(&mut a, secs(10));
    hear(&mut b, secs(10), &data);
    let ack = speak(&mut b, secs(10));
    hear(&mut a, secs(10), &ack);
    // Each answer gives two more hours.
    for k in 1..=3 {
        let at = a.next_timer().expect("a probe");
        assert_eq!(at, secs(10 + 7200 * k));
        a.on_timer(at, &mut ());
        let probe = speak(&mut a, at);
        assert_eq!(
            probe.iter().map(|s| (s.seq, s.len, s.flags)).collect::<Vec<_>>(),
            [(Offset(1000), 0, Segment::ACK)]
        );
        hear(&mut b, at, &probe);
        let answer = speak(&mut b, at);
        assert_eq!(answer.len(), 1);
        hear(&mut a, at, &answer);
    }
    let sent = silence(&mut a, secs(DAY));
    let first = 10 + 4 * 7200;
    let want: Vec<Time> = (0..10).map(|k| secs(first + 75 * k)).collect();
    assert_eq!(sent.iter().map(|s| s.0).collect::<Vec<_>>(), want);
    // A RST comes last.
    assert_eq!(sent.iter().map(|s| s.1.has(Segment::RST)).collect::<Vec<_>>(), [vec![false; 9], vec![true]].concat());
    assert_eq!(a.close_reason(), Some(CloseReason::KeepAlive));
}

#[test]
fn a_connection_that_has_ended_waits_for_nothing() {
    let (mut a, _) = opened(&stack());
    a.set_keep_alive(secs(0), Some(KeepAlive::default()));
    assert_eq!(a.next_timer(), Some(secs(7200)));
    a.abort();
    speak(&mut a, secs(1));
    assert_eq!((a.state(), a.next_timer()), (State::Closed, None));
}

#[test]
fn after_a_jump_of_the_clock_one_keep_alive_probe_is_sent_and_its_answer_has_the_full_time() {
    let (mut a, mut b) = opened(&stack());
    a.set_keep_alive(secs(0), Some(KeepAlive::default()));
    // The machine slept for a day, far beyond the last probe.
    let awake = secs(DAY);
    a.on_timer(awake, &mut ());
    let probe = speak(&mut a, awake);
    assert_eq!((probe.len(), a.next_timer()), (1, Some(secs(DAY + 75))));
    hear(&mut b, awake, &probe);
    let answer = speak(&mut b, awake);
    hear(&mut a, secs(DAY + 1), &answer);
    assert_eq!((a.state(), a.next_timer()), (State::Established, Some(secs(DAY + 1 + 7200))));
}

#[test]
fn keep_alive_is_silent_while_data_is_outstanding_and_waits_for_a_longer_user_timeout() {
    let short = KeepAlive { idle: Nanos::from_secs(10), interval: Nanos::from_secs(1), probes: 2 };
    let (mut a, _) = opened(&stack());
    a.set_keep_alive(secs(0), Some(short));
    a.write(1000);
    speak(&mut a, secs(1));
    let sent = silence(&mut a, secs(DAY));
    assert!(sent.iter().all(|s| s.1.len == 1000), "{sent:?}");
    assert_eq!(a.close_reason(), Some(CloseReason::TimedOut));

    let (mut a, _) = opened(&stack());
    a.set_keep_alive(secs(0), Some(short));
    a.set_user_timeout(Some(Nanos::from_secs(60)));
    let sent = silence(&mut a, secs(DAY));
    assert_eq!(sent.iter().map(|s| s.0).collect::<Vec<_>>(), [secs(60), secs(61), secs(62)]);
    assert!(sent[2].1.has(Segment::RST));
    assert_eq!(a.close_reason(), Some(CloseReason::KeepAlive));
}

#[test]
fn an_orphan_leaves_fin_wait_2_after_a_minute_and_nobody_else_does() {
    for orphan in [false, true] {
        let (mut a, mut b) = opened(&stack());
        a.write(1000);
        if orphan {
            a.orphan(secs(1));
        } else {
            a.close();
        }
        converse(&mut a, &mut b, secs(2));
        assert_eq!((a.state(), b.state()), (State::FinWait2, State::CloseWait));
        // An ACK without news does not extend the wait.
        hear(&mut a, secs(50), &[from_peer(1002, 20_000)]);
        silence(&mut a, Time(secs(62).0 - 1));
        assert_eq!(a.state(), State::FinWait2);
        silence(&mut a, secs(if orphan { 62 } else { DAY }));
        assert_eq!(a.close_reason(), orphan.then_some(CloseReason::FinWait2));
    }
}

#[test]
fn an_orphan_leaves_fin_wait_2_even_if_its_fin_was_acknowledged_by_a_probe() {
    let (mut a, mut b) = opened(&stack());
    b.write(10);
    converse(&mut a, &mut b, secs(1));
    a.consume(10);
    a.write(1000);
    a.orphan(secs(1));
    speak(&mut a, secs(1));
    // A byte that is known, as in a probe: it is refused, and its ACK counts.
    hear(&mut a, secs(2), &[Segment { seq: Offset(10), len: 1, ..from_peer(1002, 20_000) }]);
    assert_eq!((a.state(), a.next_timer()), (State::FinWait2, Some(secs(62))));
    silence(&mut a, secs(62));
    assert_eq!(a.close_reason(), Some(CloseReason::FinWait2));
}

#[test]
fn a_close_before_the_application_went_counts_from_when_it_went() {
    let (mut a, mut b) = opened(&stack());
    a.close();
    converse(&mut a, &mut b, secs(1));
    silence(&mut a, secs(DAY));
    a.orphan(secs(DAY));
    assert_eq!(a.next_timer(), Some(secs(DAY + 60)));
}

#[test]
fn data_that_nobody_will_read_is_answered_with_a_reset() {
    // The data arrives after the application has closed, or had arrived before.
    for late in [true, false] {
        let (mut a, mut b) = opened(&stack());
        a.read_by_hand();
        if late {
            a.orphan(secs(1));
            converse(&mut a, &mut b, secs(1));
        }
        b.write(500);
        converse(&mut a, &mut b, secs(2));
        if !late {
            a.orphan(secs(3));
            converse(&mut a, &mut b, secs(3));
        }
        assert_eq!((a.close_reason(), b.close_reason()), (Some(CloseReason::Aborted), Some(CloseReason::Reset)));
    }
}

#[test]
fn an_orphan_whose_peer_closes_in_time_ends_as_usual() {
    let (mut a, mut b) = opened(&stack());
    a.orphan(secs(1));
    b.close();
    converse(&mut a, &mut b, secs(2));
    silence(&mut a, secs(DAY));
    silence(&mut b, secs(DAY));
    assert_eq!((a.close_reason(), b.close_reason()), (Some(CloseReason::Finished), Some(CloseReason::Finished)));
}
