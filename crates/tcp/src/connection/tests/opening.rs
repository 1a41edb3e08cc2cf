//! Before the connection is established: RFC 9293 §3.10.4, §3.10.5, §3.10.7.2 to §3.10.7.4.

use super::*;
use crate::rto::rfc6298::Rfc6298Spec;
use crate::rto::RtoSpec;

const SYN: Segment = Segment { flags: Segment::SYN, wnd: 5000, mss: MSS as u16, ..Segment::EMPTY };

fn after(state: State) -> Connection {
    let mut c = Connection::listen(&stamping(), MSS, RWND);
    if state == State::SynSent {
        c = Connection::connect(&stamping(), MSS, RWND);
    } else if state == State::SynReceived {
        hear(&mut c, ms(1), &[Segment { tsval: 1000, opts: Segment::TIMESTAMPS, ..SYN }]);
    }
    speak(&mut c, ms(1));
    assert_eq!(c.state(), state);
    c
}

fn stamping() -> Stack {
    let mut stack = stack();
    stack.options.timestamps = true;
    stack
}

/// An ACK of our SYN, as the peer would send it.
fn ack(seq: u64) -> Segment {
    let opts = Segment::TIMESTAMPS;
    Segment { flags: Segment::ACK, seq: Offset(seq), ack: Offset::DATA, wnd: 5000, tsval: 1001, opts, ..Segment::EMPTY }
}

#[test]
fn a_syn_waits_for_the_first_timeout_of_its_stack() {
    // RFC 6298 §2.1 and §5.5; RFC 2988's first timeout was three seconds.
    for (first, waits) in [(1000, [1, 2, 4, 8, 16, 32, 64, 64]), (3000, [3, 6, 12, 24, 48, 64, 64, 64])] {
        let mut stack = stack();
        stack.rto = RtoSpec::Rfc6298(Rfc6298Spec { initial: Nanos::from_millis(first), ..Rfc6298Spec::default() });
        let mut c = Connection::connect(&stack, MSS, RWND);
        let mut now = Time::ZERO;
        for wait in waits {
            assert_eq!(speak(&mut c, now).len(), 1, "a SYN");
            let at = c.next_timer().expect("it waits for an answer");
            assert_eq!(at.since(now), Nanos::from_secs(wait));
            c.on_timer(at, &mut ());
            now = at;
        }
    }
}

#[test]
fn an_ack_outside_the_window_does_not_establish() {
    for seq in [0, 900_000_000, u64::MAX] {
        let mut c = after(State::SynReceived);
        let got = c.on_segment(ms(2), &ack(seq), &mut ());
        assert_eq!((got.refused, c.state()), (Some(Refusal::Window), State::SynReceived), "{seq}");
        let sent = speak(&mut c, ms(2));
        let fields: Vec<_> = sent.iter().map(|s| (s.flags, s.seq, s.ack)).collect();
        assert_eq!(fields, [(Segment::ACK, Offset::DATA, Offset::DATA)], "RFC 9293 §3.10.7.4, first");
        hear(&mut c, ms(3), &[ack(1)]);
        assert_eq!(c.state(), State::Established);
    }
}

#[test]
fn paws_applies_in_syn_received() {
    let mut c = after(State::SynReceived);
    let got = c.on_segment(ms(2), &Segment { tsval: 999, ..ack(1) }, &mut ());
    assert_eq!((got.refused, speak(&mut c, ms(2)).len()), (Some(Refusal::Paws), 1), "old, and answered");
    let got = c.on_segment(ms(2), &Segment { opts: 0, ..ack(1) }, &mut ());
    assert_eq!((got.refused, speak(&mut c, ms(2)).len()), (Some(Refusal::Paws), 0), "without timestamp, dropped");
    assert_eq!(c.state(), State::SynReceived);
    assert_eq!(c.on_segment(ms(3), &Segment { tsval: 1000, ..ack(1) }, &mut ()).refused, None);
    assert_eq!(c.state(), State::Established);
}

