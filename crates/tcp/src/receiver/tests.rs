//! The receiver's rules one by one; `tests/reassembly_model.rs` compares the receiver with a naive one.

use super::*;
use crate::receive_window::drs::DrsSpec;
use crate::time::Nanos;

const AT: Time = Time(1_000_000_000);

/// 10,000 bytes of window, an ACK for every segment.
fn config() -> ReceiverConfig {
    ReceiverConfig {
        rcv_nxt: Offset(0),
        buffer: 10_000,
        mss: 500,
        wscale: 0,
        sack: true,
        dsack: true,
        sack_blocks: 4,
        receive_window: ReceiveWindowSpec::Fixed,
        edge: WindowEdge::Segment,
        timestamps: false,
        ts_recent: None,
        ack: AckSpec::Every,
        consume: Consume::AtOnce,
    }
}

fn data(left: u64, right: u64) -> Segment {
    Segment { seq: Offset(left), len: (right - left) as u32, flags: Segment::ACK, ..Segment::EMPTY }
}

fn with(seg: Segment, flags: u8) -> Segment {
    Segment { flags: seg.flags | flags, ..seg }
}

fn stamped(seg: Segment, tsval: u32) -> Segment {
    Segment { tsval, opts: Segment::TIMESTAMPS, ..seg }
}

fn ack(r: &mut Receiver) -> Segment {
    let mut out = Segment::EMPTY;
    r.fill_ack(AT, &mut out, u32::MAX);
    out
}

/// `ack: left-right left-right …`
fn show(s: &Segment) -> String {
    s.sack_blocks().fold(format!("{}:", s.ack), |t, (l, r)| format!("{t} {l}-{r}"))
}

/// The ACK of the last of these arrivals, where each is answered before the next.
fn last_answer(arrivals: &[(u64, u64)]) -> String {
    let mut r = Receiver::new(&config());
    arrivals.iter().fold(String::new(), |_, &(l, e)| {
        r.on_segment(AT, &data(l, e));
        assert!(r.ack_due());
        show(&ack(&mut r))
    })
}

#[test]
fn a_receiver_takes_136_bytes_and_its_in_order_path_80() {
    assert_eq!(size_of::<Receiver>(), 136);
    assert_eq!(std::mem::offset_of!(Receiver, ts), 80);
}

#[test]
fn the_first_block_reports_a_duplicate_as_in_rfc_2883_section_4() {
    for (arrivals, want) in [
        (&[(0, 4000), (3000, 3500)][..], "4000: 3000-3500"),
        (&[(0, 4000), (4500, 5000)], "4000: 4500-5000"),
        (&[(0, 4000), (4500, 5000), (3000, 3500)], "4000: 3000-3500 4500-5000"),
        (&[(0, 4000), (4500, 5000), (5000, 5500)], "4000: 4500-5500"),
        (&[(0, 4000), (4500, 5000), (5000, 5500), (5000, 5500)], "4000: 5000-5500 4500-5500"),
        (&[(0, 1500), (2000, 2500), (1000, 2000)], "2500: 1000-1500"),
        (&[(0, 1500), (2000, 2500), (3000, 3500), (1000, 2500)], "2500: 1000-1500 3000-3500"),
        (&[(0, 1000), (1500, 2000), (2500, 3000), (3500, 4000), (1500, 3000)], "1000: 1500-2000 1500-3000 3500-4000"),
    ] {
        assert_eq!(last_answer(arrivals), want, "{arrivals:?}");
    }
}

#[test]
fn reordering_is_answered_as_in_rfc_2883_section_5_2() {
    let order = [(0, 1000), (1500, 2000), (2000, 2500), (2500, 3000), (1000, 1500), (1000, 1500)];
    let want = ["1000:", "1000: 1500-2000", "1000: 1500-2500", "1000: 1500-3000", "3000:", "3000: 1000-1500"];
    for (n, want) in want.iter().enumerate() {
        assert_eq!(last_answer(&order[..=n]), *want);
    }
}

