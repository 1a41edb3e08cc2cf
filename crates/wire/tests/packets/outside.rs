//! Others (etherparse and smoltcp) read our packets as we do, and we read theirs as they do.

use crate::some::{addresses, cases, dialect, header, payload, timestamps};
use ackclock_tcp::seq::SeqNum;
use ackclock_wire::options::{walk, Entry, SackBlocks, Timestamps};
use ackclock_wire::{parse, Checksums, Header, Options, Writing};
use etherparse as ep;
use etherparse::TcpOptionElement as Element;
use proptest::prelude::*;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire as st;
use std::net::{IpAddr, SocketAddr};

fn pairs(sack: &SackBlocks) -> Vec<(u32, u32)> {
    sack.as_slice().iter().map(|(l, r)| (l.0, r.0)).collect()
}

/// The header that etherparse reads from a packet, in our terms; and the payload.
#[expect(clippy::too_many_lines, reason = "each field of a header by its own name")]
fn by_etherparse(packet: &[u8]) -> (Header, Vec<u8>) {
    let sliced = ep::SlicedPacket::from_ip(packet).unwrap();
    let Some(ep::TransportSlice::Tcp(tcp)) = &sliced.transport else { panic!("not TCP") };
    let tcp_len = tcp.slice().len();
    let (src, dst, traffic_class, hop_limit, label, sum): (IpAddr, IpAddr, _, _, _, _) = match sliced
        .net
        .as_ref()
        .unwrap()
    {
        ep::NetSlice::Ipv4(ip) => {
            let h = ip.header();
            assert_eq!(h.to_header().calc_header_checksum(), h.header_checksum());
            let class = h.dcp().value() << 2 | h.ecn().value();
            let sum = tcp.calc_checksum_ipv4(h.source(), h.destination()).unwrap();
            (h.source_addr().into(), h.destination_addr().into(), class, h.ttl(), u32::from(h.identification()), sum)
        }
        ep::NetSlice::Ipv6(ip) => {
            let h = ip.header();
            let sum = tcp.calc_checksum_ipv6(h.source(), h.destination()).unwrap();
            (
                h.source_addr().into(),
                h.destination_addr().into(),
                h.traffic_class(),
                h.hop_limit(),
                h.flow_label().value(),
                sum,
            )
        }
        ep::NetSlice::Arp(_) => panic!("not IP"),
    };
    assert_eq!(sum, tcp.checksum(), "of {tcp_len} bytes");
    let mut options = Options::default();
    for element in tcp.options_iterator() {
        match element.unwrap() {
            Element::Noop => {}
            Element::MaximumSegmentSize(mss) => options.mss = Some(mss),
            Element::WindowScale(shift) => options.window_scale = Some(shift),
            Element::SelectiveAcknowledgementPermitted => options.sack_permitted = true,
            Element::Timestamp(value, echo) => options.timestamps = Some(Timestamps { value, echo }),
            Element::SelectiveAcknowledgement(first, rest) => {
                for (l, r) in std::iter::once(first).chain(rest.into_iter().flatten()) {
                    options.sack.push(SeqNum(l), SeqNum(r));
                }
            }
        }
    }
    let header = Header {
        src: SocketAddr::new(src, tcp.source_port()),
        dst: SocketAddr::new(dst, tcp.destination_port()),
        seq: SeqNum(tcp.sequence_number()),
        ack: SeqNum(tcp.acknowledgment_number()),
        flags: tcp.slice()[13],
        reserved: u8::from(tcp.ns()),
        window: tcp.window_size(),
        urgent: tcp.urgent_pointer(),
        options,
        traffic_class,
        hop_limit,
        label,
    };
    let named = [tcp.fin(), tcp.syn(), tcp.rst(), tcp.psh(), tcp.ack(), tcp.urg(), tcp.ece(), tcp.cwr()];
    assert_eq!(named.iter().rev().fold(0, |f, b| f << 1 | u8::from(*b)), header.flags);
    (header, tcp.payload().to_vec())
}

