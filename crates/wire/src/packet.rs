//! Reading a packet: IPv4 or IPv6, TCP header, options; the payload is not copied.
//!
//! Source: RFC 791 §3.1 (IPv4), RFC 8200 §3 and §4 (IPv6 and its extension headers), RFC 6946 §4 (a fragment that is the
//! complete packet), RFC 9293 §3.1.
//! A total length of zero, as in captures of packets that a device was to segment, means "as long as these bytes".

use crate::checksum::{Sum, TCP};
use crate::options::{word, Malformed, Options, SackBlocks, Timestamps};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::SeqNum;
use std::fmt;
use std::net::SocketAddr;

mod captured;
mod ip;

pub use captured::Captured;
pub use ip::{captured_ip, Ip};
pub(crate) use ip::{parse_ip, skip_extensions, IPV4_HEADER, IPV6_HEADER};

/// The fields of an IP and a TCP header that the sender chooses. Lengths and checksums follow from the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Source.
    pub src: SocketAddr,
    /// Destination.
    pub dst: SocketAddr,
    /// Sequence number.
    pub seq: SeqNum,
    /// Acknowledgment number; valid only with the ACK flag.
    pub ack: SeqNum,
    /// The eight flags, as in [`ackclock_tcp::segment::Segment::flags`]; URG is 0x20.
    pub flags: u8,
    /// The four bits before the flags.
    pub reserved: u8,
    /// The window field, not scaled.
    pub window: u16,
    /// The urgent pointer.
    pub urgent: u16,
    /// The options.
    pub options: Options,
    /// IPv4's type of service, IPv6's traffic class; its two low bits are ECN's (RFC 3168 §5).
    pub traffic_class: u8,
    /// Time to live, hop limit.
    pub hop_limit: u8,
    /// IPv4's identification (16 bits), IPv6's flow label (20 bits).
    pub label: u32,
}

/// A TCP packet that has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Its headers.
    pub header: Header,
    /// The list of options, unparsed; [`crate::options::walk`] returns unknown ones.
    pub option_bytes: &'a [u8],
    /// Its payload.
    pub payload: &'a [u8],
    /// 1, or the number of segments that a device joined into it, set by [`crate::offload::parse`].
    pub train: u16,
}

/// The treatment of the checksums of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// A packet with a wrong one is refused.
    Verify,
    /// A device has verified them, or the packet never left this machine.
    Trust,
}

/// Why bytes are not a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Neither IPv4 nor IPv6.
    Version(u8),
    /// Another protocol than TCP, by its number.
    NotTcp(u8),
    /// A fragment of a packet.
    Fragment,
    /// A routing header shows that this is not the packet's destination, so its addresses are not the final ones.
    Underway,
    /// The bytes end before a header or the packet does.
    CutOff {
        /// The number of bytes needed.
        needs: usize,
        /// The number of bytes available.
        has: usize,
    },
    /// A header's length is shorter than its own fields, or longer than the packet.
    Length,
    /// IPv4's checksum is wrong.
    IpChecksum,
    /// TCP's checksum is wrong.
    TcpChecksum,
    /// ICMP's checksum is wrong.
    IcmpChecksum,
}

/// The smallest TCP header.
pub(crate) const TCP_HEADER: usize = 20;
/// Reads a packet that begins with its IP header. Bytes after the packet's own length are ignored.
///
/// # Errors
/// Why it is not a valid TCP segment. A malformed list of options is not an error: [`Options::malformed`] reports it.
pub fn parse(bytes: &[u8], checksums: Checksums) -> Result<Packet<'_>, Refused> {
    let ip = parse_ip(bytes, checksums)?;
    if ip.protocol != TCP {
        return Err(Refused::NotTcp(ip.protocol));
    }
    let tcp = bytes.get(ip.payload..ip.end).filter(|t| t.len() >= TCP_HEADER).ok_or(Refused::Length)?;
    let header_len = usize::from(tcp[12] >> 4) * 4;
    let options = tcp.get(TCP_HEADER..header_len).ok_or(Refused::Length)?;
    // No real packet is too long for the engine's counters.
    let tcp_len = i32::try_from(tcp.len()).map_err(|_| Refused::Length)?;
    if checksums == Checksums::Verify {
        let mut sum = Sum::default();
        sum.add_pseudo_header(TCP, ip.src(), ip.dst(), tcp_len as u32);
        sum.add(tcp);
        if !sum.is_right() {
            return Err(Refused::TcpChecksum);
        }
    }
    Ok(Packet { header: read_header(&ip, tcp, options), option_bytes: options, payload: &tcp[header_len..], train: 1 })
}

/// Combines the headers; `tcp` begins with a complete fixed header.
fn read_header(ip: &Ip<'_>, tcp: &[u8], options: &[u8]) -> Header {
    Header {
        src: SocketAddr::new(ip.src(), half(tcp, 0)),
        dst: SocketAddr::new(ip.dst(), half(tcp, 2)),
        seq: SeqNum(word(tcp, 4)),
        ack: SeqNum(word(tcp, 8)),
        flags: tcp[13],
        reserved: tcp[12] & 15,
        window: half(tcp, 14),
        urgent: half(tcp, 18),
        options: read_options(options),
        traffic_class: ip.traffic_class,
        hop_limit: ip.hop_limit,
        label: ip.label,
    }
}

fn read_options(list: &[u8]) -> Options {
    match Timestamps::glance(list) {
        Some(timestamps) => Options { timestamps, ..Options::default() },
        None => Options::read(list),
    }
}

/// The first `needs` bytes.
pub(crate) fn cut(bytes: &[u8], needs: usize) -> Result<&[u8], Refused> {
    bytes.get(..needs).ok_or(Refused::CutOff { needs, has: bytes.len() })
}

/// The first `N` bytes.
pub(crate) fn first<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Refused> {
    bytes.first_chunk().ok_or(Refused::CutOff { needs: N, has: bytes.len() })
}

/// The 16-bit word at `at`, which must be there.
pub(crate) fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

impl Header {
    /// Converts ECN's two bits (RFC 3168 §5) to those of [`Segment::opts`]: none, capable, or congestion experienced.
    pub fn ecn(&self) -> u8 {
        match self.traffic_class & 3 {
            0 => 0,
            3 => Segment::ECT | Segment::CE,
            _ => Segment::ECT,
        }
    }

    /// The SACK blocks in their order.
    pub fn sack(&self) -> &SackBlocks {
        &self.options.sack
    }

    /// The fault in the list of options, if any.
    pub fn malformed(&self) -> Option<Malformed> {
        self.options.malformed
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Version(v) => write!(f, "IP version {v}, neither 4 nor 6"),
            Refused::NotTcp(n) => write!(f, "IP protocol {n}, not TCP"),
            Refused::Fragment => write!(f, "a fragment; fragments are not reassembled"),
            Refused::Underway => write!(f, "a routing header with segments left: not at its destination"),
            Refused::CutOff { needs, has } => write!(f, "cut off: {has} bytes of at least {needs}"),
            Refused::Length => write!(f, "an impossible header length"),
            Refused::IpChecksum => write!(f, "wrong IPv4 checksum"),
            Refused::TcpChecksum => write!(f, "wrong TCP checksum"),
            Refused::IcmpChecksum => write!(f, "wrong ICMP checksum"),
        }
    }
}

impl std::error::Error for Refused {}