#[test]
fn a_duplicate_is_reported_in_one_ack_only() {
    let mut r = Receiver::new(&config());
    r.on_segment(AT, &data(0, 1000));
    r.on_segment(AT, &data(0, 500));
    assert_eq!(show(&ack(&mut r)), "1000: 0-500");
    assert_eq!(show(&ack(&mut r)), "1000:");
}

#[test]
fn without_dsack_or_sack_no_such_blocks_are_sent() {
    for (sack, dsack, want) in [(true, false, "1000: 2000-2500"), (false, true, "1000:"), (false, false, "1000:")] {
        let mut r = Receiver::new(&ReceiverConfig { sack, dsack, ..config() });
        for s in [data(0, 1000), data(2000, 2500), data(0, 500)] {
            r.on_segment(AT, &s);
        }
        assert_eq!(show(&ack(&mut r)), want);
    }
}

#[test]
fn newest_blocks_first_as_in_rfc_2018_section_4_and_three_with_timestamps() {
    for (timestamps, want) in [(false, "0: 9-10 3-4 7-8 5-6"), (true, "0: 9-10 3-4 7-8")] {
        let mut r = Receiver::new(&ReceiverConfig { timestamps, ..config() });
        for left in [1, 5, 7, 3, 9] {
            r.on_segment(AT, &stamped(data(left, left + 1), 1));
        }
        assert_eq!(show(&ack(&mut r)), want);
    }
}

#[test]
fn a_segment_is_trimmed_to_the_window() {
    let mut r = Receiver::new(&config());
    assert_eq!(r.on_segment(AT, &data(0, 20_000)).0, Accept::Advanced);
    assert_eq!((r.rcv_nxt(), r.received(), r.ack_due()), (Offset(10_000), 10_000, true));
    assert_eq!(r.on_segment(AT, &data(10_000, 10_001)).0, Accept::Same, "nothing announced beyond: the ACK counts");
    assert_eq!(r.on_segment(AT, &data(10_001, 10_002)).0, Accept::No);
    assert_eq!(r.received(), 10_000);
    ack(&mut r);
    assert_eq!(r.on_segment(AT, &data(9_000, 11_000)).0, Accept::Advanced);
    assert_eq!(r.received(), 11_000);
}

#[test]
fn the_window_test_of_rfc_9293_decides_what_counts() {
    let mut r = Receiver::new(&ReceiverConfig { rcv_nxt: Offset(1000), ..config() });
    let mut now = AT;
    for (seg, want, due) in [
        (data(1000, 1000), Accept::Same, false),
        (data(999, 999), Accept::Same, true),
        (data(998, 998), Accept::No, true),
        (data(11_000, 11_000), Accept::Same, false),
        (data(11_001, 11_001), Accept::No, true),
        (data(500, 1000), Accept::No, true),
        (data(11_000, 11_500), Accept::No, true),
        (data(10_999, 11_500), Accept::Same, true),
        (with(data(999, 999), Segment::RST), Accept::No, false),
        (with(data(1000, 1000), Segment::RST), Accept::Same, false),
        (with(data(0, 0), Segment::SYN), Accept::No, true),
        (with(data(1000, 1000), Segment::SYN), Accept::No, true),
        (data(u64::MAX - 3, u64::MAX), Accept::No, true),
        (Segment { len: u32::MAX, ..data(u64::MAX, u64::MAX) }, Accept::No, true),
    ] {
        // Far enough apart that each is answered.
        now += Nanos::from_secs(1);
        assert_eq!((r.on_segment(now, &seg).0, r.ack_due()), (want, due), "{seg:?}");
        ack(&mut r);
    }
    assert_eq!(r.rcv_nxt(), Offset(1000));
}

