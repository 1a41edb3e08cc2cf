//! The format pcapng: blocks in sections, several interfaces, each with its own unit of time.
//!
//! Source: draft-ietf-opsawg-pcapng, §4.1 (section header), §4.2 (interface description), §4.3 (enhanced packet), §4.4 (simple
//! packet), §4.6 (interface statistics), appendix A (the obsolete packet block). Other blocks are skipped.

use super::{Frame, Interface, Place, What, LONGEST};
use crate::seen::Heading;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE: u32 = 2;
const SIMPLE: u32 = 3;
const NAMES: u32 = 4;
const STATISTICS: u32 = 5;
const ENHANCED: u32 = 6;
/// The second word of a section in its own byte order.
const ORDER: u32 = 0x1a2b_3c4d;
/// The smallest block: kind, length, length again.
const EMPTY: usize = 12;
/// Kinds of blocks that are frequent; after damage, one of them is searched for.
const COMMON: [u32; 7] = [SECTION, INTERFACE, OBSOLETE, SIMPLE, NAMES, STATISTICS, ENHANCED];

/// Whether the bytes are the beginning of such a file.
pub(super) fn recognise(bytes: &[u8]) -> bool {
    let word = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    word(0) == Some(SECTION) && matches!(word(8), Some(w) if w == ORDER || w == ORDER.swap_bytes())
}

/// A pcapng file while it is read.
#[derive(Debug, Default)]
pub(super) struct PcapNg {
    big: bool,
    /// The interfaces of all sections.
    interfaces: Vec<Interface>,
    /// The clocks of this section's interfaces, which are the last ones in `interfaces`.
    clocks: Vec<Clock>,
}

/// How an interface counts time.
#[derive(Clone, Copy, Debug)]
struct Clock {
    unit: Unit,
    /// Offset to add, nanoseconds.
    offset: i128,
    /// Copied from [`Interface`], for fast access.
    link: u16,
    snaplen: u32,
}

#[derive(Clone, Copy, Debug)]
enum Unit {
    /// A multiple of nanoseconds.
    Nanos(u64),
    /// A fraction of a nanosecond.
    Parts(u128),
    /// 2⁻ⁿ seconds.
    Binary(u32),
}

/// A packet as described by its block.
struct Packet<'a> {
    interface: u32,
    ticks: Option<u64>,
    original: u32,
    heading: Heading,
    bytes: &'a [u8],
}

impl PcapNg {
    pub(super) fn into_interfaces(self) -> Vec<Interface> {
        self.interfaces
    }

    #[inline]
    pub(super) fn feed<F: FnMut(&Frame<'_>)>(
        &mut self,
        bytes: &[u8],
        last: bool,
        place: &mut Place,
        each: &mut F,
    ) -> usize {
        let mut at = 0;
        loop {
            if place.lost && !self.search(bytes, last, place, &mut at) {
                return at;
            }
            let Some(len) = self.length(bytes, at, place) else { break };
            if len == 0 {
                place.lost = true;
                at += 4;
                continue;
            }
            let Some(block) = bytes.get(at..at + len) else { break };
            if self.word(block, len - 4) as usize != len {
                place.damaged(at, What::Length { len: len as u32 });
                place.lost = true;
                at += 4;
                continue;
            }
            self.block(block, at, place, each);
            at += len;
        }
        let left = bytes.len().saturating_sub(at);
        if last && left > 0 {
            let needs = self.length(bytes, at, place).unwrap_or(EMPTY);
            place.damaged(at, What::CutOff { needs: needs as u64, has: left as u64 });
        }
        if last {
            at = bytes.len();
        }
        at
    }

    /// The length of the block at `at`; 0 if it is impossible, `None` if more bytes are needed.
    #[inline]
    fn length(&mut self, bytes: &[u8], at: usize, place: &mut Place) -> Option<usize> {
        let head = bytes.get(at..at + EMPTY)?;
        let kind = self.word(head, 0);
        if kind == SECTION {
            // A section brings its own byte order.
            self.big = match self.word(head, 8) {
                ORDER => self.big,
                word if word == ORDER.swap_bytes() => !self.big,
                _ => return Some(self.impossible(head, at, place)),
            };
        }
        let len = self.word(head, 4) as usize;
        if len < EMPTY || !len.is_multiple_of(4) || len > LONGEST {
            return Some(self.impossible(head, at, place));
        }
        Some(len)
    }

    #[cold]
    fn impossible(&self, head: &[u8], at: usize, place: &mut Place) -> usize {
        if !place.lost {
            place.damaged(at, What::Length { len: self.word(head, 4) });
        }
        0
    }

