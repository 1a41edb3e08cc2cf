//! ICMP messages: a path with a small link, an unreachable peer, and false messages. The messages are written by etherparse.

use crate::lan::{all, at, config, give, read, talk, BUFFERS};
use ackclock_tcp::connection::{CloseReason, State, TooBig};
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::host::{Host, Id};
use ackclock_wire::icmp::{self, Heard, Icmp, News, Unreachable};
use ackclock_wire::{Checksums, Refused, Secret};
use etherparse::icmpv4::DestUnreachableHeader as V4;
use etherparse::icmpv6::DestUnreachableCode as V6;
use etherparse::{Icmpv4Type, Icmpv6Type, PacketBuilder};
use std::net::IpAddr;

/// A router's message about a packet.
#[derive(Clone, Copy)]
enum Says {
    TooBig(u32),
    NoPort,
    NoRoute,
    NotAllowed,
}

/// A router's message about `packet`, quoting `quoted` bytes of it.
fn message(says: Says, packet: &[u8], quoted: usize) -> Vec<u8> {
    let quoted = &packet[..quoted.min(packet.len())];
    let mut out = vec![];
    match read(packet).header.src.ip() {
        IpAddr::V4(to) => {
            let kind = match says {
                Says::TooBig(mtu) => V4::FragmentationNeeded { next_hop_mtu: mtu as u16 },
                Says::NoPort => V4::Port,
                Says::NoRoute => V4::Network,
                Says::NotAllowed => V4::FilterProhibited,
            };
            let kind = Icmpv4Type::DestinationUnreachable(kind);
            PacketBuilder::ipv4([10, 9, 9, 9], to.octets(), 60).icmpv4(kind).write(&mut out, quoted).unwrap();
        }
        IpAddr::V6(to) => {
            let kind = match says {
                Says::TooBig(mtu) => Icmpv6Type::PacketTooBig { mtu },
                Says::NoPort => Icmpv6Type::DestinationUnreachable(V6::Port),
                Says::NoRoute => Icmpv6Type::DestinationUnreachable(V6::NoRoute),
                Says::NotAllowed => Icmpv6Type::DestinationUnreachable(V6::Prohibited),
            };
            PacketBuilder::ipv6([0xfd; 16], to.octets(), 60).icmpv6(kind).write(&mut out, quoted).unwrap();
        }
    }
    out
}

const ENDS: [[&str; 2]; 2] = [["10.1.0.1:0", "10.1.0.2:7"], ["[fd00::1]:0", "[fd00::2]:7"]];

fn two() -> [Host; 2] {
    let stack = Stack::named("linux-2025").unwrap();
    let mut hosts = [1, 2].map(|n| Host::new(config(n), Secret::new([n; 16])));
    ENDS.iter().for_each(|[_, there]| hosts[1].listen(at(there), &stack, BUFFERS, 4).unwrap());
    hosts
}

fn connect(a: &mut Host, [from, to]: [&str; 2]) -> Id {
    a.connect(Time(0), at(from), at(to), &Stack::named("linux-2025").unwrap(), BUFFERS).unwrap()
}

fn tell(host: &mut Host, message: &[u8]) -> Option<Heard> {
    host.on_icmp(Time(5), message, Checksums::Verify).unwrap().map(|(_, heard)| heard)
}

