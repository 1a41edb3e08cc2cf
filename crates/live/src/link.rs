//! The device between this process and a kernel: a TUN device, or a packet socket if none can be opened.

use crate::error::LiveError;
use crate::namespace::Namespace;
use crate::netlink::Device;
use crate::tun::Tun;
use crate::veth::Veth;
use crate::wire::Wire;
use std::io;
use std::os::fd::BorrowedFd;

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
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Link::Tun(tun) => Wire::recv(tun, buf),
            Link::Veth(veth) => veth.recv(buf),
        }
    }

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
