//! The border: every field in both directions, and numbers that wrap, precede the SYN, and are scaled or not.

use crate::some::cases;
use ackclock_tcp::connection::State;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::{Offset, SeqNum};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_wire::{
    parse, Border, BorderError, Buffers, Checksums, Dialect, Endpoint, Header, Initial, Options, Packet, Writing,
};
use proptest::prelude::*;
use std::net::SocketAddr;

const NEAR: u64 = 1 << 30;

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn border(local: &str, remote: &str, isn: u32, timestamp_offset: u32) -> Border {
    let initial = Initial { isn: SeqNum(isn), timestamp_offset, label: 0xffff };
    Border::new(address(local), address(remote), 1500, initial, Dialect::Linux).unwrap()
}

const SYN: Segment = Segment { flags: Segment::SYN, mss: 1460, wnd: 65_535, ..Segment::EMPTY };

/// The segment that `to` reads from the packet that `from` writes.
fn over(from: &mut Border, to: &mut Border, seg: &Segment) -> Segment {
    let mut buf = vec![0; 70_000];
    let w = from.write(seg, Writing::Whole, &mut buf, |p| p.fill(7)).unwrap();
    let packet = parse(&buf[..w.len], Checksums::Verify).unwrap();
    to.read(&Packet { train: seg.train, ..packet })
}

/// Two borders that have seen a handshake, with these window scales.
fn met(ipv6: bool, isn: [u32; 2], clocks: [u32; 2], shifts: [u8; 2]) -> [Border; 2] {
    let [a, b] = if ipv6 { ["[fd00::1]:1", "[fd00::2]:2"] } else { ["10.0.0.1:1", "10.0.0.2:2"] };
    let mut ends = [border(a, b, isn[0], clocks[0]), border(b, a, isn[1], clocks[1])];
    let [one, two] = &mut ends;
    let syn = Segment { wscale: shifts[0], ..SYN };
    assert_eq!(over(one, two, &syn), syn);
    let answer = Segment { flags: Segment::SYN | Segment::ACK, ack: Offset(1), wscale: shifts[1], ..SYN };
    assert_eq!(over(two, one, &answer), answer);
    ends
}

/// Moves both to these offsets, with a bare ACK from each.
fn advance(ends: &mut [Border; 2], at: [u64; 2]) {
    for (from, to) in [(0, 1), (1, 0)] {
        let mut buf = [0; 100];
        let seg = Segment { seq: Offset(at[from]), ack: Offset(at[to]), flags: Segment::ACK, ..Segment::EMPTY };
        ends[from].write(&seg, Writing::Whole, &mut buf, |_| {}).unwrap();
    }
}

prop_compose! {
    /// A segment as the engine writes it at about `seq`, acknowledging about `ack`; windows fit the scale.
    fn segment(at: [u64; 2], shift: u8)(
        (back, len, train) in (0..NEAR.min(at[0]), prop_oneof![Just(0u32), 1u32..1200], 1u16..20),
        ack_back in 0..NEAR.min(at[1]),
        wnd in any::<u16>(),
        flags in any::<u8>().prop_map(|f| f & 0xd9 | Segment::ACK),
        ecn in prop_oneof![Just(0), Just(Segment::ECT), Just(Segment::ECT | Segment::CE)],
        stamps in any::<Option<(u32, u32)>>(),
        blocks in prop::collection::vec((-100_000_000i32..1_000_000_000, 1i32..1_000_000), 0..=4),
    ) -> Segment {
        let mut seg = Segment {
            seq: Offset(at[0] - back),
            ack: Offset(at[1] - ack_back),
            len: len * u32::from(train),
            train,
            wnd: u32::from(wnd) << shift,
            flags: flags & !Segment::SYN,
            opts: ecn,
            ..Segment::EMPTY
        };
        if let Some((tsval, tsecr)) = stamps {
            (seg.opts, seg.tsval, seg.tsecr) = (seg.opts | Segment::TIMESTAMPS, tsval, tsecr);
        }
        let room = if stamps.is_some() { 3 } else { 4 };
        for (left, len) in blocks.into_iter().take(room) {
            if i64::from(left) + seg.ack.0 as i64 >= 0 {
                seg.push_sack(Offset(seg.ack.0.saturating_add_signed(left.into())), Offset(seg.ack.0.saturating_add_signed((left + len).into())));
            }
        }
        seg
    }
}

