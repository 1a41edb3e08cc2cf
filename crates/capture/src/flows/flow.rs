//! One connection: its ends, its SYNs, and its sequence numbers.

use super::repeats::Mark;
use super::table::Key;
use crate::link;
use crate::read::Frame;
use crate::seen::{Seen, Way};
use ackclock_tcp::segment::Segment;
use ackclock_wire::options::{walk, Entry, Options, Timestamps, MAX_SHIFT};
use ackclock_wire::packet::Captured;
use std::net::SocketAddr;

/// The state of a connection. The fields that every segment changes are together at the beginning.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Flow {
    /// A recent number of each direction, for unwrapping; before the first, the middle of the range in which it will be.
    near: [u64; 2],
    /// Segments sent by each end, without repeats.
    pub segments: [u64; 2],
    /// When its last segment was captured, nanoseconds since 1970.
    pub last: i64,
    /// Its number in the capture, from 1, by its first segment.
    pub number: u64,
    /// Its ends: first the one that opened it, or whose segment was captured first if no SYN was captured; then the other.
    /// [`Way::Out`] leads from the first to the second.
    pub ends: [SocketAddr; 2],
    /// The SYNs of both ends, if captured.
    pub syns: [Option<Syn>; 2],
    /// Whether an end has sent its FIN.
    pub fins: [bool; 2],
    /// Whether an end has sent a RST.
    pub resets: [bool; 2],
    /// When its first segment was captured, nanoseconds since 1970.
    pub first: i64,
    /// The VLANs through which its first segment went, as in [`Parsed::vlan`](crate::link::Parsed::vlan); 0: none.
    pub vlan: u32,
    /// The key of [`Way::Out`].
    key: Key,
    joins: u64,
    /// The jumps of the file's times before its last segment.
    jumps: u64,
}

/// The content of a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syn {
    /// Its frame.
    pub frame: u64,
    /// Its time, nanoseconds since 1970.
    pub at: i64,
    /// Its sequence number, unwrapped like [`Seen::seq`]; data begins one later.
    pub seq: u64,
    /// Its options.
    pub options: Options,
    /// Whether the flags ECE and CWR request ECN (RFC 3168 §6.1.1), or ECE alone accepts it.
    pub ecn: bool,
    /// Its MPTCP option.
    pub mptcp: Mptcp,
    /// Whether its options were truncated: missing options may have been present.
    pub options_cut: bool,
}

/// The MPTCP option of a SYN (RFC 8684 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mptcp {
    /// Nothing.
    #[default]
    No,
    /// Multipath capable.
    Capable,
    /// Joins another connection: its bytes are a part of that connection's.
    Join,
}

/// The number of segments of each direction whose checksums are examined.
const LOOKED_AT: u64 = 32;
/// The start of the 2³² numbers in which the first of a direction is. A step is at most 2³¹ in either direction, and no file has enough packets to lead to 0 or
/// beyond 2⁶³.
const FIRST: u64 = 1 << 62;
/// The middle of that range: no number of the direction is known yet.
const NOWHERE: u64 = FIRST + (1 << 31);
/// Numbers of one connection in two VLANs are at most this far apart.
const NEAR: u32 = 1 << 24;

impl Flow {
    pub(super) fn new(number: u64, key: Key, tcp: &Captured<'_>, at: i64, vlan: u32) -> Flow {
        // A SYN with ACK comes from the end that was called.
        let called = tcp.flags() & (Segment::SYN | Segment::ACK) == Segment::SYN | Segment::ACK;
        let ends = if called { [tcp.dst(), tcp.src()] } else { [tcp.src(), tcp.dst()] };
        Flow {
            number,
            ends,
            syns: [None; 2],
            fins: [false; 2],
            resets: [false; 2],
            segments: [0; 2],
            first: at,
            last: at,
            vlan,
            key: if called { key.back() } else { key },
            near: [NOWHERE; 2],
            joins: 0,
            jumps: 0,
        }
    }

    /// The SYN of the sender of this way.
    pub fn syn(&self, way: Way) -> Option<&Syn> {
        self.syns[index(way)].as_ref()
    }