/// The header that smoltcp reads from a packet. It has at most three SACK blocks, and no type of
/// service.
fn by_smoltcp(packet: &[u8], like: &Header) -> (Header, Vec<u8>) {
    let mut found = *like;
    let (src, dst, tcp): (IpAddr, IpAddr, _) = if like.src.is_ipv4() {
        let ip = st::Ipv4Packet::new_checked(packet).unwrap();
        assert!(ip.verify_checksum() && ip.dont_frag() && !ip.more_frags());
        (found.hop_limit, found.label) = (ip.hop_limit(), u32::from(ip.ident()));
        found.traffic_class = ip.dscp() << 2 | ip.ecn();
        (ip.src_addr().into(), ip.dst_addr().into(), ip.payload().to_vec())
    } else {
        let ip = st::Ipv6Packet::new_checked(packet).unwrap();
        (found.hop_limit, found.label, found.traffic_class) = (ip.hop_limit(), ip.flow_label(), ip.traffic_class());
        (ip.src_addr().into(), ip.dst_addr().into(), ip.payload().to_vec())
    };
    let tcp = st::TcpPacket::new_checked(&tcp[..]).unwrap();
    assert!(tcp.verify_checksum(&src.into(), &dst.into()));
    let (mut rest, mut options) = (tcp.options(), Options::default());
    while !rest.is_empty() {
        let (left, option) = st::TcpOption::parse(rest).unwrap();
        match option {
            st::TcpOption::EndOfList => break,
            st::TcpOption::NoOperation => {}
            st::TcpOption::MaxSegmentSize(mss) => options.mss = Some(mss),
            st::TcpOption::WindowScale(shift) => options.window_scale = Some(shift),
            st::TcpOption::SackPermitted => options.sack_permitted = true,
            st::TcpOption::SackRange(blocks) => {
                blocks.iter().flatten().for_each(|(l, r)| options.sack.push(SeqNum(*l), SeqNum(*r)));
            }
            st::TcpOption::TimeStamp { tsval, tsecr } => {
                options.timestamps = Some(Timestamps { value: tsval, echo: tsecr })
            }
            st::TcpOption::Unknown { kind, .. } => panic!("option {kind}"),
        }
        rest = left;
    }
    found.options = options;
    (found.src, found.dst) = (SocketAddr::new(src, tcp.src_port()), SocketAddr::new(dst, tcp.dst_port()));
    (found.seq, found.ack) = (SeqNum(tcp.seq_number().0 as u32), SeqNum(tcp.ack_number().0 as u32));
    let named = [tcp.fin(), tcp.syn(), tcp.rst(), tcp.psh(), tcp.ack(), tcp.urg(), tcp.ece(), tcp.cwr()];
    found.flags = named.iter().rev().fold(0, |f, b| f << 1 | u8::from(*b));
    found.reserved = u8::from(tcp.ns());
    (found.window, found.urgent) = (tcp.window_len(), tcp.urgent_at());
    (found, tcp.payload().to_vec())
}

/// Options as etherparse writes them, with random NOPs.
fn elements() -> impl Strategy<Value = Vec<Element>> {
    let one = prop_oneof![
        Just(Element::Noop),
        any::<u16>().prop_map(Element::MaximumSegmentSize),
        any::<u8>().prop_map(Element::WindowScale),
        Just(Element::SelectiveAcknowledgementPermitted),
        any::<(u32, u32)>().prop_map(|(v, e)| Element::Timestamp(v, e)),
        (any::<(u32, u32)>(), prop::collection::vec(any::<(u32, u32)>(), 0..=3)).prop_map(|(first, rest)| {
            let mut others = [None; 3];
            rest.into_iter().zip(&mut others).for_each(|(block, place)| *place = Some(block));
            Element::SelectiveAcknowledgement(first, others)
        }),
    ];
    prop::collection::vec(one, 0..6).prop_map(|mut all| {
        while ep::TcpOptions::try_from_elements(&all).is_err() {
            all.pop();
        }
        all
    })
}

/// The same in our terms.
fn entries(elements: &[Element]) -> Vec<Entry<'static>> {
    let ours = |e: &Element| match *e {
        Element::Noop => Entry::Nop,
        Element::MaximumSegmentSize(mss) => Entry::Mss(mss),
        Element::WindowScale(shift) => Entry::WindowScale(shift),
        Element::SelectiveAcknowledgementPermitted => Entry::SackPermitted,
        Element::Timestamp(value, echo) => Entry::Timestamps(Timestamps { value, echo }),
        Element::SelectiveAcknowledgement(first, rest) => {
            let mut blocks = SackBlocks::default();
            std::iter::once(first)
                .chain(rest.into_iter().flatten())
                .for_each(|(l, r)| blocks.push(SeqNum(l), SeqNum(r)));
            Entry::Sack(blocks)
        }
    };
    elements.iter().map(ours).collect()
}

