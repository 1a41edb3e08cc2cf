//! Packets and files to read, and an analysis that keeps everything.

use ackclock_capture::{analyse, Analysis, Contents, Ended, Flow, Input, Seen, Traffic, Unreadable};
use ackclock_tcp::seq::SeqNum;
use ackclock_wire::{Dialect, Header, Options, Writing};

pub(crate) const MS: i64 = 1_000_000;
/// 2026-01-01, nanoseconds.
pub(crate) const START: i64 = 1_767_225_600 * 1000 * MS;

/// One connection as passed to the analysis.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) flow: Flow,
    pub(crate) segments: Vec<Seen>,
    pub(crate) why: Ended,
}

#[derive(Debug, Default)]
pub(crate) struct Keep(pub(crate) Vec<Finished>);

impl Analysis for Keep {
    type State = Vec<Seen>;

    fn begin(&mut self, _: &Flow) -> Vec<Seen> {
        vec![]
    }
    fn segment(&mut self, _: &Flow, state: &mut Vec<Seen>, seen: &Seen) {
        state.push(*seen);
    }
    fn end(&mut self, flow: &Flow, segments: Vec<Seen>, why: Ended) {
        self.0.push(Finished { flow: flow.clone(), segments, why });
    }
}

pub(crate) fn read_within(bytes: &[u8], limit: usize) -> Result<(Vec<Finished>, Contents, Traffic), Unreadable> {
    let mut keep = Keep::default();
    let (contents, traffic) = analyse(Input::Bytes(bytes), limit, &mut keep)?;
    Ok((keep.0, contents, traffic))
}

pub(crate) fn read_all(bytes: &[u8]) -> (Vec<Finished>, Contents, Traffic) {
    read_within(bytes, 1000).unwrap()
}

/// A header from 10.0.0.1:1000 to 10.0.0.2:80, or the same with IPv6.
pub(crate) fn header(ipv6: bool, flags: u8, seq: u32, ack: u32) -> Header {
    let (src, dst) = if ipv6 { ("[fd00::1]:1000", "[fd00::2]:80") } else { ("10.0.0.1:1000", "10.0.0.2:80") };
    Header {
        src: src.parse().unwrap(),
        dst: dst.parse().unwrap(),
        seq: SeqNum(seq),
        ack: SeqNum(ack),
        flags,
        reserved: 0,
        window: 500,
        urgent: 0,
        options: Options::default(),
        traffic_class: 0,
        hop_limit: 64,
        label: 7,
    }
}

/// The other way.
pub(crate) fn back(header: Header) -> Header {
    Header { src: header.dst, dst: header.src, ..header }
}

/// An IP packet.
pub(crate) fn packet(header: &Header, len: usize) -> Vec<u8> {
    let mut buf = vec![0; 2000];
    let w = header.write(Dialect::Linux, Writing::Whole, &mut buf, len, |p| p.fill(0x5a)).unwrap();
    buf.truncate(w.len);
    buf
}

/// A packet behind a link layer.
pub(crate) fn behind(front: &[u8], packet: &[u8]) -> Vec<u8> {
    [front, packet].concat()
}

/// The link types that are read, IPv4's and IPv6's own apart.
pub(crate) const LINKS: [u32; 33] = [
    0, 1, 6, 9, 10, 12, 14, 50, 51, 100, 101, 104, 105, 108, 109, 113, 117, 119, 122, 123, 127, 138, 163, 166, 178,
    192, 197, 204, 205, 226, 239, 240, 276,
];

