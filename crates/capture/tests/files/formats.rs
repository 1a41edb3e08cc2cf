//! The formats, compared with the crate pcap-file.

use crate::make::{
    behind, erf, framed, header, packet, pcap, read_all, read_within, snoop, snoop_header, whole, MS, START,
};
use ackclock_capture::read::Format;
use ackclock_capture::{Heading, Unreadable};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::section_header::SectionHeaderBlock;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::{DataLink, Endianness, TsResolution};
use std::borrow::Cow;
use std::time::Duration;

const ACK: u8 = 0x10;

#[test]
fn pcap_of_both_byte_orders_and_units_is_read_as_another_writes_it() {
    let packets: Vec<_> = (0..3).map(|i| packet(&header(i == 1, ACK, 100 * i, 7), 100)).collect();
    let at = |i: usize| START + i as i64 * 1_234_567_000;
    for endianness in [Endianness::Big, Endianness::Little] {
        for ts_resolution in [TsResolution::MicroSecond, TsResolution::NanoSecond] {
            let header =
                PcapHeader { endianness, ts_resolution, datalink: DataLink::RAW, snaplen: 60, ..PcapHeader::default() };
            let mut writer = PcapWriter::with_header(vec![], header).unwrap();
            for (i, packet) in packets.iter().enumerate() {
                let at = Duration::from_nanos(at(i) as u64);
                writer.write_packet(&PcapPacket::new(at, packet.len() as u32, &packet[..60])).unwrap();
            }
            let (all, contents, traffic) = read_all(&writer.into_writer());
            assert_eq!((contents.frames, contents.damages.count(), traffic.segments), (3, 0, 3));
            let seen: Vec<_> = all.iter().flat_map(|t| &t.segments).map(|s| (s.frame, s.at, s.len)).collect();
            assert_eq!(seen, [(1, at(0), 100), (3, at(2), 100), (2, at(1), 100)], "{endianness:?} {ts_resolution:?}");
        }
    }
}

#[test]
fn pcapng_of_several_sections_and_interfaces_is_read_as_another_writes_it() {
    for endianness in [Endianness::Big, Endianness::Little] {
        let mut writer = PcapNgWriter::with_endianness(vec![], endianness).unwrap();
        let mut want = vec![];
        for section in 0..2u32 {
            if section > 0 {
                writer.write_pcapng_block(SectionHeaderBlock { endianness, ..SectionHeaderBlock::default() }).unwrap();
            }
            let interface = |linktype, options| InterfaceDescriptionBlock { linktype, snaplen: 0, options };
            let units = [InterfaceDescriptionOption::IfTsResol(9), InterfaceDescriptionOption::IfTsResol(0x80 | 20)];
            let [nano, binary] = units;
            writer.write_pcapng_block(interface(DataLink::RAW, vec![nano])).unwrap();
            writer
                .write_pcapng_block(interface(
                    DataLink::ETHERNET,
                    vec![binary, InterfaceDescriptionOption::IfTsOffset(1_000_000)],
                ))
                .unwrap();
            for i in 0..4u32 {
                let raw = packet(&header(false, ACK, 1000 * section + 100 * i, 7), 100);
                let ether = behind(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0], &raw);
                let (at, data) = if i % 2 == 0 {
                    (START + i64::from(i) * MS, raw)
                } else {
                    (START + i64::from(i) * 1000 * MS, ether)
                };
                // pcap-file writes ticks of nanoseconds; the second interface is written in its own unit.
                let ticks = if i % 2 == 0 { at } else { (at / (1000 * MS) - 1_000_000) << 20 };
                let flags = EnhancedPacketOption::Flags(1 + i % 2);
                writer
                    .write_pcapng_block(EnhancedPacketBlock {
                        interface_id: i % 2,
                        timestamp: Duration::from_nanos(ticks as u64),
                        original_len: data.len() as u32,
                        data: Cow::Owned(data),
                        options: vec![flags],
                    })
                    .unwrap();
                want.push((want.len() as u64 + 1, at, if i % 2 == 0 { Heading::In } else { Heading::Out }));
            }
        }
        let (all, contents, traffic) = read_all(&writer.into_inner());
        assert_eq!((contents.damages.count(), contents.interfaces.len(), traffic.segments), (0, 4, 8), "{contents:?}");
        let seen: Vec<_> = all[0].segments.iter().map(|s| (s.frame, s.at, s.heading)).collect();
        assert_eq!(seen, want, "{endianness:?}");
    }
}

