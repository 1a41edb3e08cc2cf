//! System calls that `nix` does not offer as one safe function: ioctls of a TUN device, a packet socket, a socket's first
//! sequence number and other options, the scheduler, processes that end with this one; and short forms of some that it does:
//! the limit of open files, a name for an unnamed file.
//!
//! Source: Linux, `include/uapi/linux/if_tun.h`, `include/uapi/linux/if_packet.h`, `man 7 packet`, `man 2 sched_setscheduler`,
//! `man 7 pid_namespaces`, `man 2 linkat`.
#![expect(
    unsafe_code,
    reason = "`nix` does not have the other calls; each lends the kernel memory that outlives the call"
)]

use nix::fcntl::{AtFlags, AT_FDCWD};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{getrlimit, setrlimit, Resource};
use nix::sys::signal::Signal;
use nix::unistd::linkat;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// A device without a header in front of its packets (`IFF_TUN | IFF_NO_PI`).
const PLAIN: libc::c_int = libc::IFF_TUN | libc::IFF_NO_PI;
/// Checksums, and large packets over IPv4 and IPv6 (`TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6`).
const OFFLOADS: libc::c_ulong = 1 | 2 | 4;

/// Allows this process at least `wanted` open files, within its hard limit.
pub(crate) fn allow_files(wanted: u64) -> io::Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if soft < wanted {
        setrlimit(Resource::RLIMIT_NOFILE, wanted.min(hard), hard)?;
    }
    Ok(())
}

/// Makes `fd` the device `name` (or a new device with this name), with a virtio-net header of ten bytes if `offload`.
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
        // SAFETY: the argument is a number, not an address.
        check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETOFFLOAD as _, OFFLOADS) })?;
    }
    Ok(())
}

/// A socket for all frames of the device with this index, with a virtio-net header of ten bytes before each.
pub(crate) fn packet_socket(index: u32) -> io::Result<OwnedFd> {
    let all = (libc::ETH_P_ALL as u16).to_be();
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: takes numbers only.
    let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
    check(fd)?;
    // SAFETY: the kernel has just created `fd`, and it has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let one: libc::c_int = 1;
    let len = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel reads one `int`, which outlives the call.
    check(unsafe { libc::setsockopt(fd, libc::SOL_PACKET, libc::PACKET_VNET_HDR, (&raw const one).cast(), len) })?;
    // SAFETY: all zeroes is a valid `sockaddr_ll`.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = all;
    address.sll_ifindex = index as libc::c_int;
    let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel reads one `sockaddr_ll`, which outlives the call.
    check(unsafe { libc::bind(fd, (&raw const address).cast(), len) })?;
    Ok(socket)
}

/// Sets the sequence number of the SYN that an unconnected TCP socket will send. Needs `CAP_NET_ADMIN` in its namespace.
///
/// Linux, `net/ipv4/tcp.c`: under `TCP_REPAIR` a closed socket's next number may be set, and `connect` keeps it.
pub(crate) fn set_isn(socket: BorrowedFd<'_>, isn: u32) -> io::Result<()> {
    /// Ends the repair without a window probe (`TCP_REPAIR_OFF_NO_WP`).
    const OFF: libc::c_int = -1;
    const SEND_QUEUE: libc::c_int = 2;
    let set = |option: libc::c_int, value: libc::c_int| {
        let len = size_of::<libc::c_int>() as libc::socklen_t;
        let (fd, value) = (socket.as_raw_fd(), &raw const value);
        // SAFETY: the kernel reads one `int`, which outlives the call.
        check(unsafe { libc::setsockopt(fd, libc::IPPROTO_TCP, option, value.cast(), len) })
    };
    set(libc::TCP_REPAIR, 1)?;
    set(libc::TCP_REPAIR_QUEUE, SEND_QUEUE)?;
    set(libc::TCP_QUEUE_SEQ, isn as libc::c_int)?;
    set(libc::TCP_REPAIR, OFF)
}

/// Gives the calling thread a priority of `SCHED_FIFO`, from 1 to 99.
pub(crate) fn schedule_fifo(priority: i32) -> io::Result<()> {
    // SAFETY: all zeroes is a valid `sched_param`, here and in every C library.
    let mut param: libc::sched_param = unsafe { std::mem::zeroed() };
    param.sched_priority = priority;
    // SAFETY: the kernel reads one `sched_param`, which outlives the call; 0 is the calling thread.
    check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &param) })
}

/// Reads a socket's option into the front of `value`; returns the number of bytes that the kernel wrote.
pub(crate) fn get_option(
    fd: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &mut [u8],
) -> io::Result<usize> {
    let mut len = value.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes into `value`, which outlives the call.
    check(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, value.as_mut_ptr().cast(), &mut len) })?;
    Ok(len as usize)
}

/// Sets a socket's option to a number.
pub(crate) fn set_option(fd: BorrowedFd<'_>, level: libc::c_int, name: libc::c_int, value: i32) -> io::Result<()> {
    let len = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel reads one `int`, which outlives the call.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, (&raw const value).cast(), len) })
}

/// Gives an unnamed file (`O_TMPFILE`) this name, unless it is taken.
pub(crate) fn give_name(file: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let from = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(AT_FDCWD, from.as_str(), AT_FDCWD, path, AtFlags::AT_SYMLINK_FOLLOW)?)
}

/// Makes `command` run as the second process of a new process namespace, which the calling thread must have requested. The
/// first process only waits for it and returns its exit code, or 128 plus the number of the signal that ended it. The first
/// process is killed when the calling thread ends, and the kernel kills all processes in a process namespace without a first
/// process.
pub(crate) fn under_an_init(command: &mut Command) {
    let divide = || {
        set_pdeathsig(Signal::SIGKILL)?;
        // SAFETY: this process has one thread.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => Ok(()),
            child => wait_as_init(child),
        }
    };
    // SAFETY: between `fork` and `exec`, the closure and the functions that it calls only make system calls and allocate
    // nothing.
    unsafe { command.pre_exec(divide) };
}

/// The first process: it ends with `child`, and with its exit code.
fn wait_as_init(child: libc::pid_t) -> ! {
    // Signals from the terminal are for the child.
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: takes numbers only.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    // The other end of a pipe must notice that the child has closed it.
    // SAFETY: nothing in this process uses a file any more.
    if unsafe { libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0) } < 0 {
        // SAFETY: as above; kernels before 5.9 close them one by one.
        (0..unsafe { libc::getdtablesize() }).for_each(|fd| _ = unsafe { libc::close(fd) });
    }
    loop {
        let mut status = 0;
        // SAFETY: the kernel writes one `int`, which outlives the call.
        let ended = unsafe { libc::waitpid(-1, &mut status, 0) };
        let code = if ended == child && libc::WIFEXITED(status) {
            libc::WEXITSTATUS(status)
        } else if ended == child {
            128 + libc::WTERMSIG(status)
        } else if ended < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            libc::EXIT_FAILURE
        } else {
            // An orphaned process.
            continue;
        };
        // SAFETY: ends the process, and with it its namespace.
        unsafe { libc::_exit(code) }
    }
}

fn check(answer: libc::c_int) -> io::Result<()> {
    if answer < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