prop_compose! {
    fn tcp_header()(
        (source_port, destination_port, sequence_number, acknowledgment_number) in any::<(u16, u16, u32, u32)>(),
        (ns, fin, syn, rst, psh, ack, urg, ece) in any::<(bool, bool, bool, bool, bool, bool, bool, bool)>(),
        (cwr, window_size, urgent_pointer) in any::<(bool, u16, u16)>(),
    ) -> ep::TcpHeader {
        ep::TcpHeader {
            source_port, destination_port, sequence_number, acknowledgment_number, ns, fin, syn, rst, psh, ack, urg, ece, cwr,
            window_size, urgent_pointer, ..ep::TcpHeader::default()
        }
    }
}

fn ipv6_extensions() -> impl Strategy<Value = ep::Ipv6Extensions> {
    let raw = || {
        prop::option::of(
            (0usize..4, any::<u8>())
                .prop_map(|(n, fill)| ep::Ipv6RawExtHeader::new_raw(ep::IpNumber(0), &vec![fill; 6 + 8 * n]).unwrap()),
        )
    };
    (raw(), raw()).prop_map(|(hop_by_hop_options, destination_options)| ep::Ipv6Extensions {
        hop_by_hop_options,
        destination_options,
        ..ep::Ipv6Extensions::default()
    })
}