    /// Searches for the next block of a frequent kind with two equal lengths. Returns `false` if more bytes are needed, or none
    /// follow.
    #[cold]
    fn search(&mut self, bytes: &[u8], last: bool, place: &mut Place, at: &mut usize) -> bool {
        while let Some(head) = bytes.get(*at..*at + EMPTY) {
            let kind = self.word(head, 0);
            if COMMON.contains(&kind) {
                let before = self.big;
                let len = self.length(bytes, *at, place).unwrap_or(0);
                match bytes.get(*at..*at + len) {
                    Some(block) if len > 0 && self.word(block, len - 4) as usize == len => {
                        place.lost = false;
                        return true;
                    }
                    None if !last && len > 0 => {
                        self.big = before;
                        return false;
                    }
                    _ => self.big = before,
                }
            }
            *at += 1;
        }
        if last {
            *at = bytes.len();
        }
        false
    }

    #[inline]
    fn block<F: FnMut(&Frame<'_>)>(&mut self, block: &[u8], at: usize, place: &mut Place, each: &mut F) {
        let kind = self.word(block, 0);
        let body = &block[8..block.len() - 4];
        let packet = match kind {
            ENHANCED => self.enhanced(body),
            SIMPLE => self.simple(body),
            OBSOLETE => self.obsolete(body),
            _ => return self.rare(kind, body, at, place),
        };
        let Some(packet) = packet else {
            place.damaged(at, What::Block { kind, len: block.len() as u32 });
            place.frames += 1;
            return;
        };
        let Some(clock) = self.clocks.get(packet.interface as usize) else {
            place.damaged(at, What::Interface { number: packet.interface });
            place.frames += 1;
            return;
        };
        if let Some(ticks) = packet.ticks {
            place.at = clock.time(ticks);
        }
        place.frames += 1;
        each(&Frame {
            number: place.frames,
            offset: place.offset + at as u64,
            at: place.at,
            interface: (self.interfaces.len() - self.clocks.len()) as u32 + packet.interface,
            link: clock.link,
            heading: packet.heading,
            original: packet.original,
            bytes: packet.bytes,
        });
    }

