//! One TCP segment as a capture shows it.

use ackclock_wire::options::Timestamps;

/// Which way a segment goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// From the end that opened the connection, or whose segment was seen first, to the other.
    Out,
    /// Back.
    Back,
}

/// A segment of one connection. Sequence numbers are unwrapped: they are counted in 64 bits from 2³² at the first number that
/// was seen of a direction, so that an older one has a place below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its number in its file, from 1, as Wireshark counts.
    pub frame: u64,
    /// When it was captured: nanoseconds since 1970, or as the file counts.
    pub at: i64,
    /// Which way it goes.
    pub way: Way,
    /// The first byte's number; a SYN has one of its own.
    pub seq: u64,
    /// Bytes of payload by the IP header, captured or not. A device may have joined several segments.
    pub len: u32,
    /// The eight flags, as in [`ackclock_tcp::segment::Segment::flags`]; URG is 0x20.
    pub flags: u8,
    /// The acknowledgment number, counted as the peer's `seq`; `None` without the flag.
    pub ack: Option<u64>,
    /// The window as it stands there, not scaled.
    pub window: u16,
    /// The timestamps option.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks in their order, as (left, right), counted as `ack`; the first `sacks` are meant.
    pub sack: [(u64, u64); 4],
    /// How many SACK blocks there are.
    pub sacks: u8,
    /// IPv4's identification; `None` with IPv6, and where a device set it to 0 for all.
    pub id: Option<u16>,
}

impl Seen {
    /// The number behind its last byte; a SYN and a FIN count one each.
    pub fn end(&self) -> u64 {
        let counted = u64::from(self.flags & 0x02 != 0) + u64::from(self.flags & 0x01 != 0);
        self.seq + u64::from(self.len) + counted
    }

    /// Its SACK blocks.
    pub fn blocks(&self) -> &[(u64, u64)] {
        &self.sack[..usize::from(self.sacks).min(4)]
    }
}
