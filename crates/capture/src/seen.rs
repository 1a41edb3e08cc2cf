//! One captured TCP segment.

use ackclock_tcp::segment::Segment;
use ackclock_wire::options::Timestamps;

/// The direction of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// From the end that opened the connection, or whose segment was captured first, to the other.
    #[default]
    Out,
    /// Back.
    Back,
}

impl Way {
    /// The opposite.
    #[inline]
    pub fn back(self) -> Way {
        match self {
            Way::Out => Way::Back,
            Way::Back => Way::Out,
        }
    }
}

/// The direction of a packet at the capturing machine, if the file has it (Linux cooked captures and pcapng's `epb_flags` do).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Heading {
    /// The file does not say.
    #[default]
    Unsaid,
    /// It was received.
    In,
    /// It was sent.
    Out,
}

/// A segment of one connection. Sequence numbers are unwrapped to 64 bits; the low 32 are those of the header. The first number
/// captured of a direction is between 2⁶² and 2⁶² + 2³², so that none reaches 0 or 2⁶³.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Its number in its file, from 1, as Wireshark counts.
    pub frame: u64,
    /// When it was captured: nanoseconds since 1970, or as the file counts.
    pub at: i64,
    /// Its way.
    pub way: Way,
    /// The first byte's number; a SYN has a number of its own.
    pub seq: u64,
    /// Bytes of payload by the IP header, captured or not. A device may have joined several segments.
    pub len: u32,
    /// The eight flags, as in [`ackclock_tcp::segment::Segment::flags`]; URG is 0x20.
    pub flags: u8,
    /// The acknowledgment number, counted as the peer's `seq`; `None` without the flag.
    pub ack: Option<u64>,
    /// The window field of the header, not scaled.
    pub window: u16,
    /// The timestamps option.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks in their order, as (left, right), counted like `ack`; only the first `sacks` are valid.
    pub sack: [(u64, u64); 4],
    /// The number of SACK blocks.
    pub sacks: u8,
    /// IPv4's identification; `None` with IPv6, and if a device set it to 0 for all packets.
    pub id: Option<u16>,
    /// IPv4's time to live, IPv6's hop limit.
    pub hop_limit: u8,
    /// Whether the capturing machine received it or sent it.
    pub heading: Heading,
    /// Its checksum was left to a device: only its sender's host sees it like this. Examined only in a flow's first segments.
    pub unfinished: bool,
    /// Times have jumped since this connection's last segment ([`Traffic::time_jumps`](crate::Traffic::time_jumps)): the time
    /// between the two is not known.
    pub after_jump: bool,
    /// The snap length truncated the options: timestamps and SACK blocks may have been lost.
    pub options_cut: bool,
}

impl Seen {
    /// The number after its last byte; a SYN and a FIN count one each.
    pub fn end(&self) -> u64 {
        let counted = u64::from(self.has(Segment::SYN)) + u64::from(self.has(Segment::FIN));
        self.seq.wrapping_add(u64::from(self.len) + counted)
    }

    /// Whether a flag of [`ackclock_tcp::segment::Segment`] is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Its SACK blocks.
    pub fn blocks(&self) -> &[(u64, u64)] {
        &self.sack[..usize::from(self.sacks).min(4)]
    }
}
