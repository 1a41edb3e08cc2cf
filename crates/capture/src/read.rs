//! Capture files: packets with their times, in any format.
//!
//! Source: draft-ietf-opsawg-pcap (pcap), draft-ietf-opsawg-pcapng (pcapng), RFC 1761 (snoop), Endace's ERF.
//! Idea: a [`Reader`] is fed bytes and calls back for each packet, without copying it. A file in memory is fed in one call, a
//! stream in pieces. Damage is counted, and reading continues behind it.

mod damage;
pub(crate) mod erf;
mod foreign;
#[cfg(not(target_arch = "wasm32"))]
mod open;
mod pcap;
mod pcapng;
mod records;
mod stream;

use crate::seen::Heading;
pub use damage::{Damage, Damages, What};
#[cfg(not(target_arch = "wasm32"))]
pub use open::{open, File};
use records::{Beginning, Records};
use std::fmt;
pub use stream::{read, Input, Packing};

/// A packet of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its number in the file, from 1, as Wireshark counts.
    pub number: u64,
    /// The offset of its record or block: bytes from the beginning of the unpacked file.
    pub offset: u64,
    /// When it was captured: nanoseconds since 1970, at most 2⁶². A packet without a time gets the time of the previous packet.
    pub at: i64,
    /// The interface where it was captured, counted over all sections of the file; 0 in a pcap file.
    pub interface: u32,
    /// The type of its first header: a number from the registry of link types.
    pub link: u16,
    /// Its direction, if the file has it.
    pub heading: Heading,
    /// Its length before truncation to the snap length, bytes.
    pub original: u32,
    /// The captured bytes.
    pub bytes: &'a [u8],
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// The older format, from tcpdump.
    Pcap,
    /// The newer format, made of blocks.
    PcapNg,
    /// Solaris' format.
    Snoop,
    /// The format of Endace's cards.
    Erf,
}

impl Format {
    /// Its name in a table and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Format::Pcap => "pcap",
            Format::PcapNg => "pcapng",
            Format::Snoop => "snoop",
            Format::Erf => "erf",
        }
    }
}

/// One interface of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The type of its packets' first header: a number from the registry of link types.
    pub link: u16,
    /// The most bytes kept of a packet; 0 without a limit.
    pub snaplen: u32,
    /// Its name, if the file has one.
    pub name: Option<String>,
    /// Packets that were not captured for lack of room or time, from the statistics at the end of the file; `None` without them.
    pub dropped: Option<u64>,
}

/// The properties and contents of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Its format.
    pub format: Format,
    /// Its compression.
    pub packing: Packing,
    /// Packets.
    pub frames: u64,
    /// Bytes, unpacked.
    pub bytes: u64,
    /// Its interfaces.
    pub interfaces: Vec<Interface>,
    /// The damage in it.
    pub damages: Damages,
}

/// Why a file could not be read at all.
#[derive(Debug)]
pub enum Unreadable {
    /// It cannot be opened or read.
    Io(std::io::Error),
    /// It does not begin like a capture.
    NotACapture {
        /// Its first bytes.
        begins: Vec<u8>,
    },
    /// It is in a format that is recognized but not read.
    Foreign {
        /// The format.
        format: &'static str,
    },
    /// Its compression is not supported.
    Packed {
        /// The compression.
        with: &'static str,
    },
    /// Its beginning is valid, but no packet could be read.
    Nothing(Damage),
}

/// Reads a file from the bytes passed to it.
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
    Records(Records),
}

/// The reader's state.
#[derive(Debug, Default)]
struct Place {
    /// Packets so far.
    frames: u64,
    /// The offset of the first unconsumed byte.
    offset: u64,
    /// The last packet's time.
    at: i64,
    /// Whether framing is lost, so that the next valid record must be searched for.
    lost: bool,
    /// Bytes to skip.
    skip: u64,
    damages: Damages,
}

/// The longest packet or other block, bytes; Wireshark has the same limit.
const LONGEST: usize = 1 << 24;
/// Fewer bytes are not enough to recognize a format.
const SHORTEST: usize = 24;

impl Default for Reader {
    fn default() -> Self {
        Reader { form: Form::Unknown, place: Place::default() }
    }
}

