//! The format pcap: a header, then a record for each packet.
//!
//! Source: draft-ietf-opsawg-pcap §4 (file header) and §5 (packet record). The magic number gives the byte order, and the unit of
//! times: microseconds or nanoseconds. With that of Kuznetzov's patch, records are 8 bytes longer. Before version 2.3 the two
//! lengths of a record were in the other order; some files of version 2.3 have them so, too (libpcap's `sf-pcap.c`).

use super::{Frame, Interface, Place, What, LONGEST};
use crate::seen::Heading;

/// The length of the file's header.
const HEADER: usize = 24;
/// libpcap itself never keeps more bytes of a packet.
const MOST_KEPT: u32 = 262_144;
/// A record found behind damage is accepted if two more follow it.
const CHAIN: usize = 3;
/// ... and if its time is at most this far from the last valid one, seconds.
const FAR: i64 = 7 * 86_400;

/// A pcap file while it is read.
#[derive(Clone, Debug)]
pub(super) struct Pcap {
    big: bool,
    /// The unit of time in nanoseconds.
    unit: u32,
    /// The length of a record's header.
    record: usize,
    lengths: Lengths,
    link: u16,
    snaplen: u32,
    most: u32,
    begun: bool,
}

/// The order of the two lengths of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lengths {
    /// The kept one is first.
    KeptFirst,
    /// The original one is first.
    KeptLast,
    /// The smaller one is the kept one.
    Either,
}

/// The header of a record.
struct Record {
    seconds: u32,
    fraction: u32,
    kept: u32,
    original: u32,
}

impl Pcap {
    /// `None` if the bytes are not the beginning of such a file.
    pub(super) fn recognise(bytes: &[u8]) -> Option<Pcap> {
        let head = bytes.first_chunk::<HEADER>()?;
        let magic = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let (magic, big) = match magic {
            0xa1b2_c3d4 | 0xa1b2_3c4d | 0xa1b2_cd34 => (magic, false),
            _ => (magic.swap_bytes(), true),
        };
        let (unit, record) = match magic {
            0xa1b2_c3d4 => (1000, 16),
            0xa1b2_3c4d => (1, 16),
            0xa1b2_cd34 => (1000, 24),
            _ => return None,
        };
        let snaplen = word(big, head, 16);
        let most = snaplen.clamp(MOST_KEPT, LONGEST as u32);
        let version = word(big, head, 4);
        let (major, minor) = if big { (version >> 16, version & 0xffff) } else { (version & 0xffff, version >> 16) };
        let lengths = match (major, minor) {
            // The other is DG/UX's.
            (2, 0..=2) | (543, _) => Lengths::KeptLast,
            (2, 3) => Lengths::Either,
            _ => Lengths::KeptFirst,
        };
        // The upper bits are the size of a frame's check sequence.
        let link = word(big, head, 20) as u16;
        let (unit, link) = aix(major, minor, link).map_or((unit, link), |link| (1, link));
        Some(Pcap { big, unit, record, lengths, link, snaplen, most, begun: false })
    }

    pub(super) fn interface(&self) -> Interface {
        Interface { link: self.link, snaplen: self.snaplen, name: None, dropped: None }
    }

    #[inline]
    pub(super) fn feed<F: FnMut(&Frame<'_>)>(
        &mut self,
        bytes: &[u8],
        last: bool,
        place: &mut Place,
        each: &mut F,
    ) -> usize {
        let mut at = if self.begun { 0 } else { HEADER.min(bytes.len()) };
        self.begun = true;
        while !place.lost || self.search(bytes, last, place, &mut at) {
            if !self.good(bytes, place, each, &mut at) {
                break;
            }
            place.damaged(at, What::Length { len: self.record(bytes, at).map_or(0, |record| record.kept) });
            place.lost = true;
            at += 1;
        }
        if place.lost && !last {
            return at;
        }
        if last && !place.lost && at < bytes.len() {
            let kept = self.record(bytes, at).map_or(0, |record| record.kept);
            let (needs, has) = (self.record as u64 + u64::from(kept), (bytes.len() - at) as u64);
            place.damaged(at, What::CutOff { needs, has });
        }
        if last {
            at = bytes.len();
        }
        at
    }