/// An IP packet behind the simplest header of a link type.
pub(crate) fn framed(link: u32, ip: &[u8]) -> Vec<u8> {
    let kind: [u8; 2] = if ip[0] >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] };
    let ppp = [0xff, 3, 0, if ip[0] >> 4 == 6 { 0x57 } else { 0x21 }];
    let ethernet = [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &kind].concat();
    let snap = [&[0xaa, 0xaa, 3, 0, 0, 0][..], &kind].concat();
    // From an access point, without quality of service.
    let wifi = [&[8, 2, 0, 0][..], &[7; 18], &[0x50, 1], &snap].concat();
    let front = match link {
        0 => vec![if kind[0] == 8 { 2 } else { 30 }, 0, 0, 0],
        108 => vec![0, 0, 0, if kind[0] == 8 { 2 } else { 24 }],
        1 => ethernet,
        // Its source announces a route of six bytes.
        6 => [&[0x10, 0x40, 1, 1, 1, 1, 1, 1, 0x82, 2, 2, 2, 2, 2, 6, 0x30, 0, 0x11, 0, 0x20][..], &snap].concat(),
        9 | 50 => ppp.to_vec(),
        10 => [&[0x50][..], &[3; 12], &snap].concat(),
        12 | 14 | 101 | 228 | 229 => vec![],
        51 => [&[0x11, 0, 0, 9, 0, 99][..], &ppp[2..]].concat(),
        100 => snap,
        104 => [&[0x0f, 0][..], &kind].concat(),
        105 => wifi,
        109 => [&[2, 0, 0, 0][..], &[9; 8]].concat(),
        113 => [&[0, 4, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0][..], &kind].concat(),
        117 => [&[61][..], &[0; 63]].concat(),
        119 => [&[0x44, 0, 0, 0, 144, 0, 0, 0][..], &[0; 136], &wifi].concat(),
        122 => [&[5; 16][..], &snap].concat(),
        123 => [&[0x82, 0, 0, 33][..], &snap].concat(),
        127 => [&[0, 0, 8, 0, 0, 0, 0, 0][..], &wifi].concat(),
        138 => [&[6; 16][..], &kind].concat(),
        163 => [&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64][..], &[0; 56], &wifi].concat(),
        166 | 204 => [&[1][..], &ppp].concat(),
        178 => [&[0x4d, 0x47, 0x43, 1][..], &ethernet].concat(),
        192 => [&[0, 0, 8, 0, 1, 0, 0, 0][..], &ethernet].concat(),
        197 => erf(2, START, &[&[0, 0][..], &ethernet, ip].concat())[..18 + ethernet.len()].to_vec(),
        205 => [&[0, 0x8f, 0][..], &kind].concat(),
        226 => [&[1, if kind[0] == 8 { 2 } else { 26 }][..], &[0; 22]].concat(),
        // The hook of local output, then the packet.
        239 => {
            let len = (4 + ip.len() as u16).to_le_bytes();
            [&[2, 0, 0, 5, 8, 0, 1, 0, 8, 0, 3, 0][..], &len, &[9, 0]].concat()
        }
        240 => [&[0; 4][..], &ethernet].concat(),
        276 => [&kind[..], &[0, 0, 0, 0, 0, 2, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0]].concat(),
        other => panic!("{other}"),
    };
    behind(&front, ip)
}

/// An Ethernet frame with tags of these VLANs.
pub(crate) fn tagged(vlans: &[u16], frame: &[u8]) -> Vec<u8> {
    let tags = vlans.iter().flat_map(|id| [&[0x81, 0][..], &id.to_be_bytes()].concat());
    frame[..12].iter().copied().chain(tags).chain(frame[12..].iter().copied()).collect()
}

/// A record of ERF of a type.
pub(crate) fn erf(kind: u8, at: i64, content: &[u8]) -> Vec<u8> {
    let (seconds, nanos) = ((at / (1000 * MS)) as u64, (at % (1000 * MS)) as u64);
    let time = seconds << 32 | ((nanos << 32) / 1_000_000_000 + 1);
    let len = (16 + content.len()).next_multiple_of(8);
    let mut record = time.to_le_bytes().to_vec();
    record.extend([kind, 4]);
    for half in [len, 0, content.len()] {
        record.extend((half as u16).to_be_bytes());
    }
    record.extend_from_slice(content);
    record.resize(len, 0);
    record
}

/// The header of a snoop file, and one of its records.
pub(crate) fn snoop_header(link: u32) -> Vec<u8> {
    [&b"snoop\0\0\0"[..], &2u32.to_be_bytes(), &link.to_be_bytes()].concat()
}

pub(crate) fn snoop(at: i64, dropped: u32, bytes: &[u8], original: usize) -> Vec<u8> {
    let len = 24 + bytes.len().next_multiple_of(4);
    let (seconds, micros) = ((at / (1000 * MS)) as u32, (at % (1000 * MS) / 1000) as u32);
    let words = [original as u32, bytes.len() as u32, len as u32, dropped, seconds, micros];
    let mut record: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    record.extend_from_slice(bytes);
    record.resize(len, 0);
    record
}

/// A pcap file of the link type with nanoseconds, little-endian: time, packet and its length before truncation.
pub(crate) fn pcap(link: u32, packets: &[(i64, &[u8], usize)]) -> Vec<u8> {
    let mut file = vec![];
    for word in [0xa1b2_3c4du32, 0x0004_0002, 0, 0, 262_144, link] {
        file.extend(word.to_le_bytes());
    }
    for (at, bytes, original) in packets {
        let (seconds, nanos) = (at / (1000 * MS), at % (1000 * MS));
        for word in [seconds as u32, nanos as u32, bytes.len() as u32, *original as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend_from_slice(bytes);
    }
    file
}

/// Complete packets, a millisecond apart.
pub(crate) fn whole(link: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let all: Vec<_> = packets.iter().zip(0..).map(|(p, i)| (START + i * MS, &p[..], p.len())).collect();
    pcap(link, &all)
}