#[test]
fn a_fin_counts_when_all_before_it_has_arrived() {
    let mut r = Receiver::new(&config());
    assert_eq!(r.on_segment(AT, &with(data(500, 1000), Segment::FIN)).0, Accept::Same);
    assert_eq!((r.fin_received(), show(&ack(&mut r)).as_str()), (false, "0: 500-1000"));
    assert_eq!(r.on_segment(AT, &data(1000, 1200)).0, Accept::Same, "nothing lies behind a FIN");
    assert_eq!(r.on_segment(AT, &data(0, 500)).0, Accept::Finished);
    assert_eq!((r.rcv_nxt(), r.received(), r.fin_received()), (Offset(1001), 1000, true));
    assert_eq!(r.on_segment(AT, &with(data(500, 1000), Segment::FIN)).0, Accept::No, "the same again");
    assert_eq!(show(&ack(&mut r)), "1001: 500-1000");
    for late in [data(1001, 1500), with(data(1001, 1001), Segment::FIN), with(data(900, 1200), Segment::FIN)] {
        assert_eq!(r.on_segment(AT, &late).0, Accept::Same, "nothing lies behind a FIN");
    }
    assert_eq!(show(&ack(&mut r)), "1001: 900-1000", "and it is no byte of data");
    assert_eq!((r.rcv_nxt(), r.received()), (Offset(1001), 1000));
}

#[test]
fn a_fin_needs_room_in_the_window() {
    let mut r = Receiver::new(&config());
    assert_eq!(r.on_segment(AT, &with(data(0, 10_000), Segment::FIN)).0, Accept::Advanced);
    assert!(!r.fin_received() && r.ack_due());
    ack(&mut r);
    assert_eq!(r.on_segment(AT, &with(data(10_000, 10_000), Segment::FIN)).0, Accept::Finished);
}

#[test]
fn a_fin_below_data_that_arrived_is_not_believed() {
    let mut r = Receiver::new(&config());
    r.on_segment(AT, &data(1000, 1500));
    assert_eq!(r.on_segment(AT, &with(data(0, 500), Segment::FIN)).0, Accept::Advanced);
    assert_eq!(r.on_segment(AT, &data(500, 1000)).0, Accept::Advanced);
    assert_eq!((r.received(), r.fin_received()), (1500, false));
}

#[test]
fn a_bare_fin_is_answered_at_once_whatever_the_policy() {
    let spec = AckSpec::Delayed { delay: Nanos::from_millis(200) };
    let mut r = Receiver::new(&ReceiverConfig { ack: spec, ..config() });
    assert_eq!(r.on_segment(AT, &with(data(0, 0), Segment::FIN)).0, Accept::Finished);
    assert!(r.ack_due());
    assert_eq!(r.on_segment(AT, &with(data(1, 1), Segment::FIN)).0, Accept::Same, "there is one FIN only");
    assert_eq!(r.rcv_nxt(), Offset(1));
}

#[test]
fn a_delayed_ack_leaves_at_its_time_and_a_sent_one_clears_the_timer() {
    let spec = AckSpec::Delayed { delay: Nanos::from_millis(200) };
    let mut r = Receiver::new(&ReceiverConfig { ack: spec, ..config() });
    r.on_segment(AT, &data(0, 500));
    let at = AT + Nanos::from_millis(200);
    assert_eq!((r.ack_due(), r.next_timer()), (false, Some(at)));
    r.on_timer(Time(at.0 - 1));
    assert!(!r.ack_due());
    r.on_timer(at);
    assert_eq!((r.ack_due(), r.next_timer()), (true, None));
    ack(&mut r);
    r.on_segment(at, &data(500, 1000));
    ack(&mut r);
    assert_eq!((r.ack_due(), r.next_timer()), (false, None));
}

#[test]
fn what_the_window_cut_off_is_answered_at_once() {
    let spec = AckSpec::Delayed { delay: Nanos::from_millis(200) };
    let mut r = Receiver::new(&ReceiverConfig { ack: spec, ..config() });
    assert_eq!((r.on_segment(AT, &data(0, 10_001)).0, r.ack_due()), (Accept::Advanced, true));
}

#[test]
fn a_syn_or_rst_reports_no_duplicate() {
    let mut r = Receiver::new(&config());
    r.on_segment(AT, &data(0, 1000));
    ack(&mut r);
    for flag in [Segment::SYN, Segment::RST] {
        assert_eq!(r.on_segment(AT, &with(data(0, 500), flag)).0, Accept::No);
        assert_eq!(show(&ack(&mut r)), "1000:");
    }
}

