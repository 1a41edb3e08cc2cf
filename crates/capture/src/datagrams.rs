//! UDP with sequence numbers: RTP and iperf3. Measures loss and the path's reordering.
//!
//! Source: RFC 3550 §5.1 (RTP's header) and A.1 (steps of sequence numbers), RFC 5761 §4 (RTCP at the same port); iperf3 3.12,
//! `src/iperf_udp.c`, `iperf_udp_send` (seconds, microseconds, a count of 32 or 64 bits).
//! Idea: no port identifies the content of a datagram. Datagrams of a flow that could be RTP or iperf3's are candidates; if eight
//! in a row obey the rules of the format, they and all later ones are assigned to it. Other protocols may obey the rules by
//! chance, but rarely eight times.

mod numbers;

use crate::reordering::since;
use ackclock_sim::reordering::Reordering;
use numbers::{read, Header, Packet, FIRST};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The number of datagrams that must obey the rules before the format is accepted.
const ENOUGH: usize = 8;

/// A UDP datagram of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Its source and its destination.
    pub ends: [SocketAddr; 2],
    /// Its payload size, in bytes.
    pub len: u32,
    /// The captured part of the payload.
    pub payload: &'a [u8],
}

/// The format of the sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// RTP, with its source (SSRC).
    Rtp {
        /// The synchronization source.
        source: u32,
    },
    /// iperf3's UDP, with counts of 32 bits.
    Iperf3,
    /// The same with counts of 64 bits (`--udp-counters-64bit`).
    Iperf3Wide,
}

/// Datagrams of one direction with sequence numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbered {
    /// Their source and their destination.
    pub ends: [SocketAddr; 2],
    /// The format of their numbers.
    pub format: Format,
    /// The frame of the first.
    pub first_frame: u64,
    /// When the first was captured, nanoseconds since 1970.
    pub first: i64,
    /// When the last was captured.
    pub last: i64,
    /// Payload, bytes.
    pub bytes: u64,
    /// Jumps of the number by more than 3000 after which counting continued from there.
    pub restarts: u64,
    /// The order of their arrivals, by RFC 4737.
    pub order: Reordering,
    span: (u64, u64),
    /// The highest number: unwrapped, and as in the datagram.
    top: (u64, u64),
    strange: Option<u64>,
}

/// A flow of datagrams, and RTP's source; 0 for iperf3, which has none.
type Key = ([SocketAddr; 2], u32);

/// All UDP of a capture while it is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Datagrams {
    /// Flows that may be numbered: the last few datagrams of each.
    candidates: BTreeMap<Key, Vec<Packet>>,
    /// Flows that are numbered: their positions in `numbered`.
    known: BTreeMap<Key, usize>,
    numbered: Vec<Numbered>,
    recognised: (u64, u64),
}

impl Format {
    /// Its name in a table and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Format::Rtp { .. } => "RTP",
            Format::Iperf3 | Format::Iperf3Wide => "iperf3",
        }
    }

    /// The basis of the transmission order, in words.
    pub fn order_source(self) -> &'static str {
        match self {
            Format::Rtp { .. } => "RTP's sequence numbers",
            Format::Iperf3 | Format::Iperf3Wide => "iperf3's counts",
        }
    }

    /// RTP's source.
    pub fn source(self) -> Option<u32> {
        match self {
            Format::Rtp { source } => Some(source),
            Format::Iperf3 | Format::Iperf3Wide => None,
        }
    }
}

impl Datagrams {
    /// The next datagram, of `original` bytes in all. At most `limit` flows are followed.
    #[cold]
    pub(crate) fn on(&mut self, datagram: &Datagram<'_>, frame: u64, at: i64, original: u32, limit: usize) {
        let header = Header::of(datagram);
        let packet = Packet { frame, at, original, len: datagram.len, header };
        // An SSRC of 0 is not accepted.
        let keys = [header.source, header.could_be_iperf3.then_some(0)];
        let keys = keys.into_iter().flatten().map(|source| (datagram.ends, source));
        for key in keys {
            if self.is_known(key, &packet) || self.is_new(key, packet, limit) {
                return;
            }
        }
    }