    #[inline]
    fn enhanced<'a>(&self, body: &'a [u8]) -> Option<Packet<'a>> {
        let head = body.first_chunk::<20>()?;
        let ticks = u64::from(self.word(head, 4)) << 32 | u64::from(self.word(head, 8));
        let kept = self.word(head, 12) as usize;
        let bytes = body.get(20..20usize.checked_add(kept)?)?;
        // The options follow, at the next multiple of four.
        let options = body.get(20 + kept.next_multiple_of(4)..).unwrap_or_default();
        let heading = if options.is_empty() { Heading::Unsaid } else { self.heading(options) };
        Some(Packet {
            interface: self.word(head, 0),
            ticks: Some(ticks),
            original: self.word(head, 16),
            heading,
            bytes,
        })
    }

    fn simple<'a>(&self, body: &'a [u8]) -> Option<Packet<'a>> {
        let original = self.word(body.first_chunk::<4>()?, 0);
        let kept = match self.clocks.first() {
            Some(clock) if clock.snaplen > 0 => original.min(clock.snaplen),
            _ => original,
        };
        let bytes = &body[4..];
        let bytes = &bytes[..bytes.len().min(kept as usize)];
        Some(Packet { interface: 0, ticks: None, original, heading: Heading::Unsaid, bytes })
    }

    fn obsolete<'a>(&self, body: &'a [u8]) -> Option<Packet<'a>> {
        let head = body.first_chunk::<20>()?;
        let ticks = u64::from(self.word(head, 4)) << 32 | u64::from(self.word(head, 8));
        let kept = self.word(head, 12) as usize;
        let bytes = body.get(20..20usize.checked_add(kept)?)?;
        let interface = u32::from(self.half(head, 0));
        Some(Packet { interface, ticks: Some(ticks), original: self.word(head, 16), heading: Heading::Unsaid, bytes })
    }

    /// The two lowest bits of `epb_flags` (§4.3.1).
    fn heading(&self, options: &[u8]) -> Heading {
        const FLAGS: u16 = 2;
        match self.option(options, FLAGS) {
            Some(value) if value.len() == 4 => match self.word(value, 0) & 3 {
                1 => Heading::In,
                2 => Heading::Out,
                _ => Heading::Unsaid,
            },
            _ => Heading::Unsaid,
        }
    }

    #[cold]
    fn rare(&mut self, kind: u32, body: &[u8], at: usize, place: &mut Place) {
        let good = match kind {
            SECTION => {
                let major = body.get(4..6).map_or(1, |b| self.half(b, 0));
                if major != 1 {
                    place.damaged(at, What::Version { major });
                }
                self.clocks.clear();
                true
            }
            INTERFACE => self.describe(body).is_some(),
            STATISTICS => self.statistics(body).is_some(),
            _ => true,
        };
        if !good {
            place.damaged(at, What::Block { kind, len: body.len() as u32 + 12 });
        }
    }

    fn describe(&mut self, body: &[u8]) -> Option<()> {
        const NAME: u16 = 2;
        const RESOLUTION: u16 = 9;
        const OFFSET: u16 = 14;
        let head = body.first_chunk::<8>()?;
        let (link, snaplen, options) = (self.half(head, 0), self.word(head, 4), &body[8..]);
        let unit = match self.option(options, RESOLUTION).and_then(|v| v.first()).copied().unwrap_or(6) {
            n @ 0..=9 => Unit::Nanos(10u64.pow(9 - u32::from(n))),
            n @ 10..=38 => Unit::Parts(10u128.pow(u32::from(n) - 9)),
            39..=127 => Unit::Parts(u128::MAX),
            n => Unit::Binary(u32::from(n) & 127),
        };
        let offset = self.option(options, OFFSET).filter(|v| v.len() == 8).map_or(0, |v| {
            let (a, b) = (u64::from(self.word(v, 0)), u64::from(self.word(v, 4)));
            i128::from((if self.big { a << 32 | b } else { b << 32 | a }) as i64) * 1_000_000_000
        });
        let name = self.option(options, NAME).map(|v| String::from_utf8_lossy(&v[..v.len().min(256)]).into_owned());
        // No real capture has thousands of interfaces, and memory must be bounded.
        if self.interfaces.len() < 1 << 16 {
            self.interfaces.push(Interface { link, snaplen, name, dropped: None });
            self.clocks.push(Clock { unit, offset, link, snaplen });
        }
        Some(())
    }

    /// `isb_ifdrop` and `isb_osdrop`: packets that were not captured.
    fn statistics(&mut self, body: &[u8]) -> Option<()> {
        const DROPPED: [u16; 2] = [5, 7];
        let head = body.first_chunk::<12>()?;
        let number = self.word(head, 0) as usize;
        let mut dropped = None;
        for kind in DROPPED {
            if let Some(v) = self.option(&body[12..], kind).filter(|v| v.len() == 8) {
                let (a, b) = (u64::from(self.word(v, 0)), u64::from(self.word(v, 4)));
                let count = if self.big { a << 32 | b } else { b << 32 | a };
                dropped = Some(count.saturating_add(dropped.unwrap_or(0)));
            }
        }
        let first = self.interfaces.len() - self.clocks.len();
        if let (Some(interface), Some(_)) = (self.interfaces.get_mut(first + number), dropped) {
            interface.dropped = dropped;
        }
        Some(())
    }

    /// The first option of a kind.
    fn option<'a>(&self, options: &'a [u8], kind: u16) -> Option<&'a [u8]> {
        let mut rest = options;
        while let Some(head) = rest.first_chunk::<4>() {
            let (is, len) = (self.half(head, 0), usize::from(self.half(head, 2)));
            if is == 0 {
                return None;
            }
            let value = rest.get(4..4 + len)?;
            if is == kind {
                return Some(value);
            }
            rest = rest.get(4 + len.next_multiple_of(4)..)?;
        }
        None
    }

    #[inline]
    fn word(&self, bytes: &[u8], at: usize) -> u32 {
        let word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if self.big {
            word.swap_bytes()
        } else {
            word
        }
    }

    #[inline]
    fn half(&self, bytes: &[u8], at: usize) -> u16 {
        let half = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        if self.big {
            half.swap_bytes()
        } else {
            half
        }
    }
}

/// Times from 1970 to 2116 are kept unchanged; any other time becomes the nearest of these, so that differences and small
/// multiples do not overflow.
const LATEST: i64 = 1 << 62;

impl Clock {
    #[inline]
    fn time(&self, ticks: u64) -> i64 {
        if let (Unit::Nanos(unit), 0) = (self.unit, self.offset)
            && let Some(at) = ticks.checked_mul(unit).filter(|at| *at <= LATEST as u64)
        {
            return at as i64;
        }
        self.far(ticks)
    }

    #[cold]
    fn far(&self, ticks: u64) -> i64 {
        let ticks = u128::from(ticks);
        let nanos = match self.unit {
            Unit::Nanos(unit) => ticks * u128::from(unit),
            Unit::Parts(parts) => ticks / parts,
            Unit::Binary(n) => (ticks * 1_000_000_000) >> n,
        };
        let at = i128::try_from(nanos).unwrap_or(i128::MAX).saturating_add(self.offset);
        at.clamp(0, LATEST.into()) as i64
    }
}