fn places() -> impl Strategy<Value = u64> {
    // Around every wrap up to the third, and anywhere.
    prop_oneof![1u64..3_000, (0u64..4, 1u64..3_000_000_000).prop_map(|(turn, more)| (turn << 32) + more), 1u64..1 << 45]
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_field_of_a_segment_survives_the_way_over_the_border(
        (ipv6, isn, clocks) in any::<(bool, [u32; 2], [u32; 2])>(),
        shifts in [0u8..=14, 0u8..=14],
        (at, seg) in (places(), places()).prop_flat_map(|(a, b)| (Just([a, b]), segment([a, b], 0))),
        window in any::<u16>(),
    ) {
        let mut ends = met(ipv6, isn, clocks, shifts);
        advance(&mut ends, at);
        let mut seg = Segment { wnd: u32::from(window) << shifts[0], ..seg };
        // Blocks have a separate test if data leaves them no room.
        if seg.len > 0 {
            seg.blocks = 0;
        }
        let [one, two] = &mut ends;
        let read = over(one, two, &seg);
        let blocks: Vec<_> = seg.sack_blocks().collect();
        prop_assert_eq!(read.sack_blocks().collect::<Vec<_>>(), blocks);
        // The clock of the writing side is ahead by its offset; the echo is the other side's own clock.
        let stamped = seg.opts & Segment::TIMESTAMPS != 0;
        let (tsval, tsecr) = if stamped { (seg.tsval.wrapping_add(clocks[0]), seg.tsecr.wrapping_sub(clocks[1])) } else { (0, 0) };
        prop_assert_eq!(read, Segment { tsval, tsecr, sack: read.sack, ..seg });
    }

    #[test]
    fn an_echo_is_what_the_clock_said(isn: [u32; 2], clocks: [u32; 2], tsval: u32) {
        let [mut one, mut two] = met(false, isn, clocks, [7, 7]);
        let seg = Segment { seq: Offset(1), ack: Offset(1), flags: Segment::ACK, opts: Segment::TIMESTAMPS, tsval, ..Segment::EMPTY };
        let heard = over(&mut one, &mut two, &seg);
        let echo = over(&mut two, &mut one, &Segment { tsecr: heard.tsval, tsval: 9, ..seg });
        prop_assert_eq!(echo.tsecr, tsval);
    }
}

#[test]
fn offsets_continue_through_three_wraps_of_the_sequence_numbers() {
    let [mut one, mut two] = met(false, [u32::MAX - 5, 3_000_000_000], [0, 0], [14, 14]);
    let (mut at, step) = (1u64, 700_001_003u64);
    while at < 3 << 32 {
        let data = Segment { seq: Offset(at), ack: Offset(at), len: 1000, flags: Segment::ACK, ..Segment::EMPTY };
        assert_eq!(over(&mut one, &mut two, &data).seq, Offset(at));
        let old = Segment { seq: Offset(at.saturating_sub(1 << 30).max(1)), ..data };
        assert_eq!(over(&mut one, &mut two, &old).seq, old.seq, "an old one, at {at}");
        let ack = Segment { seq: Offset(at), ack: Offset(at + 1000), len: 0, ..data };
        assert_eq!(over(&mut two, &mut one, &ack).ack, Offset(at + 1000));
        at += step;
    }
}

#[test]
fn the_window_of_a_syn_is_never_scaled_and_no_window_is_unless_both_syns_said_so() {
    let none = Segment::NO_SCALE;
    for (shifts, want) in [([3, 7], 500 << 3), ([0, 7], 500), ([3, none], 500), ([none, 7], 500), ([none, none], 500)] {
        let [mut one, mut two] = met(false, [1, 2], [0, 0], shifts);
        let header = raw(&mut one, &Segment { flags: Segment::ACK, wnd: want, ..Segment::EMPTY });
        assert_eq!(header.window, 500, "{shifts:?}");
        assert_eq!(two.read(&packet(header)).wnd, want, "{shifts:?}");
        let again = over(&mut one, &mut two, &Segment { wscale: shifts[0], ..SYN });
        assert_eq!(again.wnd, 65_535, "{shifts:?}");
    }
}

fn raw(from: &mut Border, seg: &Segment) -> Header {
    let mut buf = [0; 2000];
    let w = from.write(seg, Writing::Whole, &mut buf, |_| {}).unwrap();
    parse(&buf[..w.len], Checksums::Verify).unwrap().header
}

fn packet(header: Header) -> Packet<'static> {
    Packet { header, option_bytes: &[], payload: &[], train: 1 }
}

#[test]
fn options_of_a_syn_count_on_a_syn_only_and_a_shift_of_more_than_14_is_14() {
    let [mut one, mut two] = met(false, [1, 2], [0, 0], [3, 7]);
    let options = Options { mss: Some(9), window_scale: Some(255), sack_permitted: true, ..Options::default() };
    let header = Header { options, ..raw(&mut one, &Segment { flags: Segment::ACK, ..Segment::EMPTY }) };
    let read = two.read(&packet(header));
    assert_eq!((read.mss, read.wscale, read.opts), (0, Segment::NO_SCALE, 0));
    let read = two.read(&packet(Header { flags: Segment::SYN, ..header }));
    assert_eq!((read.mss, read.wscale, read.opts), (9, 14, Segment::SACK_PERMITTED));
}

