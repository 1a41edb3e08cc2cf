//! Reading and writing a packet.

use crate::some::{cases, dialect, header, payload};
use ackclock_tcp::seq::SeqNum;
use ackclock_wire::offload::{self, VnetHeader};
use ackclock_wire::{parse, Checksums, Dialect, Header, Options, Refused, WriteError, Writing};
use proptest::prelude::*;

pub(crate) fn plain(ipv6: bool) -> Header {
    let (src, dst) = if ipv6 { ("[fd00::1]:1000", "[fd00::2]:80") } else { ("10.0.0.1:1000", "10.0.0.2:80") };
    Header {
        src: src.parse().unwrap(),
        dst: dst.parse().unwrap(),
        seq: SeqNum(1000),
        ack: SeqNum(2000),
        flags: 0x10,
        reserved: 0,
        window: 500,
        urgent: 0,
        options: Options::default(),
        traffic_class: 0,
        hop_limit: 64,
        label: 7,
    }
}

pub(crate) fn written(header: &Header, payload: &[u8]) -> Vec<u8> {
    let mut buf = vec![0; 2000];
    let fill = |p: &mut [u8]| p.copy_from_slice(payload);
    let w = header.write(Dialect::Linux, Writing::Whole, &mut buf, payload.len(), fill).unwrap();
    buf.truncate(w.len);
    buf
}

/// A packet with extension headers between IPv6's and TCP's: next header, then each one's bytes.
fn extended(first: u8, extensions: &[u8]) -> Vec<u8> {
    let mut packet = written(&plain(true), b"data");
    packet.splice(40..40, extensions.iter().copied());
    packet[6] = first;
    let len = (packet.len() - 40) as u16;
    packet[4..6].copy_from_slice(&len.to_be_bytes());
    packet
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_field_that_is_written_is_read(header in header(), payload in payload(), dialect in dialect(), junk in payload()) {
        let mut buf = vec![0xaa; 300];
        let w = header.write(dialect, Writing::Whole, &mut buf, payload.len(), |p| p.copy_from_slice(&payload)).unwrap();
        prop_assert!(buf[w.len..].iter().all(|b| *b == 0xaa), "wrote beyond its packet");
        buf.truncate(w.len);
        buf.extend(junk);
        let packet = parse(&buf, Checksums::Verify).unwrap();
        prop_assert_eq!(packet.header, header);
        prop_assert_eq!(packet.payload, &payload[..]);
        prop_assert_eq!(packet.payload.as_ptr(), buf[w.payload_at..].as_ptr());
    }

    #[test]
    fn one_bit_that_flips_is_noticed_or_changes_nothing_that_is_read(header in header(), payload in payload(), bit in any::<prop::sample::Index>()) {
        let good = written(&header, &payload);
        let mut bad = good.clone();
        let bit = bit.index(bad.len() * 8);
        bad[bit / 8] ^= 1 << (bit % 8);
        if let Ok(packet) = parse(&bad, Checksums::Verify) {
            // No checksum covers IPv6's class, label and hop limit, and a length of zero means "as long as the bytes".
            let uncovered = bit / 8 < 4 || bit / 8 == 7 || bad[4..6] == [0, 0];
            prop_assert!(!header.src.is_ipv4() && uncovered);
            prop_assert_eq!(packet.payload, &payload[..]);
        }
    }
}