#[test]
fn a_record_of_an_old_pcap_file_has_its_lengths_in_the_order_of_its_version() {
    // libpcap's sf-pcap.c: before 2.3 the original length is first, in 2.3 the larger one is the original, and so in DG/UX's.
    let whole = packet(&header(false, ACK, 1, 7), 500);
    for (version, kept_first) in
        [((2, 2), false), ((2, 1), false), ((543, 0), false), ((2, 3), false), ((2, 3), true), ((2, 4), true)]
    {
        for big in [false, true] {
            let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
            let half = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
            let mut file = [&word(0xa1b2_c3d4)[..], &half(version.0), &half(version.1)].concat();
            [0, 0, 96, 101].iter().for_each(|n| file.extend(word(*n)));
            for second in 1..4 {
                let lengths = if kept_first { [96, whole.len() as u32] } else { [whole.len() as u32, 96] };
                [second, 7, lengths[0], lengths[1]].iter().for_each(|n| file.extend(word(*n)));
                file.extend_from_slice(&whole[..96]);
            }
            let (all, contents, traffic) = read_all(&file);
            assert_eq!((contents.frames, contents.damages.count(), traffic.bytes), (3, 0, 3 * 540), "{version:?}");
            assert_eq!(all[0].segments[0].len, 500);
        }
    }
}

#[test]
fn a_file_of_aix_counts_nanoseconds_and_link_types_in_its_own_way() {
    let ip = packet(&header(false, ACK, 1, 7), 100);
    for (number, link) in [(6, 1), (9, 6), (15, 10), (24, 0)] {
        let frame = framed(link, &ip);
        let len = frame.len() as u32;
        let words = [0xa1b2_c3d4, 0x0002_0002, 0, 0, 200, number, 7, 999_999_999, len, len];
        let file = [words.iter().flat_map(|word| word.to_be_bytes()).collect(), frame].concat();
        let (all, ..) = read_all(&file);
        assert_eq!((all[0].segments[0].at, all[0].segments[0].len), (7_999_999_999, 100), "{number}");
    }
}

#[test]
fn snoop_is_read_with_its_times_its_lengths_and_what_it_dropped() {
    // RFC 1761. Data link types 4 and 0 are Ethernet, 8 is FDDI.
    for (link, number) in [(4, 1), (0, 1), (8, 10)] {
        let frames: Vec<_> =
            (0..4).map(|i| framed(number, &packet(&header(false, ACK, 1 + 101 * i, 7), 101))).collect();
        let mut file = snoop_header(link);
        for (frame, i) in frames.iter().zip(0..) {
            file.extend(snoop(START + i * MS, i as u32 / 2, &frame[..71], frame.len()));
        }
        let (all, contents, _) = read_all(&file);
        assert_eq!((contents.format, contents.damages.count()), (Format::Snoop, 0));
        let [interface] = &contents.interfaces[..] else { panic!("{contents:?}") };
        assert_eq!((u32::from(interface.link), interface.dropped), (number, Some(1)));
        let seen: Vec<_> = all[0].segments.iter().map(|s| (s.frame, s.at, s.len)).collect();
        assert_eq!(seen, [1, 2, 3, 4].map(|n| (n, START + (n as i64 - 1) * MS, 101)));
    }
}

/// Puts the headers of a record in front of an IP packet.
type Front<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;