#[test]
fn urgent_data_are_data() {
    let [mut one, mut two] = met(false, [1, 2], [0, 0], [3, 7]);
    let header = raw(&mut one, &Segment { flags: ACK | 0x20, ..Segment::EMPTY });
    assert_eq!(header.flags, ACK);
    assert_eq!(two.read(&packet(Header { flags: ACK | 0x20, urgent: 9, ..header })).flags, ACK);
}

#[test]
fn sack_blocks_give_way_to_data_up_to_the_mtu() {
    let [mut one, mut two] = met(false, [1, 2], [0, 0], [3, 7]);
    let mut seg = Segment { flags: Segment::ACK, ack: Offset(1), opts: Segment::TIMESTAMPS, ..Segment::EMPTY };
    (0..3).for_each(|i| seg.push_sack(Offset(100 * i + 50), Offset(100 * i + 90)));
    for (len, blocks) in [(0, 3), (1420, 3), (1421, 2), (1428, 2), (1429, 1), (1436, 1), (1437, 0), (1448, 0)] {
        let mut buf = [0; 2000];
        let w = one.write(&Segment { len, ..seg }, Writing::Whole, &mut buf, |_| {}).unwrap();
        assert!(w.len <= 1500);
        assert_eq!(two.read(&parse(&buf[..w.len], Checksums::Verify).unwrap()).blocks, blocks, "{len}");
    }
}

fn endpoint(connects: bool) -> Endpoint {
    let (stack, buffers) = (Stack::named("rfc-6675").unwrap(), Buffers { send: 10_000, receive: 10_000 });
    if connects {
        Endpoint::connect(&stack, border("10.0.0.1:1", "10.0.0.2:2", 1_000_000, 0), buffers)
    } else {
        Endpoint::listen(&stack, border("10.0.0.1:1", "10.0.0.2:2", 1_000_000, 0), buffers)
    }
}

/// The next packet of an end.
fn sent(end: &mut Endpoint) -> Option<Header> {
    let mut buf = [0; 2000];
    let w = end.poll_transmit(Time(1), Writing::Whole, &mut buf, &mut ()).unwrap()?;
    Some(parse(&buf[..w.len], Checksums::Verify).unwrap().header)
}

fn receive(end: &mut Endpoint, seq: u32, ack: u32, flags: u8, payload: &[u8]) -> u32 {
    let header = Header {
        src: address("10.0.0.2:2"),
        dst: address("10.0.0.1:1"),
        seq: SeqNum(seq),
        ack: SeqNum(ack),
        flags,
        reserved: 0,
        window: 9_000,
        urgent: 0,
        options: Options::default(),
        traffic_class: 0,
        hop_limit: 1,
        label: 0,
    };
    end.on_packet(Time(1), &Packet { payload, ..packet(header) }, &mut ()).bytes
}

const ACK: u8 = Segment::ACK;

/// Connected: our SYN has number 1,000,000, the peer's 5,000.
fn established() -> Endpoint {
    let mut end = endpoint(true);
    assert_eq!(sent(&mut end).unwrap().seq, SeqNum(1_000_000));
    receive(&mut end, 5_000, 1_000_001, Segment::SYN | ACK, &[]);
    assert_eq!(end.state(), State::Established);
    assert_eq!(sent(&mut end).unwrap().ack, SeqNum(5_001));
    end
}

#[test]
fn numbers_from_before_the_syn_are_answered_with_an_ack_and_change_nothing() {
    for (seq, ack) in [(4_999, 1_000_001), (3_000_000_000, 1_000_001), (5_001, 999_999), (5_001, 3_000_000_000)] {
        let mut end = established();
        assert_eq!(receive(&mut end, seq, ack, ACK, &[]), 0);
        let answer = sent(&mut end).unwrap_or_else(|| panic!("no answer to {seq}, {ack}"));
        assert_eq!((answer.flags, answer.seq, answer.ack), (ACK, SeqNum(1_000_001), SeqNum(5_001)));
        assert_eq!(receive(&mut end, 5_001, 1_000_001, ACK, b"still here"), 10, "after {seq}, {ack}");
    }
    let mut end = established();
    assert_eq!(receive(&mut end, 4_000, 1_000_001, ACK, b"too old"), 0);
    assert_eq!(receive(&mut end, 4_000, 1_000_001, Segment::RST, &[]), 0);
    assert_eq!(end.state(), State::Established);
}

