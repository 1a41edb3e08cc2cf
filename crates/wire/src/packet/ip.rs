//! Reading an IP header, of a complete packet or of a captured one.

use super::{cut, first, half, Checksums, Refused};
use crate::checksum::{Sum, TCP};
use crate::options::word;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(crate) const IPV4_HEADER: usize = 20;
pub(crate) const IPV6_HEADER: usize = 40;

/// The fields of an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip<'a> {
    /// The two addresses in the packet's byte order, the source's first: 8 bytes, or 32.
    pub addresses: &'a [u8],
    /// IPv4's type of service, IPv6's traffic class.
    pub traffic_class: u8,
    /// Time to live, hop limit.
    pub hop_limit: u8,
    /// IPv4's identification, IPv6's flow label.
    pub label: u32,
    /// The protocol number of its payload.
    pub protocol: u8,
    /// The offset of the payload.
    pub payload: usize,
    /// The end of the packet, which may be beyond the captured bytes.
    pub end: usize,
}

/// The part of a packet that must be present.
#[derive(Clone, Copy)]
enum Extent {
    /// The whole packet.
    Whole,
    /// Its headers; it had this many bytes before truncation.
    Headers(usize),
}

/// Reads the IP header of a packet that may be captured only in part. Its `original` length in bytes is used if its own length is
/// zero.
///
/// # Errors
/// Why it is not an IP packet, or why its headers cannot be read.
#[inline(always)]
pub fn captured_ip(bytes: &[u8], original: usize) -> Result<Ip<'_>, Refused> {
    read_ip(bytes, Checksums::Trust, Extent::Headers(original))
}

/// Reads the IP header, and all headers before the payload.
pub(crate) fn parse_ip(bytes: &[u8], checksums: Checksums) -> Result<Ip<'_>, Refused> {
    read_ip(bytes, checksums, Extent::Whole)
}

#[inline(always)]
fn read_ip(bytes: &[u8], checksums: Checksums, extent: Extent) -> Result<Ip<'_>, Refused> {
    match bytes.first().map(|b| b >> 4) {
        None => Err(Refused::CutOff { needs: IPV4_HEADER, has: 0 }),
        Some(4) => parse_ipv4(bytes, checksums, extent),
        Some(6) => parse_ipv6(bytes, extent),
        Some(version) => Err(Refused::Version(version)),
    }
}

#[inline(always)]
fn parse_ipv4(bytes: &[u8], checksums: Checksums, extent: Extent) -> Result<Ip<'_>, Refused> {
    let fixed = first::<IPV4_HEADER>(bytes)?;
    let header_len = usize::from(fixed[0] & 15) * 4;
    let end = extent.end(bytes, 0, half(fixed, 2));
    if header_len < IPV4_HEADER || end < header_len {
        return Err(Refused::Length);
    }
    extent.must_hold(bytes, end)?;
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
        addresses: &fixed[12..],
        traffic_class: fixed[1],
        hop_limit: fixed[8],
        label: u32::from(half(fixed, 4)),
        protocol: fixed[9],
        payload: header_len,
        end,
    })
}

fn parse_ipv6(bytes: &[u8], extent: Extent) -> Result<Ip<'_>, Refused> {
    let fixed = first::<IPV6_HEADER>(bytes)?;
    let end = extent.end(bytes, IPV6_HEADER, half(fixed, 4));
    extent.must_hold(bytes, end)?;
    let (protocol, payload) = match fixed[6] {
        TCP => (TCP, IPV6_HEADER),
        other => skip_extensions(&bytes[..end.min(bytes.len())], other)?,
    };
    let word = word(fixed, 0);
    Ok(Ip {
        addresses: &fixed[8..],
        traffic_class: (word >> 20) as u8,
        hop_limit: fixed[7],
        label: word & 0xf_ffff,
        protocol,
        payload,
        end,
    })
}

/// Skips the extension headers of RFC 8200 §4 and those of the same form; returns the protocol and the offset of the payload.
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

impl Ip<'_> {
    /// Whether it is IPv4.
    pub fn is_ipv4(&self) -> bool {
        self.addresses.len() == 8
    }

    /// Source.
    pub fn src(&self) -> IpAddr {
        address(&self.addresses[..self.addresses.len() / 2])
    }

    /// Destination.
    pub fn dst(&self) -> IpAddr {
        address(&self.addresses[self.addresses.len() / 2..])
    }
}

fn address(bytes: &[u8]) -> IpAddr {
    match bytes.first_chunk::<16>() {
        Some(octets) => IpAddr::V6(Ipv6Addr::from(*octets)),
        None => IpAddr::V4(Ipv4Addr::from(word(bytes, 0))),
    }
}

impl Extent {
    /// The end of a packet whose header has `len` as the bytes after `before`.
    fn end(self, bytes: &[u8], before: usize, len: u16) -> usize {
        match (len, self) {
            (0, Extent::Whole) => bytes.len(),
            (0, Extent::Headers(original)) => original.max(bytes.len()),
            (len, _) => before + usize::from(len),
        }
    }

    fn must_hold(self, bytes: &[u8], end: usize) -> Result<(), Refused> {
        match self {
            Extent::Whole => cut(bytes, end).map(|_| ()),
            Extent::Headers(_) => Ok(()),
        }
    }
}