impl Reader {
    /// Reads on. `bytes` begins with the first byte that was not consumed before; `last` means that no more bytes follow. Returns
    /// the number of consumed bytes; it is never 0 if more than [`Reader::enough`] are given.
    ///
    /// # Errors
    /// [`Unreadable::NotACapture`], only at the beginning.
    #[inline]
    pub fn feed<F: FnMut(&Frame<'_>)>(&mut self, bytes: &[u8], last: bool, each: &mut F) -> Result<usize, Unreadable> {
        if let Form::Unknown = self.form {
            if bytes.len() < SHORTEST && !last {
                return Ok(0);
            }
            match recognise(bytes, last)? {
                Some(form) => self.form = form,
                None => return Ok(0),
            }
        }
        let skipped = self.place.skip.min(bytes.len() as u64);
        self.place.skip -= skipped;
        self.place.offset += skipped;
        let rest = &bytes[skipped as usize..];
        let done = match &mut self.form {
            Form::Unknown => 0,
            Form::Pcap(pcap) => pcap.feed(rest, last, &mut self.place, each),
            Form::PcapNg(pcapng) => pcapng.feed(rest, last, &mut self.place, each),
            Form::Records(records) => records.feed(rest, last, &mut self.place, each),
        };
        self.place.offset += done as u64;
        Ok(skipped as usize + done)
    }

    /// The number of bytes that a stream must be able to provide in one call: three packets, since a packet after damage is
    /// accepted only if two more follow.
    pub const fn enough() -> usize {
        3 * (LONGEST + 64)
    }

    /// The results, after the last bytes.
    ///
    /// # Errors
    /// [`Unreadable::Nothing`] if there was damage and no packet.
    pub fn finish(self, packing: Packing) -> Result<Contents, Unreadable> {
        let (format, interfaces) = match self.form {
            Form::Unknown => return Err(Unreadable::NotACapture { begins: vec![] }),
            Form::Pcap(pcap) => (Format::Pcap, vec![pcap.interface()]),
            Form::PcapNg(pcapng) => (Format::PcapNg, pcapng.into_interfaces()),
            Form::Records(records) => {
                (if records.is_erf() { Format::Erf } else { Format::Snoop }, records.into_interfaces())
            }
        };
        let Place { frames, offset, damages, .. } = self.place;
        match damages.first() {
            Some(damage) if frames == 0 => Err(Unreadable::Nothing(*damage)),
            _ => Ok(Contents { format, packing, frames, bytes: offset, interfaces, damages }),
        }
    }
}

/// The form of a file with this beginning; `None` if more bytes are needed to tell.
fn recognise(bytes: &[u8], last: bool) -> Result<Option<Form>, Unreadable> {
    if let Some(pcap) = pcap::Pcap::recognise(bytes) {
        return Ok(Some(Form::Pcap(pcap)));
    }
    if pcapng::recognise(bytes) {
        return Ok(Some(Form::PcapNg(pcapng::PcapNg::default())));
    }
    if let Some(format) = foreign::name(bytes) {
        return Err(Unreadable::Foreign { format });
    }
    match Records::recognise(bytes, last) {
        Beginning::Records(records) => Ok(Some(Form::Records(records))),
        Beginning::Open => Ok(None),
        Beginning::Foreign => Err(Unreadable::Foreign { format: "snoop, of a link layer or version that is rare" }),
        Beginning::Other => Err(Unreadable::NotACapture { begins: bytes[..bytes.len().min(4)].to_vec() }),
    }
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
            Unreadable::Io(e) => write!(f, "cannot read it: {e}"),
            Unreadable::NotACapture { begins } if begins.is_empty() => write!(f, "it is empty"),
            Unreadable::NotACapture { begins } => {
                write!(f, "at byte 0: it begins with")?;
                begins.iter().try_for_each(|byte| write!(f, " {byte:02x}"))?;
                write!(f, ", which is neither pcap, pcapng, snoop nor ERF, plain or compressed with gzip, zstd or lz4")
            }
            Unreadable::Foreign { format } => {
                write!(f, "its format is not read: {format}; convert it with Wireshark's editcap -F pcapng FILE NEW")
            }
            Unreadable::Packed { with } => write!(f, "it is compressed with {with}; decompress it first"),
            Unreadable::Nothing(damage) => write!(f, "no packet can be read: {damage}"),
        }
    }
}

impl std::error::Error for Unreadable {}
