//! From a frame to its content: link layers and tunnels, down to TCP.
//!
//! Source: IEEE 802.1Q (VLAN tags), IEEE 802.2 (LLC), RFC 1042 (SNAP), RFC 3032 §2.1 and RFC 4385 §3 (MPLS), RFC 2516 §4 (PPPoE),
//! RFC 1661 §2 (PPP), RFC 4303 §2 (ESP), RFC 4302 §2 (AH). Link types and tunnels have modules of their own.
//!
//! Idea: nearly every frame is Ethernet, IPv4 or IPv6, TCP. Any other frame is walked layer by layer, each one deeper in the
//! bytes.

mod kind;
mod tunnels;
mod types;

use crate::datagrams::Datagram;
use crate::read::Frame;
use crate::seen::Heading;
use ackclock_wire::packet::{self, Captured, Refused};
pub use kind::Kind;
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

/// A layer that begins at a place within a frame.
#[derive(Clone, Copy)]
enum Layer {
    Ethernet(usize),
    /// A protocol by its EtherType.
    EtherType(u16, usize),
    Ppp(usize),
    /// IEEE 802.2 LLC, perhaps with SNAP before an EtherType.
    Llc(usize),
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
    let other = |frame| match content(frame).content {
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

/// A frame that was looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// What it contains.
    pub content: Content<'a>,
    /// Its direction, if the file or its link layer has it.
    pub heading: Heading,
    /// The VLANs through which it goes: the identifiers of its tags, 12 bits each, the innermost one last; 0 without any.
    pub vlan: u32,
}

/// The content of a frame.
#[cold]
pub fn content<'a>(frame: &Frame<'a>) -> Parsed<'a> {
    let (mut heading, mut vlan) = (frame.heading, 0);
    let content = descend(frame, &mut heading, &mut vlan).unwrap_or_else(Content::Other);
    Parsed { content, heading, vlan }
}

fn descend<'a>(frame: &Frame<'a>, heading: &mut Heading, vlan: &mut u32) -> Result<Content<'a>, Kind> {
    let bytes = frame.bytes;
    let (mut layer, said) = types::first(bytes, frame.link, 0)?;
    *heading = said.unwrap_or(*heading);
    for _ in 0..DEPTH {
        layer = match layer {
            Layer::Ethernet(at) => Layer::EtherType(half(bytes, at + 12)?, at + 14),
            Layer::EtherType(kind, at) => ether_type(bytes, kind, at, vlan)?,
            Layer::Llc(at) => llc(bytes, at)?,
            Layer::Ppp(at) => ppp(bytes, at)?,
            Layer::Ip(at) => match ip(frame, at)? {
                Inside::Tcp(tcp) => return Ok(Content::Tcp(tcp)),
                Inside::Udp(datagram) => return Ok(Content::Udp(datagram)),
                Inside::Layer(next) => next,
            },
        };
    }
    Err(Kind::Broken)
}

fn ether_type(bytes: &[u8], kind: u16, at: usize, vlan: &mut u32) -> Result<Layer, Kind> {
    match kind {
        IPV4 | IPV6 => Ok(Layer::Ip(at)),
        // VLAN tags: customer, provider, and the form before the standard. Number 0 is a priority alone.
        0x8100 | 0x88a8 | 0x9100 | 0x9200 => {
            match half(bytes, at)? & 0xfff {
                0 => {}
                id => *vlan = *vlan << 12 | u32::from(id),
            }
            Ok(Layer::EtherType(half(bytes, at + 2)?, at + 4))
        }
        // A PPPoE session: version, type, code 0, session, length.
        0x8864 => Ok(Layer::Ppp(at + 6)),
        // MPLS: labels up to the one at the bottom of the stack, then IP, or a control word and Ethernet.
        0x8847 | 0x8848 => {
            let bottom = (at + 2..bytes.len()).step_by(4).take(DEPTH).find(|i| bytes[*i] & 1 == 1).ok_or(Kind::Cut)?;
            let is_ethernet = bytes.get(bottom + 2).ok_or(Kind::Cut)? >> 4 == 0;
            Ok(if is_ethernet { Layer::Ethernet(bottom + 6) } else { Layer::Ip(bottom + 2) })
        }
        // Ethernet in Ethernet: Cisco's FabricPath, provider backbone bridges (IEEE 802.1ah).
        0x8903 => Ok(Layer::Ethernet(at + 2)),
        0x88e7 => Ok(Layer::Ethernet(at + 4)),
        // Tags of virtual interfaces (VN-Tag).
        0x8926 => Ok(Layer::EtherType(half(bytes, at + 4)?, at + 6)),
        // Ethernet itself, in tunnels.
        0x6558 => Ok(Layer::Ethernet(at)),
        0x0806 => Err(Kind::Arp),
        // A length.
        0..=1500 => Ok(Layer::Llc(at)),
        _ => Err(Kind::NotIp),
    }
}

/// LLC: SNAP with an EtherType, also that of bridges, or IP's own number.
fn llc(bytes: &[u8], at: usize) -> Result<Layer, Kind> {
    match bytes.get(at..).ok_or(Kind::Cut)? {
        [0xaa, 0xaa, 3, 0, 0, 0 | 0xf8, a, b, ..] => Ok(Layer::EtherType(u16::from_be_bytes([*a, *b]), at + 8)),
        [6, 6, 3, ..] => Ok(Layer::Ip(at + 3)),
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
        0x281 => Ok(Layer::EtherType(0x8847, at)),
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
        17 => match tunnels::udp(frame.bytes, payload) {
            Err(Kind::Udp) => datagram(frame.bytes, payload, &header).map(Inside::Udp).ok_or(Kind::Udp),
            other => other.map(Inside::Layer),
        },
        // IP in IP.
        4 | 41 => Ok(Inside::Layer(Layer::Ip(payload))),
        47 => tunnels::gre(frame.bytes, payload).map(Inside::Layer),
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

/// A datagram, if its length is consistent with the packet's.
fn datagram<'a>(bytes: &'a [u8], at: usize, ip: &packet::Ip<'_>) -> Option<Datagram<'a>> {
    let [from, to, len] = [at, at + 2, at + 4].map(|i| half(bytes, i).unwrap_or(0));
    let len = u32::from(len).checked_sub(8)?;
    let payload = bytes.get(at + 8..)?;
    let payload = payload.get(..len as usize).unwrap_or(payload);
    Some(Datagram { ends: [SocketAddr::new(ip.src(), from), SocketAddr::new(ip.dst(), to)], len, payload })
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
