//! The sequencer with its parts: persist, limited transmit, cuts, DSACK, and the traces of the RFCs.

use super::*;
use crate::stack::Stack;

const MSS: u32 = 1000;

fn ms(n: u64) -> Time {
    Time(n * 1_000_000)
}

fn named(name: &str) -> Stack {
    Stack::named(name).unwrap()
}

/// What may go now, as (start, sequence space).
fn send(s: &mut Sender, now: Time) -> Vec<(u64, u64)> {
    let (mut out, mut sent) = (Segment::EMPTY, Vec::new());
    while s.poll_transmit(now, &mut out, &mut ()) {
        sent.push((out.seq.0, out.seq_len()));
        assert!(sent.len() < 10_000, "never stops sending");
    }
    sent
}

fn ack(s: &mut Sender, now: Time, ack: u64, wnd: u32, blocks: &[(u64, u64)]) {
    let mut seg = Segment { seq: Offset::DATA, ack: Offset(ack), wnd, flags: Segment::ACK, ..Segment::EMPTY };
    blocks.iter().for_each(|b| seg.push_sack(Offset(b.0), Offset(b.1)));
    s.on_ack(now, &seg, &mut ());
}

#[test]
fn every_probe_goes_out_even_when_one_input_may_release_one_segment() {
    let mut stack = named("reno");
    stack.limits.maxburst_segs = Some(1);
    let mut s = Sender::new(&stack, MSS, 0);
    s.write(5000);
    assert_eq!(send(&mut s, ms(0)), []);
    for want in [1000, 3000, 7000, 15_000] {
        assert_eq!(s.next_timer(), Some(ms(want)));
        s.on_timer(ms(want), &mut ());
        assert_eq!(send(&mut s, ms(want)), [(1, 1)], "probe at {want} ms");
    }
}

#[test]
fn when_silly_window_avoidance_has_waited_long_enough_all_that_the_window_allows_is_sent() {
    let mut s = Sender::new(&named("reno"), MSS, 4000);
    s.write(10_000);
    assert_eq!(send(&mut s, ms(0)), [(1, 1000)]);
    // 300 bytes of window: less than a segment and less than half of the largest seen.
    ack(&mut s, ms(100), 1001, 300, &[]);
    assert_eq!(send(&mut s, ms(100)), []);
    let at = s.next_timer().unwrap();
    s.on_timer(at, &mut ());
    assert_eq!(send(&mut s, at), [(1001, 300)]);
    // Nothing lies beyond the window, so it is no probe and its loss is a loss.
    assert!(!s.persist.is_running() && s.timers.rto.is_some());
}

/// The stack with an initial window of `n` segments.
fn opened(mut stack: Stack, n: u32) -> Stack {
    let spec = crate::startup::fixed::FixedSpec { initial_window_segs: n, ssthresh_segs: None };
    stack.startup = crate::startup::StartupSpec::Fixed(spec);
    stack
}

/// Where segment `n` begins.
fn seg(n: u64) -> u64 {
    1 + n * u64::from(MSS)
}

#[test]
fn no_rescue_goes_before_an_ack_beyond_the_first_retransmission() {
    let mut s = Sender::new(&opened(named("rfc-6675"), 10), MSS, 100_000);
    s.write(10_000);
    assert_eq!(send(&mut s, ms(0)).len(), 10);
    let mut sent = vec![];
    for n in 1..9 {
        ack(&mut s, ms(100 + n), seg(0), 100_000, &[(seg(1), seg(n + 1))]);
        sent.extend(send(&mut s, ms(100 + n)));
    }
    assert_eq!(sent, [(seg(0), 1000)], "the last segment is still on its way");
    // Segment 9 was lost, too: the ACK of the retransmission lets the rescue go, once.
    ack(&mut s, ms(200), seg(9), 100_000, &[]);
    assert_eq!(send(&mut s, ms(200)), [(seg(9), 1000)]);
}

#[test]
fn a_partial_ack_of_less_than_a_segment_deflates_by_what_it_acknowledges_and_adds_nothing_back() {
    let mut s = Sender::new(&opened(named("newreno"), 10), MSS, 100_000);
    s.write(100_000);
    send(&mut s, ms(0));
    for n in 0..3 {
        ack(&mut s, ms(100 + n), seg(0), 100_000, &[]);
    }
    assert_eq!((s.phase(), s.slots.recovery.inflation()), (Phase::Recovery, 3000.0));
    ack(&mut s, ms(200), seg(0) + 400, 100_000, &[]);
    assert_eq!(s.slots.recovery.inflation(), 2600.0);
    ack(&mut s, ms(201), seg(1) + 400, 100_000, &[]);
    assert_eq!(s.slots.recovery.inflation(), 2600.0);
}