/// An ERF file of three segments.
fn erf_file(kind: u8, front: Front<'_>) -> Vec<u8> {
    let record = |i: i64| erf(kind, START + i * MS, &front(&packet(&header(false, ACK, 1 + 50 * i as u32, 7), 50)));
    // Padding between them is no packet.
    [record(0), erf(48, 0, &[0; 16]), record(1), record(2)].concat()
}

#[test]
fn erf_of_ethernet_lines_and_ip_is_read_whether_or_not_headers_are_extended() {
    let ethernet = |ip: &[u8]| behind(&[0, 0], &framed(1, ip));
    let extended = |ip: &[u8]| [&[0x83, 1, 2, 3, 4, 5, 6, 7, 3, 1, 2, 3, 4, 5, 6, 7][..], &ethernet(ip)].concat();
    let line = |ip: &[u8]| framed(104, ip);
    let channel = |ip: &[u8]| behind(&[0; 4], &framed(9, ip));
    let kinds: [(u8, Front<'_>); 7] = [
        (2, &ethernet),
        (11, &ethernet),
        (0x82, &extended),
        (1, &line),
        (5, &channel),
        (22, &|ip| ip.to_vec()),
        (20, &ethernet),
    ];
    for (kind, front) in kinds {
        let (all, contents, traffic) = read_all(&erf_file(kind, front));
        assert_eq!((contents.format, contents.damages.count(), contents.frames), (Format::Erf, 0, 3), "{kind}");
        assert_eq!((all[0].segments.len(), traffic.segments), (3, 3), "{kind}");
        for (segment, i) in all[0].segments.iter().zip(0..) {
            assert!(segment.at.abs_diff(START + i * MS) < 2 && segment.len == 50, "{segment:?}");
        }
    }
}

#[test]
fn an_erf_record_that_is_not_read_is_counted_by_the_number_of_its_link_type() {
    let records: Vec<u8> = (0..3).flat_map(|i| erf(21, START + i, &[0; 40])).collect();
    let (_, contents, traffic) = read_all(&records);
    assert_eq!((contents.frames, traffic.unread_links), (3, [(197, 3)].into()));
    let about: Vec<u8> = [erf(27, 0, &[0; 40]), erf_file(2, &|ip| behind(&[0, 0], &framed(1, ip)))].concat();
    let (_, contents, traffic) = read_all(&about);
    assert_eq!((contents.frames, traffic.segments, traffic.unread_links.len()), (4, 3, 0), "{traffic:?}");
    let without_times = (0..3).flat_map(|i| erf(22, 0, &packet(&header(false, ACK, 1 + i, 7), 10))).collect::<Vec<_>>();
    assert_eq!(read_all(&without_times).1.frames, 3);
}

#[test]
fn behind_a_record_of_snoop_or_erf_with_an_impossible_length_the_next_good_one_is_found() {
    let ip = |i: u32| packet(&header(false, ACK, 1 + 10 * i, 7), 10);
    let snoops: Vec<_> = (0..7).map(|i| snoop(START, 0, &framed(1, &ip(i)), 64)).collect();
    let erfs: Vec<_> = (0..7).map(|i| erf(22, START, &ip(i))).collect();
    for (mut records, front, damage) in [(snoops, snoop_header(4), 11), (erfs, vec![], 11)] {
        records[3][damage - 3..=damage].fill(0xff);
        let (all, contents, _) = read_all(&[&front[..], &records.concat()].concat());
        let found: Vec<_> = all[0].segments.iter().map(|s| s.seq as u32).collect();
        assert_eq!((found, contents.damages.count()), (vec![1, 11, 21, 41, 51, 61], 1), "{contents:?}");
    }
}

#[test]
fn a_format_that_is_not_read_is_named_with_the_way_out() {
    let date = |front: &[u8]| [front, &[0xe8, 7, 1, 15, 6, 35, 25], &[0; 20]].concat();
    for (begins, name) in [
        (b"RTSS\x01\x01....................".to_vec(), "Microsoft Network Monitor 1"),
        (b"GMBU\0\x02....................".to_vec(), "Microsoft Network Monitor 2"),
        (b"TRSNIFF data    \x1a..............".to_vec(), "Sniffer (DOS)"),
        (b"XCP\x00002.001.................".to_vec(), "Sniffer (Windows), NetXray"),
        (b"+---------+---------------+----------+".to_vec(), "Tektronix K12 (text)"),
        (b"iptrace 2.0....................".to_vec(), "AIX iptrace"),
        (date(&[0x42, 0, 0x42, 0, 0]), "CommView"),
        (date(&[0x42, 0, 0, 0]), "CommView"),
        ([snoop_header(18), vec![0; 24]].concat(), "snoop, of a link layer or version that is rare"),
    ] {
        let error = read_within(&begins, 9).unwrap_err();
        assert!(matches!(error, Unreadable::Foreign { format } if format == name), "{error}");
        let words = format!("its format is not read: {name}; convert it with Wireshark's editcap -F pcapng FILE NEW");
        assert_eq!(error.to_string(), words);
    }
}

#[test]
fn what_is_no_capture_is_refused_with_its_first_bytes() {
    let error = read_within(b"GIF89a..................................", 9).unwrap_err();
    assert!(matches!(error, Unreadable::NotACapture { .. }), "{error}");
    assert!(error.to_string().starts_with("at byte 0: it begins with 47 49 46 38, which is neither pcap"), "{error}");
    assert!(matches!(read_within(b"", 9), Err(Unreadable::NotACapture { .. })));
}

#[test]
fn a_file_that_ends_within_a_packet_is_reported_with_the_place_and_the_packets_before_count() {
    let packets = [packet(&header(false, ACK, 1, 7), 10), packet(&header(false, ACK, 11, 7), 10)];
    let file = whole(101, &packets);
    let cut = &file[..file.len() - 5];
    let (all, contents, _) = read_all(cut);
    assert_eq!(all[0].segments.len(), 1);
    let damage = contents.damages.first().unwrap().to_string();
    assert_eq!(damage, "packet 2 at byte 90: the file ends after 61 of 66 bytes");
}

#[test]
fn a_record_with_an_impossible_length_is_passed_over_and_the_next_good_one_is_found() {
    let packets: Vec<_> = (0..6).map(|i| packet(&header(false, ACK, 1 + 10 * i, 7), 10)).collect();
    let mut file = whole(101, &packets);
    let second = 24 + 66;
    file[second + 8..second + 12].copy_from_slice(&0xdead_beefu32.to_le_bytes());
    let (all, contents, _) = read_all(&file);
    let found: Vec<_> = all[0].segments.iter().map(|s| s.seq as u32).collect();
    assert_eq!(found, [1, 21, 31, 41, 51]);
    let damage: Vec<_> = contents.damages.kept().iter().map(ToString::to_string).collect();
    assert_eq!(
        damage,
        ["packet 2 at byte 90: a length of 3735928559 bytes is impossible; reading resumed at the next packet"]
    );
}

/// A pcapng file of one interface for IP packets with this snap length, and blocks of these kinds and bodies.
fn pcapng(snaplen: u32, blocks: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let section = (0x0a0d_0d0a, words(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]));
    let interface = (1, words(&[101, snaplen]));
    let mut file = vec![];
    for (kind, body) in [section, interface].iter().chain(blocks) {
        let mut body = body.clone();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = (12 + body.len() as u32).to_le_bytes();
        [&kind.to_le_bytes()[..], &length, &body, &length].iter().for_each(|part| file.extend_from_slice(part));
    }
    file
}

