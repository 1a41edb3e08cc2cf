//! The border of one connection: 32-bit numbers, scaled windows and shifted clocks outside, the engine's segments inside.
//!
//! Source: RFC 9293 §3.4 (sequence numbers), RFC 7323 §2.2, §2.3 (a SYN's window is never scaled), §3.2 and §7.1
//! (timestamps), RFC 2018 §3.
//! Idea: a window is at most 2³⁰ bytes, so the peer's sequence numbers are close to the last acknowledgment, and its
//! acknowledgments are close to the last data sent. The border needs no other knowledge than the packets that passed it.
//!
//! A number from before the SYN belongs to no part of the connection. It is mapped one turn later, beyond every window, and the
//! engine answers it like any other number there (decision 0110).

use crate::dialect::Dialect;
use crate::initial::Initial;
use crate::options::{Options, SackBlocks, Timestamps, MAX_SHIFT};
use crate::packet::{Header, Packet, IPV4_HEADER, IPV6_HEADER, TCP_HEADER};
use crate::write::{WriteError, Writing, Written};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::{Offset, SeqNum};
use std::fmt;
use std::net::SocketAddr;

/// The initial hop limit of packets sent, as with Linux and BSD.
const HOP_LIMIT: u8 = 64;
/// The flags of an engine's segment, which do not include URG.
const FLAGS: u8 = 0xdf;
/// RFC 9293 §3.7.1: the segment size of a peer without an MSS option over IPv6. (The engine assumes 536.)
pub(crate) const DEFAULT_MSS_IPV6: u16 = 1220;

/// One connection's conversion between packets and segments.
#[derive(Clone, Debug)]
pub struct Border {
    local: SocketAddr,
    remote: SocketAddr,
    mtu: u32,
    /// The device's MTU; the path's may be smaller.
    device_mtu: u32,
    dialect: Dialect,
    isn: SeqNum,
    peer_isn: Option<SeqNum>,
    /// The window scales in the SYNs; in use once both have one.
    shift: Option<u8>,
    peer_shift: Option<u8>,
    /// The end of the data sent: the peer's acknowledgments are close to it.
    snd_max: Offset,
    /// The last acknowledgment sent: the peer's sequence numbers are close to it.
    acknowledged: Offset,
    timestamp_offset: u32,
    label: u32,
}

/// Why a border cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BorderError {
    /// The addresses are of two families.
    MixedFamilies,
    /// The MTU is too small for any device (RFC 791 §3.2, RFC 8200 §5).
    Mtu {
        /// The requested MTU.
        found: u32,
        /// The smallest allowed.
        least: u32,
    },
}

impl Border {
    /// A border between `local` and `remote`, over a path that carries packets of `mtu` bytes.
    ///
    /// # Errors
    /// Addresses of two families; an MTU below 68 (IPv4) or 1280 bytes (IPv6).
    pub fn new(
        local: SocketAddr,
        remote: SocketAddr,
        mtu: u32,
        initial: Initial,
        dialect: Dialect,
    ) -> Result<Border, BorderError> {
        let least = match (local, remote) {
            (SocketAddr::V4(_), SocketAddr::V4(_)) => 68,
            (SocketAddr::V6(_), SocketAddr::V6(_)) => 1280,
            _ => return Err(BorderError::MixedFamilies),
        };
        if mtu < least {
            return Err(BorderError::Mtu { found: mtu, least });
        }
        Ok(Border::between(local, remote, mtu, initial, dialect))
    }

    /// The same for a connection without a handshake: the peer's numbers begin at `peer_isn`, and its SYNs would have had these
    /// window scales, this side's first.
    #[must_use]
    pub fn after_handshake(self, peer_isn: SeqNum, (shift, peer_shift): (u8, u8)) -> Border {
        let scale = |shift: u8| Some(shift.min(MAX_SHIFT));
        Border { peer_isn: Some(peer_isn), shift: scale(shift), peer_shift: scale(peer_shift), ..self }
    }

    /// Returns a border for answering `asked`, a packet without a connection here: numbers count from those in it.
    pub(crate) fn for_nobody(asked: &Header, initial: Initial, dialect: Dialect) -> Border {
        Border { peer_isn: Some(asked.seq), ..Border::between(asked.dst, asked.src, u32::MAX, initial, dialect) }
    }

