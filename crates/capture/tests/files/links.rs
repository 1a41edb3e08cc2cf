//! Link layers and tunnels: the segment is found behind any of them, and other content is named.

use crate::make::{behind, framed, header, packet, pcap, read_all, whole, LINKS, START};
use ackclock_capture::link::Kind;
use ackclock_capture::{Heading, Traffic};
use etherparse::{LinuxSllPacketType, PacketBuilder, VlanId};

const ACK: u8 = 0x10;
const ETHERNET: &[u8] = &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];

/// A segment of 30 bytes that must be found: number 77 of 5 s.
fn inner(ipv6: bool) -> Vec<u8> {
    packet(&header(ipv6, ACK, 77, 5), 30)
}

fn is_found(link: u32, bytes: &[u8]) -> bool {
    let (all, ..) = read_all(&pcap(link, &[(START, bytes, bytes.len())]));
    matches!(&all[..], [one] if one.segments[0].seq as u32 == 77 && one.segments[0].len == 30)
}

/// IPv4 around a payload.
fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x45, 0, 0, 0, 0, 9, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    bytes.extend_from_slice(payload);
    let len = bytes.len() as u16;
    bytes[2..4].copy_from_slice(&len.to_be_bytes());
    bytes
}

fn udp(from: u16, to: u16, payload: &[u8]) -> Vec<u8> {
    let words = [from, to, 8 + payload.len() as u16, 0];
    let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
    bytes.extend_from_slice(payload);
    ipv4(17, &bytes)
}

fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
    [ETHERNET, &kind.to_be_bytes(), payload].concat()
}

#[test]
fn frames_that_etherparse_builds_are_read() {
    let vlan = |id: u16| VlanId::try_new(id).unwrap();
    let build = |step: u8| {
        let mut bytes = vec![];
        let macs = ([1; 6], [2; 6]);
        match step {
            0 => PacketBuilder::ethernet2(macs.0, macs.1)
                .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
                .tcp(1000, 80, 77, 500)
                .ack(5)
                .write(&mut bytes, &[0; 30]),
            1 => PacketBuilder::ethernet2(macs.0, macs.1)
                .single_vlan(vlan(7))
                .ipv6([1; 16], [2; 16], 64)
                .tcp(1000, 80, 77, 500)
                .ack(5)
                .write(&mut bytes, &[0; 30]),
            2 => PacketBuilder::ethernet2(macs.0, macs.1)
                .double_vlan(vlan(7), vlan(8))
                .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
                .tcp(1000, 80, 77, 500)
                .ack(5)
                .write(&mut bytes, &[0; 30]),
            _ => PacketBuilder::linux_sll(LinuxSllPacketType::OUTGOING, 6, [0; 8])
                .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
                .tcp(1000, 80, 77, 500)
                .ack(5)
                .write(&mut bytes, &[0; 30]),
        }
        .unwrap();
        bytes
    };
    for step in 0..3 {
        assert!(is_found(1, &build(step)), "{step}");
    }
    assert!(is_found(113, &build(3)));
}

#[test]
fn every_link_type_leads_to_the_segment() {
    for ipv6 in [false, true] {
        let ip = inner(ipv6);
        let kind = if ipv6 { [0x86, 0xdd] } else { [8, 0] };
        for link in [101, 12, 14, 228 + u32::from(ipv6)] {
            assert!(is_found(link, &ip), "{link}");
        }
        let families: &[u32] = if ipv6 { &[10, 24, 28, 30] } else { &[2] };
        for (link, family) in [0, 108].into_iter().flat_map(|link| families.iter().map(move |f| (link, *f))) {
            assert!(
                is_found(link, &behind(&family.to_be_bytes(), &ip))
                    && is_found(link, &behind(&family.to_le_bytes(), &ip))
            );
        }
        let ether = |kind: u16, between: &[u8]| ethernet(kind, &behind(between, &ip));
        let [a, b] = kind;
        assert!(is_found(1, &ether(u16::from_be_bytes(kind), &[])));
        assert!(is_found(1, &ether(0x8100, &[0, 7, a, b])), "VLAN");
        assert!(is_found(1, &ether(0x88a8, &[0, 7, 0x81, 0, 0, 8, a, b])), "QinQ");
        assert!(is_found(1, &ether(0x8847, &[0, 1, 0, 64, 0, 2, 1, 64])), "MPLS");
        assert!(is_found(1, &ether(30, &[0xaa, 0xaa, 3, 0, 0, 0, a, b])), "SNAP");
        let protocol = if ipv6 { 0x57 } else { 0x21 };
        assert!(is_found(1, &ether(0x8864, &[0x11, 0, 0, 9, 0, 99, 0, protocol])), "PPPoE");
        assert!(is_found(1, &ether(0x8864, &[0x11, 0, 0, 9, 0, 99, protocol])), "PPPoE, the protocol compressed");
        assert!(is_found(9, &behind(&[0xff, 3, 0, protocol], &ip)), "PPP");
    }
}