#[test]
fn in_syn_received_a_rst_counts_exactly_where_data_is_expected() {
    let rst = |seq| Segment { flags: Segment::RST, seq: Offset(seq), ..Segment::EMPTY };
    let mut c = after(State::SynReceived);
    hear(&mut c, ms(2), &[rst(0), rst(1 << 40)]);
    assert_eq!((c.state(), speak(&mut c, ms(2)).len()), (State::SynReceived, 0), "outside the window, dropped");
    hear(&mut c, ms(2), &[rst(2)]);
    assert_eq!((c.state(), speak(&mut c, ms(2)).len()), (State::SynReceived, 1), "inside, answered");
    hear(&mut c, ms(2), &[rst(1)]);
    assert_eq!(c.close_reason(), Some(CloseReason::Reset));
}

#[test]
fn a_flood_in_syn_received_is_answered_twice_a_second_and_does_not_end_the_handshake() {
    for (seg, most) in [(SYN, 8), (ack(1 << 40), 127), (Segment { seq: Offset(7), ..SYN }, 127)] {
        let mut c = after(State::SynReceived);
        let mut sent = 0;
        for i in 0..60_000 {
            let now = ms(2 + i);
            hear(&mut c, now, &[Segment { tsval: 1001, opts: Segment::TIMESTAMPS, ..seg }]);
            c.on_timer(now, &mut ());
            sent += speak(&mut c, now).len();
        }
        assert!(sent <= most, "{sent} answers in a minute, SYN-ACKs among them");
        assert_eq!(c.state(), State::SynReceived);
        hear(&mut c, ms(60_002), &[ack(1)]);
        assert_eq!(c.state(), State::Established);
    }
}

#[test]
fn close_before_the_peer_knows_of_a_connection_leaves_none() {
    for state in [State::SynSent, State::Listen] {
        let mut c = after(state);
        c.write(1000);
        c.close();
        assert_eq!((c.state(), c.close_reason()), (State::Closed, Some(CloseReason::Aborted)), "RFC 9293 §3.10.4");
        assert_eq!((c.next_timer(), speak(&mut c, ms(2))), (None, vec![]));
        let syn_ack = Segment { flags: Segment::SYN | Segment::ACK, ack: Offset::DATA, ..SYN };
        assert_eq!(c.on_segment(ms(3), &syn_ack, &mut ()).refused, Some(Refusal::Closed), "whose driver sends a RST");
    }
}

#[test]
fn close_in_syn_received_sends_a_fin_once_the_handshake_is_done() {
    let mut c = after(State::SynReceived);
    c.close();
    assert_eq!(c.state(), State::SynReceived);
    hear(&mut c, ms(2), &[ack(1)]);
    assert_eq!(c.state(), State::FinWait1);
    assert!(speak(&mut c, ms(2))[0].has(Segment::FIN));
}

#[test]
fn abort_before_the_peer_knows_of_a_connection_sends_nothing() {
    for (state, resets) in [(State::Listen, 0), (State::SynSent, 0), (State::SynReceived, 1)] {
        let mut c = after(state);
        c.abort();
        let sent = speak(&mut c, ms(2));
        assert_eq!((c.close_reason(), sent.len()), (Some(CloseReason::Aborted), resets), "{state:?}, RFC 9293 §3.10.5");
        assert!(sent.iter().all(|s| s.has(Segment::RST) && s.opts & Segment::TIMESTAMPS != 0 && s.tsecr == 1000));
    }
}

#[test]
fn a_rst_carries_timestamps_where_they_are_in_use() {
    for timestamps in [false, true] {
        let mut stack = stack();
        stack.options.timestamps = timestamps;
        let (mut a, _) = pair(&stack);
        let opts = if timestamps { Segment::TIMESTAMPS } else { 0 };
        hear(&mut a, ms(7), &[Segment { len: 10, opts, ..ack(1) }]);
        a.abort();
        let sent = speak(&mut a, ms(9));
        let fields: Vec<_> = sent.iter().map(|s| (s.flags, s.opts, s.tsval, s.tsecr)).collect();
        let stamp = if timestamps { (9, 1001) } else { (0, 0) };
        assert_eq!(fields, [(Segment::RST | Segment::ACK, opts, stamp.0, stamp.1)], "RFC 7323 §3.2");
    }
}