    /// The end that sends in this direction.
    pub fn source(&self, way: Way) -> SocketAddr {
        self.ends[index(way)]
    }

    /// Whether its beginning was captured.
    pub fn is_whole(&self) -> bool {
        self.syns.iter().any(Option::is_some)
    }

    /// Whether both ends have sent a FIN, or one end has reset the connection.
    pub fn is_finished(&self) -> bool {
        self.fins == [true; 2] || self.resets.contains(&true)
    }

    /// The shift of the windows sent this way (RFC 7323 §2.2): `None` if no SYN shows it, 0 if one end did not offer it.
    pub fn window_shift(&self, way: Way) -> Option<u8> {
        let (own, other) = (self.syn(way)?, self.syn(way.back())?);
        Some(
            own.options
                .window_scale
                .filter(|_| other.options.window_scale.is_some())
                .map_or(0, |shift| shift.min(MAX_SHIFT)),
        )
    }

    /// Whether both SYNs permit SACK; `None` if not both were captured.
    pub fn sack(&self) -> Option<bool> {
        let [Some(one), Some(two)] = &self.syns else { return None };
        Some(one.options.sack_permitted && two.options.sack_permitted)
    }

    pub(super) fn key(&self) -> &Key {
        &self.key
    }

    pub(super) fn mptcp_joins(&self) -> u64 {
        self.joins
    }

    /// Whether a SYN belongs to this connection instead of beginning another one: it is a retransmission, the answer, or the
    /// first segment of an end whose peer has only sent its own SYN.
    pub(super) fn goes_on_with(&self, tcp: &Captured<'_>, way: Way) -> bool {
        let (own, other) = (self.syn(way), self.syn(way.back()));
        match own {
            Some(syn) => syn.seq as u32 == tcp.seq().0,
            None if self.segments[index(way)] > 0 => false,
            None => other.is_some(),
        }
    }

    /// Whether times have jumped since its last segment; `jumps` is how often they have by now.
    pub(super) fn is_after_jump(&mut self, jumps: u64) -> bool {
        std::mem::replace(&mut self.jumps, jumps) != jumps
    }

    /// Whether a segment in another VLAN belongs to this connection: all its numbers that can be compared are near those of this
    /// one, and at least one can be. Those of two connections are so with a probability of 2⁻⁷, or 2⁻¹⁴ if both can be compared.
    pub(super) fn fits(&self, tcp: &Captured<'_>, way: Way) -> bool {
        let near = |number: u32, way: Way| {
            let known = Some(self.near[index(way)]).filter(|near| *near != NOWHERE)?;
            Some(number.wrapping_sub(known as u32).wrapping_add(NEAR) < 2 * NEAR)
        };
        let seq = match self.syn(way) {
            Some(syn) if tcp.flags() & Segment::SYN != 0 => Some(tcp.seq().0 == syn.seq as u32),
            _ => near(tcp.seq().0, way),
        };
        let ack = if tcp.flags() & Segment::ACK != 0 { near(tcp.ack().0, way.back()) } else { None };
        match (seq, ack) {
            // The other number of a RST may be arbitrary.
            (Some(seq), Some(ack)) if tcp.flags() & Segment::RST != 0 => seq || ack,
            (Some(seq), Some(ack)) => seq && ack,
            (one, other) => one.or(other) == Some(true),
        }
    }

