//! A segment with other addresses and ports, and without its payload.
//!
//! Addresses and ports are numbered in the order of their first use: without the original they cannot be traced back.

use ackclock_wire::checksum::Sum;
use ackclock_wire::options::{walk, Entry};
use ackclock_wire::packet::Captured;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The maximum number of addresses; segments that would exceed it are left out.
const MOST: usize = 1 << 20;
/// Ports below this belong to services.
const FIRST_PORT: u16 = 1024;
/// The highest number of a VLAN.
const LAST_VLAN: usize = 4094;
const TCP: u8 = 6;
const NOP: u8 = 1;
const MPTCP: u8 = 30;

/// The renamed addresses, ports and VLANs.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    addresses: BTreeMap<IpAddr, u32>,
    ports: BTreeMap<u16, u16>,
    vlans: BTreeMap<u32, u16>,
}

impl Strangers {
    /// Writes a disguised segment into `out`, with an Ethernet header if it goes through a VLAN; returns its total length in bytes.
    /// `None` if there are too many addresses.
    pub(super) fn disguise(&mut self, tcp: &Captured<'_>, vlan: u32, out: &mut Vec<u8>) -> Option<u32> {
        let (from, to) = (tcp.src(), tcp.dst());
        let (src, dst) = (self.address(from.ip())?, self.address(to.ip())?);
        let ports = [self.port(from.port()), self.port(to.port())];
        let header_len = tcp.header_len();
        let all = (header_len as u32).checked_add(tcp.len)?;
        out.clear();
        self.ethernet_header(tcp, vlan, out);
        ip_header(tcp, src, dst, all, out);
        let at = out.len();
        ports.iter().for_each(|port| out.extend(port.to_be_bytes()));
        out.extend(tcp.seq().0.to_be_bytes());
        out.extend(tcp.ack().0.to_be_bytes());
        out.extend([(header_len / 4) as u8 * 16, tcp.flags()]);
        out.extend(tcp.window().to_be_bytes());
        let checksum = if tcp.is_begun() { begun(src, dst, all) } else { [0, 0] };
        out.extend(checksum);
        out.extend([0, 0]);
        options(tcp.option_bytes, out);
        Some((at as u32).saturating_add(all))
    }

    /// Addresses of zeros, a tag, the type; nothing without a VLAN.
    fn ethernet_header(&mut self, tcp: &Captured<'_>, vlan: u32, out: &mut Vec<u8>) {
        if vlan == 0 {
            return;
        }
        let next = (self.vlans.len() + 1).min(LAST_VLAN) as u16;
        let number = match self.vlans.len() < LAST_VLAN {
            true => *self.vlans.entry(vlan).or_insert(next),
            false => self.vlans.get(&vlan).copied().unwrap_or(next),
        };
        out.extend([0; 12]);
        let kind = if tcp.ip.is_ipv4() { 0x0800 } else { 0x86dd };
        [0x8100, number, kind].iter().for_each(|half: &u16| out.extend(half.to_be_bytes()));
    }

    fn address(&mut self, of: IpAddr) -> Option<IpAddr> {
        let next = self.addresses.len() as u32 + 1;
        if next as usize > MOST && !self.addresses.contains_key(&of) {
            return None;
        }
        let number = *self.addresses.entry(of).or_insert(next);
        Some(match of {
            // 10.0.0.1 and so on; fd00::1 and so on.
            IpAddr::V4(_) => IpAddr::from((0x0a00_0000u32 | number).to_be_bytes()),
            IpAddr::V6(_) => IpAddr::from((0xfdu128 << 120 | u128::from(number)).to_be_bytes()),
        })
    }

    fn port(&mut self, of: u16) -> u16 {
        let next = FIRST_PORT.wrapping_add(self.ports.len() as u16);
        *self.ports.entry(of).or_insert(next)
    }
}

/// The IP header of a packet with `all` bytes of TCP; a length that does not fit in the field is zero, as in captures.
fn ip_header(tcp: &Captured<'_>, src: IpAddr, dst: IpAddr, all: u32, out: &mut Vec<u8>) {
    let ip = &tcp.ip;
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let total = u16::try_from(u64::from(all) + 20).unwrap_or(0).to_be_bytes();
            let id = (ip.label as u16).to_be_bytes();
            out.extend([
                0x45,
                ip.traffic_class & 3,
                total[0],
                total[1],
                id[0],
                id[1],
                0x40,
                0,
                ip.hop_limit,
                TCP,
                0,
                0,
            ]);
            out.extend(src.octets());
            out.extend(dst.octets());
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let len = u16::try_from(all).unwrap_or(0).to_be_bytes();
            out.extend([0x60, (ip.traffic_class & 3) << 4, 0, 0, len[0], len[1], TCP, ip.hop_limit]);
            out.extend(src.octets());
            out.extend(dst.octets());
        }
        // Both addresses of a packet are of the same family.
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => {}
    }
}

/// The options that an analysis reads; for MPTCP, only its presence; others become padding.
fn options(list: &[u8], out: &mut Vec<u8>) {
    let from = out.len();
    out.extend(list);
    let mut at = from;
    for entry in walk(list) {
        let (len, stays) = match entry {
            Ok(Entry::Nop) => (1, true),
            Ok(Entry::Mss(_)) => (4, true),
            Ok(Entry::WindowScale(_)) => (3, true),
            Ok(Entry::SackPermitted) => (2, true),
            Ok(Entry::Timestamps(_)) => (10, true),
            Ok(Entry::Sack(_)) => (usize::from(list[at - from + 1]), true),
            Ok(Entry::Unknown { kind: MPTCP, data }) => {
                if let Some((subtype, rest)) =
                    out.get_mut(at + 2..at + 2 + data.len()).and_then(<[u8]>::split_first_mut)
                {
                    *subtype &= 0xf0;
                    rest.fill(0);
                }
                (2 + data.len(), true)
            }
            Ok(Entry::Unknown { data, .. }) => (2 + data.len(), false),
            // Nothing after an impossible length is read; an option of a wrong length is skipped.
            Err(ackclock_wire::options::Malformed::Length { len, .. }) => (usize::from(len), false),
            Err(_) => break,
        };
        if !stays {
            out[at..at + len].fill(NOP);
        }
        at += len;
    }
    // Bytes after the end of the list, or in a truncated option, are not read.
    if let Some(behind) = out.get_mut(at + 2..) {
        behind.fill(0);
    }
}

/// An incomplete checksum, as before the device completes it: of the pseudo-header.
fn begun(src: IpAddr, dst: IpAddr, all: u32) -> [u8; 2] {
    let mut sum = Sum::default();
    sum.add_pseudo_header(TCP, src, dst, all);
    sum.bytes()
}
