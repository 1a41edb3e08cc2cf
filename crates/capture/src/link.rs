//! From a frame to its content: link layers and tunnels, down to TCP.
//!
//! Source: IEEE 802.1Q (VLAN tags), RFC 3032 §2.1 (MPLS), RFC 2516 §4 (PPPoE), RFC 1661 §2 (PPP), RFC 2784 §2 and RFC 2890 §2
//! (GRE), RFC 2637 §4.1 (PPTP's GRE), RFC 7348 §5 (VXLAN), 3GPP TS 29.281 §5 (GTP-U), RFC 4303 §2 and RFC 3948 §2 (ESP), RFC 4302 §2
//! (AH), RFC 9000 §17 (QUIC); the registry of link types of tcpdump.org.
//!
//! Idea: nearly every frame is Ethernet, IPv4 or IPv6, TCP. Any other frame is walked layer by layer, each one deeper in the
//! bytes.

use crate::datagrams::Datagram;
use crate::read::Frame;
use crate::seen::Heading;
use ackclock_wire::packet::{self, Captured, Refused};
use std::net::SocketAddr;

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A TCP segment.
    Tcp(Captured<'a>),
    /// A UDP datagram that is not classified further, as [`Kind::Udp`].
    Udp(Datagram<'a>),
    /// Something else.
    Other(Kind),
}

/// Content other than TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// UDP that is not classified further.
    Udp,
    /// QUIC: UDP with a long header of a known version, or at port 443.
    Quic,
    /// IPsec's ESP, also over UDP.
    Esp,
    /// WireGuard, at its usual port.
    WireGuard,
    /// ICMP and ICMPv6.
    Icmp,
    /// SCTP.
    Sctp,
    /// ARP.
    Arp,
    /// Fragments of IP packets.
    Fragment,
    /// IP with another protocol.
    Ip,
    /// Frames without IP.
    NotIp,
    /// Frames of an unknown link type.
    Link,
    /// Frames that were truncated before the end of their headers.
    Cut,
    /// Inconsistent headers.
    Broken,
}

/// A layer that begins at a place within a frame.
#[derive(Clone, Copy)]
enum Layer {
    Ethernet(usize),
    /// A protocol by its EtherType.
    EtherType(u16, usize),
    Ppp(usize),
    /// IP; its first bits give the version.
    Ip(usize),
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// The maximum number of layers of a frame.
const DEPTH: usize = 16;

const ETHERNET: u16 = 1;
const RAW: u16 = 101;

/// The TCP segment of the most common kind of frame: Ethernet, IPv4 without options, then TCP. `None` for any other.
#[inline(always)]
pub(crate) fn glance<'a>(frame: &Frame<'a>) -> Option<Captured<'a>> {
    let (head, ip) = frame.bytes.split_first_chunk::<14>()?;
    let usual = frame.link == ETHERNET && u16::from_be_bytes([head[12], head[13]]) == IPV4;
    if usual {
        Captured::glance(ip)
    } else {
        None
    }
}

/// The TCP segment of any frame. Fields that few packets need are read again: returning everything would assemble the result in
/// memory for all packets.
#[cold]
#[inline(never)]
pub(crate) fn segment<'a>(frame: &Frame<'a>) -> Option<Captured<'a>> {
    let other = |frame| match content(frame).0 {
        Content::Tcp(tcp) => Some(tcp),
        Content::Udp(_) | Content::Other(_) => None,
    };
    glance(frame).or_else(|| plain(frame)).or_else(|| other(frame))
}

/// The TCP segment of other common frames: Ethernet or nothing, then IP, then TCP. `None` for any other.
#[inline(always)]
pub(crate) fn plain<'a>(frame: &Frame<'a>) -> Option<Captured<'a>> {
    let at = match (frame.link, frame.bytes) {
        (ETHERNET, [_, _, _, _, _, _, _, _, _, _, _, _, 0x08, 0x00, ..]) => 14,
        (ETHERNET, [_, _, _, _, _, _, _, _, _, _, _, _, 0x86, 0xdd, ..]) => 14,
        (RAW, _) => 0,
        _ => return None,
    };
    let ip = &frame.bytes[at..];
    let header = packet::captured_ip(ip, (frame.original as usize).saturating_sub(at)).ok()?;
    Captured::read(ip, header).ok()
}

