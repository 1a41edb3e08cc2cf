//! The first layer of a frame, by its link type.
//!
//! Source: the registry of link types of tcpdump.org, and the pages that it refers to; IEEE 802.11 §9.2 (MAC header); radiotap.org.

use super::{half, Kind, Layer};
use crate::read::erf;
use crate::seen::Heading;

/// Where the content of a frame begins, and its direction if the link layer has it.
pub(super) type First = Result<(Layer, Option<Heading>), Kind>;

/// The layer at `at` of a frame with this link type there.
pub(super) fn first(bytes: &[u8], link: u16, at: usize) -> First {
    if let Some(layer) = fixed(link, at) {
        return Ok((layer, None));
    }
    let plain = |layer| Ok((layer, None));
    match link {
        0 | 108 => plain(family(bytes, at)?),
        6 | 10 => plain(ring(bytes, link, at)?),
        // PPP_HDLC: PPP, or Cisco's HDLC.
        50 => match byte(bytes, at)? {
            0x0f | 0x8f => first(bytes, 104, at),
            _ => plain(Layer::Ppp(at)),
        },
        // C_HDLC: address, control.
        104 => plain(Layer::EtherType(half(bytes, at + 2)?, at + 4)),
        105 | 119 | 127 | 163 => plain(wireless(bytes, link, at)?),
        // PFLOG, with its length.
        117 => plain(Layer::Ip(at + usize::from(byte(bytes, at)?).next_multiple_of(4))),
        // LINUX_SLL and LINUX_SLL2.
        113 => Ok((Layer::EtherType(half(bytes, at + 14)?, at + 16), cooked(half(bytes, at)?))),
        276 => Ok((Layer::EtherType(half(bytes, at)?, at + 20), cooked(byte(bytes, at + 10)?.into()))),
        // APPLE_IP_OVER_IEEE1394.
        138 => plain(Layer::EtherType(half(bytes, at + 16)?, at + 18)),
        // PPP_PPPD, PPP_WITH_DIR and C_HDLC_WITH_DIR: the direction first.
        166 | 204 | 205 => {
            let heading = if byte(bytes, at)? == 0 { Heading::In } else { Heading::Out };
            let (layer, _) = first(bytes, if link == 205 { 104 } else { 9 }, at + 1)?;
            Ok((layer, Some(heading)))
        }
        178 => juniper(bytes, at),
        // PPI: version, flags, its length, the link type behind it.
        192 => nested(bytes, at, half(bytes, at + 2)?.swap_bytes().into(), little(bytes, at + 4)?),
        erf::LINK => match bytes.get(at..).and_then(erf::within) {
            Some((inner, from)) => first(bytes, inner, at + from),
            None if byte(bytes, at + 8)? & erf::TYPE == erf::META => Err(Kind::NotIp),
            None => Err(Kind::Link),
        },
        239 => nflog(bytes, at),
        258 => pktap(bytes, at),
        _ => Err(Kind::Link),
    }
}

/// The link types whose headers have one length and need no look.
fn fixed(link: u16, at: usize) -> Option<Layer> {
    match link {
        1 => Some(Layer::Ethernet(at)),
        9 => Some(Layer::Ppp(at)),
        // RAW, as in the registry and as in BSD systems; IPV4, IPV6.
        101 | 12 | 14 | 228 | 229 => Some(Layer::Ip(at)),
        // PPP_ETHER: as behind PPPoE's EtherType.
        51 => Some(Layer::Ppp(at + 6)),
        // ATM_RFC1483, SUNATM, IP_OVER_FC.
        100 => Some(Layer::Llc(at)),
        123 => Some(Layer::Llc(at + 4)),
        122 => Some(Layer::Llc(at + 16)),
        // ENC, IPNET.
        109 => Some(Layer::Ip(at + 12)),
        226 => Some(Layer::Ip(at + 24)),
        // NETANALYZER, the same with a preamble, ETHERNET_MPACKET.
        240 => Some(Layer::Ethernet(at + 4)),
        241 => Some(Layer::Ethernet(at + 12)),
        274 => Some(Layer::Ethernet(at + 8)),
        _ => None,
    }
}

