//! The packets of one connection, for graphs.

use crate::flows::{Analysis, Ended, Flow};
use crate::seen::{Seen, Way};
use ackclock_tcp::segment::Segment;
use std::net::SocketAddr;

/// Packets beyond this number are not drawn.
pub const MOST: usize = 1 << 22;

/// A packet of a connection. Offsets count the bytes of a way from its first byte; without a SYN, from the first byte
/// captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its number in its file.
    pub frame: u64,
    /// When it was captured, nanoseconds.
    pub at: i64,
    /// Its way.
    pub way: Way,
    /// Offset of its first byte.
    pub offset: i64,
    /// Sequence number of its first byte.
    pub seq: u32,
    /// Bytes of payload.
    pub len: u32,
    /// The flags.
    pub flags: u8,
    /// Its acknowledgment: an offset of the other way.
    pub ack: Option<i64>,
    /// The window that it announces, bytes.
    pub window: u64,
    /// SACK blocks, as offsets of the other direction.
    pub sack: [(i64, i64); 4],
    /// The number of SACK blocks.
    pub sacks: u8,
}

/// Keeps the first [`MOST`] packets of the connection with this number.
#[derive(Clone, Debug)]
pub struct Packets {
    number: u64,
    list: Vec<Packet>,
    offsets: Offsets,
    ends: Option<[SocketAddr; 2]>,
}

/// The number with offset 0 of each way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offsets([Option<u64>; 2]);

impl Packets {
    /// Keeps the connection with this number in the file.
    pub fn of(number: u64) -> Self {
        Packets { number, list: Vec::new(), offsets: Offsets::default(), ends: None }
    }

    /// The packets, in the order of the capture, and the way that begins at this end.
    pub fn finish(self, from: SocketAddr) -> (Vec<Packet>, Way) {
        let way = if self.ends.is_some_and(|ends| ends[0] != from) { Way::Back } else { Way::Out };
        (self.list, way)
    }
}

impl Offsets {
    fn of(&mut self, way: Way, number: u64) -> i64 {
        let zero = *self.0[way as usize].get_or_insert(number);
        number.wrapping_sub(zero) as i64
    }

    /// The next packet of a connection with its offsets.
    pub(crate) fn packet(&mut self, flow: &Flow, seen: &Seen) -> Packet {
        let syn = seen.has(Segment::SYN);
        // The first byte has the number after the SYN's.
        let offset = self.of(seen.way, seen.seq.wrapping_add(u64::from(syn))) - i64::from(syn);
        let ack = seen.ack.map(|ack| self.of(seen.way.back(), ack));
        let mut sack = [(0, 0); 4];
        for (place, block) in sack.iter_mut().zip(seen.blocks()) {
            *place = (self.of(seen.way.back(), block.0), self.of(seen.way.back(), block.1));
        }
        let shift = if syn { 0 } else { flow.window_shift(seen.way).unwrap_or(0) };
        Packet {
            frame: seen.frame,
            at: seen.at,
            way: seen.way,
            offset,
            seq: seen.seq as u32,
            len: seen.len,
            flags: seen.flags,
            ack,
            window: u64::from(seen.window) << shift,
            sack,
            sacks: seen.sacks.min(4),
        }
    }
}

impl Analysis for Packets {
    type State = bool;

    fn begin(&mut self, flow: &Flow) -> bool {
        let wanted = flow.number == self.number;
        if wanted {
            self.ends = Some(flow.ends);
        }
        wanted
    }

    fn segment(&mut self, flow: &Flow, wanted: &mut bool, seen: &Seen) {
        if *wanted && self.list.len() < MOST {
            self.list.push(self.offsets.packet(flow, seen));
        }
    }

    fn end(&mut self, _: &Flow, _: bool, _: Ended) {}
}
