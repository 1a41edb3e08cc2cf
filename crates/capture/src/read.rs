//! Files of captures: packets with their times, whatever the format.
//!
//! Source: draft-ietf-opsawg-pcap (pcap), draft-ietf-opsawg-pcapng (pcapng).
//! Idea: a [`Reader`] is fed with bytes and calls back for each packet, without copying it. A file in memory is fed at once, a stream
//! piece by piece. What is damaged is counted, and reading goes on behind it.

mod damage;
#[cfg(not(target_arch = "wasm32"))]
mod open;
mod pcap;
mod pcapng;
mod stream;

use crate::seen::Heading;
pub use damage::{Damage, Damages, What};
#[cfg(not(target_arch = "wasm32"))]
pub use open::{open, File};
use std::fmt;
pub use stream::{read, Input, Packing};

/// A packet of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its number in the file, from 1, as Wireshark counts.
    pub number: u64,
    /// Where its record or block begins: bytes from the beginning of the file, unpacked.
    pub offset: u64,
    /// When it was captured: nanoseconds since 1970, at most 2⁶². A packet without a time has that of the one before it.
    pub at: i64,
    /// The interface it was captured at, counted over all sections of the file; 0 in a pcap file.
    pub interface: u32,
    /// The form of its first header: a number of the registry of link types.
    pub link: u16,
    /// What the file says about where it was going.
    pub heading: Heading,
    /// Its length before it was cut to the snap length, bytes.
    pub original: u32,
    /// What was kept of it.
    pub bytes: &'a [u8],
}

/// The two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// The older one, of tcpdump.
    Pcap,
    /// Blocks.
    PcapNg,
}

/// One interface of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The form of its packets' first header: a number of the registry of link types.
    pub link: u16,
    /// Most bytes that were kept of a packet; 0 without a limit.
    pub snaplen: u32,
    /// Its name, if the file says it.
    pub name: Option<String>,
    /// Packets that were not captured for want of room or time, as the file says at its end; `None` if it does not.
    pub dropped: Option<u64>,
}

/// What a file is, and what was found of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Its format.
    pub format: Format,
    /// How it was packed.
    pub packing: Packing,
    /// Packets.
    pub frames: u64,
    /// Bytes, unpacked.
    pub bytes: u64,
    /// Its interfaces.
    pub interfaces: Vec<Interface>,
    /// What was damaged.
    pub damages: Damages,
}

/// Why nothing of a file could be read.
#[derive(Debug)]
pub enum Unreadable {
    /// It cannot be opened or read.
    Io(std::io::Error),
    /// It does not begin as a capture does.
    NotACapture {
        /// Its first bytes.
        begins: Vec<u8>,
    },
    /// It is packed in a way that is not known here.
    Packed {
        /// How.
        with: &'static str,
    },
    /// It begins well, but no packet could be read.
    Nothing(Damage),
}

/// Reads a file that is fed to it.
#[derive(Debug)]
pub struct Reader {
    form: Form,
    place: Place,
}

#[derive(Debug)]
enum Form {
    Unknown,
    Pcap(pcap::Pcap),
    PcapNg(pcapng::PcapNg),
}

/// Where reading is.
#[derive(Debug, Default)]
struct Place {
    /// Packets so far.
    frames: u64,
    /// The offset of the first byte that was not consumed.
    offset: u64,
    /// The last packet's time.
    at: i64,
    /// Whether framing is lost, so that the next good record is being looked for.
    lost: bool,
    /// Bytes that are to be passed over.
    skip: u64,
    damages: Damages,
}

/// No packet and no other block is longer, bytes; Wireshark draws the line there, too.
const LONGEST: usize = 1 << 24;
/// Fewer bytes tell nothing.
const SHORTEST: usize = 24;

impl Default for Reader {
    fn default() -> Self {
        Reader { form: Form::Unknown, place: Place::default() }
    }
}

impl Reader {
    /// Reads on. `bytes` begins with the first byte that was not consumed before; `last` says that nothing follows. Answers how
    /// many bytes are done with; while more than [`Reader::enough`] are offered, it is never 0.
    ///
    /// # Errors
    /// [`Unreadable::NotACapture`], at the beginning only.
    #[inline]
    pub fn feed<F: FnMut(&Frame<'_>)>(&mut self, bytes: &[u8], last: bool, each: &mut F) -> Result<usize, Unreadable> {
        if let Form::Unknown = self.form {
            if bytes.len() < SHORTEST && !last {
                return Ok(0);
            }
            self.form = recognise(bytes)?;
        }
        let skipped = self.place.skip.min(bytes.len() as u64);
        self.place.skip -= skipped;
        self.place.offset += skipped;
        let rest = &bytes[skipped as usize..];
        let done = match &mut self.form {
            Form::Unknown => 0,
            Form::Pcap(pcap) => pcap.feed(rest, last, &mut self.place, each),
            Form::PcapNg(pcapng) => pcapng.feed(rest, last, &mut self.place, each),
        };
        self.place.offset += done as u64;
        Ok(skipped as usize + done)
    }

    /// How many bytes a stream must be ready to offer at once: three packets, for behind damage one is believed if two more follow.
    pub const fn enough() -> usize {
        3 * (LONGEST + 64)
    }

    /// What was found, after the last bytes.
    ///
    /// # Errors
    /// [`Unreadable::Nothing`] if there was damage and no packet.
    pub fn finish(self, packing: Packing) -> Result<Contents, Unreadable> {
        let (format, interfaces) = match self.form {
            Form::Unknown => return Err(Unreadable::NotACapture { begins: vec![] }),
            Form::Pcap(pcap) => (Format::Pcap, vec![pcap.interface()]),
            Form::PcapNg(pcapng) => (Format::PcapNg, pcapng.into_interfaces()),
        };
        let Place { frames, offset, damages, .. } = self.place;
        match damages.first() {
            Some(damage) if frames == 0 => Err(Unreadable::Nothing(*damage)),
            _ => Ok(Contents { format, packing, frames, bytes: offset, interfaces, damages }),
        }
    }
}

fn recognise(bytes: &[u8]) -> Result<Form, Unreadable> {
    if let Some(pcap) = pcap::Pcap::recognise(bytes) {
        return Ok(Form::Pcap(pcap));
    }
    if pcapng::recognise(bytes) {
        return Ok(Form::PcapNg(pcapng::PcapNg::default()));
    }
    Err(Unreadable::NotACapture { begins: bytes[..bytes.len().min(4)].to_vec() })
}

impl Place {
    #[cold]
    fn damaged(&mut self, at: usize, what: What) {
        self.damages.add(Damage { packet: self.frames + 1, offset: self.offset + at as u64, what });
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Io(e) => write!(f, "it cannot be read: {e}"),
            Unreadable::NotACapture { begins } if begins.is_empty() => write!(f, "it is empty"),
            Unreadable::NotACapture { begins } => {
                write!(f, "at byte 0: it begins with")?;
                begins.iter().try_for_each(|byte| write!(f, " {byte:02x}"))?;
                write!(f, ", neither as pcap nor as pcapng does, nor as either packed with gzip, zstd or lz4")
            }
            Unreadable::Packed { with } => write!(f, "it is packed with {with}; unpack it first"),
            Unreadable::Nothing(damage) => write!(f, "no packet can be read: {damage}"),
        }
    }
}

impl std::error::Error for Unreadable {}
