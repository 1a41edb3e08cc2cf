//! A capture of what goes over a wire, as a pcapng file.
//!
//! Source: draft-ietf-opsawg-pcapng, §4.2 and §4.3; the link type is `LINKTYPE_RAW` (101): packets begin with their IP header.
//! Times are those of the machine's monotonic clock, set once by the time of day, in nanoseconds.

use crate::clock::Clock;
use crate::error::LiveError;
use crate::wire::Wire;
use ackclock_tcp::time::Time;
use ackclock_wire::offload;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::{DataLink, PcapError};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::BorrowedFd;
use std::path::Path;

/// Units of time in the file: 10⁻⁹ s.
const NANOSECONDS: u8 = 9;

/// Which way a packet went, seen from whoever captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It arrived.
    In,
    /// It was sent.
    Out,
}

/// A pcapng file that is being written; complete once this was closed or dropped.
pub struct Capture {
    writer: PcapNgWriter<BufWriter<File>>,
    clock: Clock,
    name: String,
}

/// A wire whose packets are captured.
pub struct Tapped<W> {
    wire: W,
    capture: Option<Capture>,
}

impl Capture {
    /// Makes the file `path`, for packets of the device `name`.
    ///
    /// # Errors
    /// [`LiveError::Input`] for a file that cannot be written.
    pub fn create(path: &Path, name: &str, clock: Clock) -> Result<Capture, LiveError> {
        let shown = path.display().to_string();
        let file = File::create(path).map_err(|e| LiveError::Input(format!("{shown}: it cannot be written: {e}")))?;
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::RAW,
            snaplen: 0,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        };
        let begin = || {
            let mut writer = PcapNgWriter::new(BufWriter::with_capacity(1 << 20, file))?;
            writer.write_pcapng_block(interface)?;
            Ok(writer)
        };
        let writer = begin().map_err(|e| failed(&shown, e))?;
        Ok(Capture { writer, clock, name: shown })
    }

    /// Writes an IP packet.
    ///
    /// # Errors
    /// What the system answers.
    pub fn packet(&mut self, at: Time, direction: Direction, packet: &[u8]) -> Result<(), LiveError> {
        // `epb_flags`, bits 0 and 1.
        let flags = match direction {
            Direction::In => 1,
            Direction::Out => 2,
        };
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: self.clock.time_of_day(at),
            original_len: packet.len() as u32,
            data: Cow::Borrowed(packet),
            options: vec![EnhancedPacketOption::Flags(flags)],
        };
        self.writer.write_pcapng_block(block).map(|_| ()).map_err(|e| failed(&self.name, e))
    }

    /// Writes what is still in memory. Dropping it does, too, but cannot say what went wrong.
    ///
    /// # Errors
    /// What the system answers.
    pub fn close(mut self) -> Result<(), LiveError> {
        self.writer.get_mut().flush().map_err(LiveError::system(self.name.clone()))
    }
}

fn failed(name: &str, error: PcapError) -> LiveError {
    let error = match error {
        PcapError::IoError(e) => e,
        other => io::Error::other(other.to_string()),
    };
    LiveError::System { doing: name.to_owned(), error }
}

impl<W: Wire> Tapped<W> {
    /// With a capture, or without.
    pub fn new(wire: W, capture: Option<Capture>) -> Self {
        Tapped { wire, capture }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// What the system answers.
    pub fn close(&mut self) -> Result<(), LiveError> {
        self.capture.take().map_or(Ok(()), Capture::close)
    }

    #[cold]
    fn keep(&mut self, direction: Direction, frame: &[u8]) -> io::Result<()> {
        let Some(capture) = &mut self.capture else { return Ok(()) };
        let packet = frame.get(if self.wire.offload() { offload::LEN } else { 0 }..).unwrap_or_default();
        let now = capture.clock.now();
        capture.packet(now, direction, packet).map_err(io::Error::other)
    }
}

impl<W: Wire> Wire for Tapped<W> {
    #[inline]
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let got = self.wire.recv(buf)?;
        if let (Some(len), true) = (got, self.capture.is_some()) {
            self.keep(Direction::In, &buf[..len])?;
        }
        Ok(got)
    }

    #[inline]
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        // Before it is sent: the answer must not have an earlier time.
        if self.capture.is_some() {
            self.keep(Direction::Out, frame)?;
        }
        self.wire.send(frame)
    }

    fn offload(&self) -> bool {
        self.wire.offload()
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.wire.readable()
    }
}