#[test]
fn a_segment_that_fills_a_hole_is_answered_at_once() {
    let spec = AckSpec::Delayed { delay: Nanos::from_millis(200) };
    let mut r = Receiver::new(&ReceiverConfig { ack: spec, ..config() });
    r.on_segment(AT, &data(1000, 1500));
    ack(&mut r);
    for (left, right) in [(0, 500), (500, 1000)] {
        r.on_segment(AT, &data(left, right));
        assert!(r.ack_due(), "{left}");
        ack(&mut r);
    }
    r.on_segment(AT, &data(1500, 2000));
    assert!(!r.ack_due(), "no hole any more");
}

#[test]
fn the_policy_sees_every_segment_of_a_train() {
    let spec = AckSpec::Delayed { delay: Nanos::from_millis(200) };
    for (train, due) in [(0, false), (1, false), (2, true), (3, true), (4, true)] {
        let mut r = Receiver::new(&ReceiverConfig { ack: spec.clone(), ..config() });
        r.on_segment(AT, &Segment { train, ..data(0, 2000) });
        assert_eq!((r.ack_due(), r.received()), (due, 2000), "{train}");
    }
}

#[test]
fn the_echoed_timestamp_is_that_of_the_segment_that_the_ack_answers() {
    let spec = AckSpec::Delayed { delay: Nanos::from_millis(200) };
    let mut r = Receiver::new(&ReceiverConfig { timestamps: true, ts_recent: Some(1), ack: spec, ..config() });
    // RFC 7323 §4.3: The timestamp echoed: (A) of the oldest delayed segment, (B) not of an out-of-order segment, (C) of the
    // segment that fills the hole.
    for (arrivals, echo) in [
        (&[(0, 500, 2), (500, 1000, 3)][..], 2),
        (&[(1500, 2000, 5)], 2),
        (&[(2000, 2500, 6)], 2),
        (&[(1000, 1500, 7)], 7),
        (&[(2500, 3000, 8)], 8),
    ] {
        for &(l, e, ts) in arrivals {
            r.on_segment(AT, &stamped(data(l, e), ts));
        }
        let out = ack(&mut r);
        assert_eq!((out.tsecr, out.opts), (echo, Segment::TIMESTAMPS), "{arrivals:?}");
    }
}

#[test]
fn a_segment_from_another_age_is_answered_and_dropped() {
    let mut r = Receiver::new(&ReceiverConfig { timestamps: true, ts_recent: Some(100), ..config() });
    assert_eq!((r.on_segment(AT, &stamped(data(0, 500), 99)).0, r.ack_due()), (Accept::No, true));
    ack(&mut r);
    assert_eq!((r.on_segment(AT, &data(0, 500)).0, r.ack_due()), (Accept::No, false), "RFC 7323 §3.2: silently");
    let rst = with(data(0, 0), Segment::RST);
    assert_eq!(r.on_segment(AT, &rst).0, Accept::Same, "a RST needs no timestamp");
    assert_eq!(r.on_segment(AT, &stamped(data(0, 500), 100)).0, Accept::Advanced);
    r.on_segment(AT, &stamped(data(0, 500), 99));
    assert_eq!(show(&ack(&mut r)), "500: 0-500", "its data is a duplicate all the same");
}

fn by_hand_config(buffer: Bytes) -> ReceiverConfig {
    ReceiverConfig { buffer, consume: Consume::ByHand, ..config() }
}

fn by_hand(buffer: Bytes, wscale: u8) -> Receiver {
    Receiver::new(&ReceiverConfig { wscale, ..by_hand_config(buffer) })
}