/// The content of a frame, and its direction if the file has it.
#[cold]
pub fn content<'a>(frame: &Frame<'a>) -> (Content<'a>, Heading) {
    let (first, heading) = match first(frame) {
        Ok(first) => first,
        Err(kind) => return (Content::Other(kind), frame.heading),
    };
    let mut layer = first;
    for _ in 0..DEPTH {
        let next = match layer {
            Layer::Ethernet(at) => ethernet(frame.bytes, at),
            Layer::EtherType(kind, at) => ether_type(frame.bytes, kind, at),
            Layer::Ppp(at) => ppp(frame.bytes, at),
            Layer::Ip(at) => match ip(frame, at) {
                Ok(Inside::Tcp(tcp)) => return (Content::Tcp(tcp), heading),
                Ok(Inside::Udp(datagram)) => return (Content::Udp(datagram), heading),
                Ok(Inside::Layer(next)) => Ok(next),
                Err(kind) => Err(kind),
            },
        };
        match next {
            Ok(next) => layer = next,
            Err(kind) => return (Content::Other(kind), heading),
        }
    }
    (Content::Other(Kind::Broken), heading)
}

/// The first layer, by the link type.
fn first(frame: &Frame<'_>) -> Result<(Layer, Heading), Kind> {
    let bytes = frame.bytes;
    let plain = |layer| Ok((layer, frame.heading));
    match frame.link {
        // NULL and LOOP: a protocol family in either byte order; IPv6's differs between systems.
        0 | 108 => {
            let family = bytes.first_chunk::<4>().ok_or(Kind::Cut)?;
            let (one, two) = (u32::from_be_bytes(*family), u32::from_le_bytes(*family));
            let known = |family| matches!(family, 2 | 10 | 24 | 28 | 30);
            if known(one) || known(two) {
                plain(Layer::Ip(4))
            } else {
                Err(Kind::NotIp)
            }
        }
        1 => plain(Layer::Ethernet(0)),
        9 => plain(Layer::Ppp(0)),
        // RAW, as in the registry and as in BSD systems; IPV4, IPV6.
        101 | 12 | 14 | 228 | 229 => plain(Layer::Ip(0)),
        // LINUX_SLL.
        113 => {
            let head = bytes.first_chunk::<16>().ok_or(Kind::Cut)?;
            Ok((Layer::EtherType(half(head, 14)?, 16), cooked(u16::from_be_bytes([head[0], head[1]]))))
        }
        // LINUX_SLL2.
        276 => {
            let head = bytes.first_chunk::<20>().ok_or(Kind::Cut)?;
            Ok((Layer::EtherType(half(head, 0)?, 20), cooked(u16::from(head[10]))))
        }
        _ => Err(Kind::Link),
    }
}

/// Linux's packet type: to this host, broadcast, multicast, to another host, or from here.
fn cooked(kind: u16) -> Heading {
    match kind {
        0..=2 => Heading::In,
        4 => Heading::Out,
        _ => Heading::Unsaid,
    }
}

fn ethernet(bytes: &[u8], at: usize) -> Result<Layer, Kind> {
    Ok(Layer::EtherType(half(bytes, at + 12)?, at + 14))
}

fn ether_type(bytes: &[u8], kind: u16, at: usize) -> Result<Layer, Kind> {
    match kind {
        IPV4 | IPV6 => Ok(Layer::Ip(at)),
        // VLAN tags: customer, provider, and the form before the standard.
        0x8100 | 0x88a8 | 0x9100 | 0x9200 => Ok(Layer::EtherType(half(bytes, at + 2)?, at + 4)),
        // A PPPoE session: version, type, code 0, session, length.
        0x8864 => Ok(Layer::Ppp(at + 6)),
        // MPLS: labels up to the one at the bottom of the stack.
        0x8847 | 0x8848 => {
            let bottom = (at + 2..bytes.len()).step_by(4).take(DEPTH).find(|i| bytes[*i] & 1 == 1).ok_or(Kind::Cut)?;
            Ok(Layer::Ip(bottom + 2))
        }
        0x0806 => Err(Kind::Arp),
        // A length: LLC, with SNAP before an EtherType.
        0..=1500 => match bytes.get(at..at + 8) {
            Some([0xaa, 0xaa, 3, 0, 0, 0, a, b]) => Ok(Layer::EtherType(u16::from_be_bytes([*a, *b]), at + 8)),
            _ => Err(Kind::NotIp),
        },
        _ => Err(Kind::NotIp),
    }
}