/// NULL and LOOP: a protocol family in either byte order; IPv6's differs between systems.
fn family(bytes: &[u8], at: usize) -> Result<Layer, Kind> {
    let (one, two) = (big(bytes, at)?, little(bytes, at)?);
    let known = |family| matches!(family, 2 | 10 | 24 | 28 | 30);
    if known(one) || known(two) {
        Ok(Layer::Ip(at + 4))
    } else {
        Err(Kind::NotIp)
    }
}

/// IEEE802_5 and FDDI: control, two addresses, with IEEE802_5 the route that the second one announces.
fn ring(bytes: &[u8], link: u16, at: usize) -> Result<Layer, Kind> {
    if link == 10 {
        let is_llc = byte(bytes, at)? & 0x70 == 0x50;
        return if is_llc { Ok(Layer::Llc(at + 13)) } else { Err(Kind::NotIp) };
    }
    let is_llc = byte(bytes, at + 1)? & 0xc0 == 0x40;
    let route = if byte(bytes, at + 8)? & 0x80 != 0 { usize::from(byte(bytes, at + 14)? & 0x1f) } else { 0 };
    if is_llc {
        Ok(Layer::Llc(at + 14 + route))
    } else {
        Err(Kind::NotIp)
    }
}

/// IEEE802_11, alone or behind what the receiver says of the radio.
fn wireless(bytes: &[u8], link: u16, at: usize) -> Result<Layer, Kind> {
    match link {
        // PRISM_HEADER, in the byte order of its host, and AVS, which has also been written under that number.
        119 | 163 => {
            let len = big(bytes, at + 4)?;
            let is_avs = link == 163 || big(bytes, at)? & 0xffff_f000 == 0x8021_1000;
            let len = if is_avs { len } else { len.min(len.swap_bytes()) };
            wifi(bytes, behind(bytes, at, len)?, false)
        }
        127 => {
            let len = half(bytes, at + 2)?.swap_bytes();
            wifi(bytes, at + usize::from(len), radiotap_pads(bytes, at)?)
        }
        _ => wifi(bytes, at, false),
    }
}

/// PKTAP: its length, its own kind, the link type behind it, a name, flags.
fn pktap(bytes: &[u8], at: usize) -> First {
    let (layer, inside) = nested(bytes, at, little(bytes, at)?, little(bytes, at + 8)?)?;
    let heading = match little(bytes, at + 36)? & 3 {
        1 => Some(Heading::In),
        2 => Some(Heading::Out),
        _ => inside,
    };
    Ok((layer, heading))
}

/// The layer behind a header of `len` bytes that names its link type.
fn nested(bytes: &[u8], at: usize, len: u32, link: u32) -> First {
    // None of these is within another of them.
    match u16::try_from(link) {
        Ok(192 | 258 | erf::LINK) | Err(_) => Err(Kind::Link),
        Ok(link) => first(bytes, link, behind(bytes, at, len)?),
    }
}

/// Linux's packet type: to this host, broadcast, multicast, to another host, or from here.
fn cooked(kind: u16) -> Option<Heading> {
    match kind {
        0..=2 => Some(Heading::In),
        4 => Some(Heading::Out),
        _ => None,
    }
}

/// IEEE 802.11: the frames with data that is not encrypted. Of several packets in a frame the first is read.
fn wifi(bytes: &[u8], at: usize, padded: bool) -> Result<Layer, Kind> {
    let (kind, flags, fragment) = (byte(bytes, at)?, byte(bytes, at + 1)?, byte(bytes, at + 22)? & 15);
    const BETWEEN_STATIONS: u8 = 3;
    const MORE_FRAGMENTS: u8 = 4;
    const ENCRYPTED: u8 = 0x40;
    const ORDER: u8 = 0x80;
    // Version 0, type 2, and a subtype with data.
    if kind & 0x4f != 8 {
        return Err(Kind::NotIp);
    }
    if flags & ENCRYPTED != 0 {
        return Err(Kind::Encrypted);
    }
    if flags & MORE_FRAGMENTS != 0 || fragment > 0 {
        return Err(Kind::Fragment);
    }
    let addresses = if flags & BETWEEN_STATIONS == BETWEEN_STATIONS { 30 } else { 24 };
    let (mut len, mut several) = (addresses, false);
    if kind & 0x80 != 0 {
        several = byte(bytes, at + addresses)? & 0x80 != 0;
        len += if flags & ORDER != 0 { 6 } else { 2 };
    }
    if padded {
        len = len.next_multiple_of(4);
    }
    // Each of several has addresses and a length of its own.
    Ok(Layer::Llc(at + len + if several { 14 } else { 0 }))
}