#[test]
fn the_window_is_what_the_header_can_carry() {
    for (buffer, wscale, wnd) in [
        (0, 0, 0),
        (70_000, 0, 65_535),
        (70_000, 1, 70_000),
        (70_001, 1, 70_000),
        (70_000, 7, 69_888),
        (100, 7, 128),
        (0, 7, 0),
        (u64::MAX, 14, 65_535 << 14),
        (u64::MAX, 255, 65_535 << 14),
    ] {
        let mut r = by_hand(buffer, wscale);
        assert_eq!(ack(&mut r).wnd, wnd, "{buffer} {wscale}");
    }
}

#[test]
fn the_window_closes_as_the_buffer_fills_and_the_edge_stays() {
    let mut r = by_hand(2000, 0);
    for (right, wnd) in [(500, 1500), (1000, 1000), (1500, 500), (2000, 0)] {
        r.on_segment(AT, &data(right - 500, right));
        assert_eq!(ack(&mut r).wnd, wnd);
    }
    assert_eq!((r.on_segment(AT, &data(2000, 2001)).0, r.ack_due()), (Accept::Same, true), "a probe is answered");
    assert_eq!((r.unread(), ack(&mut r).wnd), (2000, 0));
    assert_eq!(r.on_segment(AT, &with(data(2000, 2000), Segment::SYN)).0, Accept::No);
}

#[test]
fn a_window_opens_by_a_segment_or_half_the_buffer_at_least() {
    let mut r = by_hand(2000, 0);
    r.on_segment(AT, &data(0, 2000));
    ack(&mut r);
    r.consume(499);
    assert!(!r.ack_due());
    assert_eq!(ack(&mut r).wnd, 0, "RFC 9293 §3.8.6.2.2: not worth announcing");
    r.consume(1);
    assert!(r.ack_due());
    assert_eq!(ack(&mut r).wnd, 500);

    let mut small = by_hand(600, 0);
    small.on_segment(AT, &data(0, 600));
    ack(&mut small);
    small.consume(300);
    assert!(small.ack_due(), "half of a small buffer");
}

#[test]
fn the_window_of_an_empty_buffer_is_always_whole() {
    for mut r in [Receiver::new(&config()), by_hand(10_000, 0)] {
        r.on_segment(AT, &data(0, 1));
        r.consume(1);
        assert_eq!(ack(&mut r).wnd, 10_000);
    }
}

#[test]
fn no_window_is_advertised_after_the_fin() {
    let mut r = by_hand(2000, 0);
    r.on_segment(AT, &with(data(0, 1999), Segment::FIN));
    ack(&mut r);
    r.consume(1999);
    assert!(!r.ack_due());
}

#[test]
fn reading_at_once_does_not_undo_delayed_acks() {
    let spec = AckSpec::Delayed { delay: Nanos::from_millis(200) };
    let mut r = Receiver::new(&ReceiverConfig { ack: spec, consume: Consume::ByHand, ..config() });
    r.on_segment(AT, &data(0, 500));
    r.consume(500);
    assert!(!r.ack_due());
    r.on_segment(AT, &data(500, 1000));
    r.consume(500);
    assert!(r.ack_due());
    assert_eq!(ack(&mut r).wnd, 10_000);
}

#[test]
fn the_edge_that_is_kept_never_exceeds_the_buffer_by_rounding() {
    let mut r = by_hand(1280, 7);
    for at in 0..2000 {
        r.on_segment(AT, &data(at, at + 1));
        let out = ack(&mut r);
        assert_eq!(out.wnd % 128, 0);
        assert!(r.unread() + (r.right_edge() - r.rcv_nxt()) <= 1280);
    }
    assert_eq!(r.unread(), 1280);
}

#[test]
fn a_buffer_larger_than_the_header_can_say_announces_all_it_can_until_less_room_is_left() {
    for edge in [WindowEdge::Segment, WindowEdge::Exact] {
        let cfg = ReceiverConfig { buffer: 100_000, edge, consume: Consume::ByHand, ..config() };
        let mut r = Receiver::new(&cfg);
        for at in (0..34_000).step_by(500) {
            r.on_segment(AT, &data(at, at + 500));
            assert_eq!(ack(&mut r).wnd, 65_535, "{at} {edge:?}");
        }
        r.on_segment(AT, &data(34_000, 36_000));
        let left = ack(&mut r).wnd;
        assert!((63_535..=64_000).contains(&left), "{left} {edge:?}");
        r.consume(36_000);
        assert_eq!(ack(&mut r).wnd, 65_535);
    }
}