fn ppp(bytes: &[u8], at: usize) -> Result<Layer, Kind> {
    // On a line with HDLC framing, address and control come first.
    let at = if bytes.get(at..at + 2) == Some(&[0xff, 3]) { at + 2 } else { at };
    // A protocol with an odd first byte was compressed to that byte.
    let (protocol, at) = match bytes.get(at) {
        Some(one) if one & 1 == 1 => (u16::from(*one), at + 1),
        _ => (half(bytes, at)?, at + 2),
    };
    match protocol {
        0x21 | 0x57 => Ok(Layer::Ip(at)),
        _ => Err(Kind::NotIp),
    }
}

enum Inside<'a> {
    Tcp(Captured<'a>),
    Udp(Datagram<'a>),
    Layer(Layer),
}

fn ip<'a>(frame: &Frame<'a>, at: usize) -> Result<Inside<'a>, Kind> {
    let bytes = frame.bytes.get(at..).ok_or(Kind::Cut)?;
    let header = packet::captured_ip(bytes, (frame.original as usize).saturating_sub(at)).map_err(refused)?;
    let payload = at + header.payload;
    match header.protocol {
        6 => Captured::read(bytes, header).map(Inside::Tcp).map_err(refused),
        17 => match udp(frame.bytes, payload) {
            Err(Kind::Udp) => datagram(frame.bytes, payload, &header).map(Inside::Udp).ok_or(Kind::Udp),
            other => other.map(Inside::Layer),
        },
        // IP in IP.
        4 | 41 => Ok(Inside::Layer(Layer::Ip(payload))),
        47 => gre(frame.bytes, payload).map(Inside::Layer),
        // AH precedes the payload that it protects; IPv6's has already been skipped.
        51 => authenticated(frame, at, &header),
        1 | 58 => Err(Kind::Icmp),
        50 => Err(Kind::Esp),
        132 => Err(Kind::Sctp),
        _ => Err(Kind::Ip),
    }
}

/// The content after IPv4's authentication header.
fn authenticated<'a>(frame: &Frame<'a>, at: usize, header: &packet::Ip<'a>) -> Result<Inside<'a>, Kind> {
    let &[protocol, words, ..] = frame.bytes.get(at + header.payload..).ok_or(Kind::Cut)? else {
        return Err(Kind::Cut);
    };
    let payload = header.payload + 8 + usize::from(words) * 4;
    let inner = packet::Ip { protocol, payload, ..*header };
    match protocol {
        6 => Captured::read(&frame.bytes[at..], inner).map(Inside::Tcp).map_err(refused),
        4 | 41 => Ok(Inside::Layer(Layer::Ip(at + payload))),
        50 => Err(Kind::Esp),
        _ => Err(Kind::Ip),
    }
}

fn gre(bytes: &[u8], at: usize) -> Result<Layer, Kind> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGMENT: u16 = 0x0080;
    let (flags, protocol) = (half(bytes, at)?, half(bytes, at + 2)?);
    let words = |flag: u16| 4 * usize::from(flags & flag != 0);
    match (flags & 7, protocol) {
        (0, _) if flags & ROUTING != 0 => Err(Kind::Ip),
        (0, 0x6558) => Ok(Layer::Ethernet(at + 4 + words(CHECKSUM) + words(KEY) + words(SEQUENCE))),
        (0, _) => Ok(Layer::EtherType(protocol, at + 4 + words(CHECKSUM) + words(KEY) + words(SEQUENCE))),
        (1, 0x880b) => Ok(Layer::Ppp(at + 4 + words(KEY) + words(SEQUENCE) + words(ACKNOWLEDGMENT))),
        _ => Err(Kind::Ip),
    }
}

fn udp(bytes: &[u8], at: usize) -> Result<Layer, Kind> {
    let (from, to) = (half(bytes, at)?, half(bytes, at + 2)?);
    let payload = bytes.get(at + 8..).ok_or(Kind::Cut)?;
    let either = |port| from == port || to == port;
    match payload {
        // VXLAN: flags with I set, reserved, network, reserved.
        [8, _, _, _, _, _, _, _, ..] if matches!(to, 4789 | 8472) => Ok(Layer::Ethernet(at + 16)),
        // GTP-U: version 1, a G-PDU.
        [flags, 255, ..] if either(2152) && flags & 0xf0 == 0x30 => gtp(bytes, at + 8),
        // ESP over UDP, unless four zeros mark it as IKE.
        [a, b, c, d, ..] if either(4500) && [*a, *b, *c, *d] != [0; 4] => Err(Kind::Esp),
        [1..=4, 0, 0, 0, ..] if either(51820) => Err(Kind::WireGuard),
        payload if is_quic(payload, either(443)) => Err(Kind::Quic),
        _ => Err(Kind::Udp),
    }
}