fn ip_headers() -> impl Strategy<Value = ep::IpHeaders> {
    let v4 = (any::<([u8; 4], [u8; 4], u8, u16, u8)>(), 0usize..=10).prop_map(
        |((source, destination, ttl, id, class), words)| {
            let mut header = ep::Ipv4Header::new(0, ttl, ep::IpNumber::TCP, source, destination).unwrap();
            header.identification = id;
            (header.dscp, header.ecn) = ((class >> 2).try_into().unwrap(), (class & 3).try_into().unwrap());
            header.options = ep::Ipv4Options::try_from(&vec![1; words * 4][..]).unwrap();
            ep::IpHeaders::Ipv4(header, ep::Ipv4Extensions::default())
        },
    );
    let v6 = (any::<([u8; 16], [u8; 16], u8, u8)>(), 0u32..1 << 20, ipv6_extensions()).prop_map(
        |((source, destination, traffic_class, hop_limit), label, extensions)| {
            let header = ep::Ipv6Header {
                traffic_class,
                flow_label: label.try_into().unwrap(),
                hop_limit,
                source,
                destination,
                next_header: ep::IpNumber::TCP,
                ..ep::Ipv6Header::default()
            };
            ep::IpHeaders::Ipv6(header, extensions)
        },
    );
    prop_oneof![v4, v6]
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn what_we_write_etherparse_and_smoltcp_read_alike(header in header(), payload in payload(), dialect in dialect()) {
        // The other three reserved bits have no name in smoltcp.
        let header = Header { reserved: header.reserved & 1, ..header };
        let mut buf = vec![0; 300];
        let w = header.write(dialect, Writing::Whole, &mut buf, payload.len(), |p| p.copy_from_slice(&payload)).unwrap();
        let packet = &buf[..w.len];
        prop_assert_eq!(by_etherparse(packet), (header, payload.clone()));
        let (read, their_payload) = by_smoltcp(packet, &header);
        let three: Vec<_> = pairs(header.sack()).into_iter().take(3).collect();
        prop_assert_eq!(pairs(read.sack()), three);
        let read = Header { options: Options { sack: header.options.sack, ..read.options }, ..read };
        prop_assert_eq!((read, their_payload), (header, payload));
    }

    #[test]
    fn what_etherparse_writes_we_read_alike(ip in ip_headers(), tcp in tcp_header(), options in elements(), payload in payload()) {
        let builder = ep::PacketBuilder::ip(ip.clone()).tcp_header(tcp.clone()).options(&options).unwrap();
        let mut packet = vec![];
        builder.write(&mut packet, &payload).unwrap();
        let read = parse(&packet, Checksums::Verify).unwrap();
        let (src, dst, class, hops, label): (IpAddr, IpAddr, u8, u8, u32) = match &ip {
            ep::IpHeaders::Ipv4(h, _) => {
                let class = h.dscp.value() << 2 | h.ecn.value();
                (h.source.into(), h.destination.into(), class, h.time_to_live, u32::from(h.identification))
            }
            ep::IpHeaders::Ipv6(h, _) => {
                (h.source.into(), h.destination.into(), h.traffic_class, h.hop_limit, h.flow_label.value())
            }
        };
        let flags = [tcp.fin, tcp.syn, tcp.rst, tcp.psh, tcp.ack, tcp.urg, tcp.ece, tcp.cwr];
        let want = Header {
            src: SocketAddr::new(src, tcp.source_port),
            dst: SocketAddr::new(dst, tcp.destination_port),
            seq: SeqNum(tcp.sequence_number),
            ack: SeqNum(tcp.acknowledgment_number),
            flags: flags.iter().rev().fold(0, |f, b| f << 1 | u8::from(*b)),
            reserved: u8::from(tcp.ns),
            window: tcp.window_size,
            urgent: tcp.urgent_pointer,
            options: read.header.options,
            traffic_class: class,
            hop_limit: hops,
            label,
        };
        prop_assert_eq!(read.header, want);
        prop_assert_eq!(read.payload, &payload[..]);
        let ours: Vec<_> = walk(read.option_bytes).map(Result::unwrap).collect();
        prop_assert_eq!(ours, entries(&options));
        prop_assert_eq!(read.header.malformed(), None);
    }

    #[test]
    fn what_smoltcp_writes_we_read_alike(
        (src, dst) in addresses(),
        (seq, ack, window, hops) in any::<(i32, Option<i32>, u16, u8)>(),
        (mss, shift, sack_permitted) in any::<(Option<u16>, Option<u8>, bool)>(),
        stamps in timestamps(),
        syn in any::<bool>(),
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=3),
        payload in payload(),
    ) {
        let mut sack_ranges = [None; 3];
        if !syn && ack.is_some() {
            blocks.iter().zip(&mut sack_ranges).for_each(|(block, place)| *place = Some(*block));
        }
        let repr = st::TcpRepr {
            src_port: src.port().max(1),
            dst_port: dst.port().max(1),
            control: if syn { st::TcpControl::Syn } else { st::TcpControl::Psh },
            seq_number: st::TcpSeqNumber(seq),
            ack_number: ack.map(st::TcpSeqNumber),
            window_len: window,
            window_scale: shift.filter(|_| syn),
            max_seg_size: mss.filter(|_| syn),
            sack_permitted: sack_permitted && syn,
            sack_ranges,
            timestamp: stamps.map(|t| st::TcpTimestampRepr::new(t.value, t.echo)),
            payload: &payload,
        };
        let ip = st::IpRepr::new(src.ip().into(), dst.ip().into(), st::IpProtocol::Tcp, repr.buffer_len(), hops);
        let mut packet = vec![0; ip.buffer_len()];
        let caps = ChecksumCapabilities::default();
        ip.emit(&mut packet[..], &caps);
        repr.emit(&mut st::TcpPacket::new_unchecked(&mut packet[ip.header_len()..]), &src.ip().into(), &dst.ip().into(), &caps);
        let read = parse(&packet, Checksums::Verify).unwrap();
        let mut sack = SackBlocks::default();
        sack_ranges.iter().flatten().for_each(|(l, r)| sack.push(SeqNum(*l), SeqNum(*r)));
        let want = Header {
            src: SocketAddr::new(src.ip(), repr.src_port),
            dst: SocketAddr::new(dst.ip(), repr.dst_port),
            seq: SeqNum(seq as u32),
            ack: SeqNum(ack.unwrap_or(0) as u32),
            flags: if syn { 0x02 } else { 0x08 } | if ack.is_some() { 0x10 } else { 0 },
            reserved: 0,
            window,
            urgent: 0,
            options: Options {
                mss: repr.max_seg_size,
                window_scale: repr.window_scale,
                sack_permitted: repr.sack_permitted,
                timestamps: stamps,
                sack,
                malformed: None,
            },
            traffic_class: 0,
            hop_limit: hops,
            label: read.header.label,
        };
        prop_assert_eq!(read.header, want);
        prop_assert_eq!(read.payload, &payload[..]);
    }
}