#[test]
fn extension_headers_are_skipped() {
    let hop = [60, 0, 1, 4, 0, 0, 0, 0];
    let destination = [43, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let routing = [44, 0, 253, 0, 0, 0, 0, 0];
    let whole_fragment = [51, 0, 0, 0, 1, 2, 3, 4];
    let authentication = [6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let all = [&hop[..], &destination, &routing, &whole_fragment, &authentication].concat();
    let packet = extended(0, &all);
    assert_eq!(parse(&packet, Checksums::Verify).unwrap().payload, b"data");
}

#[test]
fn what_is_no_segment_is_refused_with_its_reason() {
    let (v4, v6) = (written(&plain(false), b"data"), written(&plain(true), b"data"));
    let changed = |packet: &[u8], at: usize, byte: u8| {
        let mut p = packet.to_vec();
        p[at] = byte;
        p
    };
    let cut_off = |needs, has| Refused::CutOff { needs, has };
    for (what, packet, why) in [
        ("nothing", vec![], cut_off(20, 0)),
        ("version 5", changed(&v4, 0, 0x55), Refused::Version(5)),
        ("half a header", v4[..19].to_vec(), cut_off(20, 19)),
        ("half an IPv6 header", v6[..39].to_vec(), cut_off(40, 39)),
        ("half a packet", v4[..43].to_vec(), cut_off(44, 43)),
        ("half an IPv6 packet", v6[..63].to_vec(), cut_off(64, 63)),
        ("a header of four words", changed(&v4, 0, 0x44), Refused::Length),
        ("a packet shorter than its header", changed(&v4, 3, 19), Refused::Length),
        ("no room for TCP", changed(&v4, 3, 39), Refused::Length),
        ("no room for TCP behind IPv6", changed(&v6, 5, 19), Refused::Length),
        ("a TCP header of four words", changed(&v4, 32, 0x40), Refused::Length),
        ("a TCP header longer than the packet", changed(&v4, 32, 0x70), Refused::Length),
        ("UDP", changed(&v4, 9, 17), Refused::NotTcp(17)),
        ("ICMP for IPv6", changed(&v6, 6, 58), Refused::NotTcp(58)),
        ("a first fragment", changed(&v4, 6, 0x20), Refused::Fragment),
        ("a later fragment", changed(&v4, 7, 1), Refused::Fragment),
        ("a first fragment of IPv6", extended(44, &[6, 0, 0, 1, 0, 0, 0, 0]), Refused::Fragment),
        ("a later fragment of IPv6", extended(44, &[6, 0, 0, 8, 0, 0, 0, 0]), Refused::Fragment),
        ("not there yet", extended(43, &[6, 0, 253, 1, 0, 0, 0, 0]), Refused::Underway),
        ("an extension that does not end", extended(60, &[6, 9, 1, 4, 0, 0, 0, 0]), Refused::Length),
        ("encrypted", extended(50, &[0; 8]), Refused::NotTcp(50)),
    ] {
        assert_eq!(parse(&packet, Checksums::Trust), Err(why), "{what}");
        assert!(!why.to_string().is_empty());
    }
    assert_eq!(parse(&changed(&v4, 8, 63), Checksums::Verify), Err(Refused::IpChecksum));
    assert_eq!(parse(&changed(&v4, 43, 0), Checksums::Verify), Err(Refused::TcpChecksum));
    assert_eq!(parse(&changed(&v6, 63, 0), Checksums::Verify), Err(Refused::TcpChecksum));
}

#[test]
fn a_total_length_of_zero_means_as_long_as_the_bytes() {
    let payload = vec![9; 90_000];
    for ipv6 in [false, true] {
        let mut packet = written(&plain(ipv6), b"");
        packet.extend_from_slice(&payload);
        let at = if ipv6 { 4 } else { 2 };
        packet[at..at + 2].fill(0);
        assert_eq!(parse(&packet, Checksums::Trust).unwrap().payload, payload);
    }
}

#[test]
fn what_does_not_fit_is_not_written() {
    let (header, mut buf) = (plain(false), [0xaa; 100]);
    let mut write = |header: &Header, len| header.write(Dialect::Linux, Writing::Whole, &mut buf, len, |_| {});
    assert_eq!(write(&header, 61), Err(WriteError::NoRoom { needs: 101, has: 100 }));
    assert_eq!(write(&header, 65_496), Err(WriteError::TooLong { len: 65_536 }));
    assert_eq!(write(&Header { dst: plain(true).dst, ..header }, 0), Err(WriteError::MixedFamilies));
    assert!(buf.iter().all(|b| *b == 0xaa));
}

#[test]
fn a_device_finds_the_sum_of_the_pseudo_header_and_where_to_complete_it() {
    for ipv6 in [false, true] {
        let (whole, mut buf) = (written(&plain(ipv6), b"payload"), [0; 200]);
        let fill = |p: &mut [u8]| p.copy_from_slice(b"payload");
        let w = plain(ipv6).write(Dialect::Linux, Writing::Offload, &mut buf, 7, fill).unwrap();
        let vnet = VnetHeader::of(&w);
        let (start, at) = (usize::from(vnet.checksum_start), usize::from(vnet.checksum_start + vnet.checksum_offset));
        let mut sum = ackclock_wire::checksum::Sum::default();
        sum.add(&buf[start..w.len]);
        buf[at..at + 2].copy_from_slice(&sum.checksum());
        assert_eq!(buf[..w.len], whole);
    }
}

#[test]
fn a_large_packet_is_as_many_segments_as_its_device_made_it_of() {
    let packet = written(&plain(false), &[1; 1001]);
    let frame = |vnet: VnetHeader| [&vnet.to_bytes()[..], &packet].concat();
    let large = VnetHeader {
        flags: 1,
        gso_type: 0x81,
        header_len: 40,
        segment_len: 100,
        checksum_start: 20,
        checksum_offset: 16,
    };
    for (vnet, train) in [
        (large, 11),
        (VnetHeader { segment_len: 1001, ..large }, 1),
        (VnetHeader { segment_len: 0, ..large }, 1),
        (VnetHeader { gso_type: 3, ..large }, 1),
        (VnetHeader { gso_type: 4, segment_len: 1, ..large }, 1001),
        (VnetHeader::default(), 1),
    ] {
        assert_eq!(VnetHeader::split(&frame(vnet)).unwrap(), (vnet, &packet[..]));
        assert_eq!(offload::parse(&frame(vnet)).unwrap().train, train, "{vnet:?}");
    }
    let mut wrong = frame(VnetHeader::default());
    *wrong.last_mut().unwrap() = 0;
    assert_eq!(offload::parse(&wrong), Err(Refused::TcpChecksum));
    wrong[0] = 2;
    assert!(offload::parse(&wrong).is_ok(), "the device has found it right");
    assert_eq!(offload::parse(&wrong[..9]), Err(Refused::CutOff { needs: 10, has: 9 }));
}