#[test]
fn every_number_of_the_registry_that_is_read_leads_to_the_segment() {
    for link in LINKS {
        for ipv6 in [false, true] {
            let frame = framed(link, &inner(ipv6));
            assert!(is_found(link, &frame), "{link}");
            let headers = frame.len() - inner(ipv6).len();
            for kept in 0..headers {
                let (_, _, traffic) = read_all(&pcap(link, &[(START, &frame[..kept], frame.len())]));
                assert_eq!(
                    (traffic.segments, traffic.others.iter().map(|o| o.0).sum::<u64>()),
                    (0, 1),
                    "{link}: {kept}"
                );
            }
        }
    }
}

/// An IP packet in an 802.11 frame of this control field; `qos` and `more` follow the addresses.
fn wifi(control: [u8; 2], fragment: u8, qos: &[u8], more: &[u8]) -> Vec<u8> {
    let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    [&control[..], &[0, 0], &[7; 18], &[fragment, 9], qos, more, &snap, &inner(false)].concat()
}

#[test]
fn frames_of_802_11_are_read_if_they_carry_data_that_is_not_encrypted() {
    let kind = |frame: &[u8]| counted(&read_all(&whole(105, &[frame.to_vec()])).2);
    assert!(is_found(105, &wifi([8, 1], 0, &[], &[])), "to the access point");
    assert!(is_found(105, &wifi([8, 3], 0, &[], &[7; 6])), "between access points: four addresses");
    assert!(is_found(105, &wifi([0x88, 2], 0, &[5, 0], &[])), "with quality of service");
    assert!(is_found(105, &wifi([0x88, 0x82], 0, &[5, 0], &[9; 4])), "and a field about the antennas");
    assert!(is_found(105, &wifi([0x88, 2], 0, &[0x80, 0], &[9; 14])), "the first of several packets");
    assert_eq!(kind(&wifi([0x88, 0x42], 0, &[5, 0], &[])), [(Kind::Encrypted, 1)]);
    assert_eq!(kind(&wifi([8, 6], 0, &[], &[])), [(Kind::Fragment, 1)]);
    assert_eq!(kind(&wifi([8, 2], 1, &[], &[])), [(Kind::Fragment, 1)]);
    for control in [0x80, 0xb4, 0x48, 0xc8] {
        assert_eq!(kind(&wifi([control, 2], 0, &[5, 0], &[])), [(Kind::NotIp, 1)], "{control:#x}: no data");
    }
    // The header is filled up to 28 bytes if radiotap's flags say so; the time before them is at a multiple of eight.
    let padded = wifi([0x88, 2], 0, &[5, 0], &[0, 0]);
    assert!(is_found(127, &behind(&[0, 0, 9, 0, 2, 0, 0, 0, 0x20], &padded)));
    let two_words = [0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x20];
    assert!(
        is_found(127, &behind(&two_words, &padded))
            && !is_found(127, &behind(&two_words, &wifi([0x88, 2], 0, &[5, 0], &[])))
    );
}

