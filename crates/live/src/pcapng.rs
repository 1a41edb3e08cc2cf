//! A capture of the frames on a wire, as a pcapng file.
//!
//! Packets begin with their IP header. Times are those of the machine's monotonic clock, set once from the time of day, in
//! nanoseconds.

use crate::clock::Clock;
use crate::error::LiveError;
use crate::wire::Wire;
use ackclock_tcp::time::Time;
use ackclock_trace::pcapng::PcapngWriter;
use ackclock_wire::offload;
pub use ackclock_wire::pcapng::Direction;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::BorrowedFd;
use std::path::Path;

/// A pcapng file while it is written; it is complete once it is closed or dropped.
pub struct Capture {
    writer: PcapngWriter<BufWriter<File>>,
    clock: Clock,
    name: String,
}

/// A wire whose packets are captured.
pub struct Tapped<W> {
    wire: W,
    capture: Option<Capture>,
}

impl Capture {
    /// Creates the file `path`, for packets of the device `name`. `snap` bytes of each are kept; `None`: all.
    ///
    /// # Errors
    /// [`LiveError::Input`] if the file cannot be written.
    pub fn create(path: &Path, name: &str, clock: Clock, snap: Option<u32>) -> Result<Capture, LiveError> {
        let shown = path.display().to_string();
        let file = File::create(path).map_err(|e| LiveError::Input(format!("{shown}: cannot write it: {e}")))?;
        let writer = PcapngWriter::new(BufWriter::with_capacity(1 << 20, file), name, snap);
        let writer = writer.map_err(LiveError::system(shown.clone()))?;
        Ok(Capture { writer, clock, name: shown })
    }

    /// Writes an IP packet.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn packet(&mut self, at: Time, direction: Direction, packet: &[u8]) -> Result<(), LiveError> {
        let at = self.clock.time_of_day(at).as_nanos() as u64;
        let written = self.writer.packet(at, Some(direction), packet.len() as u32, packet);
        written.map_err(LiveError::system(self.name.clone()))
    }

    /// Writes the data still in memory. Dropping it does so, too, but cannot report an error.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn close(mut self) -> Result<(), LiveError> {
        self.writer.get_mut().flush().map_err(LiveError::system(self.name.clone()))
    }
}

impl<W: Wire> Tapped<W> {
    /// Wraps a wire, with a capture or without.
    pub fn new(wire: W, capture: Option<Capture>) -> Self {
        Tapped { wire, capture }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Errors of the system.
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
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let got = self.wire.recv(buf)?;
        if let (Some(len), true) = (got, self.capture.is_some()) {
            self.keep(Direction::In, &buf[..len])?;
        }
        Ok(got)
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        // Before it is sent, so that the answer does not have an earlier time.
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
