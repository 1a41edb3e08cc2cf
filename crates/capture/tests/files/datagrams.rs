//! UDP with sequence numbers: RTP and iperf3 are recognized, and nothing else is mistaken for them.

use crate::make::{pcap, read_all, MS, START};
use ackclock_capture::datagrams::{Format, Numbered};
use ackclock_capture::link::Kind;
use ackclock_capture::Traffic;

const SOURCE: u32 = 0xdead_beef;

/// A datagram from 10.0.0.1:5004 to 10.0.0.2:`to`, its IP header first.
fn udp(to: u16, payload: &[u8]) -> Vec<u8> {
    let words = [5004, to, 8 + payload.len() as u16, 0];
    let mut ip = vec![0x45, 0, 0, 0, 0, 9, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    ip.extend(words.iter().flat_map(|w| w.to_be_bytes()));
    ip.extend_from_slice(payload);
    let len = ip.len() as u16;
    ip[2..4].copy_from_slice(&len.to_be_bytes());
    ip
}

/// RFC 3550 §5.1: version 2, no padding, extension or contributing sources; payload type 96.
fn rtp(sequence: u16) -> Vec<u8> {
    let mut bytes = vec![0x80, 96];
    bytes.extend(sequence.to_be_bytes());
    bytes.extend((u32::from(sequence) * 160).to_be_bytes());
    bytes.extend(SOURCE.to_be_bytes());
    bytes.resize(172, 0);
    bytes
}

/// iperf3's: seconds, microseconds, a count; the rest is arbitrary.
fn iperf(micros: u32, count: u64, wide: bool) -> Vec<u8> {
    let mut bytes = (70_000 + micros / 1_000_000).to_be_bytes().to_vec();
    bytes.extend((micros % 1_000_000).to_be_bytes());
    if wide {
        bytes.extend(count.to_be_bytes());
    } else {
        bytes.extend((count as u32).to_be_bytes());
        bytes.extend([0x5a; 4]);
    }
    bytes.resize(400, 0x5a);
    bytes
}

/// Ten milliseconds apart, at most 60 bytes of each captured.
fn captured(packets: &[Vec<u8>]) -> Traffic {
    let all: Vec<_> =
        packets.iter().zip(0..).map(|(p, i)| (START + 10 * i * MS, &p[..p.len().min(60)], p.len())).collect();
    read_all(&pcap(101, &all)).2
}

/// The order in which numbers arrive: 5 was lost, 8 is late by two, 11 arrives twice, and the path delays its first copy.
const ORDER: [u64; 20] = [1, 0, 2, 3, 4, 6, 7, 9, 10, 8, 11, 11, 12, 13, 14, 15, 16, 17, 18, 19];

fn is_measured(numbered: &Numbered, bytes: u64) {
    let order = &numbered.order;
    assert_eq!((order.packets(), order.duplicates(), numbered.lost()), (19, 1, 1));
    let extents: Vec<_> = order.late().extents.clone().into_iter().collect();
    assert_eq!(extents, [(1, 1), (2, 1)]);
    assert_eq!((numbered.bytes, numbered.restarts), (20 * bytes, 0));
    assert_eq!((numbered.first_frame, numbered.last - numbered.first), (1, 190 * MS));
    assert_eq!(numbered.name(), "10.0.0.1:5004 > 10.0.0.2:7000");
}

#[test]
fn what_rtp_lost_and_reordered_is_found_across_the_wrap_of_its_numbers() {
    let packets: Vec<_> = ORDER.iter().map(|n| udp(7000, &rtp(65_530u16.wrapping_add(*n as u16)))).collect();
    let traffic = captured(&packets);
    let [numbered] = &traffic.numbered[..] else { panic!("{:?}", traffic.numbered) };
    assert_eq!(numbered.format, Format::Rtp { source: SOURCE });
    is_measured(numbered, 172);
    assert_eq!(traffic.others[Kind::Udp as usize], (0, 0), "they are analysed");
}

#[test]
fn iperf3s_datagrams_are_found_with_counts_of_either_size() {
    for (wide, format) in [(false, Format::Iperf3), (true, Format::Iperf3Wide)] {
        let packets: Vec<_> = ORDER.iter().map(|n| udp(7000, &iperf(*n as u32 * 10_000, 100 + n, wide))).collect();
        let traffic = captured(&packets);
        let [numbered] = &traffic.numbered[..] else { panic!("{:?}", traffic.numbered) };
        assert_eq!(numbered.format, format);
        is_measured(numbered, 400);
    }
}

#[test]
fn what_only_looks_like_it_stays_udp() {
    let same = |make: &dyn Fn(u32) -> Vec<u8>| (0..40).map(|n| udp(7000, &make(n))).collect::<Vec<_>>();
    let mut wild = 77u32;
    let mut random = move || {
        wild = wild.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        wild
    };
    let noise: Vec<u32> = (0..4000).map(|_| random()).collect();
    let kinds: [(&str, Vec<Vec<u8>>); 8] = [
        // DNS: identification, flags, four counts.
        ("DNS", same(&|n| [&[0x80, n as u8, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1][..], &[9; 20]].concat())),
        // RTCP at RTP's port: sender reports (200), with their lengths where RTP has its numbers.
        (
            "RTCP",
            same(&|n| [&[0x80, 200, 0, n as u8][..], &SOURCE.to_be_bytes(), &SOURCE.to_be_bytes(), &[9; 40]].concat()),
        ),
        ("one number", same(&|_| rtp(7))),
        ("far steps", same(&|n| rtp((n * 700) as u16))),
        ("too short for iperf3", same(&|n| iperf(n * 10_000, n.into(), false)[..12].to_vec())),
        (
            "a million microseconds",
            same(&|n| {
                [&iperf(n * 10_000, n.into(), false)[..4], &[0, 15, 66, 64], &n.to_be_bytes(), &[9; 40]].concat()
            }),
        ),
        ("old times", same(&|n| iperf(n * 3_000_000, n.into(), false))),
        ("noise", same(&|n| noise[n as usize * 100..][..100].iter().flat_map(|w| w.to_be_bytes()).collect())),
    ];
    for (name, packets) in kinds {
        let traffic = captured(&packets);
        assert!(traffic.numbered.is_empty(), "{name}: {:?}", traffic.numbered);
        assert_eq!(traffic.others[Kind::Udp as usize].0, 40, "{name}");
    }
}

#[test]
fn rtcp_within_a_flow_of_rtp_is_counted_as_udp_and_sources_are_told_apart() {
    let report = [&[0x81, 201, 0, 7][..], &SOURCE.to_be_bytes(), &[9; 24]].concat();
    let mut packets = Vec::new();
    for n in 0..30 {
        packets.push(udp(7000, &rtp(n)));
        let mut other = rtp(500 + n);
        other[11] = 1;
        packets.push(udp(7000, &other));
        if n % 10 == 5 {
            packets.push(udp(7000, &report));
        }
    }
    let traffic = captured(&packets);
    let sources: Vec<_> = traffic.numbered.iter().map(|n| (n.format.source(), n.order.packets(), n.lost())).collect();
    assert_eq!(sources, [(Some(SOURCE), 30, 0), (Some(0xdead_be01), 30, 0)]);
    assert_eq!(traffic.others[Kind::Udp as usize].0, 3);
}

#[test]
fn a_sender_that_counts_on_elsewhere_has_lost_nothing() {
    let numbers = (0..20).chain(30_000..30_020);
    let packets: Vec<_> = numbers.map(|n| udp(7000, &rtp(n))).collect();
    let [numbered] = &captured(&packets).numbered[..] else { panic!("one") };
    assert_eq!((numbered.restarts, numbered.lost(), numbered.order.packets()), (1, 0, 39));
}
