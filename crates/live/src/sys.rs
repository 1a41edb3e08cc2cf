//! The system calls for which no library has a safe function: three ioctls of a TUN device.
//!
//! Source: Linux, `include/uapi/linux/if_tun.h`, `drivers/net/tun.c`.
#![expect(
    unsafe_code,
    reason = "no library offers these calls; each hands the kernel memory that lives through the call"
)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A device without a header in front of its packets (`IFF_TUN | IFF_NO_PI`).
const PLAIN: libc::c_int = libc::IFF_TUN | libc::IFF_NO_PI;
/// Checksums, and large packets over IPv4 and IPv6 (`TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6`).
const OFFLOADS: libc::c_ulong = 1 | 2 | 4;

/// Makes `fd` the device `name` (or a new one of this name), with a virtio-net header of ten bytes if `offload`.
pub(crate) fn attach_tun(fd: BorrowedFd<'_>, name: &str, offload: bool) -> io::Result<()> {
    let flags = PLAIN | if offload { libc::IFF_VNET_HDR } else { 0 };
    // SAFETY: all zeroes is a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
        *place = byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: the kernel reads and writes one `ifreq`, which outlives the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETIFF as _, &mut request) })?;
    if offload {
        let len: libc::c_int = 10;
        // SAFETY: the kernel reads one `int`, which outlives the call.
        check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETVNETHDRSZ as _, &len) })?;
        // SAFETY: the argument is a number, no address.
        check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETOFFLOAD as _, OFFLOADS) })?;
    }
    Ok(())
}

fn check(answer: libc::c_int) -> io::Result<()> {
    if answer < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