#[test]
fn an_answer_to_another_syn_is_reset_with_its_own_number_and_its_isn_is_not_believed() {
    for wrong in [1_000_000, 1_000_002, 17, 4_000_000_000] {
        let mut end = endpoint(true);
        sent(&mut end).unwrap();
        receive(&mut end, 77, wrong, Segment::SYN | ACK, &[]);
        let answer = sent(&mut end).unwrap();
        assert_eq!((answer.flags, answer.seq), (Segment::RST, SeqNum(wrong)));
        receive(&mut end, 5_000, 1_000_001, Segment::SYN | ACK, &[]);
        assert_eq!(end.state(), State::Established, "after {wrong}");
        assert_eq!(sent(&mut end).unwrap().ack, SeqNum(5_001));
    }
}

#[test]
fn a_second_syn_in_an_established_connection_is_answered_and_not_believed() {
    for ack in [0, ACK] {
        let mut end = established();
        assert_eq!(receive(&mut end, 9_000_000, 1_000_001, Segment::SYN | ack, b"new"), 0);
        assert_eq!(sent(&mut end).map(|h| h.ack), Some(SeqNum(5_001)));
        assert_eq!(receive(&mut end, 5_001, 1_000_001, ACK, b"old"), 3);
    }
}

#[test]
fn two_that_connect_to_each_other_agree_on_numbers() {
    let mut end = endpoint(true);
    sent(&mut end).unwrap();
    receive(&mut end, 5_000, 0, Segment::SYN, &[]);
    let answer = sent(&mut end).unwrap();
    assert_eq!((answer.flags, answer.seq, answer.ack), (Segment::SYN | ACK, SeqNum(1_000_000), SeqNum(5_001)));
    receive(&mut end, 5_000, 1_000_001, Segment::SYN | ACK, &[]);
    assert_eq!(receive(&mut end, 5_001, 1_000_001, ACK, b"hello"), 5);
}

#[test]
fn whoever_gives_up_before_an_answer_says_nothing() {
    let mut end = endpoint(true);
    sent(&mut end).unwrap();
    end.abort();
    assert_eq!(sent(&mut end), None, "RFC 9293 §3.10.5");
}

#[test]
fn data_with_the_last_ack_of_the_handshake_is_kept() {
    let mut end = endpoint(false);
    receive(&mut end, u32::MAX, 0, Segment::SYN, &[]);
    assert_eq!(sent(&mut end).unwrap().ack, SeqNum(0));
    assert_eq!(receive(&mut end, 0, 1_000_001, ACK | Segment::FIN, b"all at once"), 11);
    assert!(!end.is_at_end(), "there is something to read before it");
    let mut read = [0; 100];
    assert_eq!(end.read(&mut read), 11);
    assert_eq!(&read[..11], b"all at once");
    assert!(end.is_at_end());
    assert_eq!(sent(&mut end).unwrap().ack, SeqNum(12));
}

#[test]
fn a_closed_end_takes_no_more_bytes() {
    let mut end = endpoint(true);
    assert_eq!(end.write(&[1; 20_000]), 16_384);
    assert_eq!(end.room(), 0);
    let mut end = endpoint(true);
    assert_eq!(end.write(b"before"), 6);
    end.close();
    assert_eq!((end.room(), end.write(b"after")), (0, 0));
}

#[test]
fn each_packet_of_ipv4_has_its_identification_and_a_connection_of_ipv6_its_flow_label() {
    let [mut one, _] = met(false, [1, 2], [0, 0], [3, 7]);
    let ack = Segment { flags: ACK, ..Segment::EMPTY };
    let labels = [(); 3].map(|()| raw(&mut one, &ack).label);
    assert_eq!(labels, [0, 1, 2], "the SYN had 0xffff");
    raw(&mut one, &Segment { len: 30, train: 3, ..ack });
    assert_eq!(raw(&mut one, &ack).label, 6);
    let [mut one, _] = met(true, [1, 2], [0, 0], [3, 7]);
    assert_eq!([(); 3].map(|()| raw(&mut one, &ack).label), [0xffff; 3]);
}

#[test]
fn a_border_between_families_or_below_the_least_mtu_is_refused() {
    let initial = Initial { isn: SeqNum(1), timestamp_offset: 0, label: 0 };
    let new = |a, b, mtu| Border::new(address(a), address(b), mtu, initial, Dialect::Linux).map(|b| b.mss());
    assert_eq!(new("10.0.0.1:1", "[::1]:1", 1500), Err(BorderError::MixedFamilies));
    assert_eq!(new("10.0.0.1:1", "10.0.0.2:1", 67), Err(BorderError::Mtu { found: 67, least: 68 }));
    assert_eq!(new("[::2]:1", "[::1]:1", 1279), Err(BorderError::Mtu { found: 1279, least: 1280 }));
    assert_eq!(new("10.0.0.1:1", "10.0.0.2:1", 68), Ok(28));
    assert_eq!(new("[::2]:1", "[::1]:1", 1280), Ok(1220));
    assert_eq!(new("10.0.0.1:1", "10.0.0.2:1", 1_000_000), Ok(65_495));
}
