//! The options of a TCP header.
//!
//! Source: RFC 9293 §3.1 (form, end of list, no operation, maximum segment size), RFC 7323 §2.2 and §3.2 (window scale,
//! timestamps), RFC 2018 §2 and §3 (SACK).
//! An invalid list is read as Linux and BSD read it: options before an impossible length count, those after it do not; an option
//! of a wrong length for its kind is skipped. Both are reported, not refused.

use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::SeqNum;
use std::fmt;

/// The maximum length of options in a header, bytes.
pub const ROOM: usize = 40;
/// A larger window scale counts as this value (RFC 7323 §2.3).
pub const MAX_SHIFT: u8 = 14;

pub(crate) const END: u8 = 0;
pub(crate) const NOP: u8 = 1;
pub(crate) const MSS: u8 = 2;
pub(crate) const WINDOW_SCALE: u8 = 3;
pub(crate) const SACK_PERMITTED: u8 = 4;
pub(crate) const SACK: u8 = 5;
pub(crate) const TIMESTAMPS: u8 = 8;

/// The options that this TCP uses. Others are skipped; [`walk`] returns them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size, bytes.
    pub mss: Option<u16>,
    /// Window scale: the shift as received (RFC 7323 §2.3 treats more than 14 as 14).
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// The first fault in the list. `None` for a list to be written.
    pub malformed: Option<Malformed>,
}

/// The timestamps option (RFC 7323 §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the echoed timestamp.
    pub echo: u32,
}

/// Up to four SACK blocks as (left, right) edges, the right one exclusive (RFC 2018 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlocks {
    edges: [(SeqNum, SeqNum); 4],
    len: u8,
}

/// One option of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// No operation.
    Nop,
    /// Maximum segment size.
    Mss(u16),
    /// Window scale.
    WindowScale(u8),
    /// SACK permitted.
    SackPermitted,
    /// SACK blocks.
    Sack(SackBlocks),
    /// Timestamps.
    Timestamps(Timestamps),
    /// An unused kind, such as RFC 5482's user timeout (28).
    Unknown {
        /// Its number.
        kind: u8,
        /// The bytes after its length.
        data: &'a [u8],
    },
}

/// A fault in a list of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// A length of 0 or 1, or none: the list ends here.
    NoLength {
        /// The option's kind.
        kind: u8,
    },
    /// An option exceeds the header: the list ends here.
    CutOff {
        /// The option's kind.
        kind: u8,
        /// Its length, kind and length included.
        len: u8,
    },
    /// A known option with a wrong length for its kind: skipped.
    Length {
        /// The option's kind.
        kind: u8,
        /// Its length, kind and length included.
        len: u8,
    },
}

impl Timestamps {
    /// Reads the most common lists quickly: no options, or timestamps alone. `None` for any other.
    #[inline(always)]
    pub fn glance(list: &[u8]) -> Option<Option<Timestamps>> {
        const ALONE: u32 = u32::from_be_bytes([NOP, NOP, TIMESTAMPS, 10]);
        match <&[u8; 12]>::try_from(list) {
            Ok(list) if word(list, 0) == ALONE => Some(Some(Timestamps { value: word(list, 4), echo: word(list, 8) })),
            Ok(_) => None,
            Err(_) => list.is_empty().then_some(None),
        }
    }
}

impl SackBlocks {
    /// Adds a block if there is room.
    pub fn push(&mut self, left: SeqNum, right: SeqNum) {
        if let Some(place) = self.edges.get_mut(usize::from(self.len)) {
            *place = (left, right);
            self.len += 1;
        }
    }

    /// The blocks in their order.
    pub fn as_slice(&self) -> &[(SeqNum, SeqNum)] {
        &self.edges[..usize::from(self.len)]
    }
}

impl Default for SackBlocks {
    fn default() -> Self {
        SackBlocks { edges: [(SeqNum(0), SeqNum(0)); 4], len: 0 }
    }
}

impl Options {
    /// Reads a list. If an option occurs twice, the last one counts, as with Linux and BSD.
    pub fn read(list: &[u8]) -> Options {
        Options::glance(list).unwrap_or_else(|| Options::read_each(list))
    }

