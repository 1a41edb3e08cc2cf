//! Segments as bytes and as text.

use crate::script::syntax::{Flags, IpFields, Segment, TcpOption, Tos};
use ackclock_wire::checksum::{Sum, TCP};
use ackclock_wire::options::{walk, Entry};
use ackclock_wire::{parse, Checksums, Packet};
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};

/// The most bytes behind an IP header: the packet has at most 65,535 with the larger of the two headers.
const MOST: usize = 65_535 - 40;
/// The hop limit of the script's own packets.
const HOP_LIMIT: u8 = 255;

/// The bytes of a packet with `payload` behind its IP header.
pub(super) fn ip_packet(src: IpAddr, dst: IpAddr, protocol: u8, ip: IpFields, payload: &[u8]) -> Vec<u8> {
    let class = match ip.tos {
        Some(Tos::Ecn(bits)) => bits,
        Some(Tos::Byte(byte)) => byte,
        Some(Tos::EitherEct) => 2,
        None => 0,
    };
    let hops = ip.ttl.unwrap_or(HOP_LIMIT);
    let mut bytes = Vec::with_capacity(40 + payload.len());
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let len = (20 + payload.len()) as u16;
            bytes.extend([0x45, class]);
            bytes.extend(len.to_be_bytes());
            bytes.extend([0, 0, 0, 0, hops, protocol, 0, 0]);
            bytes.extend(src.octets());
            bytes.extend(dst.octets());
            let mut sum = Sum::default();
            sum.add(&bytes);
            bytes[10..12].copy_from_slice(&sum.checksum());
        }
        (src, dst) => {
            let label = ip.flow_label.unwrap_or(0) & 0xf_ffff;
            bytes.extend((6 << 28 | u32::from(class) << 20 | label).to_be_bytes());
            bytes.extend((payload.len() as u16).to_be_bytes());
            bytes.extend([protocol, hops]);
            bytes.extend(octets(src));
            bytes.extend(octets(dst));
        }
    }
    bytes.extend(payload);
    bytes
}

fn octets(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    }
}

