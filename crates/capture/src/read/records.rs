//! The formats snoop and ERF: records that say how long they are.
//!
//! Source: RFC 1761 (snoop: a header, then big-endian records of a multiple of four bytes); Endace's ERF types (records alone,
//! without a header for the file).
//! Idea: both are read by one loop; they differ in the header of a record.

use super::{erf, Frame, Interface, Place, What, LONGEST};
use crate::seen::Heading;

const SNOOP: &[u8; 8] = b"snoop\0\0\0";
/// The header of a snoop file, and of a record.
const FILE: usize = 16;
const SNOOP_RECORD: usize = 24;
const ERF_RECORD: usize = 16;
/// A record behind damage, and the beginning of an ERF file, are accepted if this many follow each other.
const CHAIN: usize = 3;
/// ... and if their times are at most this far apart, nanoseconds.
const FAR: i64 = 7 * 86_400_000_000_000;

/// A file while it is read.
#[derive(Debug)]
pub(super) struct Records {
    kind: Kind,
    interfaces: Vec<Interface>,
    begun: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// With the link type of all its packets.
    Snoop(u16),
    Erf,
}

/// What the beginning of a file says.
pub(super) enum Beginning {
    /// It is such a file.
    Records(Records),
    /// It may be one; more bytes will tell.
    Open,
    /// It is snoop, but with a link layer or in a version that is not read.
    Foreign,
    /// It is another.
    Other,
}

/// A record by its header.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// The length of all of it, and of its header.
    len: usize,
    header: usize,
    kept: usize,
    original: u32,
    at: i64,
    interface: u32,
    /// Packets dropped: in all so far (snoop), since the last record (ERF).
    dropped: u64,
    /// Whether it is consistent.
    good: bool,
    /// Whether only the format needs it.
    padding: bool,
}

impl Records {
    /// `last`: no more bytes follow.
    pub(super) fn recognise(bytes: &[u8], last: bool) -> Beginning {
        if bytes.starts_with(SNOOP) && bytes.len() >= FILE {
            return match (word(bytes, 8), snoop_link(word(bytes, 12))) {
                (2, Some(link)) => {
                    let interfaces = vec![Interface { link, snaplen: 0, name: None, dropped: None }];
                    Beginning::Records(Records { kind: Kind::Snoop(link), interfaces, begun: false })
                }
                _ => Beginning::Foreign,
            };
        }
        let records = Records { kind: Kind::Erf, interfaces: vec![], begun: true };
        match records.chain(bytes, 0, last, None) {
            Some(true) => Beginning::Records(records),
            Some(false) => Beginning::Other,
            None => Beginning::Open,
        }
    }

    pub(super) fn is_erf(&self) -> bool {
        self.kind == Kind::Erf
    }

    pub(super) fn into_interfaces(self) -> Vec<Interface> {
        self.interfaces
    }

    pub(super) fn feed<F: FnMut(&Frame<'_>)>(
        &mut self,
        bytes: &[u8],
        last: bool,
        place: &mut Place,
        each: &mut F,
    ) -> usize {
        let mut at = if self.begun { 0 } else { FILE.min(bytes.len()) };
        self.begun = true;
        loop {
            if place.lost && !self.search(bytes, last, place, &mut at) {
                break;
            }
            let Some(record) = self.record(bytes, at) else { break };
            if !record.good {
                place.damaged(at, What::Length { len: record.len as u32 });
                place.lost = true;
                at += 1;
                continue;
            }
            let Some(whole) = bytes.get(at..at + record.len) else { break };
            if !record.padding {
                self.packet(&record, whole, at, place, each);
            }
            at += record.len;
        }
        if last && !place.lost && at < bytes.len() {
            let needs = self.record(bytes, at).map_or(self.header(), |record| record.len);
            place.damaged(at, What::CutOff { needs: needs as u64, has: (bytes.len() - at) as u64 });
        }
        if last {
            at = bytes.len();
        }
        at
    }

    fn packet<F: FnMut(&Frame<'_>)>(
        &mut self,
        record: &Record,
        whole: &[u8],
        at: usize,
        place: &mut Place,
        each: &mut F,
    ) {
        let (link, bytes, original) = match self.kind {
            Kind::Snoop(link) => (link, &whole[record.header..record.header + record.kept], record.original),
            // What is within a record that is not read stays as it is.
            Kind::Erf => match erf::within(whole) {
                Some((link, from)) => {
                    let bytes = &whole[from.min(whole.len())..];
                    (link, &bytes[..bytes.len().min(record.original as usize)], record.original)
                }
                None => (erf::LINK, whole, whole.len() as u32),
            },
        };
        self.count(record, link);
        (place.frames, place.at) = (place.frames + 1, record.at);
        each(&Frame {
            number: place.frames,
            offset: place.offset + at as u64,
            at: record.at,
            interface: record.interface,
            link,
            heading: Heading::Unsaid,
            original,
            bytes,
        });
    }

