//! Reading a packet: IPv4 or IPv6, TCP header, options; the payload stays where it lies.
//!
//! Source: RFC 791 §3.1 (IPv4), RFC 8200 §3 and §4 (IPv6 and its extension headers), RFC 6946 §4 (a fragment that is the
//! whole packet), RFC 9293 §3.1.
//! A total length of zero, as captures of packets have that a device was to cut, means "as long as these bytes".

use crate::checksum::{Sum, TCP};
use crate::options::{word, Malformed, Options, SackBlocks, Timestamps};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::SeqNum;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The fields of an IP and a TCP header that are the sender's choice. Lengths and checksums follow from the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Where it comes from.
    pub src: SocketAddr,
    /// Where it goes to.
    pub dst: SocketAddr,
    /// Sequence number.
    pub seq: SeqNum,
    /// Acknowledgment number; means something only with the ACK flag.
    pub ack: SeqNum,
    /// The eight flags, as in [`ackclock_tcp::segment::Segment::flags`]; URG is 0x20.
    pub flags: u8,
    /// The four bits before the flags.
    pub reserved: u8,
    /// The window as it stands there, not scaled.
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
    /// The list of options as it stands there; [`crate::options::walk`] shows what is unknown.
    pub option_bytes: &'a [u8],
    /// Its payload.
    pub payload: &'a [u8],
    /// 1, or how many segments a device joined to make it; [`crate::offload::parse`] knows.
    pub train: u16,
}

/// What is to be done about the checksums of a packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// A packet with a wrong one is refused.
    Verify,
    /// A device has looked, or the packet never left this machine.
    Trust,
}

/// Why bytes are not a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Neither IPv4 nor IPv6.
    Version(u8),
    /// Another protocol than TCP, by its number.
    NotTcp(u8),
    /// A piece of a packet.
    Fragment,
    /// A routing header says that this is not the packet's destination: neither are its addresses.
    Underway,
    /// The bytes end before a header or the packet does.
    CutOff {
        /// How many bytes there would have to be.
        needs: usize,
        /// How many there are.
        has: usize,
    },
    /// A header's length says that it is shorter than its own fields, or longer than what contains it.
    Length,
    /// IPv4's checksum is wrong.
    IpChecksum,
    /// TCP's checksum is wrong.
    TcpChecksum,
    /// ICMP's checksum is wrong.
    IcmpChecksum,
}

/// What an IP header says.
pub(crate) struct Ip {
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    traffic_class: u8,
    hop_limit: u8,
    label: u32,
    /// What it carries, by its number.
    pub(crate) protocol: u8,
    /// Where that begins and the packet ends.
    pub(crate) payload: usize,
    pub(crate) end: usize,
}

/// The smallest TCP header.
pub(crate) const TCP_HEADER: usize = 20;
pub(crate) const IPV4_HEADER: usize = 20;
pub(crate) const IPV6_HEADER: usize = 40;

/// Reads a packet that begins with its IP header. Bytes behind the packet's own length are ignored.
///
/// # Errors
/// Why it is not a TCP segment, or not one to be believed. A malformed list of options is no such reason:
/// [`Options::malformed`] reports it.
pub fn parse(bytes: &[u8], checksums: Checksums) -> Result<Packet<'_>, Refused> {
    let ip = parse_ip(bytes, checksums)?;
    if ip.protocol != TCP {
        return Err(Refused::NotTcp(ip.protocol));
    }
    let tcp = bytes.get(ip.payload..ip.end).filter(|t| t.len() >= TCP_HEADER).ok_or(Refused::Length)?;
    let header_len = usize::from(tcp[12] >> 4) * 4;
    let options = tcp.get(TCP_HEADER..header_len).ok_or(Refused::Length)?;
    // What is longer than the engine counts is no packet of this world.
    let tcp_len = i32::try_from(tcp.len()).map_err(|_| Refused::Length)?;
    let (src, dst) = (SocketAddr::new(ip.src, half(tcp, 0)), SocketAddr::new(ip.dst, half(tcp, 2)));
    if checksums == Checksums::Verify {
        let mut sum = Sum::default();
        sum.add_pseudo_header(TCP, ip.src, ip.dst, tcp_len as u32);
        sum.add(tcp);
        if !sum.is_right() {
            return Err(Refused::TcpChecksum);
        }
    }
    let header = Header {
        src,
        dst,
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
    };
    Ok(Packet { header, option_bytes: options, payload: &tcp[header_len..], train: 1 })
}

/// Reads the IP header, and whatever stands between it and what it carries.
#[inline]
pub(crate) fn parse_ip(bytes: &[u8], checksums: Checksums) -> Result<Ip, Refused> {
    match bytes.first().map(|b| b >> 4) {
        None => Err(Refused::CutOff { needs: IPV4_HEADER, has: 0 }),
        Some(4) => parse_ipv4(bytes, checksums),
        Some(6) => parse_ipv6(bytes),
        Some(version) => Err(Refused::Version(version)),
    }
}