#[test]
fn a_link_type_that_is_not_read_is_counted_by_its_number() {
    let (_, _, traffic) = read_all(&whole(147, &[vec![0; 60], vec![0; 60]]));
    assert_eq!((counted(&traffic), traffic.unread_links), (vec![(Kind::Link, 2)], [(147, 2)].into()));
    // A PPI header that names itself leads nowhere.
    let (_, _, traffic) = read_all(&whole(192, &[vec![0, 0, 8, 0, 192, 0, 0, 0, 0, 0, 8, 0, 192, 0, 0, 0]]));
    assert_eq!(traffic.unread_links, [(192, 1)].into());
}

#[test]
fn link_layers_with_a_direction_say_it() {
    let ip = inner(false);
    let heading = |link: u32, frame: &[u8]| {
        let (all, ..) = read_all(&pcap(link, &[(START, frame, frame.len())]));
        all[0].segments[0].heading
    };
    let hook = |hook: u8| {
        let mut frame = framed(239, &ip);
        frame[10] = hook;
        heading(239, &frame)
    };
    assert_eq!([1, 2, 3].map(hook), [Heading::In, Heading::Unsaid, Heading::Out]);
    let big = [&[2, 0, 0, 5, 0, 8, 0, 1, 8, 0, 1, 0, 0, 74, 0, 9][..], &ip].concat();
    assert_eq!(heading(239, &big), Heading::In, "written by a big-endian host");
    for (first, want) in [(0, Heading::In), (1, Heading::Out)] {
        assert_eq!(heading(204, &[&[first, 0xff, 3, 0, 0x21][..], &ip].concat()), want);
        let juniper = [&[0x4d, 0x47, 0x43, 0x80 | (1 - first), 0, 2, 9, 9][..], &framed(1, &ip)].concat();
        assert_eq!(heading(178, &juniper), want);
    }
    for (flags, want) in [(1, Heading::In), (2, Heading::Out)] {
        let mut pktap = [0; 108];
        (pktap[0], pktap[4], pktap[8], pktap[36]) = (108, 1, 1, flags);
        assert_eq!(heading(258, &[&pktap[..], &framed(1, &ip)].concat()), want);
    }
}

#[test]
fn a_cooked_capture_says_whether_a_packet_came_in_or_went_out() {
    for (kind, want) in [(0u8, Heading::In), (3, Heading::Unsaid), (4, Heading::Out)] {
        let one = behind(&[0, kind, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0], &inner(false));
        let two = behind(&[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, kind, 6, 1, 2, 3, 4, 5, 6, 0, 0], &inner(false));
        for (link, bytes) in [(113, one), (276, two)] {
            let (all, ..) = read_all(&pcap(link, &[(START, &bytes, bytes.len())]));
            assert_eq!(all[0].segments[0].heading, want, "{link}");
        }
    }
}

