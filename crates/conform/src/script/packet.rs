//! Packets: the IP header, TCP segments, ICMP messages, and the names of headers that are not run.

use super::lexer::{is_word, Kind, Place};
use super::options::options;
use super::parser::{Parser, Read};
use super::syntax::{Body, Direction, Flags, Icmp, IpFields, Packet, Segment, Tos};
use std::net::IpAddr;

/// The most bytes of payload: the largest length of an IP packet.
const MOST_PAYLOAD: u32 = 65_535;

/// How a message names the flags of a segment.
const FLAGS: &str =
    "flags (`F`, `S`, `R`, `P`, `.`, `U`, `E`, `W`, `A`, a digit of the ACE counter from 0 to 7, or `-` for none)";

/// Reads a packet from its `<` or `>` on.
pub(super) fn packet(p: &mut Parser<'_>) -> Read<Packet> {
    let start = p.next.start;
    let direction = if p.symbol('<')? {
        Direction::In
    } else {
        p.require('>')?;
        Direction::Out
    };
    let mut wrapper = wrappers(p)?;
    let ip = ip_fields(p)?;
    if ip.tos == Some(Tos::EitherEct) && direction == Direction::In {
        return Err(p.fault(start, "`ect01` is only for packets that are expected (`>`)"));
    }
    let body = if p.word("udp", "`udp`")? {
        ports(p)?;
        payload(p)?;
        Body::Other("UDP")
    } else if p.word("icmp", "`icmp`")? {
        icmp(p)?
    } else {
        if p.word("encap", "`encap`")? {
            p.require_word("psp")?;
            p.require_word("spi")?;
            p.number("the index of a PSP association", 0..=u32::MAX)?;
            wrapper = Some("PSP");
        }
        Body::Tcp(segment(p, direction)?)
    };
    Ok(Packet { direction, ip, body: wrapper.map_or(body, Body::Other) })
}