/// A datagram, if its length is consistent with the packet's.
fn datagram<'a>(bytes: &'a [u8], at: usize, ip: &packet::Ip<'_>) -> Option<Datagram<'a>> {
    let [from, to, len] = [at, at + 2, at + 4].map(|i| half(bytes, i).unwrap_or(0));
    let len = u32::from(len).checked_sub(8)?;
    let payload = bytes.get(at + 8..)?;
    let payload = payload.get(..len as usize).unwrap_or(payload);
    Some(Datagram { ends: [SocketAddr::new(ip.src(), from), SocketAddr::new(ip.dst(), to)], len, payload })
}

fn gtp(bytes: &[u8], at: usize) -> Result<Layer, Kind> {
    let flags = *bytes.get(at).ok_or(Kind::Cut)?;
    // Sequence number, N-PDU number and the next extension's type are present together.
    if flags & 7 == 0 {
        return Ok(Layer::Ip(at + 8));
    }
    let (mut kind, mut at) = (at + 11, at + 12);
    while flags & 4 != 0 && *bytes.get(kind).ok_or(Kind::Cut)? != 0 {
        let words = usize::from(*bytes.get(at).ok_or(Kind::Cut)?);
        if words == 0 {
            return Err(Kind::Broken);
        }
        at += words * 4;
        kind = at - 1;
    }
    Ok(Layer::Ip(at))
}

/// A long header (RFC 9000 §17.2) of version 1, 2, a draft or negotiation; at QUIC's usual port also a short header (§17.3).
fn is_quic(payload: &[u8], usual: bool) -> bool {
    const FORM: u8 = 0x80;
    const FIXED: u8 = 0x40;
    match payload {
        [first, a, b, c, d, id, ..] if first & FORM != 0 => {
            let version = u32::from_be_bytes([*a, *b, *c, *d]);
            let known = matches!(version, 0 | 1 | 0x6b33_43cf | 0xff00_0000..=0xff00_00ff);
            known && *id <= 20 && (version == 0 || first & FIXED != 0)
        }
        [first, ..] => usual && first & FIXED != 0,
        [] => false,
    }
}

fn refused(why: Refused) -> Kind {
    match why {
        Refused::Version(_) => Kind::NotIp,
        Refused::NotTcp(_) => Kind::Ip,
        Refused::Fragment => Kind::Fragment,
        Refused::CutOff { .. } => Kind::Cut,
        Refused::Underway | Refused::Length | Refused::IpChecksum | Refused::TcpChecksum | Refused::IcmpChecksum => {
            Kind::Broken
        }
    }
}

fn half(bytes: &[u8], at: usize) -> Result<u16, Kind> {
    bytes.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]])).ok_or(Kind::Cut)
}

impl Kind {
    /// All kinds, in the order of a report.
    pub const ALL: [Kind; 13] = [
        Kind::Udp,
        Kind::Quic,
        Kind::Esp,
        Kind::WireGuard,
        Kind::Icmp,
        Kind::Sctp,
        Kind::Arp,
        Kind::Fragment,
        Kind::Ip,
        Kind::NotIp,
        Kind::Link,
        Kind::Cut,
        Kind::Broken,
    ];

    /// Its name in a table and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Udp => "udp",
            Kind::Quic => "quic",
            Kind::Esp => "ipsec",
            Kind::WireGuard => "wireguard",
            Kind::Icmp => "icmp",
            Kind::Sctp => "sctp",
            Kind::Arp => "arp",
            Kind::Fragment => "fragment",
            Kind::Ip => "other_ip",
            Kind::NotIp => "not_ip",
            Kind::Link => "unknown_link",
            Kind::Cut => "headers_cut",
            Kind::Broken => "broken",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Udp => "UDP",
            Kind::Quic => "QUIC",
            Kind::Esp => "IPsec",
            Kind::WireGuard => "WireGuard",
            Kind::Icmp => "ICMP",
            Kind::Sctp => "SCTP",
            Kind::Arp => "ARP",
            Kind::Fragment => "fragments of IP packets",
            Kind::Ip => "other IP",
            Kind::NotIp => "frames without IP",
            Kind::Link => "frames of an unknown link type",
            Kind::Cut => "frames cut within their headers",
            Kind::Broken => "frames with broken headers",
        }
    }
}