#[test]
fn tunnels_are_looked_into() {
    for ipv6 in [false, true] {
        let (ip, kind) = (inner(ipv6), if ipv6 { [0x86, 0xdd] } else { [8, 0] });
        let frame = ethernet(u16::from_be_bytes(kind), &ip);
        let gre = |flags: u16, kind: [u8; 2], words: usize, inner: &[u8]| {
            ipv4(47, &[&flags.to_be_bytes()[..], &kind, &vec![9; 4 * words], inner].concat())
        };
        assert!(is_found(101, &gre(0, kind, 0, &ip)));
        assert!(is_found(101, &gre(0xb000, kind, 3, &ip)), "checksum, key and sequence number");
        assert!(is_found(101, &gre(0x2000, [0x65, 0x58], 1, &frame)), "Ethernet in GRE");
        let ppp = behind(&[0xff, 3, 0, if ipv6 { 0x57 } else { 0x21 }], &ip);
        assert!(is_found(101, &gre(0x3081, [0x88, 0x0b], 3, &ppp)), "PPTP");
        assert!(is_found(101, &udp(999, 4789, &behind(&[8, 0, 0, 0, 0, 0, 7, 0], &frame))), "VXLAN");
        assert!(is_found(101, &udp(2152, 2152, &behind(&[0x30, 255, 0, 70, 0, 0, 0, 1], &ip))), "GTP-U");
        let options = [1, 0, 0x65, 0x58, 0, 0, 7, 0, 9, 9, 9, 9];
        assert!(is_found(101, &udp(999, 6081, &behind(&options, &frame))), "Geneve with an option");
        let ppp = behind(&[0xff, 3, 0, if ipv6 { 0x57 } else { 0x21 }], &ip);
        assert!(is_found(101, &udp(1701, 1701, &behind(&[0, 2, 0, 1, 0, 2], &ppp))), "L2TP");
        let l2tp = [0x4a, 2, 0, 99, 0, 1, 0, 2, 0, 7, 0, 8, 0, 3, 9, 9, 9];
        assert!(is_found(101, &udp(1701, 999, &behind(&l2tp, &ppp))), "L2TP with length, numbers and an offset");
        assert!(!is_found(101, &udp(1701, 1701, &behind(&[0x80, 2, 0, 1, 0, 2], &ppp))), "a control message");
        assert!(is_found(101, &gre(0x1000, [0x88, 0xbe], 3, &frame)), "ERSPAN");
        assert!(is_found(101, &gre(0, [0x88, 0xbe], 0, &frame)), "the first ERSPAN");
        let newer =
            |last: u8, more: usize| [&[9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, last][..], &vec![9; more], &frame].concat();
        assert!(is_found(101, &gre(0x1000, [0x22, 0xeb], 1, &newer(8, 0))), "ERSPAN of type III");
        assert!(is_found(101, &gre(0x1000, [0x22, 0xeb], 1, &newer(9, 8))), "with a subheader");
        assert!(is_found(1, &ethernet(0x8903, &behind(&[0, 1], &frame))), "FabricPath");
        assert!(is_found(1, &ethernet(0x88e7, &behind(&[0, 0, 0, 7], &frame))), "a backbone bridge");
        assert!(is_found(1, &ethernet(0x8926, &[&[0, 0, 0, 7][..], &kind, &ip].concat())), "VN-Tag");
        assert!(is_found(1, &ethernet(0x8847, &behind(&[0, 2, 1, 64, 0, 0, 0, 0], &frame))), "Ethernet in MPLS");
        let extended = [0x34, 255, 0, 78, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 9, 9, 0x85, 1, 9, 9, 0];
        assert!(is_found(101, &udp(2152, 2152, &behind(&extended, &ip))), "GTP-U with two extension headers");
        assert!(is_found(101, &ipv4(if ipv6 { 41 } else { 4 }, &ip)), "IP in IP");
        assert!(is_found(101, &ipv4(4, &udp(999, 4789, &behind(&[8, 0, 0, 0, 0, 0, 7, 0], &frame)))), "one in another");
    }
    assert!(is_found(101, &udp(3544, 40_000, &inner(true))), "Teredo");
    assert!(
        is_found(101, &udp(3544, 40_000, &behind(&[0, 0, 1, 2, 3, 4, 5, 6], &inner(true)))),
        "with the origin's address"
    );
    let tcp = &inner(false)[20..];
    assert!(
        is_found(
            101,
            &ipv4(51, &behind(&[6, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], tcp))
        ),
        "AH"
    );
}

fn counted(traffic: &Traffic) -> Vec<(Kind, u64)> {
    Kind::ALL.into_iter().zip(traffic.others).filter(|(_, (n, _))| *n > 0).map(|(kind, (n, _))| (kind, n)).collect()
}