    /// Reads valid records. Returns `true` if the next one is invalid, `false` if there is none.
    #[inline]
    fn good<F: FnMut(&Frame<'_>)>(&self, bytes: &[u8], place: &mut Place, each: &mut F, from: &mut usize) -> bool {
        // The order of bytes and lengths is tested once, not for each word.
        const USUAL: Lengths = Lengths::KeptFirst;
        match (self.lengths, self.big) {
            (USUAL, false) => self.good_in(false, USUAL, bytes, place, each, from),
            (USUAL, true) => self.good_in(true, USUAL, bytes, place, each, from),
            (Lengths::KeptLast | Lengths::Either, _) => self.good_old(bytes, place, each, from),
        }
    }

    #[cold]
    #[inline(never)]
    fn good_old(
        &self,
        bytes: &[u8],
        place: &mut Place,
        mut each: &mut dyn FnMut(&Frame<'_>),
        from: &mut usize,
    ) -> bool {
        self.good_in(self.big, self.lengths, bytes, place, &mut each, from)
    }

    #[inline(always)]
    fn good_in<F: FnMut(&Frame<'_>)>(
        &self,
        big: bool,
        lengths: Lengths,
        bytes: &[u8],
        place: &mut Place,
        each: &mut F,
        from: &mut usize,
    ) -> bool {
        let (mut at, mut number, mut time) = (*from, place.frames, place.at);
        let mut damaged = false;
        while let Some(record) = self.record_in(big, lengths, bytes, at) {
            damaged = record.kept > self.most;
            let data = at + self.record;
            let Some(kept) = bytes.get(data..data + record.kept as usize).filter(|_| !damaged) else { break };
            number += 1;
            time = i64::from(record.seconds) * 1_000_000_000 + i64::from(record.fraction) * i64::from(self.unit);
            each(&Frame {
                number,
                offset: place.offset + at as u64,
                at: time,
                interface: 0,
                link: self.link,
                heading: Heading::Unsaid,
                original: record.original,
                bytes: kept,
            });
            at = data + kept.len();
        }
        (*from, place.frames, place.at) = (at, number, time);
        damaged
    }

    fn record(&self, bytes: &[u8], at: usize) -> Option<Record> {
        self.record_in(self.big, self.lengths, bytes, at)
    }

    #[inline(always)]
    fn record_in(&self, big: bool, lengths: Lengths, bytes: &[u8], at: usize) -> Option<Record> {
        let head = bytes.get(at..at + self.record)?.first_chunk::<16>()?;
        let (one, two) = (word(big, head, 8), word(big, head, 12));
        let (kept, original) = match lengths {
            Lengths::KeptFirst => (one, two),
            Lengths::KeptLast => (two, one),
            Lengths::Either => (one.min(two), one.max(two)),
        };
        Some(Record { seconds: word(big, head, 0), fraction: word(big, head, 4), kept, original })
    }

    /// Searches for the next acceptable record. Returns `false` if more bytes are needed, or none follow.
    #[cold]
    fn search(&self, bytes: &[u8], last: bool, place: &mut Place, at: &mut usize) -> bool {
        // Without more bytes a chain can only be judged up to here.
        let sure =
            if last { bytes.len() } else { bytes.len().saturating_sub(CHAIN * (self.record + self.most as usize)) };
        while *at < sure {
            if self.chain(bytes, *at, place) {
                place.lost = false;
                return true;
            }
            *at += 1;
        }
        false
    }

    /// Whether acceptable records follow each other from here, or up to the end of the file.
    fn chain(&self, bytes: &[u8], from: usize, place: &Place) -> bool {
        let mut at = from;
        for _ in 0..CHAIN {
            if at == bytes.len() && at > from {
                return true;
            }
            let Some(record) = self.record(bytes, at) else { return false };
            let apart = i64::from(record.seconds) - place.at / 1_000_000_000;
            let good = (1..=self.most).contains(&record.kept)
                && (record.kept..=LONGEST as u32).contains(&record.original)
                && i64::from(record.fraction) * i64::from(self.unit) < 1_000_000_000
                && (place.frames == 0 || apart.abs() < FAR);
            if !good {
                return false;
            }
            at += self.record + record.kept as usize;
        }
        at <= bytes.len()
    }
}

/// The link type of a file of AIX, whose times are in nanoseconds. It is of version 2.2, and has other numbers for link types
/// (RFC 1573's), which nobody else used at that time.
fn aix(major: u32, minor: u32, link: u16) -> Option<u16> {
    match (major, minor, link) {
        (2, 2, 6) => Some(1),
        (2, 2, 9) => Some(6),
        (2, 2, 15) => Some(10),
        (2, 2, 24) => Some(0),
        _ => None,
    }
}

#[inline(always)]
fn word(big: bool, bytes: &[u8], at: usize) -> u32 {
    let word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    if big {
        word.swap_bytes()
    } else {
        word
    }
}
