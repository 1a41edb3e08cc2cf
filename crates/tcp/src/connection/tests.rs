//! Opening, closing and resetting, one rule of RFC 9293 at a time.

mod acceptance;
mod ecn;
mod ending;
mod give_up;
mod hold;
mod idle;
mod info;
mod mss;
mod opening;

use super::*;
use crate::testing::{ms, named};

const MSS: u32 = 1000;
const RWND: Bytes = 20_000;

fn stack() -> Stack {
    named("newreno")
}

/// Everything that `c` has to send now.
fn speak(c: &mut Connection, now: Time) -> Vec<Segment> {
    let mut sent = Vec::new();
    let mut out = Segment::EMPTY;
    while c.poll_transmit(now, &mut out, &mut ()) {
        sent.push(out);
        assert!(sent.len() < 1000, "never stops talking: {out:?}");
    }
    sent
}

fn hear(c: &mut Connection, now: Time, segs: &[Segment]) {
    for s in segs {
        c.on_segment(now, s, &mut ());
    }
}

/// Lets both ends exchange segments without delay until neither has anything to send; returns the
/// number of segments.
fn converse(a: &mut Connection, b: &mut Connection, now: Time) -> usize {
    let mut sent = 0;
    for _ in 0..1000 {
        let (from_a, from_b) = (speak(a, now), speak(b, now));
        if from_a.is_empty() && from_b.is_empty() {
            return sent;
        }
        sent += from_a.len() + from_b.len();
        hear(b, now, &from_a);
        hear(a, now, &from_b);
    }
    panic!("the conversation never ends");
}

fn pair(stack: &Stack) -> (Connection, Connection) {
    let end = || Connection::established(stack, Sides::Both, MSS, RWND);
    (end(), end())
}

#[test]
fn a_connection_may_move_to_another_thread() {
    fn moves<T: Send + 'static>(_: &T) {}
    moves(&pair(&stack()).0);
}

#[test]
fn a_segment_is_answered_with_what_was_taken_of_it() {
    let (_, mut b) = pair(&stack());
    let mut take = |seq, len, ack| {
        let seg = Segment { seq: Offset(seq), len, ack: Offset(ack), flags: Segment::ACK, ..Segment::EMPTY };
        let got = b.on_segment(ms(1), &seg, &mut ());
        (got.from.0, got.bytes, got.refused)
    };
    assert_eq!(take(1, 1000, 1), (1, 1000, None), "in order");
    assert_eq!(take(2001, 1000, 1), (2001, 1000, None), "behind a hole");
    assert_eq!(take(501, 3000, 1), (1001, 1500, None), "around what is held");
    assert_eq!(take(1, 1000, 1), (0, 0, Some(Refusal::Window)), "a duplicate");
    assert_eq!(take(3501, 0, 1), (0, 0, None), "an ACK brings no data");
    assert_eq!(take(3501 + RWND, 10, 1).2, Some(Refusal::Window), "beyond the window");
}

#[test]
fn a_fin_on_a_full_segment_takes_no_room_of_the_window() {
    for name in Stack::names() {
        let (mut a, mut b) = pair(&Stack::named(name).unwrap());
        a.write(u64::from(MSS));
        a.close();
        // The first copy is lost: after the timeout the window is one segment, too.
        let first = speak(&mut a, ms(1));
        assert_eq!(first.iter().map(|s| (s.len, s.has(Segment::FIN))).collect::<Vec<_>>(), [(MSS, true)], "{name}");
        let now = a.next_timer().unwrap();
        a.on_timer(now, &mut ());
        converse(&mut a, &mut b, now);
        assert_eq!((b.state(), b.received()), (State::CloseWait, u64::from(MSS)), "{name}");
    }
}

#[test]
fn a_train_ends_before_the_segment_with_the_fin() {
    let mut stack = stack();
    stack.limits.max_train = 16;
    stack.startup = crate::startup::StartupSpec::Fixed(crate::startup::fixed::FixedSpec {
        initial_window_segs: 10,
        ssthresh_segs: None,
    });
    for last in [MSS - 2, MSS - 1, MSS] {
        let (mut a, mut b) = pair(&stack);
        let n = u64::from(3 * MSS + last);
        a.write(n);
        a.close();
        converse(&mut a, &mut b, ms(1));
        assert_eq!((b.state(), b.received()), (State::CloseWait, n), "last segment of {last} bytes");
    }
}

#[test]
fn a_train_that_ends_the_stream_has_psh_as_its_last_segment_would() {
    let mut stack = stack();
    stack.startup = crate::startup::StartupSpec::Fixed(crate::startup::fixed::FixedSpec {
        initial_window_segs: 10,
        ssthresh_segs: None,
    });
    for (written, max_train) in [(3, 1), (3, 2), (3, 16), (4, 2), (1, 16)] {
        stack.limits.max_train = max_train;
        let (mut a, _) = pair(&stack);
        a.write(u64::from(written * MSS));
        let sent = speak(&mut a, ms(1));
        let pushed: Vec<_> = sent.iter().map(|s| s.has(Segment::PSH)).collect();
        assert!(
            pushed.iter().rev().skip(1).all(|p| !p) && pushed.ends_with(&[true]),
            "{written} {max_train}: {sent:?}"
        );
        assert_eq!(sent.len(), written.div_ceil(u32::from(max_train)) as usize);
    }
}

