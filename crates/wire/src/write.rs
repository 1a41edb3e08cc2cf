//! Writing a packet: headers and checksums around a payload that the caller fills in.
//!
//! Source: RFC 791 §3.1, RFC 8200 §3, RFC 9293 §3.1. Packets must not be fragmented (IPv4's DF bit; RFC 6864 §4.1 then
//! allows any identification).

use crate::checksum::{Sum, TCP};
use crate::dialect::Dialect;
use crate::options::ROOM;
use crate::packet::{Header, IPV4_HEADER, IPV6_HEADER, TCP_HEADER};
use std::fmt;
use std::net::SocketAddr;

/// How the checksums of a packet are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writing {
    /// With its checksums.
    #[default]
    Whole,
    /// TCP's checksum only has the pseudo-header: a device completes it ([`crate::offload`]).
    Offload,
}

/// A packet that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its length, bytes.
    pub len: usize,
    /// Where TCP's header begins.
    pub tcp_at: usize,
    /// Where the payload begins.
    pub payload_at: usize,
    /// Payload bytes of each segment if the packet has more than one, else 0.
    pub segment_len: u16,
}

/// Why a packet was not written. Nothing was sent; for the engine the packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// The addresses are of two families.
    MixedFamilies,
    /// The buffer is too small.
    NoRoom {
        /// The number of bytes needed.
        needs: usize,
        /// The number of bytes available.
        has: usize,
    },
    /// It exceeds the maximum length of an IP packet.
    TooLong {
        /// The packet's length, bytes.
        len: usize,
    },
}

impl Header {
    /// Writes a packet with `payload_len` bytes of payload into the front of `buf`; `fill` writes the payload.
    ///
    /// # Errors
    /// The packet does not fit in `buf` or in an IP packet, or the addresses are of two families; `buf` is then unchanged.
    pub fn write(
        &self,
        dialect: Dialect,
        writing: Writing,
        buf: &mut [u8],
        payload_len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<Written, WriteError> {
        let ip_len = match (&self.src, &self.dst) {
            (SocketAddr::V4(_), SocketAddr::V4(_)) => IPV4_HEADER,
            (SocketAddr::V6(_), SocketAddr::V6(_)) => IPV6_HEADER,
            _ => return Err(WriteError::MixedFamilies),
        };
        let mut options = [0; ROOM];
        let options_len = dialect.write(&self.options, &mut options);
        let payload_at = ip_len + TCP_HEADER + options_len;
        let len = payload_at.saturating_add(payload_len);
        // The length of IPv6 excludes its own header, that of IPv4 includes it.
        let counted = if ip_len == IPV4_HEADER { len } else { len - IPV6_HEADER };
        let counted = u16::try_from(counted).map_err(|_| WriteError::TooLong { len })?;
        let has = buf.len();
        let packet = buf.get_mut(..len).ok_or(WriteError::NoRoom { needs: len, has })?;
        let (ip, tcp) = packet.split_at_mut(ip_len);
        self.write_ip(ip, counted);
        self.write_tcp(tcp, &options[..options_len]);
        fill(&mut tcp[TCP_HEADER + options_len..]);
        let mut sum = Sum::default();
        sum.add_pseudo_header(TCP, self.src.ip(), self.dst.ip(), tcp.len() as u32);
        let sum = match writing {
            Writing::Offload => sum.bytes(),
            Writing::Whole => {
                sum.add(tcp);
                sum.checksum()
            }
        };
        tcp[16..18].copy_from_slice(&sum);
        Ok(Written { len, tcp_at: ip_len, payload_at, segment_len: 0 })
    }

    fn write_ip(&self, ip: &mut [u8], counted: u16) {
        match (&self.src, &self.dst) {
            (SocketAddr::V4(src), SocketAddr::V4(dst)) => {
                // Version 4, five words; DF.
                ip[..2].copy_from_slice(&[0x45, self.traffic_class]);
                ip[2..4].copy_from_slice(&counted.to_be_bytes());
                ip[4..6].copy_from_slice(&(self.label as u16).to_be_bytes());
                ip[6..12].copy_from_slice(&[0x40, 0, self.hop_limit, TCP, 0, 0]);
                ip[12..16].copy_from_slice(&src.ip().octets());
                ip[16..20].copy_from_slice(&dst.ip().octets());
                let mut sum = Sum::default();
                sum.add(ip);
                ip[10..12].copy_from_slice(&sum.checksum());
            }
            (SocketAddr::V6(src), SocketAddr::V6(dst)) => {
                let first = 6 << 28 | u32::from(self.traffic_class) << 20 | (self.label & 0xf_ffff);
                ip[..4].copy_from_slice(&first.to_be_bytes());
                ip[4..6].copy_from_slice(&counted.to_be_bytes());
                ip[6..8].copy_from_slice(&[TCP, self.hop_limit]);
                ip[8..24].copy_from_slice(&src.ip().octets());
                ip[24..40].copy_from_slice(&dst.ip().octets());
            }
            // `write` has refused these.
            _ => {}
        }
    }

    fn write_tcp(&self, tcp: &mut [u8], options: &[u8]) {
        let words = ((TCP_HEADER + options.len()) / 4) as u8;
        tcp[..2].copy_from_slice(&self.src.port().to_be_bytes());
        tcp[2..4].copy_from_slice(&self.dst.port().to_be_bytes());
        tcp[4..8].copy_from_slice(&self.seq.0.to_be_bytes());
        tcp[8..12].copy_from_slice(&self.ack.0.to_be_bytes());
        tcp[12..14].copy_from_slice(&[words << 4 | (self.reserved & 15), self.flags]);
        tcp[14..16].copy_from_slice(&self.window.to_be_bytes());
        tcp[16..18].copy_from_slice(&[0, 0]);
        tcp[18..20].copy_from_slice(&self.urgent.to_be_bytes());
        tcp[TCP_HEADER..TCP_HEADER + options.len()].copy_from_slice(options);
    }
}

/// Sets the two bits of a packet that a queue has marked (RFC 3168 §5).
pub fn mark_congestion(packet: &mut [u8]) {
    match packet {
        [first, class, ..] if *first >> 4 == 6 => {
            // The traffic class spans two bytes; ECN's bits are in the second.
            *class |= 0x30;
        }
        [first, tos, rest @ ..] if *first >> 4 == 4 && rest.len() >= 10 => {
            let before = u16::from_be_bytes([*first, *tos]);
            *tos |= 3;
            let after = u16::from_be_bytes([*first, *tos]);
            // RFC 1624 §3: HC' = ~(~HC + ~m + m').
            let old = u16::from_be_bytes([rest[8], rest[9]]);
            let mut sum = u32::from(!old) + u32::from(!before) + u32::from(after);
            sum = (sum & 0xffff) + (sum >> 16);
            sum = (sum & 0xffff) + (sum >> 16);
            rest[8..10].copy_from_slice(&(!(sum as u16)).to_be_bytes());
        }
        _ => {}
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::MixedFamilies => write!(f, "one address is IPv4, the other IPv6"),
            WriteError::NoRoom { needs, has } => write!(f, "a packet of {needs} bytes does not fit a buffer of {has}"),
            WriteError::TooLong { len } => write!(f, "a packet of {len} bytes is longer than IP allows"),
        }
    }
}

impl std::error::Error for WriteError {}