#[test]
fn a_simple_packet_ends_at_the_snap_length_and_not_with_its_padding() {
    // draft-ietf-opsawg-pcapng §4.4. The last byte of the TCP header was not kept; its place is padded.
    let simple = |kept: usize| {
        let packet = packet(&header(false, ACK, 1, 7), 10);
        (3, [&(packet.len() as u32).to_le_bytes()[..], &packet[..kept]].concat())
    };
    for (kept, segments) in [(39, 0), (40, 1)] {
        let (_, contents, traffic) = read_all(&pcapng(kept, &[simple(kept as usize)]));
        assert_eq!((contents.frames, traffic.segments), (1, segments), "{kept} bytes kept");
    }
}

#[test]
fn a_packet_block_too_short_for_its_packet_counts_as_a_packet() {
    // Wireshark numbers it, too, so the numbers of those behind it agree.
    let good = packet(&header(false, ACK, 1, 7), 10);
    let simple = [&(good.len() as u32).to_le_bytes()[..], &good].concat();
    let (all, contents, _) = read_all(&pcapng(0, &[(6, vec![0; 8]), (3, simple)]));
    assert_eq!((contents.damages.count(), all[0].segments[0].frame), (1, 2));
}

#[test]
fn times_that_jump_are_counted_and_the_next_segment_of_each_connection_says_so() {
    const SECOND: i64 = 1000 * MS;
    let of = |port: u16, seq: u32| {
        let mut header = header(false, ACK, seq, 7);
        header.src.set_port(port);
        packet(&header, 10)
    };
    // Never written, then right; back by a second is a correction, by more a jump; ahead by a day is a pause, by more a jump.
    let times = [
        (0, 1, false),
        (START, 1, true),
        (START + 5 * SECOND, 2, false),
        (START + 4 * SECOND, 1, false),
        (START + 2 * SECOND, 2, true),
        (START + 3 * SECOND, 1, true),
        (START + 86_403 * SECOND, 1, false),
        (START + 172_804 * SECOND, 1, true),
        (START + 172_804 * SECOND, 2, true),
        (START + 172_804 * SECOND, 2, false),
    ];
    let packets: Vec<_> = times.iter().zip(1u32..).map(|((at, port, _), seq)| (*at, of(*port, 10 * seq))).collect();
    let all: Vec<_> = packets.iter().map(|(at, p)| (*at, &p[..], p.len())).collect();
    let (all, _, traffic) = read_all(&pcap(101, &all));
    assert_eq!((traffic.time_jumps, traffic.times_back), (3, 2));
    let mut seen: Vec<_> = all.iter().flat_map(|t| &t.segments).map(|s| (s.frame, s.after_jump)).collect();
    seen.sort_unstable();
    assert_eq!(seen, times.iter().zip(1..).map(|((.., jump), frame)| (frame, *jump)).collect::<Vec<_>>());
}

#[test]
fn a_time_that_was_never_written_is_not_the_first_unless_all_count_from_it() {
    let p = packet(&header(false, ACK, 1, 7), 10);
    let span = |times: &[i64]| {
        let packets: Vec<_> = times.iter().map(|at| (*at, &p[..], 50)).collect();
        read_all(&pcap(101, &packets)).2.span
    };
    assert_eq!(span(&[0, 0, START, START + MS]), Some((START, START + MS)));
    assert_eq!(span(&[START, 0, START + MS, 0]), Some((START, START + MS)));
    assert_eq!(span(&[0, MS, 2 * MS]), Some((0, 2 * MS)));
}

#[test]
fn times_that_go_back_are_counted_and_keep_their_order() {
    let p = packet(&header(false, ACK, 1, 7), 10);
    let (all, _, traffic) =
        read_all(&pcap(101, &[(START + 9 * MS, &p, 50), (START + 5 * MS, &p, 50), (START + 7 * MS, &p, 50)]));
    assert_eq!((traffic.times_back, traffic.span), (1, Some((START + 5 * MS, START + 9 * MS))));
    assert_eq!(all[0].segments.iter().map(|s| s.frame).collect::<Vec<_>>(), [1, 2, 3]);
}
