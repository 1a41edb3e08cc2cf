//! Devices that read and write frames, and wrappers that act on their frames.

use crate::error::LiveError;
use crate::namespace::Namespace;
use crate::netlink::Device;
use crate::tun::Tun;
use crate::veth::Veth;
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

/// The device between this process and the kernel of a namespace.
#[derive(Debug)]
pub enum Link {
    /// A TUN device.
    Tun(Tun),
    /// A packet socket at the far end of a pair, if no TUN device can be opened.
    Veth(Veth),
}

impl Link {
    /// Creates the device `name` in `namespace`, as configured by `device`. With `offload`, packets may be trains of segments
    /// in both directions.
    ///
    /// # Errors
    /// [`LiveError::Unavailable`] if neither kind may be created; otherwise errors of the kernel.
    pub fn open(namespace: &Namespace, name: &str, device: &Device, offload: bool) -> Result<Link, LiveError> {
        match Tun::new(namespace, name, offload) {
            Ok(tun) => {
                namespace.netlink()?.configure(name, device)?;
                Ok(Link::Tun(tun))
            }
            Err(LiveError::Unavailable(_)) => Veth::new(namespace, name, device, offload).map(Link::Veth),
            Err(e) => Err(e),
        }
    }

    /// In words, for the first line of a run.
    pub fn kind(&self) -> &'static str {
        match self {
            Link::Tun(_) => "TUN",
            Link::Veth(_) => "veth with a packet socket",
        }
    }
}

impl Wire for Link {
    #[inline]
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Link::Tun(tun) => Wire::recv(tun, buf),
            Link::Veth(veth) => veth.recv(buf),
        }
    }

    #[inline]
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        match self {
            Link::Tun(tun) => Wire::send(tun, frame),
            Link::Veth(veth) => veth.send(frame),
        }
    }

    fn offload(&self) -> bool {
        match self {
            Link::Tun(tun) => Wire::offload(tun),
            Link::Veth(veth) => veth.offload(),
        }
    }

    fn readable(&self) -> BorrowedFd<'_> {
        match self {
            Link::Tun(tun) => tun.readable(),
            Link::Veth(veth) => veth.readable(),
        }
    }
}