#[test]
fn a_message_names_its_packet_and_the_fate_of_the_packet() {
    for (ends, all_of) in [(ENDS[0], [0, 28, 100]), (ENDS[1], [0, 48, 100])] {
        let mut a = two().into_iter().next().unwrap();
        connect(&mut a, ends);
        let syn = all(&mut a, Time(0)).remove(0);
        let header = read(&syn).header;
        for (says, news) in [
            (Says::TooBig(1400), News::TooBig { mtu: 1400 }),
            (Says::NoPort, News::Unreachable(Unreachable::Port)),
            (Says::NoRoute, News::Unreachable(Unreachable::Route)),
            (Says::NotAllowed, News::Unreachable(Unreachable::Prohibited)),
        ] {
            let want = Icmp { local: header.src, remote: header.dst, seq: header.seq, news };
            for quoted in all_of {
                let bytes = message(says, &syn, quoted);
                let got = icmp::parse(&bytes, Checksums::Verify);
                assert_eq!(got, Ok((quoted > 0).then_some(want)), "{quoted} bytes quoted");
                let mut wrong = bytes;
                *wrong.last_mut().unwrap() ^= 1;
                assert_eq!(icmp::parse(&wrong, Checksums::Verify), Err(Refused::IcmpChecksum));
            }
        }
        assert!(matches!(icmp::parse(&syn, Checksums::Verify), Err(Refused::NotTcp(6))));
    }
}

#[test]
fn a_message_about_another_protocol_or_a_later_fragment_is_about_none_of_our_packets() {
    let mut a = two().into_iter().next().unwrap();
    connect(&mut a, ENDS[0]);
    let syn = all(&mut a, Time(0)).remove(0);
    let about = |change: fn(&mut Vec<u8>)| {
        let (mut quoted, mut out) = (syn[..28].to_vec(), vec![]);
        change(&mut quoted);
        let kind = Icmpv4Type::DestinationUnreachable(V4::Port);
        PacketBuilder::ipv4([10, 9, 9, 9], [10, 1, 0, 1], 60).icmpv4(kind).write(&mut out, &quoted).unwrap();
        icmp::parse(&out, Checksums::Verify).unwrap()
    };
    assert!(about(|_| {}).is_some());
    assert_eq!(about(|quoted| quoted[9] = 17), None, "UDP");
    assert_eq!(about(|quoted| quoted[7] = 1), None, "a later fragment has no ports");
    assert_eq!(about(|quoted| quoted[0] = 0x44), None, "a header of 16 bytes");
}

#[test]
fn a_router_that_says_no_size_means_the_next_one_that_links_have() {
    let mut a = two().into_iter().next().unwrap();
    connect(&mut a, ENDS[0]);
    let mut packet = all(&mut a, Time(0)).remove(0);
    for (len, mtu) in [(1500u16, 1492), (1492, 1006), (600, 508), (68, 68), (65_535, 32_000)] {
        packet[2..4].copy_from_slice(&len.to_be_bytes());
        let mut whole = packet.clone();
        whole.resize(usize::from(len).max(packet.len()), 0);
        let mut out = vec![];
        let kind = Icmpv4Type::DestinationUnreachable(V4::FragmentationNeeded { next_hop_mtu: 0 });
        PacketBuilder::ipv4([10, 9, 9, 9], [10, 1, 0, 1], 60).icmpv4(kind).write(&mut out, &whole[..28]).unwrap();
        let got = icmp::parse(&out, Checksums::Verify).unwrap().unwrap();
        assert_eq!(got.news, News::TooBig { mtu });
    }
}

#[test]
fn an_attempt_to_connect_ends_if_no_host_is_there_and_continues_if_the_route_is_missing() {
    for ends in ENDS {
        for (says, hard) in [(Says::NoPort, true), (Says::NotAllowed, true), (Says::NoRoute, false)] {
            let [mut a, mut b] = two();
            let id = connect(&mut a, ends);
            let syn = all(&mut a, Time(0)).remove(0);
            assert_eq!(tell(&mut a, &message(says, &syn, 100)), Some(Heard::Believed));
            let end = a.endpoint(id).unwrap();
            let reason = hard.then_some(CloseReason::Unreachable);
            assert_eq!((end.connection().close_reason(), end.unreachable().is_some()), (reason, true));
            assert_eq!(a.next_changed(), Some(id));
            give(&mut b, Time(6), &syn);
            talk(&mut a, &mut b, Time(6));
            let open = !hard && a.endpoint(id).unwrap().state() == State::Established;
            assert_eq!(open, !hard);
        }
    }
}

