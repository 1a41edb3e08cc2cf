//! Devices that read and write frames, and wrappers that act on their frames.

use crate::tun::Tun;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Room for the largest frame: a virtio-net header and the largest IP packet.
pub const MAX_FRAME: usize = ackclock_wire::offload::LEN + 65_535 + 40;

/// A connection for IP packets to and from a kernel.
pub trait Wire {
    /// Writes the next frame into the front of `buf` and returns its length; `None` if there is none at the moment.
    ///
    /// # Errors
    /// Errors of the system.
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>>;

    /// Sends a frame.
    ///
    /// # Errors
    /// Errors of the system. `ENOBUFS` and `EAGAIN` mean that a queue is full and the frame is lost.
    fn send(&mut self, frame: &[u8]) -> io::Result<()>;

    /// Whether each frame begins with a virtio-net header ([`ackclock_wire::offload`]); otherwise it is only a packet.
    fn offload(&self) -> bool;

    /// A file that becomes readable when a frame has arrived.
    fn readable(&self) -> BorrowedFd<'_>;
}

impl Wire for Tun {
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        Tun::recv(self, buf)
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        Tun::send(self, frame)
    }

    fn offload(&self) -> bool {
        Tun::offload(self)
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }
}