/// Headers before the packet's own. Returns the name of the last.
fn wrappers(p: &mut Parser<'_>) -> Read<Option<&'static str>> {
    let mut found = None;
    loop {
        let name = match &p.next.kind {
            Kind::Word(word) => match word.as_str() {
                "ipv4" | "ipv6" => "an IP packet in an IP packet",
                "gre" | "GREv0" => "GRE",
                "mpls" => "MPLS",
                _ => return Ok(found),
            },
            _ => return Ok(found),
        };
        let word = p.take()?.kind;
        if word == Kind::Word("ipv4".to_owned()) || word == Kind::Word("ipv6".to_owned()) {
            ip_fields(p)?;
            outer_address(p)?;
            p.require('>')?;
            outer_address(p)?;
        } else {
            let line = p.next.start.line;
            while p.next.kind != Kind::Symbol(':') && p.next.kind != Kind::End && p.next.start.line == line {
                p.take()?;
            }
        }
        p.require(':')?;
        found = Some(name);
    }
}

fn outer_address(p: &mut Parser<'_>) -> Read<IpAddr> {
    let bytes = p.lexer.run(p.next.start, |c| c.is_ascii_hexdigit() || c == ':' || c == '.');
    let end = p.lexer.after(p.next.start, bytes);
    let text = p.lexer.slice(p.next.start, end);
    // The colon after the second address is not part of it.
    let candidates = [text, text.strip_suffix(':').unwrap_or(text)];
    for text in candidates {
        if let Ok(address) = text.parse::<IpAddr>() {
            p.take_raw(text.len())?;
            return Ok(address);
        }
    }
    p.allow("an IPv4 or IPv6 address");
    Err(p.unexpected())
}

/// `[ect0]`, `(ttl 3)` and the like; nothing is set if there are none.
fn ip_fields(p: &mut Parser<'_>) -> Read<IpFields> {
    let mut fields = IpFields::default();
    let close = if p.symbol_for('[', "fields of the IP header such as `[ect0]`")? {
        ']'
    } else if p.symbol_for('(', "fields of the IP header such as `[ect0]`")? {
        ')'
    } else {
        return Ok(fields);
    };
    loop {
        if let Some((_, tos)) = p.one_of(&[
            ("noecn", Tos::Ecn(0)),
            ("ect0", Tos::Ecn(2)),
            ("ect1", Tos::Ecn(1)),
            ("ect01", Tos::EitherEct),
            ("ce", Tos::Ecn(3)),
        ])? {
            fields.tos = Some(tos);
        } else if p.word("tos", "`tos 0xNN`")? {
            fields.tos = Some(Tos::Byte(p.number("the type of service", 0..=u8::MAX)?));
        } else if p.word("ttl", "`ttl N`")? {
            fields.ttl = Some(p.number("the time to live", 0..=u8::MAX)?);
        } else if p.word("flowlabel", "`flowlabel 0xN`")? {
            fields.flow_label = Some(p.number("the flow label", 0..=0xf_ffff)?);
        } else {
            return Err(p.unexpected());
        }
        if p.symbol(close)? {
            return Ok(fields);
        }
        p.require(',')?;
    }
}

fn ports(p: &mut Parser<'_>) -> Read<Option<(u16, u16)>> {
    if !matches!(p.next.kind, Kind::Integer(_)) || p.second()?.kind != Kind::Symbol('>') {
        p.allow("ports such as `80 > 8080`");
        return Ok(None);
    }
    let source = p.number("the source port", 0..=u16::MAX)?;
    p.require('>')?;
    Ok(Some((source, p.number("the destination port", 0..=u16::MAX)?)))
}

/// `(LEN)`
fn payload(p: &mut Parser<'_>) -> Read<u32> {
    p.require('(')?;
    let len = p.number("the length of the payload", 0..=MOST_PAYLOAD)?;
    p.require(')')?;
    Ok(len)
}

fn segment(p: &mut Parser<'_>, direction: Direction) -> Read<Segment> {
    let ports = ports(p)?;
    let flags = flags(p)?;
    let start = p.next.start;
    let (seq, len) = if p.next.kind == Kind::Ellipsis {
        p.take()?;
        (None, payload(p)?)
    } else {
        p.allow("`...(len)`");
        let (seq, len) = span(p)?;
        (Some(seq), len)
    };
    if seq.is_none() && direction == Direction::In {
        return Err(p.fault(start, "`...(len)` is only for packets that are expected (`>`)"));
    }
    let ack = if p.word("ack", "`ack N`")? { Some(p.number("the acknowledgment number", 0..=u32::MAX)?) } else { None };
    let win = if p.word("win", "`win N`")? { Some(p.number("the window", 0..=u16::MAX)?) } else { None };
    let urg = if p.word("urg", "`urg N`")? { Some(p.number("the urgent pointer", 0..=u16::MAX)?) } else { None };
    let options = options(p, direction)?;
    p.allow("the end of the line");
    Ok(Segment { ports, flags, seq, len, ack, win, urg, options })
}

/// `seq:end(len)`, where `end` is `seq + len`. Returns the first number and the length.
fn span(p: &mut Parser<'_>) -> Read<(u32, u32)> {
    if !matches!(p.next.kind, Kind::Integer(_) | Kind::Hex(_)) {
        p.allow("sequence numbers `seq:end(len)`");
        return Err(p.unexpected());
    }
    let at = p.next.start;
    let start = p.number("the first sequence number", 0..=u32::MAX)?;
    p.require(':')?;
    let end = p.number("the last sequence number", 0..=u32::MAX)?;
    let len = payload(p)?;
    let right = start.wrapping_add(len);
    if end != right {
        let why = format!("`{start}:{end}({len})` does not fit together: {start} + {len} is {right}, not {end}");
        return Err(p.fault(at, why));
    }
    Ok((start, len))
}

/// Flags in any order, such as `S.`, `P.5`, `SEWA` or `-`.
fn flags(p: &mut Parser<'_>) -> Read<Flags> {
    if p.next.kind == Kind::Symbol('-') {
        p.take()?;
        return Ok(Flags::default());
    }
    let start = p.next.start;
    let bytes = p.lexer.run(start, |c| is_word(c) || c == '.');
    let written = p.lexer.slice(start, p.lexer.after(start, bytes)).to_owned();
    let mut text = match p.lexer.word(&written) {
        Kind::Word(word) => word,
        _ => written.clone(),
    };
    let Some(mut flags) = read_flags(p, &text, start)? else {
        p.allow(FLAGS);
        return Err(p.unexpected());
    };
    p.take_raw(bytes)?;
    // `P .` is `P.`; but `. ...(len)` is a point and any sequence number.
    let apart = match &p.next.kind {
        Kind::Symbol('.') if !flags.ack => 1,
        Kind::Float(ace) if !flags.ack && ace.starts_with('.') => ace.len(),
        _ => 0,
    };
    if apart > 0 {
        text.push_str(&p.take_raw(apart)?);
        flags = read_flags(p, &text, start)?.unwrap_or(flags);
    }
    Ok(flags)
}

/// `None` if a character is not a flag, or occurs twice.
fn read_flags(p: &Parser<'_>, text: &str, at: Place) -> Read<Option<Flags>> {
    let mut flags = Flags::default();
    for c in text.chars() {
        let flag = match c {
            'F' => &mut flags.fin,
            'S' => &mut flags.syn,
            'R' => &mut flags.rst,
            'P' => &mut flags.psh,
            '.' => &mut flags.ack,
            'U' => &mut flags.urg,
            'E' => &mut flags.ece,
            'W' | 'C' => &mut flags.cwr,
            'A' => &mut flags.ae,
            '0'..='7' if flags.ace.is_none() => {
                flags.ace = c.to_digit(10).and_then(|digit| u8::try_from(digit).ok());
                continue;
            }
            _ => return Ok(None),
        };
        if std::mem::replace(flag, true) {
            return Ok(None);
        }
    }
    if flags.ace.is_some() && (flags.ece || flags.cwr || flags.ae) {
        return Err(p.fault(
            at,
            format!("the flags `{text}` hold a digit of the ACE counter and one of its bits (`E`, `W`, `A`)"),
        ));
    }
    Ok((!text.is_empty()).then_some(flags))
}

/// What follows `icmp`.
fn icmp(p: &mut Parser<'_>) -> Read<Body> {
    let kind = p.any_word("the type of the message, such as `unreachable`")?;
    let mut icmp = Icmp { kind, code: None, mtu: None, quoted: None };
    let reserved = |word: &str| word == "mtu" || word == "id";
    if matches!(&p.next.kind, Kind::Word(word) if !reserved(word)) {
        icmp.code = Some(p.any_word("the code of the message, such as `frag_needed`")?);
    } else {
        p.allow("the code of the message, such as `frag_needed`");
    }
    if p.word("mtu", "`mtu N`")? {
        icmp.mtu = Some(p.number("the MTU", 0..=u32::MAX)?);
    }
    let mut other = false;
    if p.word("id", "`id N`")? {
        p.number("the identifier", 0..=u16::MAX)?;
        other = true;
    }
    if p.symbol_for('[', "the quoted segment `[seq:end(len)]`")? {
        if p.word("udp", "`udp(len)`")? || p.word("raw", "`raw(len)`")? {
            payload(p)?;
            other = true;
        } else {
            let (start, len) = span(p)?;
            icmp.quoted = Some((start, start.wrapping_add(len)));
        }
        p.require(']')?;
    }
    p.allow("the end of the line");
    Ok(if other { Body::Other("ICMP about something other than TCP") } else { Body::Icmp(icmp) })
}