    fn is_known(&mut self, key: Key, packet: &Packet) -> bool {
        let Some(numbered) = self.known.get(&key).and_then(|place| self.numbered.get_mut(*place)) else { return false };
        let Some(number) = read(numbered.format, &packet.header) else { return false };
        numbered.take(number, packet);
        self.recognise(packet);
        true
    }

    /// Whether a flow has enough datagrams by now to determine its format.
    fn is_new(&mut self, key: Key, packet: Packet, limit: usize) -> bool {
        if self.known.contains_key(&key) || self.numbered.len() >= limit {
            return false;
        }
        if self.candidates.len() >= limit && !self.candidates.contains_key(&key) {
            self.candidates.clear();
        }
        let waiting = self.candidates.entry(key).or_default();
        waiting.push(packet);
        if waiting.len() < ENOUGH {
            return false;
        }
        let Some(format) = numbers::format((key.1 != 0).then_some(key.1), waiting) else {
            waiting.remove(0);
            return false;
        };
        let packets = self.candidates.remove(&key).unwrap_or_default();
        packets.iter().for_each(|p| self.recognise(p));
        self.known.insert(key, self.numbered.len());
        self.numbered.push(Numbered::begin(key.0, format, &packets));
        true
    }

    fn recognise(&mut self, packet: &Packet) {
        self.recognised.0 += 1;
        self.recognised.1 += u64::from(packet.original);
    }

    /// The results, in the order of the first frames, with their total packets and bytes.
    pub(crate) fn finish(mut self) -> (Vec<Numbered>, (u64, u64)) {
        self.numbered.sort_by_key(|n| n.first_frame);
        (self.numbered, self.recognised)
    }
}

impl Numbered {
    fn begin(ends: [SocketAddr; 2], format: Format, packets: &[Packet]) -> Numbered {
        let first = &packets[0];
        let raw = read(format, &first.header).unwrap_or(0);
        // The first to arrive need not be the first that was sent.
        let steps = packets.iter().filter_map(|p| Some(numbers::step(format, raw, read(format, &p.header)?)));
        let before = steps.min().unwrap_or(0).min(0);
        let mut numbered = Numbered {
            ends,
            format,
            first_frame: first.frame,
            first: first.at,
            last: first.at,
            bytes: 0,
            restarts: 0,
            order: Reordering::with_densities(FIRST.saturating_add_signed(before)),
            span: (FIRST, FIRST),
            top: (FIRST, raw),
            strange: None,
        };
        for packet in packets {
            if let Some(number) = read(format, &packet.header) {
                numbered.take(number, packet);
            }
        }
        numbered
    }

    fn take(&mut self, raw: u64, packet: &Packet) {
        let mut step = numbers::step(self.format, self.top.1, raw);
        if step.unsigned_abs() > numbers::NEAR {
            // RFC 3550 A.1: two in a row show that counting continued elsewhere.
            if self.strange != Some(raw.wrapping_sub(1)) {
                self.strange = Some(raw);
                return;
            }
            self.restarts += 1;
            step = 1;
            self.top.1 = raw.wrapping_sub(1);
        }
        self.strange = None;
        let number = self.top.0.saturating_add_signed(step);
        if step > 0 {
            self.top = (number, raw);
        }
        self.span = (self.span.0.min(number), self.span.1.max(number));
        self.last = self.last.max(packet.at);
        self.bytes += u64::from(packet.len);
        self.order.arrive(since(self.first, packet.at), number, packet.len);
    }

    /// Numbers between the lowest and the highest that never arrived. At the sender's side there are none.
    pub fn lost(&self) -> u64 {
        (self.span.1 - self.span.0 + 1).saturating_sub(self.order.packets() + self.order.forgotten())
    }

    /// Lost datagrams as a share of all datagrams sent in the same span.
    pub fn lost_ratio(&self) -> f64 {
        self.lost() as f64 / (self.span.1 - self.span.0 + 1) as f64
    }

    /// In the usual form: `10.0.0.1:5004 > 10.0.0.2:5004`.
    pub fn name(&self) -> String {
        format!("{} > {}", self.ends[0], self.ends[1])
    }
}