    fn between(local: SocketAddr, remote: SocketAddr, mtu: u32, initial: Initial, dialect: Dialect) -> Border {
        Border {
            local,
            remote,
            mtu,
            device_mtu: mtu,
            dialect,
            isn: initial.isn,
            peer_isn: None,
            shift: None,
            peer_shift: None,
            snd_max: Offset::SYN,
            acknowledged: Offset::SYN,
            timestamp_offset: initial.timestamp_offset,
            label: initial.label,
        }
    }

    /// This side's address.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// The peer's address.
    pub fn remote(&self) -> SocketAddr {
        self.remote
    }

    /// The MSS to announce: the MTU less the two headers without options (RFC 6691 §2).
    pub fn mss(&self) -> u32 {
        (self.mtu.min(0xffff) - self.headers()).min(0xffff)
    }

    /// A packet that began at `seq` was too big for a path of `mtu` bytes. Returns its place in the stream, and the room for a
    /// segment without the headers now. It is at least 552 (Linux's `min_pmtu`) or 1280 bytes (RFC 8201 §4), regardless of the
    /// message.
    pub(crate) fn on_too_big(&mut self, seq: SeqNum, mtu: u32) -> (Offset, u32) {
        let least = if self.local.is_ipv4() { 552 } else { 1280 };
        self.mtu = mtu.max(least).min(self.mtu);
        (seq.unwrap_or_later(self.isn, self.snd_max), self.mtu - self.headers())
    }

    /// From now on the path is assumed to carry the device's MTU.
    pub(crate) fn forget_path_mtu(&mut self) {
        self.mtu = self.device_mtu;
    }

    /// Bytes of both headers without options.
    fn headers(&self) -> u32 {
        (TCP_HEADER + if self.local.is_ipv4() { IPV4_HEADER } else { IPV6_HEADER }) as u32
    }

    /// The place of a sent number in the stream; `None` before the SYN.
    pub(crate) fn sent(&self, seq: SeqNum) -> Option<Offset> {
        seq.unwrap_near(self.isn, self.snd_max)
    }

    /// Converts a packet of this connection into a segment for the engine; the caller has checked the addresses.
    pub fn read(&mut self, packet: &Packet<'_>) -> Segment {
        let header = &packet.header;
        let has = |flag: u8| header.flags & flag != 0;
        let syn = has(Segment::SYN);
        let mut seg = Segment {
            len: packet.payload.len() as u32,
            train: packet.train.max(1),
            flags: header.flags & FLAGS,
            ..Segment::EMPTY
        };
        if has(Segment::ACK) {
            seg.ack = header.ack.unwrap_or_later(self.isn, self.snd_max);
        }
        // Follows the engine's decision: a SYN is accepted once, and not if it acknowledges anything but a SYN of ours.
        let answers = self.snd_max >= Offset::DATA && seg.ack == Offset::DATA;
        if syn && self.peer_isn.is_none() && !has(Segment::RST) && (!has(Segment::ACK) || answers) {
            self.peer_isn = Some(header.seq);
            self.peer_shift = header.options.window_scale.map(|s| s.min(MAX_SHIFT));
        }
        // Before the peer's SYN there is no base for its numbers, and the engine examines no number.
        seg.seq = self.peer_isn.map_or(Offset::SYN, |isn| header.seq.unwrap_or_later(isn, self.acknowledged));
        seg.wnd = u32::from(header.window) << if syn { 0 } else { self.agreed(self.peer_shift) };
        seg.opts = header.ecn();
        header.options.read_into(&mut seg, Some(self.isn));
        if syn && seg.mss == 0 && self.local.is_ipv6() {
            seg.mss = DEFAULT_MSS_IPV6;
        }
        // RFC 7323 §3.2: without an ACK it echoes nothing.
        if seg.has(Segment::ACK) && header.options.timestamps.is_some() {
            seg.tsecr = seg.tsecr.wrapping_sub(self.timestamp_offset);
        }
        seg
    }