#[test]
fn data_and_fin_on_a_syn_come_again_and_are_taken() {
    let mut c = Connection::listen(&stack(), MSS, RWND);
    let flags = Segment::SYN | Segment::FIN;
    let got = c.on_segment(ms(1), &Segment { len: 100, flags, ..SYN }, &mut ());
    assert_eq!((got.bytes, got.refused), (0, None), "the driver keeps nothing of it");
    assert_eq!(speak(&mut c, ms(1)).iter().map(|s| s.ack).collect::<Vec<_>>(), [Offset::DATA], "the SYN alone");
    let again = Segment { len: 100, flags: Segment::ACK | Segment::FIN, opts: 0, ..ack(1) };
    assert_eq!(c.on_segment(ms(2), &again, &mut ()).bytes, 100);
    assert_eq!((c.state(), c.received()), (State::CloseWait, 100));
}

#[test]
fn data_and_fin_on_a_syn_ack_are_taken() {
    let mut c = Connection::connect(&stack(), MSS, RWND);
    speak(&mut c, ms(1));
    let flags = Segment::SYN | Segment::ACK | Segment::FIN;
    let got = c.on_segment(ms(2), &Segment { len: 100, flags, ack: Offset::DATA, ..SYN }, &mut ());
    assert_eq!((got.from, got.bytes), (Offset(1), 100));
    assert_eq!((c.state(), c.received()), (State::CloseWait, 100));
    assert_eq!(speak(&mut c, ms(2)).iter().map(|s| s.ack).collect::<Vec<_>>(), [Offset(102)]);
}

#[test]
fn an_mss_option_below_the_floor_counts_as_the_floor() {
    for (mss, timestamps, want) in [(5, true, 36), (13, true, 36), (1, false, 48), (48, true, 36), (100, true, 88)] {
        let mut stack = stack();
        stack.options.timestamps = timestamps;
        let mut a = Connection::connect(&stack, MSS, RWND);
        speak(&mut a, ms(1));
        let (flags, opts) = (Segment::SYN | Segment::ACK, Segment::TIMESTAMPS);
        hear(&mut a, ms(2), &[Segment { flags, opts, ack: Offset::DATA, mss, ..SYN }]);
        a.write(1000);
        assert_eq!(speak(&mut a, ms(3)).iter().map(|s| s.len).max(), Some(want), "MSS option {mss}");
    }
}

#[test]
fn the_window_of_a_syn_ack_does_not_bound_slow_start_where_it_may_be_scaled() {
    // The window that Linux advertises first; it grows to 6 MiB.
    let syn_ack = Segment { flags: Segment::SYN | Segment::ACK, ack: Offset::DATA, wnd: 65_160, ..SYN };
    let ssthresh = |name: &str, wscale| {
        let mut c = Connection::connect(&named(name), MSS, RWND);
        speak(&mut c, ms(1));
        hear(&mut c, ms(2), &[Segment { wscale, ..syn_ack }]);
        c.sender().unwrap().window().ssthresh
    };
    assert_eq!(ssthresh("newreno", 7), f64::from(0xffff << 7), "the largest window that the peer could announce");
    assert_eq!(ssthresh("newreno", Segment::NO_SCALE), 65_160.0);
    for name in ["rfc-today", "linux-2025", "linux-reno-2025", "quic-9002"] {
        for wscale in [7, Segment::NO_SCALE] {
            assert_eq!(ssthresh(name, wscale), f64::from(1 << 30), "{name}: RFC 5681 §3.1, arbitrarily high");
        }
    }
}