    fn read_each(list: &[u8]) -> Options {
        let mut read = Options::default();
        for entry in walk(list) {
            match entry {
                Ok(Entry::Nop | Entry::Unknown { .. }) => {}
                Ok(Entry::Mss(mss)) => read.mss = Some(mss),
                Ok(Entry::WindowScale(shift)) => read.window_scale = Some(shift),
                Ok(Entry::SackPermitted) => read.sack_permitted = true,
                Ok(Entry::Sack(blocks)) => read.sack = blocks,
                Ok(Entry::Timestamps(stamps)) => read.timestamps = Some(stamps),
                Err(wrong) => read.malformed = read.malformed.or(Some(wrong)),
            }
        }
        read
    }

    /// Timestamps followed by SACK blocks, at the positions that nearly all hosts use (RFC 7323 appendix A). `None` for any other
    /// list.
    fn glance(list: &[u8]) -> Option<Options> {
        let (stamps, rest) = list.split_first_chunk::<12>()?;
        let timestamps = Timestamps::glance(stamps)?;
        let (head, blocks) = rest.split_first_chunk::<4>()?;
        let len = u8::try_from(blocks.len()).ok().filter(|len| (8..=32).contains(len) && len % 8 == 0)?;
        if *head != [NOP, NOP, SACK, 2 + len] {
            return None;
        }
        let mut sack = SackBlocks::default();
        blocks.chunks_exact(8).for_each(|block| sack.push(SeqNum(word(block, 0)), SeqNum(word(block, 4))));
        Some(Options { timestamps, sack, ..Options::default() })
    }

    /// Writes them into a segment whose flags and acknowledgment are set, timestamps unchanged. SACK edges are close to the
    /// acknowledgment; `isn` is the initial sequence number of the segment's receiver, if known.
    pub fn read_into(&self, seg: &mut Segment, isn: Option<SeqNum>) {
        let Options { mss, window_scale, sack_permitted, timestamps, sack, malformed: _ } = self;
        if seg.has(Segment::SYN) {
            seg.mss = mss.unwrap_or(0);
            seg.wscale = window_scale.map_or(Segment::NO_SCALE, |s| s.min(MAX_SHIFT));
            seg.opts |= if *sack_permitted { Segment::SACK_PERMITTED } else { 0 };
        }
        if let Some(Timestamps { value, echo }) = *timestamps {
            seg.opts |= Segment::TIMESTAMPS;
            (seg.tsval, seg.tsecr) = (value, echo);
        }
        if let (true, Some(isn)) = (seg.has(Segment::ACK), isn) {
            for (left, right) in sack.as_slice() {
                let at = |edge: &SeqNum| edge.unwrap_near(isn, seg.ack);
                if let (Some(left), Some(right)) = (at(left), at(right)) {
                    seg.push_sack(left, right);
                }
            }
        }
    }
}

/// The options of a list one by one, up to its end or to an impossible length.
pub fn walk(list: &[u8]) -> Walk<'_> {
    Walk { rest: list }
}

/// See [`walk`].
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Walk<'a> {
    type Item = Result<Entry<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let (&kind, rest) = self.rest.split_first()?;
        match kind {
            END => {
                self.rest = &[];
                None
            }
            NOP => {
                self.rest = rest;
                Some(Ok(Entry::Nop))
            }
            _ => Some(self.long(kind)),
        }
    }
}

impl<'a> Walk<'a> {
    /// An option with a length.
    fn long(&mut self, kind: u8) -> Result<Entry<'a>, Malformed> {
        let all = std::mem::take(&mut self.rest);
        let len = match all.get(1) {
            Some(&len) if len >= 2 => len,
            _ => return Err(Malformed::NoLength { kind }),
        };
        let data = all.get(2..usize::from(len)).ok_or(Malformed::CutOff { kind, len })?;
        self.rest = &all[usize::from(len)..];
        match (kind, data) {
            (MSS, &[a, b]) => Ok(Entry::Mss(u16::from_be_bytes([a, b]))),
            (WINDOW_SCALE, &[shift]) => Ok(Entry::WindowScale(shift)),
            (SACK_PERMITTED, []) => Ok(Entry::SackPermitted),
            (TIMESTAMPS, data) if data.len() == 8 => {
                Ok(Entry::Timestamps(Timestamps { value: word(data, 0), echo: word(data, 4) }))
            }
            (SACK, data) if !data.is_empty() && data.len() % 8 == 0 => {
                let mut blocks = SackBlocks::default();
                data.chunks_exact(8).for_each(|b| blocks.push(SeqNum(word(b, 0)), SeqNum(word(b, 4))));
                Ok(Entry::Sack(blocks))
            }
            (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK, _) => Err(Malformed::Length { kind, len }),
            (kind, data) => Ok(Entry::Unknown { kind, data }),
        }
    }
}

