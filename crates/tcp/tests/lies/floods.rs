//! Senders that flood a receiver: held data, memory and answers stay bounded, and SACKed data is kept.

use crate::heap::measured;
use crate::rng::Rng;
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::receive_window::ReceiveWindowSpec;
use ackclock_tcp::receiver::{Consume, Receiver, ReceiverConfig};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::WindowEdge;
use ackclock_tcp::time::{Nanos, Time};

const BUFFER: u64 = 1 << 20;
/// The limit in `receiver/reassembly.rs`: 64 ranges plus one per 128 bytes of window; 100 bytes each.
const MOST: u64 = 64 + BUFFER / 128;
const MEMORY: isize = 100 * MOST as isize + 2_000;

fn receiver(consume: Consume) -> Receiver {
    Receiver::new(&ReceiverConfig {
        rcv_nxt: Offset::DATA,
        buffer: BUFFER,
        receive_window: ReceiveWindowSpec::Fixed,
        edge: WindowEdge::Segment,
        mss: 1460,
        wscale: 5,
        sack: true,
        dsack: true,
        sack_blocks: 4,
        timestamps: false,
        ts_recent: None,
        ack: AckSpec::Delayed { delay: Nanos::from_millis(200) },
        consume,
    })
}

/// The segment arrives and is answered if an ACK is due; returns the ACK.
fn send(r: &mut Receiver, left: u64, right: u64) -> Option<Segment> {
    let len = (right - left) as u32;
    r.on_segment(Time::ZERO, &Segment { seq: Offset(left), len, flags: Segment::ACK, ..Segment::EMPTY });
    r.ack_due().then(|| {
        let mut out = Segment::EMPTY;
        r.fill_ack(Time::ZERO, &mut out, u32::MAX);
        out
    })
}

fn held(r: &Receiver) -> u64 {
    r.out_of_order().count() as u64
}

/// Whether the receiver has all of `left..right`.
fn has(r: &Receiver, left: Offset, right: Offset) -> bool {
    right <= r.rcv_nxt() || r.out_of_order_from(left).next().is_some_and(|(l, e)| l <= left && right <= e)
}

#[test]
fn bytes_beyond_the_window_leave_nothing_behind() {
    let mut r = receiver(Consume::AtOnce);
    let (_, _, bytes) = measured(|| {
        for i in 0..200_000 {
            send(&mut r, 1 + BUFFER + 2 * i, 2 + BUFFER + 2 * i);
        }
    });
    assert_eq!((held(&r), r.rcv_nxt(), bytes), (0, Offset::DATA, 0));
}

#[test]
fn every_second_byte_costs_the_memory_that_is_allowed_and_gives_it_back() {
    // Upwards, downwards, and from all over the window.
    let orders: [fn(u64) -> u64; 3] = [|i| i, |i| BUFFER / 2 - 2 - i, |i| i * 7919 % (BUFFER / 2 - 1)];
    for place in orders {
        let mut r = receiver(Consume::AtOnce);
        let (_, _, bytes) = measured(|| {
            for i in 0..BUFFER / 2 - 1 {
                send(&mut r, 2 + 2 * place(i), 3 + 2 * place(i));
                assert!(i % 4096 != 0 || held(&r) <= MOST);
            }
        });
        assert_eq!(held(&r), MOST);
        assert!(bytes <= MEMORY, "{bytes} bytes for {MOST} ranges");
        let (_, _, freed) = measured(|| send(&mut r, 1, BUFFER));
        assert_eq!((held(&r), r.rcv_nxt()), (0, Offset(BUFFER)));
        assert!(bytes + freed < 2_000, "{bytes} bytes, then {freed}");
    }
}

#[test]
fn what_an_ack_has_reported_is_kept_whatever_overlaps_it() {
    let mut rng = Rng(7);
    let mut r = receiver(Consume::AtOnce);
    let mut reported: Vec<(Offset, Offset)> = vec![];
    for i in 0..60_000u64 {
        let left = r.rcv_nxt().0.saturating_sub(3_000) + rng.below(300_000);
        let len = [1, 1 + rng.below(40), 1 + rng.below(3_000)][rng.below(3) as usize];
        let at = if rng.below(50) == 0 { r.rcv_nxt().0 } else { left };
        let Some(out) = send(&mut r, at.max(1), at.max(1) + len) else { continue };
        let above = |b: &(Offset, Offset)| b.0 > out.ack;
        reported.extend(out.sack_blocks().filter(above));
        assert!(held(&r) <= MOST && out.ack == r.rcv_nxt());
        if i % 64 == 0 {
            // RFC 2018 §8 allows dropping it; this receiver never does.
            assert!(reported.iter().all(|&(l, e)| has(&r, l, e)), "{i}");
            reported.retain(|b| b.1 > r.rcv_nxt());
            reported.sort_unstable();
            reported.dedup();
        }
    }
    assert!(r.received() > 300_000, "{}", r.received());
}

#[test]
fn a_sender_that_sends_held_data_for_ever_adds_nothing() {
    let mut r = receiver(Consume::AtOnce);
    for i in 1..1000 {
        send(&mut r, 1 + 1000 * i, 1 + 1000 * i + 500);
    }
    let before = held(&r);
    let mut rng = Rng(3);
    let (_, _, bytes) = measured(|| {
        for _ in 0..200_000 {
            let (at, len) = (1 + 1000 * (1 + rng.below(999)), 1 + rng.below(500));
            let out = send(&mut r, at, at + len).expect("a duplicate is answered at once");
            assert_eq!(out.sack_blocks().next(), Some((Offset(at), Offset(at + len))), "by a DSACK");
        }
    });
    assert_eq!(held(&r), before);
    // The number of tree nodes may vary.
    assert!(bytes.abs() < 50_000, "{bytes}");
}

#[test]
fn a_shut_window_takes_nothing_and_answers_every_probe() {
    let mut r = receiver(Consume::ByHand);
    let mut at = 1;
    while r.rcv_nxt() < r.right_edge() {
        let end = (at + 1460).min(r.right_edge().0);
        send(&mut r, at, end);
        at = r.rcv_nxt().0;
    }
    assert_eq!(r.unread(), BUFFER);
    let (_, _, bytes) = measured(|| {
        for i in 0..100_000 {
            let out = send(&mut r, at + i % 3, at + i % 3 + 1).expect("RFC 9293 §3.10.7.4");
            assert_eq!((out.ack, out.wnd), (Offset(at), 0));
        }
    });
    assert_eq!((r.unread(), held(&r), bytes), (BUFFER, 0, 0));
}
