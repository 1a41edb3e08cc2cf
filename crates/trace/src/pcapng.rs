//! A pcapng file with one interface.

use ackclock_wire::pcapng::{section, Direction, Interface, Packet, RAW};
use std::io::{self, Write};

/// A capture of IP packets while it is written.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    out: W,
    snap: usize,
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins a capture at the interface `name` that keeps `snap` bytes of each packet; `None`: all.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(mut out: W, name: &str, snap: Option<u32>) -> io::Result<Self> {
        let mut block = Vec::with_capacity(2048);
        section(&mut block);
        Interface { link: RAW, snap: snap.unwrap_or(0), name }.write(&mut block);
        out.write_all(&block)?;
        Ok(PcapngWriter { out, snap: snap.map_or(usize::MAX, |s| s as usize), block })
    }

    /// Writes a packet captured at `at` nanoseconds since 1970; `bytes` is its beginning and `len` its length.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn packet(&mut self, at: u64, direction: Option<Direction>, len: u32, bytes: &[u8]) -> io::Result<()> {
        let bytes = &bytes[..bytes.len().min(self.snap)];
        self.block.clear();
        Packet { interface: 0, at, direction, len, bytes, comment: "" }.write(&mut self.block);
        self.out.write_all(&self.block)
    }

    /// The destination.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Returns the destination.
    pub fn into_inner(self) -> W {
        self.out
    }
}