#[test]
fn an_exact_edge_follows_what_is_read_and_waits_only_near_zero() {
    let mut r = Receiver::new(&ReceiverConfig { edge: WindowEdge::Exact, ..by_hand_config(2000) });
    r.on_segment(AT, &data(0, 2000));
    ack(&mut r);
    // FreeBSD, `tcp_output`: less than a segment and less than a quarter of the buffer is 0.
    for (read, wnd) in [(1, 0), (498, 0), (1, 500), (1, 501), (99, 600)] {
        r.consume(read);
        assert_eq!(ack(&mut r).wnd, wnd, "{read}");
    }
    let mut small = Receiver::new(&ReceiverConfig { edge: WindowEdge::Exact, ..by_hand_config(400) });
    small.on_segment(AT, &data(0, 400));
    ack(&mut small);
    for (read, wnd) in [(99, 0), (1, 100), (7, 107)] {
        small.consume(read);
        assert_eq!(ack(&mut small).wnd, wnd, "{read}: a quarter of the buffer");
    }
}

#[test]
fn a_buffer_grows_to_its_largest_and_its_edge_never_moves_left() {
    let receive_window = ReceiveWindowSpec::Drs(DrsSpec { initial: 10_000 });
    let mut r = Receiver::new(&ReceiverConfig { buffer: 100_000, wscale: 1, receive_window, ..config() });
    let (mut seen, mut edge) = (vec![], Offset(0));
    // The peer sends as much as it may, once per round trip.
    for round in 0..10 {
        let (now, from, to) = (Time(round * 100_000_000), r.rcv_nxt(), r.right_edge());
        for at in (from.0..to.0).step_by(500) {
            r.on_segment(now, &data(at, (at + 500).min(to.0)));
            let mut out = Segment::EMPTY;
            r.fill_ack(now, &mut out, u32::MAX);
            assert!(out.ack + u64::from(out.wnd) >= edge);
            edge = out.ack + u64::from(out.wnd);
        }
        seen.push(edge - r.rcv_nxt());
    }
    // The data of a round trip is known one round trip later.
    assert_eq!(seen[0], 10_000);
    assert!(seen.windows(2).all(|w| w[1] <= (2 * w[0]).min(100_000) && w[0] <= w[1]), "{seen:?}");
    assert_eq!((seen[9], r.buffer()), (100_000, 100_000), "{seen:?}");
}

#[test]
fn news_without_room_beside_the_payload_goes_alone() {
    let full = |r: &mut Receiver, room| {
        let mut out = Segment { len: 500, ..Segment::EMPTY };
        r.fill_ack(AT, &mut out, room);
        show(&out)
    };
    for room in [0, 11] {
        let mut r = Receiver::new(&config());
        r.on_segment(AT, &data(0, 1000));
        r.on_segment(AT, &data(0, 500));
        assert_eq!((full(&mut r, room), r.ack_due()), ("1000:".into(), true), "a duplicate");
        assert_eq!((show(&ack(&mut r)), r.ack_due()), ("1000: 0-500".into(), false));
        r.on_segment(AT, &data(2000, 2500));
        assert_eq!((full(&mut r, room), r.ack_due()), ("1000:".into(), true), "a gap");
        assert_eq!((show(&ack(&mut r)), r.ack_due()), ("1000: 2000-2500".into(), false));
        assert_eq!((full(&mut r, room), r.ack_due()), ("1000:".into(), false), "nothing is new");
    }
    let mut r = Receiver::new(&config());
    for s in [data(1000, 1500), data(2000, 2500), data(3000, 3500)] {
        r.on_segment(AT, &s);
    }
    assert_eq!((full(&mut r, 20), r.ack_due()), ("0: 3000-3500 2000-2500".into(), false), "what fits rides along");
}
