//! Tunnels: from the header of GRE or UDP to the layer that they carry.
//!
//! Source: RFC 2784 §2 and RFC 2890 §2 (GRE), RFC 2637 §4.1 (PPTP's GRE), draft-foschiano-erspan §4 (ERSPAN), RFC 7348 §5 (VXLAN),
//! RFC 8926 §3.4 (Geneve), RFC 2661 §3.1 (L2TP), RFC 4380 §5.1.1 (Teredo), 3GPP TS 29.281 §5 (GTP-U), RFC 3948 §2 (ESP over UDP),
//! RFC 9000 §17 (QUIC).

use super::{half, Kind, Layer};

pub(super) fn gre(bytes: &[u8], at: usize) -> Result<Layer, Kind> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGMENT: u16 = 0x0080;
    let (flags, protocol) = (half(bytes, at)?, half(bytes, at + 2)?);
    let words = |flag: u16| 4 * usize::from(flags & flag != 0);
    match (flags & 7, protocol) {
        (0, _) if flags & ROUTING != 0 => Err(Kind::Ip),
        // ERSPAN: a mirrored frame, without a header of its own unless there is a sequence number; the newer one has a longer one.
        (0, 0x88be) => Ok(Layer::Ethernet(at + 4 + words(KEY) + 3 * words(SEQUENCE))),
        (0, 0x22eb) => {
            let front = at + 4 + words(KEY) + words(SEQUENCE);
            let more = half(bytes, front + 10)? & 1 != 0;
            Ok(Layer::Ethernet(front + if more { 20 } else { 12 }))
        }
        (0, _) => Ok(Layer::EtherType(protocol, at + 4 + words(CHECKSUM) + words(KEY) + words(SEQUENCE))),
        (1, 0x880b) => Ok(Layer::Ppp(at + 4 + words(KEY) + words(SEQUENCE) + words(ACKNOWLEDGMENT))),
        _ => Err(Kind::Ip),
    }
}

pub(super) fn udp(bytes: &[u8], at: usize) -> Result<Layer, Kind> {
    let (from, to) = (half(bytes, at)?, half(bytes, at + 2)?);
    let payload = bytes.get(at + 8..).ok_or(Kind::Cut)?;
    let either = |port| from == port || to == port;
    match payload {
        // VXLAN: flags with I set, reserved, network, reserved.
        [8, _, _, _, _, _, _, _, ..] if matches!(to, 4789 | 8472) => Ok(Layer::Ethernet(at + 16)),
        // Geneve: version 0 with the length of its options, flags, an EtherType.
        [first, _, a, b, ..] if to == 6081 && first >> 6 == 0 => {
            Ok(Layer::EtherType(u16::from_be_bytes([*a, *b]), at + 16 + 4 * usize::from(first & 0x3f)))
        }
        // L2TP: data of version 2.
        [first, second, ..] if either(1701) && first & 0x80 == 0 && second & 15 == 2 => l2tp(bytes, at + 8),
        // Teredo, perhaps with the origin's address in front.
        [0, 0, _, _, _, _, _, _, 0x60..=0x6f, ..] if either(3544) => Ok(Layer::Ip(at + 16)),
        [0x60..=0x6f, ..] if either(3544) => Ok(Layer::Ip(at + 8)),
        // GTP-U: version 1, a G-PDU.
        [flags, 255, ..] if either(2152) && flags & 0xf0 == 0x30 => gtp(bytes, at + 8),
        // ESP over UDP, unless four zeros mark it as IKE.
        [a, b, c, d, ..] if either(4500) && [*a, *b, *c, *d] != [0; 4] => Err(Kind::Esp),
        [1..=4, 0, 0, 0, ..] if either(51820) => Err(Kind::WireGuard),
        payload if is_quic(payload, either(443)) => Err(Kind::Quic),
        _ => Err(Kind::Udp),
    }
}

/// RFC 2661 §3.1: flags, then the fields that they name, two numbers, and PPP.
fn l2tp(bytes: &[u8], at: usize) -> Result<Layer, Kind> {
    const LENGTH: u16 = 0x4000;
    const SEQUENCE: u16 = 0x0800;
    const OFFSET: u16 = 0x0200;
    let flags = half(bytes, at)?;
    let at = at + 6 + if flags & LENGTH != 0 { 2 } else { 0 } + if flags & SEQUENCE != 0 { 4 } else { 0 };
    let offset = if flags & OFFSET != 0 { 2 + usize::from(half(bytes, at)?) } else { 0 };
    Ok(Layer::Ppp(at + offset))
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