#[test]
fn an_open_connection_ends_by_no_message_and_a_message_about_nothing_under_way_is_a_lie() {
    let [mut a, mut b] = two();
    let id = connect(&mut a, ENDS[0]);
    let syn = all(&mut a, Time(0)).remove(0);
    give(&mut b, Time(1), &syn);
    talk(&mut a, &mut b, Time(1));
    assert_eq!(tell(&mut a, &message(Says::NoPort, &syn, 100)), Some(Heard::Ignored), "it has been acknowledged");
    a.endpoint_mut(id).unwrap().write(&[1; 4000]);
    let data = all(&mut a, Time(2));
    let mut forged = data[0].clone();
    forged[24] ^= 0x40;
    for says in [Says::NoPort, Says::TooBig(600)] {
        let out = PacketOf(says).about(&forged);
        assert_eq!(tell(&mut a, &out), Some(Heard::Ignored));
    }
    assert_eq!(tell(&mut a, &message(Says::NoPort, &data[1], 28)), Some(Heard::Believed));
    let end = a.endpoint(id).unwrap();
    assert_eq!((end.state(), end.unreachable()), (State::Established, Some(Unreachable::Port)));
    // About a packet of another host, and sent to another host.
    assert_eq!(tell(&mut b, &message(Says::NoPort, &data[1], 28)), None);
}

/// A message about bytes that need not be a valid packet, to the first host.
struct PacketOf(Says);

impl PacketOf {
    fn about(&self, bytes: &[u8]) -> Vec<u8> {
        let kind = match self.0 {
            Says::TooBig(mtu) => V4::FragmentationNeeded { next_hop_mtu: mtu as u16 },
            Says::NoPort | Says::NoRoute | Says::NotAllowed => V4::Port,
        };
        let mut out = vec![];
        let kind = Icmpv4Type::DestinationUnreachable(kind);
        PacketBuilder::ipv4([10, 9, 9, 9], [10, 1, 0, 1], 60).icmpv4(kind).write(&mut out, &bytes[..28]).unwrap();
        out
    }
}

/// The length of the longest packet in which 4,000 bytes, written now, are sent. The other end reads everything that it has
/// received.
fn longest([a, b]: &mut [Host; 2], [id, other]: [Id; 2], now: Time) -> usize {
    b.endpoint_mut(other).unwrap().consume(usize::MAX);
    talk(a, b, now);
    assert_eq!(a.endpoint_mut(id).unwrap().write(&[7; 4000]), 4000);
    let packets = all(a, now);
    packets.iter().for_each(|packet| _ = give(b, now, packet));
    talk(a, b, now);
    packets.iter().map(Vec::len).max().unwrap_or(0)
}

#[test]
fn after_ten_minutes_a_path_that_was_narrow_is_tried_again() {
    for (ends, mtu) in [(ENDS[0], 1000), (ENDS[1], 1300)] {
        let mut hosts = two();
        let id = connect(&mut hosts[0], ends);
        let [a, b] = &mut hosts;
        talk(a, b, Time(0));
        let both = [id, b.accept(at(ends[1])).unwrap()];
        let mut now = Time(0);
        for _ in 0..2 {
            assert_eq!(longest(&mut hosts, both, now), 1500);
            let [a, b] = &mut hosts;
            a.endpoint_mut(id).unwrap().write(&[7; 4000]);
            let too_big = all(a, now).remove(0);
            let about = message(Says::TooBig(mtu), &too_big, 100);
            assert_eq!(a.on_icmp(now, &about, Checksums::Verify), Ok(Some((id, Heard::Believed))));
            talk(a, b, now);
            let back = now + Nanos::from_secs(600);
            // The router dropped the last segment, and the timer retransmits it.
            while let Some(due) = a.next_timer().filter(|due| *due < back) {
                a.on_timer(due, &mut ());
                talk(a, b, due);
            }
            assert_eq!((a.next_timer(), a.endpoint(id).unwrap().connection().info().notsent_bytes), (Some(back), 0));
            now = Time(back.0 - 1);
            assert!(longest(&mut hosts, both, now) <= mtu as usize);
            now = back;
            hosts[0].on_timer(now, &mut ());
        }
        assert_eq!(longest(&mut hosts, both, now), 1500);
    }
}

