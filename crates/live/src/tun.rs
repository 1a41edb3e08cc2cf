//! A TUN device: IP packets that the kernel routes to it are read here, and packets written here arrive at the kernel.
//!
//! Source: Linux, `Documentation/networking/tuntap.rst`, `drivers/net/tun.c`.

use crate::error::LiveError;
use crate::namespace::Namespace;
use crate::sys;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// The file that creates TUN devices.
const CLONE: &str = "/dev/net/tun";

/// A TUN device. It is removed when this is dropped, unless the user had made it persistent.
#[derive(Debug)]
pub struct Tun {
    file: File,
    name: String,
    offload: bool,
}

impl Tun {
    /// Creates the device `name` in `namespace`. With `offload`, a virtio-net header ([`ackclock_wire::offload`]) precedes
    /// each packet, checksums are left to the kernel, and packets may be trains of segments.
    ///
    /// # Errors
    /// [`LiveError::Unavailable`] if `/dev/net/tun` cannot be opened; otherwise errors of the kernel.
    pub fn new(namespace: &Namespace, name: &str, offload: bool) -> Result<Tun, LiveError> {
        namespace.run(|| Tun::attach(name, offload))?
    }

    /// Opens the device `name` in the calling thread's namespace, or creates it there.
    ///
    /// # Errors
    /// Those of [`Tun::new`]; [`LiveError::Input`] for a device of another kind.
    pub fn attach(name: &str, offload: bool) -> Result<Tun, LiveError> {
        if name.is_empty() || name.len() >= libc::IFNAMSIZ {
            let most = libc::IFNAMSIZ - 1;
            return Err(LiveError::Input(format!("found a device name \"{name}\", allowed: 1 to {most} bytes")));
        }
        let file =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(CLONE).map_err(|e| {
                LiveError::Unavailable(format!("cannot open {CLONE} ({e}); a TUN device needs root or CAP_NET_ADMIN"))
            })?;
        sys::attach_tun(file.as_fd(), name, offload).map_err(|e| match e.kind() {
            io::ErrorKind::PermissionDenied => LiveError::Unavailable(format!(
                "no permission to use the TUN device {name} ({e}); this needs root, CAP_NET_ADMIN or a device of your own"
            )),
            io::ErrorKind::InvalidInput => LiveError::Input(format!(
                "found the device {name}, which cannot be used ({e}), allowed: a device made by `ip tuntap add dev {name} mode tun`"
            )),
            _ => LiveError::System { doing: format!("TUN device {name}"), error: e },
        })?;
        Ok(Tun { file, name: name.into(), offload })
    }

    /// Reads a frame into `buf`; `None` if there is none at the moment.
    ///
    /// # Errors
    /// Errors of the kernel. A device whose link is down returns `EIO`.
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match (&self.file).read(buf) {
                Ok(len) => return Ok(Some(len)),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// Errors of the kernel; `EINVAL` for data that is not an IP packet.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        loop {
            match (&self.file).write(frame) {
                Ok(_) => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Whether a virtio-net header precedes each packet.
    pub fn offload(&self) -> bool {
        self.offload
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
