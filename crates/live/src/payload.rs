//! The sources and sinks of a transfer's bytes, and the hash by which both ends are compared.

use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use xxhash_rust::xxh3::Xxh3;

/// Bytes in a block: a few blocks fit into a processor's cache.
const BLOCK: usize = 1 << 18;

/// An incompressible stream of bytes without repeated blocks.
pub struct Pattern {
    block: Box<[u8]>,
    /// Length of the whole stream.
    len: u64,
    /// The next byte.
    at: u64,
    hash: Xxh3,
}

impl Pattern {
    /// The first `len` bytes of the stream.
    pub fn new(len: u64) -> Self {
        let mut block = vec![0; BLOCK].into_boxed_slice();
        // Marsaglia's xorshift64, "Xorshift RNGs" (2003), the triple 13, 7, 17.
        let mut x = 0x9e37_79b9_7f4a_7c15_u64;
        for word in block.chunks_exact_mut(8) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            word.copy_from_slice(&x.to_ne_bytes());
        }
        Pattern { block, len, at: 0, hash: Xxh3::new() }
    }

    /// The next bytes, at most `room` of them; empty at the end.
    pub fn next(&mut self, room: usize) -> &[u8] {
        let within = (self.at % BLOCK as u64) as usize;
        if within == 0 {
            self.block[..8].copy_from_slice(&self.at.to_ne_bytes());
        }
        let left = usize::try_from(self.len - self.at).unwrap_or(usize::MAX);
        &self.block[within..within + room.min(BLOCK - within).min(left)]
    }

    /// The first `bytes` of the last result of [`Pattern::next`] were sent.
    pub fn advance(&mut self, bytes: usize) {
        let within = (self.at % BLOCK as u64) as usize;
        self.hash.update(&self.block[within..within + bytes]);
        self.at += bytes as u64;
    }

    /// The number of bytes left.
    pub fn left(&self) -> u64 {
        self.len - self.at
    }

    /// The hash of the bytes sent: XXH3, 64 bits.
    pub fn hash(&self) -> u64 {
        self.hash.digest()
    }
}

/// The source of the bytes.
pub enum Source {
    /// A generated stream.
    Pattern(Pattern),
    /// The bytes of a file or a pipe.
    File(FileSource),
}

/// A file that is read as needed, without waiting for the writer of a pipe.
pub struct FileSource {
    file: File,
    buffer: Box<[u8]>,
    /// The start of the unsent part of the buffer.
    from: usize,
    to: usize,
    ended: bool,
    bytes: u64,
    hash: Xxh3,
}

/// The received bytes are hashed, and written to a file if there is one.
pub struct Sink {
    file: Option<File>,
    /// If there is room at all, a write of at most this size never waits.
    piece: usize,
    bytes: u64,
    hash: Xxh3,
}

/// The size that POSIX guarantees for a pipe with room.
const PIPE_PIECE: usize = 4096;

impl Source {
    /// The bytes of `file`.
    pub fn file(file: File) -> Self {
        let buffer = vec![0; BLOCK].into_boxed_slice();
        Source::File(FileSource { file, buffer, from: 0, to: 0, ended: false, bytes: 0, hash: Xxh3::new() })
    }

    /// The next bytes, at most `room` of them; empty at the end, and while none are available.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn next(&mut self, room: usize) -> io::Result<&[u8]> {
        match self {
            Source::Pattern(pattern) => Ok(pattern.next(room)),
            Source::File(source) => source.next(room),
        }
    }

    /// The first `bytes` of the last result of [`Source::next`] were sent.
    pub fn advance(&mut self, bytes: usize) {
        match self {
            Source::Pattern(pattern) => pattern.advance(bytes),
            Source::File(source) => {
                source.hash.update(&source.buffer[source.from..source.from + bytes]);
                source.from += bytes;
                source.bytes += bytes as u64;
            }
        }
    }

    /// Whether everything was sent.
    pub fn ended(&self) -> bool {
        match self {
            Source::Pattern(pattern) => pattern.left() == 0,
            Source::File(source) => source.ended && source.from == source.to,
        }
    }

    /// The number of bytes sent, and their hash: XXH3, 64 bits.
    pub fn sent(&self) -> (u64, u64) {
        match self {
            Source::Pattern(pattern) => (pattern.at, pattern.hash()),
            Source::File(source) => (source.bytes, source.hash.digest()),
        }
    }

    /// If no bytes are available now: a file that becomes readable when there are more.
    pub fn waits_for(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Source::File(source) if !source.ended && source.from == source.to => Some(source.file.as_fd()),
            Source::Pattern(_) | Source::File(_) => None,
        }
    }
}

impl FileSource {
    fn next(&mut self, room: usize) -> io::Result<&[u8]> {
        if self.from == self.to && !self.ended && is_ready(self.file.as_fd(), PollFlags::POLLIN, PollTimeout::ZERO)? {
            (self.from, self.to) = (0, retried(|| self.file.read(&mut self.buffer))?);
            self.ended = self.to == 0;
        }
        Ok(&self.buffer[self.from..self.to.min(self.from.saturating_add(room))])
    }
}

impl Sink {
    /// Writes into `file`, or nowhere.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn new(file: Option<File>) -> io::Result<Sink> {
        let regular = file.as_ref().map_or(Ok(true), |f| f.metadata().map(|m| m.is_file()))?;
        let piece = if regular { usize::MAX } else { PIPE_PIECE };
        Ok(Sink { file, piece, bytes: 0, hash: Xxh3::new() })
    }

    /// Takes as many bytes as fit; returns their number.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn take(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = match &mut self.file {
            None => bytes.len(),
            Some(file) if is_ready(file.as_fd(), PollFlags::POLLOUT, PollTimeout::ZERO)? => {
                retried(|| file.write(&bytes[..bytes.len().min(self.piece)]))?
            }
            Some(_) => 0,
        };
        self.hash.update(&bytes[..taken]);
        self.bytes += taken as u64;
        Ok(taken)
    }

    /// The number of bytes taken, and their hash.
    pub fn taken(&self) -> (u64, u64) {
        (self.bytes, self.hash.digest())
    }

    /// A file that becomes writable when it can take more.
    pub fn waits_for(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd)
    }
}

/// Whether a file may be read or written without waiting longer than `timeout`.
pub(crate) fn is_ready(fd: BorrowedFd<'_>, flags: PollFlags, timeout: PollTimeout) -> io::Result<bool> {
    match poll(&mut [PollFd::new(fd, flags)], timeout) {
        Ok(n) => Ok(n > 0),
        Err(nix::errno::Errno::EINTR) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// Retries after an interruption by a signal.
fn retried<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match work() {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_the_same_in_whatever_pieces_they_are_taken() {
        let taken = |piece: usize| {
            let mut pattern = Pattern::new(600_000);
            let mut all = Vec::new();
            while pattern.left() > 0 {
                let n = pattern.next(piece).len();
                all.extend_from_slice(pattern.next(piece));
                pattern.advance(n);
            }
            assert!(pattern.next(piece).is_empty());
            (all, pattern.hash())
        };
        let whole = taken(usize::MAX);
        assert_eq!(whole.0.len(), 600_000);
        assert_eq!(whole.1, xxhash_rust::xxh3::xxh3_64(&whole.0));
        assert_eq!(taken(1447), whole);
        assert_ne!(whole.0[..BLOCK], whole.0[BLOCK..2 * BLOCK]);
    }
}
