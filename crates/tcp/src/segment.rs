//! A TCP segment without its payload, as the engine reads and writes it.

use crate::seq::Offset;
use crate::time::Time;

/// A segment in the sender's offsets. `Copy`, 72 bytes (pinned by a test), no payload: drivers attach bytes.
///
/// SACK blocks are `i32` offsets from `ack` (a DSACK is below it). Entries of `sack` beyond `blocks` have no meaning and keep
/// their old values, so that writing a data segment does not touch them. The fields of every segment come first, in 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Segment {
    /// First offset that the segment covers; the SYN is at 0.
    pub seq: Offset,
    /// Next offset expected from the peer; meaningful only with [`Segment::ACK`].
    pub ack: Offset,
    /// Payload bytes; SYN and FIN are not counted.
    pub len: u32,
    /// Receive window in bytes, scale already applied.
    pub wnd: u32,
    /// 1, or the number of equal segments that `len` covers.
    pub train: u16,
    /// Header flags with their bit values in the header.
    pub flags: u8,
    /// SACK blocks present, 0 to 4.
    pub blocks: u8,
    /// Maximum segment size option of a SYN; 0 if absent.
    pub mss: u16,
    /// Window scale option of a SYN; [`Segment::NO_SCALE`] if absent.
    pub wscale: u8,
    /// Other options: [`Segment::SACK_PERMITTED`], [`Segment::TIMESTAMPS`]; and ECN's two bits, [`Segment::ECT`], [`Segment::CE`].
    pub opts: u8,
    /// Timestamp value (RFC 7323 §3.2), if `opts` has [`Segment::TIMESTAMPS`].
    pub tsval: u32,
    /// Timestamp echo reply, in the same clock units.
    pub tsecr: u32,
    /// SACK blocks as (left, right) distances from `ack`, right edge exclusive (RFC 2018 §3).
    pub sack: [(i32, i32); 4],
}

impl Segment {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Reset the connection.
    pub const RST: u8 = 0x04;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// The acknowledgment field is valid.
    pub const ACK: u8 = 0x10;
    /// ECN-Echo (RFC 3168 §6.1): congestion was met on the path.
    pub const ECE: u8 = 0x40;
    /// Congestion Window Reduced (RFC 3168 §6.1): the echo was received.
    pub const CWR: u8 = 0x80;

    /// The SACK-permitted option of a SYN (RFC 2018 §2).
    pub const SACK_PERMITTED: u8 = 1;
    /// The timestamps option is present (RFC 7323 §3.2).
    pub const TIMESTAMPS: u8 = 2;
    /// Not an option but the IP header's ECN field: the packet may be marked instead of dropped (RFC 3168 §5, ECT(0)).
    pub const ECT: u8 = 4;
    /// Also in the ECN field: a queue has marked the packet (RFC 3168 §5, CE).
    pub const CE: u8 = 8;
    /// `wscale` of a segment without that option.
    pub const NO_SCALE: u8 = 255;

    /// An empty segment: the slot that a driver passes to `poll_transmit`.
    pub const EMPTY: Segment = Segment {
        seq: Offset(0),
        ack: Offset(0),
        len: 0,
        wnd: 0,
        tsval: 0,
        tsecr: 0,
        train: 1,
        flags: 0,
        blocks: 0,
        sack: [(0, 0); 4],
        mss: 0,
        wscale: Self::NO_SCALE,
        opts: 0,
    };

    /// Whether all of `flags` are set.
    #[inline]
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }

    /// Marks the segment, if it may be marked, in a queue that would otherwise drop it; returns whether it did.
    #[inline]
    pub fn mark_congestion(&mut self) -> bool {
        if self.opts & Self::ECT == 0 {
            return false;
        }
        self.opts |= Self::CE;
        true
    }

    /// Sequence space that the segment takes: payload, and one each for SYN and FIN (RFC 9293 §3.4).
    #[inline]
    pub fn seq_len(&self) -> u64 {
        u64::from(self.len) + u64::from(self.flags & Self::SYN != 0) + u64::from(self.flags & Self::FIN != 0)
    }

    /// The offset after the last one that the segment covers.
    #[inline]
    pub fn end(&self) -> Offset {
        self.seq + self.seq_len()
    }

    /// The SACK blocks as (left, right) offsets; blocks that would be before offset 0 are dropped.
    pub fn sack_blocks(&self) -> impl Iterator<Item = (Offset, Offset)> + '_ {
        self.sack[..usize::from(self.blocks.min(4))].iter().filter_map(|&(l, r)| {
            let at = |d: i32| self.ack.0.wrapping_add_signed(i64::from(d));
            let (left, right) = (at(l), at(r));
            // No offset comes near 2⁶³, so one test shows whether either wrapped.
            ((left | right) >> 63 == 0).then_some((Offset(left), Offset(right)))
        })
    }

    /// Adds a SACK block if there is room and it is within ±2³¹ of `ack`.
    pub fn push_sack(&mut self, left: Offset, right: Offset) {
        let rel = |o: Offset| i32::try_from(o.0.wrapping_sub(self.ack.0) as i64);
        if let (true, Ok(l), Ok(r)) = (self.blocks < 4, rel(left), rel(right)) {
            self.sack[usize::from(self.blocks)] = (l, r);
            self.blocks += 1;
        }
    }
}

/// The timestamp clock: milliseconds (RFC 7323 §5.4 allows 1 ms to 1 s per tick).
#[inline]
pub(crate) fn timestamp(now: Time) -> u32 {
    (now.0 / 1_000_000) as u32
}

/// Whether timestamp `a` is older than `b`; the order wraps (RFC 7323 §5.2).
#[inline]
pub fn is_older(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_takes_72_bytes() {
        assert_eq!(size_of::<Segment>(), 72);
    }

    #[test]
    fn sack_blocks_survive_being_stored_relative_to_the_ack() {
        let mut s = Segment { ack: Offset(4000), ..Segment::EMPTY };
        s.push_sack(Offset(3000), Offset(3500));
        s.push_sack(Offset(4500), Offset(5000));
        let got: Vec<_> = s.sack_blocks().collect();
        assert_eq!(got, [(Offset(3000), Offset(3500)), (Offset(4500), Offset(5000))]);
    }
}
