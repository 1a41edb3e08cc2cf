//! ICMP messages about packets that we sent: too big, or unreachable.
//!
//! Source: RFC 792 and RFC 1191 §4, §5 and §7.1 (IPv4), RFC 4443 §3.1, §3.2 and RFC 8201 §4 (IPv6), RFC 1122 §4.2.3.9 and RFC 5927 §5.2
//! (the reaction of a TCP).
//! Idea: a message quotes the beginning of the packet that it is about, at least its ports and its sequence number. Anyone can
//! write such a message, so the quoted number must be in flight (RFC 5927 §4.1), and even then it never ends an open connection.

use crate::checksum::Sum;
use crate::packet::{self, cut, half, Checksums, Refused, IPV4_HEADER, IPV6_HEADER};
use ackclock_tcp::seq::SeqNum;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Its protocol number in an IPv4 header.
pub const ICMPV4: u8 = 1;
/// Its protocol number in an IPv6 header.
pub const ICMPV6: u8 = 58;
/// RFC 8201 §4: no IPv6 link has a smaller MTU, and a message with a smaller one is discarded.
const LEAST_IPV6: u32 = 1280;
/// Ports and sequence number: the part of a TCP header that every message quotes (RFC 792).
const QUOTED: usize = 8;

/// A message about a TCP packet that was sent from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icmp {
    /// The packet's source: this side.
    pub local: SocketAddr,
    /// Its destination.
    pub remote: SocketAddr,
    /// Its sequence number.
    pub seq: SeqNum,
    /// Its fate.
    pub news: News,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// It was too big.
    TooBig {
        /// The MTU of the next link, bytes.
        mtu: u32,
    },
    /// It cannot be delivered, for this reason.
    Unreachable(Unreachable),
}

/// Why a packet cannot be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// There is no route, or none at the moment: this may be temporary.
    Route,
    /// There is no TCP there, or the port is closed.
    Port,
    /// It is administratively prohibited.
    Prohibited,
}

/// A connection's reaction to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It was accepted.
    Believed,
    /// It was ignored: the quoted data is not in flight, or the message has no news.
    Ignored,
}

impl Unreachable {
    /// Whether the condition is permanent: RFC 1122's "hard error", which aborts an attempt to connect.
    pub fn is_hard(self) -> bool {
        match self {
            Unreachable::Route => false,
            Unreachable::Port | Unreachable::Prohibited => true,
        }
    }
}

/// Reads a packet with such a message, from its IP header on. `None`: an ICMP message of another kind, or about another protocol
/// than TCP.
///
/// # Errors
/// Why it is not a valid ICMP message.
pub fn parse(bytes: &[u8], checksums: Checksums) -> Result<Option<Icmp>, Refused> {
    let ip = packet::parse_ip(bytes, checksums)?;
    let message = bytes.get(ip.payload..ip.end).unwrap_or_default();
    let head = cut(message, QUOTED)?;
    let mut sum = Sum::default();
    let (kind, code) = (head[0], head[1]);
    let news = match (ip.protocol, ip.src().is_ipv4()) {
        (ICMPV4, true) => v4(kind, code, half(head, 6), message),
        (ICMPV6, false) => {
            let len = u32::try_from(message.len()).map_err(|_| Refused::Length)?;
            sum.add_pseudo_header(ICMPV6, ip.src(), ip.dst(), len);
            let word = u32::from(half(head, 4)) << 16 | u32::from(half(head, 6));
            v6(kind, code, word)
        }
        (other, _) => return Err(Refused::NotTcp(other)),
    };
    sum.add(message);
    if checksums == Checksums::Verify && !sum.is_right() {
        return Err(Refused::IcmpChecksum);
    }
    let Some(news) = news else { return Ok(None) };
    Ok(quoted(message.get(QUOTED..).unwrap_or_default(), news).filter(|q| q.local.ip() == ip.dst()))
}

/// RFC 792's destination unreachable with the codes of RFC 1122 §3.2.2.1.
fn v4(kind: u8, code: u8, next_mtu: u16, message: &[u8]) -> Option<News> {
    const UNREACHABLE: u8 = 3;
    if kind != UNREACHABLE {
        return None;
    }
    Some(match code {
        2 | 3 => News::Unreachable(Unreachable::Port),
        4 => News::TooBig {
            mtu: match next_mtu {
                0 => below(message.get(QUOTED + 2..QUOTED + 4).map_or(0, |len| half(len, 0))),
                mtu => u32::from(mtu),
            },
        },
        9 | 10 | 13 => News::Unreachable(Unreachable::Prohibited),
        0 | 1 | 5..=8 | 11 | 12 => News::Unreachable(Unreachable::Route),
        _ => return None,
    })
}

/// RFC 1191 §5 and §7.1: an older router reports no size. The result is the next common MTU below the packet's size.
fn below(len: u16) -> u32 {
    const PLATEAUS: [u16; 10] = [32_000, 17_914, 8_166, 4_352, 2_002, 1_492, 1_006, 508, 296, 68];
    PLATEAUS.into_iter().find(|size| *size < len).map_or(68, u32::from)
}

/// RFC 4443 §3.1 and §3.2.
fn v6(kind: u8, code: u8, word: u32) -> Option<News> {
    const UNREACHABLE: u8 = 1;
    const TOO_BIG: u8 = 2;
    match (kind, code) {
        (TOO_BIG, _) if word >= LEAST_IPV6 => Some(News::TooBig { mtu: word }),
        (UNREACHABLE, 0 | 2 | 3) => Some(News::Unreachable(Unreachable::Route)),
        (UNREACHABLE, 1 | 5 | 6) => Some(News::Unreachable(Unreachable::Prohibited)),
        (UNREACHABLE, 4) => Some(News::Unreachable(Unreachable::Port)),
        _ => None,
    }
}

/// The beginning of the packet that a message is about; most of the packet is missing.
fn quoted(bytes: &[u8], news: News) -> Option<Icmp> {
    let (src, dst, tcp) = match bytes.first()? >> 4 {
        4 => {
            let fixed = bytes.get(..IPV4_HEADER)?;
            let address = |at: usize| IpAddr::V4(Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]));
            // Not a later fragment, which has no ports.
            let first = half(fixed, 6) & 0x1fff == 0;
            let tcp = usize::from(fixed[0] & 15) * 4;
            (fixed[9] == crate::checksum::TCP && first && tcp >= IPV4_HEADER).then_some((
                address(12),
                address(16),
                tcp,
            ))?
        }
        6 => {
            let fixed = bytes.get(..IPV6_HEADER)?;
            let address = |at: usize| {
                let mut octets = [0; 16];
                octets.copy_from_slice(&fixed[at..at + 16]);
                IpAddr::V6(Ipv6Addr::from(octets))
            };
            (address(8), address(24), behind_extensions(bytes, fixed[6])?)
        }
        _ => return None,
    };
    let tcp = bytes.get(tcp..tcp + QUOTED)?;
    let seq = SeqNum(u32::from(half(tcp, 4)) << 16 | u32::from(half(tcp, 6)));
    let (local, remote) = (SocketAddr::new(src, half(tcp, 0)), SocketAddr::new(dst, half(tcp, 2)));
    Some(Icmp { local, remote, seq, news })
}

fn behind_extensions(packet: &[u8], first: u8) -> Option<usize> {
    packet::skip_extensions(packet, first).ok().filter(|(next, _)| *next == crate::checksum::TCP).map(|(_, at)| at)
}
