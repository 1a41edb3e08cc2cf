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