    /// Records a segment with its numbers; returns the data that identifies repeats.
    #[inline(always)]
    pub(super) fn see(&mut self, tcp: &Captured<'_>, way: Way, frame: &Frame<'_>, seen: &mut Seen) -> Mark {
        let flags = tcp.flags();
        let id = if tcp.ip.is_ipv4() { Some(tcp.ip.label as u16).filter(|id| *id != 0) } else { None };
        let seq = unwrap(tcp.seq().0, self.near[index(way)]);
        let ack = (flags & Segment::ACK != 0).then(|| unwrap(tcp.ack().0, self.near[index(way.back())]));
        // The numbers of a RST may be arbitrary, and nothing is measured with them.
        if flags & Segment::RST == 0 {
            self.near[index(way)] = seq;
            let near = &mut self.near[index(way.back())];
            *near = ack.unwrap_or(*near);
        }
        seen.frame = frame.number;
        seen.at = frame.at;
        seen.way = way;
        seen.seq = seq;
        seen.len = tcp.len;
        seen.flags = flags;
        seen.ack = ack;
        seen.window = tcp.window();
        seen.id = id;
        seen.hop_limit = tcp.ip.hop_limit;
        seen.unfinished = self.segments[index(way)] < LOOKED_AT && is_begun(frame);
        seen.options_cut = tcp.options_cut;
        if seen.sacks > 0 {
            (seen.sack, seen.sacks) = ([(0, 0); 4], 0);
        }
        // Each branch writes the whole value: a value assembled in memory and then copied has to wait for its own writes.
        let stamp = match Timestamps::glance(tcp.option_bytes) {
            Some(Some(timestamps)) => {
                seen.timestamps = Some(timestamps);
                timestamps.value
            }
            Some(None) => {
                seen.timestamps = None;
                0
            }
            None => read_options(tcp.option_bytes, seen),
        };
        Mark::of(tcp, seq, ack, stamp, id)
    }

    /// Counts a segment that is not a repeat.
    #[inline(always)]
    pub(super) fn count(&mut self, frame: &Frame<'_>, seen: &Seen) {
        self.segments[index(seen.way)] += 1;
        self.last = self.last.max(seen.at);
        if seen.flags & (Segment::SYN | Segment::FIN | Segment::RST) != 0 {
            self.mark(frame, seen);
        }
    }

    #[cold]
    #[inline(never)]
    fn mark(&mut self, frame: &Frame<'_>, seen: &Seen) {
        let own = index(seen.way);
        self.fins[own] |= seen.has(Segment::FIN);
        self.resets[own] |= seen.has(Segment::RST);
        if !seen.has(Segment::SYN) {
            return;
        }
        let Some(tcp) = link::segment(frame) else { return };
        let mptcp = mptcp(tcp.option_bytes);
        self.joins += u64::from(mptcp == Mptcp::Join && !seen.has(Segment::ACK) && self.syns[own].is_none());
        let first = self.syns[own].filter(|syn| syn.seq == seen.seq);
        self.syns[own] = first.or(Some(Syn {
            frame: seen.frame,
            at: seen.at,
            seq: seen.seq,
            options: Options::read(tcp.option_bytes),
            ecn: seen.has(Segment::ECE),
            mptcp,
            options_cut: seen.options_cut,
        }));
    }
}

/// Whether its checksum is incomplete.
#[cold]
#[inline(never)]
fn is_begun(frame: &Frame<'_>) -> bool {
    link::segment(frame).is_some_and(|tcp| tcp.is_begun())
}

/// Reads options other than timestamps alone; returns the value of the timestamps, 0 without them.
#[inline(never)]
fn read_options(list: &[u8], seen: &mut Seen) -> u32 {
    let options = Options::read(list);
    seen.timestamps = options.timestamps;
    if let Some(ack) = seen.ack {
        let blocks = options.sack.as_slice();
        seen.sacks = blocks.len() as u8;
        for (place, (left, right)) in seen.sack.iter_mut().zip(blocks) {
            *place = (unwrap(left.0, ack), unwrap(right.0, ack));
        }
    }
    options.timestamps.map_or(0, |t| t.value)
}

/// The MPTCP option of a SYN.
fn mptcp(options: &[u8]) -> Mptcp {
    const KIND: u8 = 30;
    let subtype = walk(options).find_map(|entry| match entry {
        Ok(Entry::Unknown { kind: KIND, data }) => data.first().map(|b| b >> 4),
        _ => None,
    });
    match subtype {
        Some(0) => Mptcp::Capable,
        Some(1) => Mptcp::Join,
        _ => Mptcp::No,
    }
}

#[inline]
fn index(way: Way) -> usize {
    match way {
        Way::Out => 0,
        Way::Back => 1,
    }
}

/// The number with these low 32 bits that is nearest to another number.
#[inline(always)]
fn unwrap(low: u32, near: u64) -> u64 {
    near.wrapping_add_signed(i64::from(low.wrapping_sub(near as u32) as i32))
}