    /// Writes the packet of `seg` into the front of `buf`; `fill` writes its payload.
    ///
    /// Only the SACK blocks that fit in the MTU are written on a segment with data (decision 0124).
    ///
    /// # Errors
    /// Those of [`Header::write`].
    pub fn write(
        &mut self,
        seg: &Segment,
        writing: Writing,
        buf: &mut [u8],
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<Written, WriteError> {
        let header = self.compose(seg);
        let mut written = header.write(self.dialect, writing, buf, seg.len as usize, fill)?;
        if seg.train > 1 {
            written.segment_len = (seg.len / u32::from(seg.train)).min(0xffff) as u16;
        }
        Ok(written)
    }

    /// The headers of `seg`, which from now on counts as sent.
    pub(crate) fn compose(&mut self, seg: &Segment) -> Header {
        if seg.has(Segment::SYN) {
            self.shift = (seg.wscale != Segment::NO_SCALE).then_some(seg.wscale.min(MAX_SHIFT));
        }
        // A RST may repeat an arbitrary number from the packet that it answers; it is not a part of the stream.
        if !seg.has(Segment::RST) {
            self.snd_max = self.snd_max.max(seg.end());
            self.acknowledged = if seg.has(Segment::ACK) { self.acknowledged.max(seg.ack) } else { self.acknowledged };
        }
        let header = self.header(seg);
        // One identification for each packet on the wire.
        if self.local.is_ipv4() {
            self.label = self.label.wrapping_add(u32::from(seg.train.max(1)));
        }
        header
    }

    /// The headers of `seg`.
    pub(crate) fn header(&self, seg: &Segment) -> Header {
        let syn = seg.has(Segment::SYN);
        // Numbers that never arrived cannot be acknowledged: the RST of an end that gives up before an answer has none.
        let ack = self.peer_isn.filter(|_| seg.has(Segment::ACK)).map(|isn| seg.ack.wrap(isn));
        let flags = if ack.is_some() { seg.flags } else { seg.flags & !Segment::ACK };
        Header {
            src: self.local,
            dst: self.remote,
            seq: seg.seq.wrap(self.isn),
            ack: ack.unwrap_or(SeqNum(0)),
            flags: flags & FLAGS,
            reserved: 0,
            window: (seg.wnd >> if syn { 0 } else { self.agreed(self.shift) }).min(0xffff) as u16,
            urgent: 0,
            options: self.options(seg),
            traffic_class: match seg.opts & (Segment::ECT | Segment::CE) {
                0 => 0,
                Segment::ECT => 2,
                _ => 3,
            },
            hop_limit: HOP_LIMIT,
            label: if self.local.is_ipv4() { self.label & 0xffff } else { self.label & 0xf_ffff },
        }
    }

    fn options(&self, seg: &Segment) -> Options {
        let syn = seg.has(Segment::SYN);
        let stamped = seg.opts & Segment::TIMESTAMPS != 0;
        let value = seg.tsval.wrapping_add(self.timestamp_offset);
        let mut sack = SackBlocks::default();
        if let (false, Some(isn)) = (syn || seg.blocks == 0, self.peer_isn) {
            let room = self.room_for_blocks(seg, stamped);
            seg.sack_blocks().take(room).for_each(|(left, right)| sack.push(left.wrap(isn), right.wrap(isn)));
        }
        Options {
            mss: (syn && seg.mss != 0).then_some(seg.mss),
            window_scale: self.shift.filter(|_| syn),
            sack_permitted: syn && seg.opts & Segment::SACK_PERMITTED != 0,
            timestamps: stamped.then_some(Timestamps { value, echo: seg.tsecr }),
            sack,
            malformed: None,
        }
    }

    /// RFC 6691 §2: options reduce the payload. The engine has counted the timestamps, not the blocks.
    fn room_for_blocks(&self, seg: &Segment, stamped: bool) -> usize {
        let payload = seg.len.div_ceil(u32::from(seg.train.max(1)));
        let others = self.headers() + if stamped { 12 } else { 0 } + 4;
        (self.mtu.saturating_sub(others).saturating_sub(payload) / 8) as usize
    }

    /// A shift that is in use, because both SYNs named one.
    fn agreed(&self, shift: Option<u8>) -> u8 {
        self.shift.and(self.peer_shift).and(shift).unwrap_or(0)
    }
}

/// The headers of an ACK without numbers.
pub(crate) fn bare_ack(src: SocketAddr, dst: SocketAddr) -> Header {
    Header {
        src,
        dst,
        seq: SeqNum(0),
        ack: SeqNum(0),
        flags: Segment::ACK,
        reserved: 0,
        window: 0,
        urgent: 0,
        options: Options::default(),
        traffic_class: 0,
        hop_limit: HOP_LIMIT,
        label: 0,
    }
}

impl fmt::Display for BorderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BorderError::MixedFamilies => write!(f, "one address is IPv4, the other IPv6"),
            BorderError::Mtu { found, least } => write!(f, "an MTU of {found} bytes, below IP's minimum of {least}"),
        }
    }
}

impl std::error::Error for BorderError {}