#[test]
fn a_router_without_a_size_means_the_least_that_is_believed_and_what_is_not_believed_changes_nothing() {
    for (ends, least) in [(ENDS[0], 552), (ENDS[1], 1280)] {
        let [mut a, mut b] = two();
        let id = connect(&mut a, ends);
        talk(&mut a, &mut b, Time(0));
        let end = a.endpoint_mut(id).unwrap();
        end.write(&[7; 4000]);
        let headers = if ends == ENDS[0] { 40 } else { 60 };
        let seq = read(&all(&mut a, Time(0))[0]).header.seq;
        let end = a.endpoint_mut(id).unwrap();
        assert_eq!(end.on_too_big(Time(0), SeqNum(seq.0.wrapping_add(100_000)), 0), TooBig::Ignored);
        assert_eq!(end.border().mss(), 1500 - headers);
        assert_eq!(end.on_too_big(Time(0), seq, 0), TooBig::Taken);
        assert_eq!((end.border().mss(), end.info().snd_mss), (least - headers, least - headers - 12));
    }
}

#[test]
fn the_networks_last_message_is_reported_when_the_user_timeout_ends_the_connection() {
    let [mut a, mut b] = two();
    let id = connect(&mut a, ENDS[0]);
    talk(&mut a, &mut b, Time(0));
    a.endpoint_mut(id).unwrap().write(&[1; 100]);
    let data = all(&mut a, Time(0)).remove(0);
    assert_eq!(tell(&mut a, &message(Says::NoRoute, &data, 100)), Some(Heard::Believed));
    while let Some(due) = a.next_timer() {
        a.on_timer(due, &mut ());
        all(&mut a, due);
    }
    let end = a.endpoint(id).unwrap();
    assert_eq!(
        (end.connection().close_reason(), end.unreachable()),
        (Some(CloseReason::TimedOut), Some(Unreachable::Route))
    );
}

#[test]
fn a_path_with_a_smaller_link_is_detected_and_all_bytes_arrive() {
    for (ends, mtu) in [(ENDS[0], 1400), (ENDS[0], 576), (ENDS[1], 1280)] {
        let [mut a, mut b] = two();
        let (id, mut now) = (connect(&mut a, ends), Time(0));
        talk(&mut a, &mut b, now);
        let other = b.accept(at(ends[1])).unwrap();
        let data: Vec<u8> = (0..100_000u32).map(|i| (i % 251) as u8).collect();
        // A router on the path drops packets longer than `mtu`, and reports it.
        let (mut written, mut heard, mut dropped, mut largest) = (0, vec![], 0, 0);
        while heard.len() < data.len() {
            written += a.endpoint_mut(id).unwrap().write(&data[written..]);
            let packets = all(&mut a, now);
            now += Nanos::from_millis(10);
            for packet in packets {
                if packet.len() > mtu {
                    dropped += 1;
                    let about = message(Says::TooBig(mtu as u32), &packet, 48 + usize::from(ends == ENDS[0]) * 20);
                    a.on_icmp(now, &about, Checksums::Verify).unwrap();
                } else {
                    largest = largest.max(packet.len());
                    give(&mut b, now, &packet);
                }
            }
            let mut piece = [0; 4096];
            while let n @ 1.. = b.endpoint_mut(other).unwrap().read(&mut piece) {
                heard.extend_from_slice(&piece[..n]);
            }
            all(&mut b, now).iter().for_each(|p| _ = give(&mut a, now, p));
            a.on_timer(now, &mut ());
            b.on_timer(now, &mut ());
            assert!(now < Time(60_000_000_000), "{mtu}: {} bytes after {now}", heard.len());
        }
        assert!(heard == data && dropped > 0 && largest <= mtu && largest > mtu - 8, "{mtu}: {dropped}, {largest}");
    }
}