/// Whether radiotap's flags say that the header behind it is filled up to a multiple of four bytes.
fn radiotap_pads(bytes: &[u8], at: usize) -> Result<bool, Kind> {
    const MORE: u32 = 1 << 31;
    const TIME: u32 = 1;
    const FLAGS: u32 = 2;
    let fields = little(bytes, at + 4)?;
    let (mut from, mut more) = (8, fields);
    while more & MORE != 0 {
        more = little(bytes, at + from)?;
        from += 4;
    }
    if fields & TIME != 0 {
        from = from.next_multiple_of(8) + 8;
    }
    Ok(fields & FLAGS != 0 && byte(bytes, at + from)? & 0x20 != 0)
}

/// JUNIPER_ETHER: a magic number, flags, perhaps extensions.
fn juniper(bytes: &[u8], at: usize) -> First {
    let flags = match bytes.get(at..at + 4).ok_or(Kind::Cut)? {
        [0x4d, 0x47, 0x43, flags] => *flags,
        _ => return Err(Kind::Broken),
    };
    let len = if flags & 0x80 != 0 { 6 + usize::from(half(bytes, at + 4)?) } else { 4 };
    let heading = if flags & 1 != 0 { Heading::In } else { Heading::Out };
    // Without a link layer, IPv4 or IPv6 follows behind four bytes.
    let layer = if flags & 2 != 0 { Layer::Ip(at + len + 4) } else { Layer::Ethernet(at + len) };
    Ok((layer, Some(heading)))
}

/// NFLOG: a family, a version, a group, then fields in the byte order of the host; one of them is the packet.
fn nflog(bytes: &[u8], at: usize) -> First {
    if byte(bytes, at + 1)? != 0 {
        return Err(Kind::Broken);
    }
    let (from, hook) =
        nflog_fields(bytes, at + 4, false).or_else(|| nflog_fields(bytes, at + 4, true)).ok_or(Kind::Cut)?;
    let heading = match hook {
        Some(1) => Some(Heading::In),
        Some(3) => Some(Heading::Out),
        _ => None,
    };
    Ok((Layer::Ip(from), heading))
}

/// Where the packet begins, and the netfilter hook at which it was seen.
fn nflog_fields(bytes: &[u8], mut at: usize, is_big: bool) -> Option<(usize, Option<u8>)> {
    const HOOK: u16 = 1;
    const PACKET: u16 = 9;
    let mut hook = None;
    loop {
        let field = bytes.get(at..at + 4)?;
        let [len, kind] = [0, 2].map(|i| {
            let half = u16::from_le_bytes([field[i], field[i + 1]]);
            if is_big {
                half.swap_bytes()
            } else {
                half
            }
        });
        match kind {
            _ if len < 4 => return None,
            PACKET => return Some((at + 4, hook)),
            HOOK => hook = bytes.get(at + 6).copied(),
            _ => {}
        }
        at += usize::from(len).next_multiple_of(4);
    }
}

/// The place behind a header of this length.
fn behind(bytes: &[u8], at: usize, len: u32) -> Result<usize, Kind> {
    let rest = bytes.len().checked_sub(at).ok_or(Kind::Cut)?;
    usize::try_from(len).ok().filter(|len| *len <= rest).map(|len| at + len).ok_or(Kind::Cut)
}

fn byte(bytes: &[u8], at: usize) -> Result<u8, Kind> {
    bytes.get(at).copied().ok_or(Kind::Cut)
}

fn big(bytes: &[u8], at: usize) -> Result<u32, Kind> {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()).ok_or(Kind::Cut)?;
    Ok(u32::from_be_bytes(*word))
}

fn little(bytes: &[u8], at: usize) -> Result<u32, Kind> {
    big(bytes, at).map(u32::swap_bytes)
}