#[test]
fn what_is_no_tcp_is_counted_by_its_kind() {
    let mut fragment = inner(false);
    fragment[6] = 0x20;
    let mut broken = inner(false);
    broken[0] = 0x41;
    let quic = [0xc3, 0, 0, 0, 1, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0];
    for (kind, packets) in [
        (Kind::Udp, vec![udp(53, 5353, &[1, 2, 3, 4]), udp(4000, 4000, &[])]),
        (Kind::Quic, vec![udp(4433, 5555, &quic), udp(5555, 443, &[0x42, 1, 2, 3])]),
        (Kind::Esp, vec![ipv4(50, &[0, 0, 0, 7, 0, 0, 0, 1]), udp(4500, 4500, &[0, 0, 0, 7, 0, 0, 0, 1])]),
        (Kind::WireGuard, vec![udp(40_000, 51_820, &[4, 0, 0, 0, 9, 9, 9, 9])]),
        (Kind::Icmp, vec![ipv4(1, &[8, 0, 0, 0])]),
        (Kind::Sctp, vec![ipv4(132, &[0; 12])]),
        (Kind::Fragment, vec![fragment]),
        (Kind::Ip, vec![ipv4(89, &[0; 12])]),
        (Kind::Broken, vec![broken]),
        (Kind::Cut, vec![inner(false)[..30].to_vec()]),
    ] {
        let (_, _, traffic) = read_all(&whole(101, &packets));
        assert_eq!(counted(&traffic), [(kind, packets.len() as u64)], "{}", kind.name());
    }
    for (kind, link, frame) in [
        (Kind::Arp, 1, ethernet(0x0806, &[0; 28])),
        (Kind::NotIp, 1, ethernet(0x88cc, &[0; 28])),
        (Kind::NotIp, 1, ethernet(38, &[0x42, 0x42, 3, 0, 0, 0, 0, 0])),
        (Kind::NotIp, 105, vec![0; 60]),
        (Kind::Cut, 1, vec![0; 13]),
    ] {
        assert_eq!(counted(&read_all(&whole(link, &[frame])).2), [(kind, 1)]);
    }
}

#[test]
fn a_snap_length_within_the_headers_leaves_the_lengths_and_says_what_is_missing() {
    let options = ackclock_wire::Options {
        timestamps: Some(ackclock_wire::options::Timestamps { value: 3, echo: 4 }),
        ..Default::default()
    };
    let whole = packet(&ackclock_wire::Header { options, ..header(false, ACK, 77, 5) }, 1000);
    let seen = |kept: usize| {
        let (all, _, traffic) = read_all(&pcap(101, &[(START, &whole[..kept], whole.len())]));
        (all.first().map(|t| t.segments[0]), traffic)
    };
    let (all, _) = seen(52);
    assert_eq!(all.map(|s| (s.len, s.timestamps.is_some(), s.options_cut)), Some((1000, true, false)));
    for kept in 40..52 {
        let (cut, traffic) = seen(kept);
        assert_eq!(cut.map(|s| (s.len, s.timestamps, s.options_cut)), Some((1000, None, true)), "{kept}");
        assert_eq!(traffic.options_cut, 1);
    }
    assert_eq!((seen(39).0, counted(&seen(39).1)), (None, vec![(Kind::Cut, 1)]));
}

#[test]
fn a_packet_whose_length_is_left_to_a_device_is_as_long_as_its_frame_was() {
    for ipv6 in [false, true] {
        let mut ip = packet(&header(ipv6, ACK, 77, 5), 1000);
        let place = if ipv6 { 4 } else { 2 };
        ip[place..place + 2].copy_from_slice(&[0, 0]);
        let original = 60_000 + 14 + if ipv6 { 60 } else { 40 };
        let frame = ethernet(if ipv6 { 0x86dd } else { 0x800 }, &ip);
        let (all, ..) = read_all(&pcap(1, &[(START, &frame[..200], original)]));
        assert_eq!(all[0].segments[0].len, 60_000);
    }
}

#[test]
fn a_checksum_that_was_left_to_a_device_is_noticed() {
    let header = header(false, ACK, 77, 5);
    let mut buf = vec![0; 200];
    for (writing, want) in [(ackclock_wire::Writing::Offload, true), (ackclock_wire::Writing::Whole, false)] {
        let written = header.write(ackclock_wire::Dialect::Linux, writing, &mut buf, 100, |p| p.fill(1)).unwrap();
        let (all, ..) = read_all(&pcap(101, &[(START, &buf[..60], written.len)]));
        assert_eq!(all[0].segments[0].unfinished, want);
    }
}
