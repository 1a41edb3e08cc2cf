//! Writes packets of a capture: selected ones, all with comments, or all TCP without identifying information.
//!
//! Source: draft-ietf-opsawg-pcapng §4.2 and §4.3.

mod anonymous;

use crate::link::{content, Content, Parsed};
use crate::read::{read, Frame, Input, Unreadable};
use crate::seen::Heading;
use ackclock_wire::pcapng::{section, Direction, Interface, Packet, RAW};
use anonymous::Strangers;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;

/// `LINKTYPE_ETHERNET`.
const ETHERNET: u16 = 1;

/// The numbers of packets written and left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Written.
    pub written: u64,
    /// Left out.
    pub left_out: u64,
}

/// Why a file could not be written.
#[derive(Debug)]
pub enum Uncopied {
    /// The input cannot be read.
    Unreadable(Unreadable),
    /// The operating system reported this error.
    Io(io::Error),
}

/// A pcapng file with the interfaces of another file.
struct Out<W: Write> {
    file: W,
    /// The blocks that are written next.
    blocks: Vec<u8>,
    /// Maps an interface number of the other file, with its link type, to a number in this file.
    interfaces: BTreeMap<(u32, u16), u32>,
}

/// Writes the frames with these numbers, given in ascending order, unchanged.
///
/// # Errors
/// [`Uncopied`].
pub fn chosen<W: Write>(input: Input<'_>, frames: &[u64], out: W) -> Result<Copied, Uncopied> {
    copy(input, out, |frame, out| {
        if frames.binary_search(&frame.number).is_err() {
            return Ok(false);
        }
        out.packet(frame, (frame.link, frame.original), frame.bytes, "")?;
        Ok(true)
    })
}

/// Writes all frames unchanged, those with these numbers with a comment, which Wireshark shows and filters (`frame.comment`).
///
/// # Errors
/// [`Uncopied`].
pub fn commented<W: Write>(input: Input<'_>, comments: &BTreeMap<u64, String>, out: W) -> Result<Copied, Uncopied> {
    copy(input, out, |frame, out| {
        let comment = comments.get(&frame.number).map_or("", String::as_str);
        out.packet(frame, (frame.link, frame.original), frame.bytes, comment)?;
        Ok(true)
    })
}

/// Writes all TCP segments with other addresses and ports, without payload, link layer, tunnels and unneeded options. Times and
/// sequence numbers stay the same, so that an analysis has the same results as for the original. Other packets are left out.
///
/// A packet of a VLAN has an Ethernet header with a tag, so that connections stay apart; VLANs are numbered, too. Checksums are zero. A checksum that a device was to complete stays unchanged. Addresses and ports are numbered in the order of
/// their first use. Segments that would bring more than a million addresses are left out, and with `flow`, all packets that are
/// not between its two ends.
///
/// # Errors
/// [`Uncopied`].
pub fn anonymised<W: Write>(
    input: Input<'_>,
    flow: Option<(SocketAddr, SocketAddr)>,
    out: W,
) -> Result<Copied, Uncopied> {
    let mut strangers = Strangers::default();
    let mut bytes = Vec::new();
    copy(input, out, |frame, out| {
        let Parsed { content: Content::Tcp(tcp), heading, vlan } = content(frame) else { return Ok(false) };
        let ends = (tcp.src(), tcp.dst());
        if flow.is_some_and(|(a, b)| ends != (a, b) && ends != (b, a)) {
            return Ok(false);
        }
        let Some(original) = strangers.disguise(&tcp, vlan, &mut bytes) else { return Ok(false) };
        let link = if vlan == 0 { RAW } else { ETHERNET };
        out.packet(&Frame { heading, ..*frame }, (link, original), &bytes, "")?;
        Ok(true)
    })
}

/// Passes each frame on, and counts the frames written.
fn copy<W, F>(input: Input<'_>, out: W, mut each: F) -> Result<Copied, Uncopied>
where
    W: Write,
    F: FnMut(&Frame<'_>, &mut Out<W>) -> io::Result<bool>,
{
    let mut out = Out { file: out, blocks: Vec::new(), interfaces: BTreeMap::new() };
    section(&mut out.blocks);
    out.write().map_err(Uncopied::Io)?;
    let (mut copied, mut failure) = (Copied::default(), None);
    read(input, |frame| {
        if failure.is_some() {
            return;
        }
        match each(frame, &mut out) {
            Ok(true) => copied.written += 1,
            Ok(false) => copied.left_out += 1,
            Err(e) => failure = Some(e),
        }
    })
    .map_err(Uncopied::Unreadable)?;
    failure.map_or_else(|| out.file.flush(), Err).map(|()| copied).map_err(Uncopied::Io)
}

impl<W: Write> Out<W> {
    /// A packet with this link type and original length.
    fn packet(&mut self, frame: &Frame<'_>, (link, len): (u16, u32), bytes: &[u8], comment: &str) -> io::Result<()> {
        let next = self.interfaces.len() as u32;
        let interface = *self.interfaces.entry((frame.interface, link)).or_insert(next);
        if interface == next {
            Interface { link, snap: 0, name: "" }.write(&mut self.blocks);
        }
        let direction = match frame.heading {
            Heading::Unsaid => None,
            Heading::In => Some(Direction::In),
            Heading::Out => Some(Direction::Out),
        };
        let at = u64::try_from(frame.at).unwrap_or(0);
        Packet { interface, at, direction, len, bytes, comment }.write(&mut self.blocks);
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.write_all(&self.blocks)?;
        self.blocks.clear();
        Ok(())
    }
}

impl fmt::Display for Uncopied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Uncopied::Unreadable(e) => e.fmt(f),
            Uncopied::Io(e) => write!(f, "cannot write it: {e}"),
        }
    }
}

impl std::error::Error for Uncopied {}