    /// Counts what was dropped, at the interface of the record.
    fn count(&mut self, record: &Record, link: u16) {
        while self.interfaces.len() <= record.interface as usize {
            self.interfaces.push(Interface { link, snaplen: 0, name: None, dropped: None });
        }
        let is_erf = self.is_erf();
        let dropped = &mut self.interfaces[record.interface as usize].dropped;
        let before = dropped.unwrap_or(0);
        let now = if is_erf { before.saturating_add(record.dropped) } else { before.max(record.dropped) };
        *dropped = Some(now).filter(|n| *n > 0);
    }

    fn header(&self) -> usize {
        match self.kind {
            Kind::Snoop(_) => SNOOP_RECORD,
            Kind::Erf => ERF_RECORD,
        }
    }

    fn record(&self, bytes: &[u8], at: usize) -> Option<Record> {
        let head = bytes.get(at..at + self.header())?;
        Some(match self.kind {
            Kind::Snoop(_) => snoop(head),
            Kind::Erf => erf_record(head),
        })
    }

    /// Searches for the next acceptable record. Returns `false` if more bytes are needed, or none follow.
    #[cold]
    fn search(&self, bytes: &[u8], last: bool, place: &mut Place, at: &mut usize) -> bool {
        while *at < bytes.len() {
            match self.chain(bytes, *at, last, (place.frames > 0).then_some(place.at)) {
                Some(true) => {
                    place.lost = false;
                    return true;
                }
                Some(false) => *at += 1,
                None => return false,
            }
        }
        false
    }

    /// Whether acceptable records follow each other from here, or up to the end of the file; `None` if more bytes will tell.
    fn chain(&self, bytes: &[u8], from: usize, last: bool, mut before: Option<i64>) -> Option<bool> {
        let (mut at, mut packets) = (from, 0);
        while packets < CHAIN {
            if at == bytes.len() && last {
                return Some(packets > 0);
            }
            let Some(record) = self.record(bytes, at) else { return last.then_some(false) };
            // A record of ERF that is about the capture has no time.
            let timed = record.at > 0;
            let near = before.is_none_or(|before| record.at.abs_diff(before) < FAR as u64);
            if !record.good || timed && !near {
                return Some(false);
            }
            before = if timed { Some(record.at) } else { before };
            packets += 1;
            at += record.len;
        }
        match at <= bytes.len() {
            true => Some(true),
            false => last.then_some(false),
        }
    }
}

/// The link type of snoop's data link type; `None` if none of them is read.
fn snoop_link(kind: u32) -> Option<u16> {
    match kind {
        0 | 4 => Some(1),
        2 => Some(6),
        8 => Some(10),
        9 | 14 => Some(0),
        16 => Some(122),
        _ => None,
    }
}

fn snoop(head: &[u8]) -> Record {
    let [original, kept, len, dropped, seconds, micros] = [0, 4, 8, 12, 16, 20].map(|at| word(head, at));
    let (kept, len) = (kept as usize, len as usize);
    Record {
        len,
        header: SNOOP_RECORD,
        kept,
        original,
        at: i64::from(seconds) * 1_000_000_000 + i64::from(micros) * 1000,
        interface: 0,
        dropped: dropped.into(),
        good: len <= LONGEST && kept <= original as usize && kept + SNOOP_RECORD <= len && micros < 1_000_000,
        padding: false,
    }
}

/// The time is in seconds and their fractions of 2⁻³², little-endian, everything else big-endian.
fn erf_record(head: &[u8]) -> Record {
    let low = [0, 1, 2, 3].map(|i| head[i]);
    let high = [4, 5, 6, 7].map(|i| head[i]);
    let (seconds, parts) = (u32::from_le_bytes(high), u32::from_le_bytes(low));
    let [len, lost, original] = [10, 12, 14].map(|at| u16::from_be_bytes([head[at], head[at + 1]]));
    let kind = head[8] & erf::TYPE;
    let len = usize::from(len);
    Record {
        len,
        header: ERF_RECORD,
        kept: len.saturating_sub(ERF_RECORD),
        // The kept bytes are filled up to a multiple of eight, and may be longer than the packet.
        original: original.into(),
        at: i64::from(seconds) * 1_000_000_000 + ((u64::from(parts) * 1_000_000_000) >> 32) as i64,
        interface: u32::from(head[9] & 3),
        dropped: if erf::COUNTING.contains(&kind) { lost.into() } else { 0 },
        good: (erf::TYPES.contains(&kind) || kind == erf::PADDING) && len >= ERF_RECORD,
        padding: kind == erf::PADDING,
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
