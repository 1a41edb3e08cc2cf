//! Reading a TCP segment that may have been captured only in part.

use super::ip::IPV4_HEADER;
use super::{first, half, Ip, Refused, TCP_HEADER};
use crate::checksum::{Sum, TCP};
use crate::options::word;
use ackclock_tcp::seq::SeqNum;
use std::net::SocketAddr;

/// A captured TCP segment: its payload, or the end of its options, may be missing. Lengths are those in its headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured<'a> {
    /// Its IP header.
    pub ip: Ip<'a>,
    /// Bytes of payload in the segment.
    pub len: u32,
    /// The captured options.
    pub option_bytes: &'a [u8],
    /// Whether options were truncated.
    pub options_cut: bool,
    /// The captured payload, and any bytes after the packet.
    behind: &'a [u8],
    fixed: &'a [u8; TCP_HEADER],
}

impl<'a> Captured<'a> {
    /// Reads the TCP segment in a packet; `bytes` begin with its IP header, `ip`. Checksums are not verified.
    ///
    /// # Errors
    /// Why it is not a TCP segment, or why its fixed header cannot be read.
    #[inline(always)]
    pub fn read(bytes: &'a [u8], ip: Ip<'a>) -> Result<Captured<'a>, Refused> {
        if ip.protocol != TCP {
            return Err(Refused::NotTcp(ip.protocol));
        }
        let tcp = bytes.get(ip.payload..).unwrap_or_default();
        let fixed = first::<TCP_HEADER>(tcp)?;
        let header_len = usize::from(fixed[12] >> 4) * 4;
        let len = ip.end.checked_sub(ip.payload + header_len).ok_or(Refused::Length)?;
        let options_len = header_len.checked_sub(TCP_HEADER).ok_or(Refused::Length)?;
        let len = u32::try_from(len).map_err(|_| Refused::Length)?;
        let rest = &tcp[TCP_HEADER..];
        let (option_bytes, behind) = rest.split_at_checked(options_len).unwrap_or((rest, &[]));
        Ok(Captured { ip, len, option_bytes, options_cut: option_bytes.len() < options_len, behind, fixed })
    }

    /// The same for the most common packets: IPv4 without options, no fragment, all headers complete. `None` for any other.
    #[inline(always)]
    pub fn glance(bytes: &'a [u8]) -> Option<Captured<'a>> {
        const FIRST: u8 = 0x45;
        let (head, rest) = bytes.split_first_chunk::<{ IPV4_HEADER + TCP_HEADER }>()?;
        let fixed = head.last_chunk::<TCP_HEADER>()?;
        let header_len = usize::from(fixed[12] >> 4) * 4;
        let (end, fragment) = (usize::from(half(head, 2)), half(head, 6) & 0x3fff);
        if head[0] != FIRST || head[9] != TCP || fragment != 0 {
            return None;
        }
        let len = end.checked_sub(IPV4_HEADER + header_len)? as u32;
        let (option_bytes, behind) = rest.split_at_checked(header_len.checked_sub(TCP_HEADER)?)?;
        let ip = Ip {
            addresses: &head[12..IPV4_HEADER],
            traffic_class: head[1],
            hop_limit: head[8],
            label: u32::from(half(head, 4)),
            protocol: TCP,
            payload: IPV4_HEADER,
            end,
        };
        Some(Captured { ip, len, option_bytes, options_cut: false, behind, fixed })
    }

    /// Source.
    pub fn src(&self) -> SocketAddr {
        SocketAddr::new(self.ip.src(), half(self.fixed, 0))
    }

    /// Destination.
    pub fn dst(&self) -> SocketAddr {
        SocketAddr::new(self.ip.dst(), half(self.fixed, 2))
    }

    /// The two ports in the packet's byte order, the source's first.
    pub fn ports(&self) -> u32 {
        word(self.fixed, 0)
    }

    /// The sequence number.
    pub fn seq(&self) -> SeqNum {
        SeqNum(word(self.fixed, 4))
    }

    /// The acknowledgment number; valid only with the ACK flag.
    pub fn ack(&self) -> SeqNum {
        SeqNum(word(self.fixed, 8))
    }

    /// Both numbers in the packet's byte order: the sequence number, then the acknowledgment number.
    pub fn numbers(&self) -> u64 {
        let fixed = self.fixed;
        u64::from_le_bytes([fixed[4], fixed[5], fixed[6], fixed[7], fixed[8], fixed[9], fixed[10], fixed[11]])
    }

    /// The eight flags, as in [`ackclock_tcp::segment::Segment::flags`].
    pub fn flags(&self) -> u8 {
        self.fixed[13]
    }

    /// The window field, not scaled.
    pub fn window(&self) -> u16 {
        half(self.fixed, 14)
    }

    /// The length of its header in bytes, options included, captured or not.
    pub fn header_len(&self) -> usize {
        usize::from(self.fixed[12] >> 4) * 4
    }

    /// The captured payload.
    pub fn payload(&self) -> &'a [u8] {
        &self.behind[..self.behind.len().min(self.len as usize)]
    }

    /// Whether its checksum is incomplete and only has the pseudo-header: a device was to complete it.
    pub fn is_begun(&self) -> bool {
        let mut sum = Sum::default();
        let len = self.len.wrapping_add(self.header_len() as u32);
        sum.add_pseudo_header(TCP, self.ip.src(), self.ip.dst(), len);
        sum.bytes() == self.fixed[16..18]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::captured_ip;
    use proptest::prelude::*;

    #[test]
    fn flags_window_and_length_of_a_header_are_those_in_it_also_behind_ipv6() {
        let mut tcp = [0; 24];
        (tcp[12], tcp[13], tcp[15]) = (0x60, 0x12, 9);
        let v4 = [&[0x45, 0, 0, 44, 0, 0, 0, 0, 64, TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2][..], &tcp].concat();
        let v6 = [&[0x60, 0, 0, 0, 0, 24, TCP, 64][..], &[0xfd; 32], &tcp].concat();
        for (bytes, is_ipv4) in [(v4, true), (v6, false)] {
            let captured = Captured::read(&bytes, captured_ip(&bytes, bytes.len()).unwrap()).unwrap();
            assert_eq!((captured.flags(), captured.window(), captured.header_len()), (0x12, 9, 24));
            assert_eq!(captured.ip.is_ipv4(), is_ipv4);
        }
    }

    proptest! {
        #[test]
        fn what_a_glance_reads_is_what_is_read_otherwise(
            mut bytes in prop::collection::vec(any::<u8>(), 0..120),
            (first, fragment, protocol, offset) in (0x44u8..0x47, 0u8..3, 5u8..8, 0u8..16),
            len in 0u16..200,
        ) {
            let fixed = [(0, first), (2, (len >> 8) as u8), (3, len as u8), (6, fragment << 5), (7, 0), (9, protocol), (32, offset << 4)];
            for (at, byte) in fixed {
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
            }
            let read = captured_ip(&bytes, bytes.len()).and_then(|ip| Captured::read(&bytes, ip)).ok();
            let glance = Captured::glance(&bytes);
            prop_assert!(glance.is_none() || glance == read);
            // It excludes IP options, a length of 0, and incomplete headers.
            let usual = first == 0x45 && len > 0 && read.is_some_and(|r| !r.options_cut);
            prop_assert_eq!(glance.is_some(), usual);
        }
    }
}