/// The list that nearly every segment has is read at a glance.
#[inline]
fn read_options(list: &[u8]) -> Options {
    match list {
        [] => Options::default(),
        [1, 1, 8, 10, stamps @ ..] if stamps.len() == 8 => {
            let stamps = Timestamps { value: word(stamps, 0), echo: word(stamps, 4) };
            Options { timestamps: Some(stamps), ..Options::default() }
        }
        _ => Options::read(list),
    }
}

fn parse_ipv4(bytes: &[u8], checksums: Checksums) -> Result<Ip, Refused> {
    let fixed = cut(bytes, IPV4_HEADER)?;
    let header_len = usize::from(fixed[0] & 15) * 4;
    let end = match usize::from(half(fixed, 2)) {
        0 => bytes.len(),
        len => len,
    };
    if header_len < IPV4_HEADER || end < header_len {
        return Err(Refused::Length);
    }
    cut(bytes, end)?;
    if checksums == Checksums::Verify {
        let mut sum = Sum::default();
        sum.add(&bytes[..header_len]);
        if !sum.is_right() {
            return Err(Refused::IpChecksum);
        }
    }
    // "More fragments", or an offset.
    if half(fixed, 6) & 0x3fff != 0 {
        return Err(Refused::Fragment);
    }
    Ok(Ip {
        src: IpAddr::V4(Ipv4Addr::from(word(fixed, 12))),
        dst: IpAddr::V4(Ipv4Addr::from(word(fixed, 16))),
        traffic_class: fixed[1],
        hop_limit: fixed[8],
        label: u32::from(half(fixed, 4)),
        protocol: fixed[9],
        payload: header_len,
        end,
    })
}

fn parse_ipv6(bytes: &[u8]) -> Result<Ip, Refused> {
    let fixed = cut(bytes, IPV6_HEADER)?;
    let end = match usize::from(half(fixed, 4)) {
        0 => bytes.len(),
        len => IPV6_HEADER + len,
    };
    let packet = cut(bytes, end)?;
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&fixed[at..at + 16]);
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    let first = word(fixed, 0);
    let (protocol, payload) = skip_extensions(packet, fixed[6])?;
    Ok(Ip {
        src: address(8),
        dst: address(24),
        traffic_class: (first >> 20) as u8,
        hop_limit: fixed[7],
        label: first & 0xf_ffff,
        protocol,
        payload,
        end,
    })
}

/// What stands behind the extension headers of RFC 8200 §4 and those of the same form, and where.
pub(crate) fn skip_extensions(packet: &[u8], first: u8) -> Result<(u8, usize), Refused> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const AUTHENTICATION: u8 = 51;
    const DESTINATION: u8 = 60;
    const MOBILITY: u8 = 135;
    const HOST_IDENTITY: u8 = 139;
    const SHIM6: u8 = 140;
    let (mut next, mut at) = (first, IPV6_HEADER);
    while matches!(
        next,
        HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION | MOBILITY | HOST_IDENTITY | SHIM6
    ) {
        let &[following, len, a, b, ..] = packet.get(at..).filter(|rest| rest.len() >= 8).ok_or(Refused::Length)?
        else {
            return Err(Refused::Length);
        };
        at += match next {
            ROUTING if b != 0 => return Err(Refused::Underway),
            FRAGMENT if u16::from_be_bytes([a, b]) & 0xfff9 != 0 => return Err(Refused::Fragment),
            FRAGMENT => 8,
            AUTHENTICATION => 8 + usize::from(len) * 4,
            _ => 8 + usize::from(len) * 8,
        };
        next = following;
    }
    Ok((next, at))
}

/// The first `needs` bytes.
#[inline]
pub(crate) fn cut(bytes: &[u8], needs: usize) -> Result<&[u8], Refused> {
    bytes.get(..needs).ok_or(Refused::CutOff { needs, has: bytes.len() })
}

/// The 16-bit word at `at`, which must be there.
#[inline]
pub(crate) fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

impl Header {
    /// What ECN's two bits say (RFC 3168 §5) in those of [`Segment::opts`]: nothing, capable, or that congestion was met.
    #[inline]
    pub fn ecn(&self) -> u8 {
        match self.traffic_class & 3 {
            0 => 0,
            3 => Segment::ECT | Segment::CE,
            _ => Segment::ECT,
        }
    }

    /// The SACK blocks in their order.
    #[inline]
    pub fn sack(&self) -> &SackBlocks {
        &self.options.sack
    }

    /// What is wrong with the list of options, if anything is.
    #[inline]
    pub fn malformed(&self) -> Option<Malformed> {
        self.options.malformed
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Version(v) => write!(f, "IP version {v}, neither 4 nor 6"),
            Refused::NotTcp(n) => write!(f, "IP protocol {n}, not TCP"),
            Refused::Fragment => write!(f, "a fragment: reassembly is not done here"),
            Refused::Underway => write!(f, "a routing header with segments left: not at its destination"),
            Refused::CutOff { needs, has } => write!(f, "cut off: {has} bytes of at least {needs}"),
            Refused::Length => write!(f, "a header's length that cannot be"),
            Refused::IpChecksum => write!(f, "wrong IPv4 checksum"),
            Refused::TcpChecksum => write!(f, "wrong TCP checksum"),
            Refused::IcmpChecksum => write!(f, "wrong ICMP checksum"),
        }
    }
}

impl std::error::Error for Refused {}
