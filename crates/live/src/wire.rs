//! What gives and takes frames: a device, or whatever acts on its frames on their way.

use crate::tun::Tun;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Room for the largest frame: a virtio-net header and the largest IP packet.
pub const MAX_FRAME: usize = ackclock_wire::offload::LEN + 65_535 + 40;

/// A way for IP packets to and from a kernel.
pub trait Wire {
    /// The next frame, written into the front of `buf`, and its length; `None` if there is none now.
    ///
    /// # Errors
    /// What the system answers.
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>>;

    /// Sends a frame.
    ///
    /// # Errors
    /// What the system answers. `ENOBUFS` and `EAGAIN` mean that a queue is full and the frame is lost.
    fn send(&mut self, frame: &[u8]) -> io::Result<()>;

    /// Whether each frame begins with a virtio-net header ([`ackclock_wire::offload`]); else it is a packet alone.
    fn offload(&self) -> bool;

    /// What becomes readable when a frame has arrived.
    fn readable(&self) -> BorrowedFd<'_>;
}

impl Wire for Tun {
    #[inline]
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        Tun::recv(self, buf)
    }

    #[inline]
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

impl<W: Wire + ?Sized> Wire for Box<W> {
    #[inline]
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        (**self).recv(buf)
    }

    #[inline]
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        (**self).send(frame)
    }

    fn offload(&self) -> bool {
        (**self).offload()
    }

    fn readable(&self) -> BorrowedFd<'_> {
        (**self).readable()
    }
}