/// The 32-bit word at `at`, which must be there.
pub(crate) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::NoLength { kind } => write!(f, "TCP option {kind} has no length"),
            Malformed::CutOff { kind, len } => write!(f, "TCP option {kind} of {len} bytes reaches beyond the header"),
            Malformed::Length { kind, len } => write!(f, "TCP option {kind} cannot have {len} bytes"),
        }
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_before_an_impossible_length_count_and_none_after_it() {
        for (broken, why) in [
            (&[MSS, 4, 5, 180, 254, 0, SACK_PERMITTED, 2][..], Malformed::NoLength { kind: 254 }),
            (&[MSS, 4, 5, 180, 254, 1, SACK_PERMITTED, 2], Malformed::NoLength { kind: 254 }),
            (&[MSS, 4, 5, 180, 254], Malformed::NoLength { kind: 254 }),
            (&[MSS, 4, 5, 180, 254, 5, SACK_PERMITTED, 2], Malformed::CutOff { kind: 254, len: 5 }),
            (&[MSS, 4, 5, 180, SACK, 255, SACK_PERMITTED, 2], Malformed::CutOff { kind: SACK, len: 255 }),
        ] {
            let want = Options { mss: Some(1460), malformed: Some(why), ..Options::default() };
            assert_eq!(Options::read(broken), want, "{broken:?}");
        }
    }

    #[test]
    fn an_option_of_the_wrong_length_is_passed_over_and_what_follows_counts() {
        for wrong in [
            &[MSS, 3, 5][..],
            &[WINDOW_SCALE, 2],
            &[WINDOW_SCALE, 4, 7, 7],
            &[SACK_PERMITTED, 3, 0],
            &[TIMESTAMPS, 9, 0, 0, 0, 1, 0, 0, 0],
            &[SACK, 2],
            &[SACK, 6, 0, 0, 0, 1],
        ] {
            let list = [wrong, &[NOP, MSS, 4, 2, 24]].concat();
            let why = Malformed::Length { kind: wrong[0], len: wrong.len() as u8 };
            let want = Options { mss: Some(536), malformed: Some(why), ..Options::default() };
            assert_eq!(Options::read(&list), want, "{list:?}");
        }
    }

    #[test]
    fn a_user_timeout_is_kept_as_an_unknown_option() {
        let list = [28, 4, 0x80, 5, MSS, 4, 5, 180, END, 99, 99];
        let all: Vec<_> = walk(&list).collect();
        assert_eq!(all, [Ok(Entry::Unknown { kind: 28, data: &[0x80, 5] }), Ok(Entry::Mss(1460))]);
    }

    #[test]
    fn blocks_behind_timestamps_are_read_at_a_glance_as_one_by_one_and_no_other_list_is() {
        let stamps = [NOP, NOP, TIMESTAMPS, 10, 0, 0, 0, 9, 0, 0, 0, 8];
        for edges in 0..70u8 {
            let blocks: Vec<u8> = (0..edges).flat_map(|edge| [7, 0, edge, 1]).collect();
            let list = [&stamps[..], &[NOP, NOP, SACK, 2u8.wrapping_add(blocks.len() as u8)], &blocks].concat();
            let glance = Options::glance(&list);
            assert_eq!(glance.is_some(), matches!(edges, 2 | 4 | 6 | 8), "{edges} edges");
            assert!(glance.is_none_or(|read| read == Options::read_each(&list) && read.timestamps.is_some()));
            for at in [0, 2, 3, 12, 13, 14, 15] {
                let mut other = list.clone();
                other[at] ^= 1;
                assert_eq!(Options::glance(&other), None, "{at} is another");
            }
        }
    }

    #[test]
    fn of_two_options_of_a_kind_the_last_counts() {
        assert_eq!(Options::read(&[MSS, 4, 5, 180, MSS, 4, 2, 24]).mss, Some(536));
    }
}