#[test]
fn the_ack_of_the_last_fin_ends_the_connection() {
    let (mut a, mut b) = pair(&stack());
    a.close();
    converse(&mut a, &mut b, ms(1));
    assert_eq!((a.state(), b.state()), (State::FinWait2, State::CloseWait));
    b.close();
    converse(&mut a, &mut b, ms(2));
    assert_eq!((a.state(), b.state()), (State::TimeWait, State::Closed));
    assert_eq!(b.close_reason(), Some(CloseReason::Finished));
    assert_eq!(a.next_timer(), Some(ms(2) + TIME_WAIT));
    a.on_timer(ms(2) + TIME_WAIT, &mut ());
    assert_eq!(a.close_reason(), Some(CloseReason::Finished));
}

#[test]
fn both_ends_of_a_simultaneous_close_wait_out_their_time() {
    let (mut a, mut b) = pair(&stack());
    a.close();
    b.close();
    let (from_a, from_b) = (speak(&mut a, ms(1)), speak(&mut b, ms(1)));
    hear(&mut b, ms(1), &from_a);
    hear(&mut a, ms(1), &from_b);
    assert_eq!((a.state(), b.state()), (State::Closing, State::Closing));
    converse(&mut a, &mut b, ms(1));
    assert_eq!((a.next_timer(), b.next_timer()), (Some(ms(1) + TIME_WAIT), Some(ms(1) + TIME_WAIT)));
}

#[test]
fn a_simultaneous_open_is_established_by_both_syn_acks() {
    let open = || Connection::connect(&stack(), MSS, RWND);
    let (mut a, mut b) = (open(), open());
    let (from_a, from_b) = (speak(&mut a, ms(1)), speak(&mut b, ms(1)));
    hear(&mut b, ms(1), &from_a);
    hear(&mut a, ms(1), &from_b);
    assert_eq!((a.state(), b.state()), (State::SynReceived, State::SynReceived));
    let sent = converse(&mut a, &mut b, ms(2));
    assert_eq!((a.state(), b.state(), sent), (State::Established, State::Established, 4));
}

#[test]
fn an_ack_sent_while_a_probe_is_beyond_the_window_is_inside_it() {
    let (mut a, mut b) = pair(&stack());
    a.read_by_hand();
    b.read_by_hand();
    a.write(2 * RWND);
    b.write(2 * RWND);
    for c in [&mut a, &mut b] {
        // Both windows are closed and both sides probe.
        speak(c, ms(1));
    }
    let mut now = ms(1);
    let mut sent = 0;
    for _ in 0..6 {
        sent += converse(&mut a, &mut b, now);
        now = a.next_timer().into_iter().chain(b.next_timer()).min().unwrap();
        a.on_timer(now, &mut ());
        b.on_timer(now, &mut ());
    }
    assert!(sent < 200, "{sent} segments: an ACK that is not acceptable is answered for ever");
    assert_eq!((a.received(), b.received()), (RWND, RWND));
}

#[test]
fn a_wrong_acknowledgment_during_the_handshake_is_refused_with_a_reset() {
    let wrong = |flags| Segment { flags, ack: Offset(77), wnd: 5000, ..Segment::EMPTY };
    let reset =
        |sent: Vec<Segment>| sent.iter().map(|s| (s.flags, s.seq)).collect::<Vec<_>>() == [(Segment::RST, Offset(77))];
    let mut a = Connection::connect(&stack(), MSS, RWND);
    speak(&mut a, ms(1));
    hear(&mut a, ms(2), &[wrong(Segment::SYN | Segment::ACK)]);
    assert!(reset(speak(&mut a, ms(2))), "in SYN-SENT");
    hear(&mut a, ms(3), &[wrong(Segment::RST | Segment::ACK)]);
    assert_eq!((speak(&mut a, ms(3)).len(), a.state()), (0, State::SynSent), "a RST is never answered");
    let mut b = Connection::listen(&stack(), MSS, RWND);
    hear(&mut b, ms(1), &[wrong(Segment::ACK)]);
    assert!(reset(speak(&mut b, ms(1))) && b.state() == State::Listen, "in LISTEN");
    hear(&mut b, ms(2), &[Segment { flags: Segment::SYN, wnd: 5000, ..Segment::EMPTY }]);
    assert_eq!(speak(&mut b, ms(2)).len(), 1);
    hear(&mut b, ms(3), &[Segment { seq: Offset::DATA, ..wrong(Segment::ACK) }]);
    assert!(reset(speak(&mut b, ms(3))) && b.state() == State::SynReceived, "in SYN-RECEIVED");
}

#[test]
fn the_ack_of_one_who_does_not_know_that_we_took_its_probe_counts() {
    let mut a = Connection::established(&stack(), Sides::Both, MSS, 1000);
    a.write(3000);
    assert_eq!(speak(&mut a, ms(1)).len(), 1);
    let from = |seq, len, ack, wnd| {
        let (seq, ack) = (Offset(seq), Offset(ack));
        Segment { seq, len, ack, wnd, flags: Segment::ACK, ..Segment::EMPTY }
    };
    hear(&mut a, ms(100), &[from(1, 0, 1001, 0)]);
    assert_eq!(speak(&mut a, ms(100)), []);
    a.on_timer(ms(1100), &mut ());
    assert_eq!(speak(&mut a, ms(1100)).len(), 1, "we probe");
    // The peer probes, too, and we accept its byte. Our ACK of it is lost, so the peer still expects an ACK of offset 1.
    hear(&mut a, ms(1200), &[from(1, 1, 1001, 0)]);
    speak(&mut a, ms(1200));
    hear(&mut a, ms(1300), &[from(1, 0, 1002, 5000)]);
    assert_eq!((a.acked(), a.received()), (1001, 1));
    assert!(speak(&mut a, ms(1300)).iter().any(|s| s.seq == Offset(1002)), "the window is open");
}