/// The bytes of a segment from its TCP header on, with zeros as payload.
///
/// # Errors
/// Its options are too long, or not a multiple of four bytes.
pub(super) fn tcp_bytes(src: SocketAddr, dst: SocketAddr, segment: &Segment) -> Result<Vec<u8>, String> {
    let options = option_bytes(segment.options.as_deref().unwrap_or_default())?;
    let words = (20 + options.len()) / 4;
    if words * 4 + segment.len as usize > MOST {
        return Err(format!("a payload of {} bytes, more than an IP packet has room for", segment.len));
    }
    let mut bytes = Vec::with_capacity(words * 4 + segment.len as usize);
    bytes.extend(src.port().to_be_bytes());
    bytes.extend(dst.port().to_be_bytes());
    bytes.extend(segment.seq.unwrap_or(0).to_be_bytes());
    bytes.extend(segment.ack.unwrap_or(0).to_be_bytes());
    let (reserved, flags) = flag_bits(segment.flags);
    bytes.extend([(words as u8) << 4 | reserved, flags]);
    bytes.extend(segment.win.unwrap_or(0).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(segment.urg.unwrap_or(0).to_be_bytes());
    bytes.extend(options);
    bytes.resize(bytes.len() + segment.len as usize, 0);
    let mut sum = Sum::default();
    sum.add_pseudo_header(TCP, src.ip(), dst.ip(), bytes.len() as u32);
    sum.add(&bytes);
    bytes[16..18].copy_from_slice(&sum.checksum());
    Ok(bytes)
}

fn option_bytes(options: &[TcpOption]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for option in options {
        match option {
            TcpOption::Eol => bytes.push(0),
            TcpOption::Nop => bytes.push(1),
            TcpOption::Mss(mss) => {
                bytes.extend([2, 4]);
                bytes.extend(mss.to_be_bytes());
            }
            TcpOption::WindowScale(shift) => bytes.extend([3, 3, *shift]),
            TcpOption::SackOk => bytes.extend([4, 2]),
            TcpOption::Sack(blocks) if blocks.len() > 4 => {
                return Err(format!("{} SACK blocks, of which a header has room for 4", blocks.len()))
            }
            TcpOption::Sack(blocks) => {
                bytes.extend([5, 2 + 8 * blocks.len() as u8]);
                for (left, right) in blocks {
                    bytes.extend(left.to_be_bytes());
                    bytes.extend(right.to_be_bytes());
                }
            }
            TcpOption::Timestamps { val, ecr } => {
                bytes.extend([8, 10]);
                bytes.extend(val.to_be_bytes());
                bytes.extend(ecr.to_be_bytes());
            }
            TcpOption::Other(text) => return Err(format!("the option `{text}` is not understood")),
        }
        if bytes.len() > 40 {
            return Err("the options have more than 40 bytes".to_owned());
        }
    }
    if bytes.len() % 4 != 0 {
        return Err(format!("the options have {} bytes, not a multiple of 4: add nop or eol", bytes.len()));
    }
    Ok(bytes)
}

/// The reserved bits and the flags of a header.
fn flag_bits(flags: Flags) -> (u8, u8) {
    let Flags { fin, syn, rst, psh, ack, urg, ece, cwr, ae, ace } = flags;
    let ace = ace.unwrap_or(u8::from(ae) << 2 | u8::from(cwr) << 1 | u8::from(ece));
    let bits = [fin, syn, rst, psh, ack, urg, ace & 1 != 0, ace & 2 != 0];
    let byte = bits.iter().enumerate().fold(0, |byte, (at, is)| byte | u8::from(*is) << at);
    (ace >> 2 & 1, byte)
}

/// A packet of the TCP under test.
pub(super) struct Real {
    pub(super) src: SocketAddr,
    pub(super) dst: SocketAddr,
    pub(super) segment: Segment,
    pub(super) traffic_class: u8,
    pub(super) hop_limit: u8,
    /// Whether its payload consists of zeros, as the scripts write.
    pub(super) zeros: bool,
}

impl Real {
    /// Reads a packet.
    ///
    /// # Errors
    /// Why it is not a valid TCP packet.
    pub(super) fn read(bytes: &[u8]) -> Result<Real, String> {
        let packet = parse(bytes, Checksums::Verify).map_err(|why| why.to_string())?;
        let header = &packet.header;
        let has = |bit: u8| header.flags & bit != 0;
        let flags = Flags {
            fin: has(1),
            syn: has(2),
            rst: has(4),
            psh: has(8),
            ack: has(16),
            urg: has(32),
            ece: has(64),
            cwr: has(128),
            ae: header.reserved & 1 != 0,
            ace: None,
        };
        let segment = Segment {
            ports: None,
            flags,
            seq: Some(header.seq.0),
            len: packet.payload.len() as u32,
            ack: Some(header.ack.0),
            win: Some(header.window),
            urg: Some(header.urgent),
            options: Some(read_options(&packet)?),
        };
        Ok(Real {
            src: header.src,
            dst: header.dst,
            segment,
            traffic_class: header.traffic_class,
            hop_limit: header.hop_limit,
            zeros: packet.payload.iter().all(|byte| *byte == 0),
        })
    }
}

fn read_options(packet: &Packet<'_>) -> Result<Vec<TcpOption>, String> {
    let list = packet.option_bytes;
    let mut options = Vec::new();
    let mut used = 0;
    for entry in walk(list) {
        let option = read_option(entry.map_err(|why| format!("malformed options: {why:?}"))?);
        used += option_len(&option, list.get(used..).unwrap_or_default());
        options.push(option);
    }
    // An end of the list, and the padding of the last word.
    options.extend(list.get(used..).unwrap_or_default().iter().map(|_| TcpOption::Eol));
    Ok(options)
}

fn read_option(entry: Entry<'_>) -> TcpOption {
    match entry {
        Entry::Nop => TcpOption::Nop,
        Entry::Mss(mss) => TcpOption::Mss(mss),
        Entry::WindowScale(shift) => TcpOption::WindowScale(shift),
        Entry::SackPermitted => TcpOption::SackOk,
        Entry::Sack(blocks) => {
            TcpOption::Sack(blocks.as_slice().iter().map(|(left, right)| (left.0, right.0)).collect())
        }
        Entry::Timestamps(stamps) => TcpOption::Timestamps { val: stamps.value, ecr: stamps.echo },
        Entry::Unknown { kind, data } => TcpOption::Other(format!("option {kind} of {} bytes", data.len() + 2)),
    }
}

fn option_len(option: &TcpOption, rest: &[u8]) -> usize {
    if matches!(option, TcpOption::Nop) {
        1
    } else {
        rest.get(1).map_or(1, |len| usize::from(*len))
    }
}

/// A segment in the script's language.
pub(super) fn text(segment: &Segment) -> String {
    let Segment { ports, flags, seq, len, ack, win, urg, options } = segment;
    let mut out = String::new();
    if let Some((src, dst)) = ports {
        let _ = write!(out, "{src} > {dst} ");
    }
    out.push_str(&flags_text(*flags));
    let _ = match seq {
        Some(seq) => write!(out, " {seq}:{}({len})", seq.wrapping_add(*len)),
        None => write!(out, " ...({len})"),
    };
    if let Some(ack) = ack.filter(|ack| flags.ack || *ack != 0) {
        let _ = write!(out, " ack {ack}");
    }
    if let Some(win) = win {
        let _ = write!(out, " win {win}");
    }
    if let Some(urg) = urg.filter(|urg| *urg != 0) {
        let _ = write!(out, " urg {urg}");
    }
    match options.as_deref() {
        None => out.push_str(" <...>"),
        Some([]) => {}
        Some(list) => {
            let words: Vec<String> = list.iter().map(option_text).collect();
            let _ = write!(out, " <{}>", words.join(","));
        }
    }
    out
}

pub(super) fn flags_text(flags: Flags) -> String {
    let Flags { fin, syn, rst, psh, ack, urg, ece, cwr, ae, ace } = flags;
    let named = [(fin, 'F'), (syn, 'S'), (rst, 'R'), (psh, 'P'), (urg, 'U'), (ece, 'E'), (cwr, 'W'), (ae, 'A')];
    let mut out: String = named.iter().filter(|(is, _)| *is).map(|(_, letter)| *letter).collect();
    if ack {
        out.push('.');
    }
    if let Some(ace) = ace {
        let _ = write!(out, "{ace}");
    }
    if out.is_empty() {
        "-".to_owned()
    } else {
        out
    }
}

pub(super) fn option_text(option: &TcpOption) -> String {
    match option {
        TcpOption::Eol => "eol".to_owned(),
        TcpOption::Nop => "nop".to_owned(),
        TcpOption::Mss(mss) => format!("mss {mss}"),
        TcpOption::WindowScale(shift) => format!("wscale {shift}"),
        TcpOption::SackOk => "sackOK".to_owned(),
        TcpOption::Sack(blocks) => {
            let blocks: Vec<String> = blocks.as_slice().iter().map(|(left, right)| format!("{left}:{right}")).collect();
            format!("sack {}", blocks.join(" "))
        }
        TcpOption::Timestamps { val, ecr } => format!("TS val {val} ecr {ecr}"),
        TcpOption::Other(text) => text.clone(),
    }
}
