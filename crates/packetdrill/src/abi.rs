//! The C signatures: packetdrill's table of functions, and three functions of the C library that it calls past the table.
//!
//! Source: the table in packetdrill's `packetdrill.h`, whose functions get the table's first entry as their first argument;
//! POSIX.1-2024 for the calls.

#![expect(
    unsafe_code,
    unsafe_op_in_unsafe_fn,
    reason = "C calls these functions with pointers that are valid during the call, as POSIX specifies for each"
)]

use crate::end::{broken, not_understood};
use crate::flags;
use crate::plugin::{Plugin, Polled};
use ackclock_conform::errno::Errno;
use ackclock_tcp::time::Nanos;
use libc::{
    c_char, c_int, c_long, c_longlong, c_uint, c_ulong, c_void, iovec, msghdr, nfds_t, off_t, pollfd, size_t, sockaddr,
    socklen_t, ssize_t, timeval, useconds_t,
};
use std::ffi::CStr;
use std::net::SocketAddr;
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::{Arc, Mutex, PoisonError};

/// The plug-in of this process. packetdrill runs one script a process.
static PLUGIN: Mutex<Option<Arc<Plugin>>> = Mutex::new(None);

fn plugin() -> Arc<Plugin> {
    find().unwrap_or_else(|| broken("a call came before packetdrill_interface_init"))
}

fn find() -> Option<Arc<Plugin>> {
    PLUGIN.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A result in C's form: -1 with `errno` for an error.
fn answer(result: Result<i64, Errno>) -> i64 {
    result.unwrap_or_else(|errno| {
        // SAFETY: the C library's address of this thread's `errno`.
        unsafe { *libc::__errno_location() = errno.number() as c_int };
        -1
    })
}

/// An address, given by C as family, port and bytes.
unsafe fn address(at: *const sockaddr, len: socklen_t) -> Result<SocketAddr, Errno> {
    let bytes = from_raw_parts(at.cast::<u8>(), len as usize);
    crate::plugin::address(bytes).ok_or(Errno::EINVAL)
}

/// Writes zeros to buffers, `len` bytes in all: the engine's data is zeros.
unsafe fn fill(buffers: &[iovec], len: i64) {
    let mut left = usize::try_from(len).unwrap_or(0);
    for buffer in buffers {
        let here = left.min(buffer.iov_len);
        if !buffer.iov_base.is_null() {
            from_raw_parts_mut(buffer.iov_base.cast::<u8>(), here).fill(0);
        }
        left -= here;
    }
}

unsafe fn buffers<'a>(at: *const iovec, count: usize) -> &'a [iovec] {
    if count == 0 {
        &[]
    } else {
        from_raw_parts(at, count)
    }
}

unsafe fn read_into(fd: c_int, buffers: &[iovec], flags: c_int) -> ssize_t {
    let len = buffers.iter().map(|buffer| buffer.iov_len).sum();
    let read = answer(plugin().read(fd, len, flags));
    fill(buffers, read);
    read as ssize_t
}

fn write_from(fd: c_int, buffers: &[iovec], flags: c_int) -> ssize_t {
    let len = buffers.iter().map(|buffer| buffer.iov_len).sum();
    answer(plugin().write(fd, len, flags)) as ssize_t
}

type User = *mut c_void;

unsafe extern "C" fn free(_: User) {}

unsafe extern "C" fn socket(_: User, _domain: c_int, kind: c_int, _protocol: c_int) -> c_int {
    answer(plugin().socket(kind & libc::SOCK_NONBLOCK != 0).map(i64::from)) as c_int
}

unsafe extern "C" fn bind(_: User, fd: c_int, local: *const sockaddr, len: socklen_t) -> c_int {
    answer(address(local, len).and_then(|local| plugin().bind(fd, local))) as c_int
}

unsafe extern "C" fn listen(_: User, fd: c_int, backlog: c_int) -> c_int {
    answer(plugin().listen(fd, u32::try_from(backlog).unwrap_or(0))) as c_int
}

unsafe extern "C" fn accept(_: User, fd: c_int, peer: *mut sockaddr, len: *mut socklen_t) -> c_int {
    let accepted = plugin().accept(fd).map(|(fd, from)| {
        if let Some(from) = from.filter(|_| !peer.is_null() && !len.is_null()) {
            let bytes = crate::plugin::address_bytes(from);
            let room = bytes.len().min(*len as usize);
            from_raw_parts_mut(peer.cast::<u8>(), room).copy_from_slice(&bytes[..room]);
            *len = bytes.len() as socklen_t;
        }
        i64::from(fd)
    });
    answer(accepted) as c_int
}

unsafe extern "C" fn connect(_: User, fd: c_int, remote: *const sockaddr, len: socklen_t) -> c_int {
    answer(address(remote, len).and_then(|remote| plugin().connect(fd, remote))) as c_int
}

unsafe extern "C" fn read(_: User, fd: c_int, at: *mut c_void, len: size_t) -> ssize_t {
    read_into(fd, &[iovec { iov_base: at, iov_len: len }], 0)
}

unsafe extern "C" fn readv(_: User, fd: c_int, at: *const iovec, count: c_int) -> ssize_t {
    read_into(fd, buffers(at, usize::try_from(count).unwrap_or(0)), 0)
}

unsafe extern "C" fn recv(_: User, fd: c_int, at: *mut c_void, len: size_t, flags: c_int) -> ssize_t {
    read_into(fd, &[iovec { iov_base: at, iov_len: len }], flags)
}

unsafe extern "C" fn recvfrom(
    _: User,
    fd: c_int,
    at: *mut c_void,
    len: size_t,
    flags: c_int,
    _from: *mut sockaddr,
    _from_len: *mut socklen_t,
) -> ssize_t {
    read_into(fd, &[iovec { iov_base: at, iov_len: len }], flags)
}

unsafe extern "C" fn recvmsg(_: User, fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    ((*message).msg_controllen, (*message).msg_flags) = (0, 0);
    read_into(fd, buffers((*message).msg_iov, (*message).msg_iovlen), flags)
}

unsafe extern "C" fn write(_: User, fd: c_int, at: *const c_void, len: size_t) -> ssize_t {
    write_from(fd, &[iovec { iov_base: at.cast_mut(), iov_len: len }], 0)
}

unsafe extern "C" fn writev(_: User, fd: c_int, at: *const iovec, count: c_int) -> ssize_t {
    write_from(fd, buffers(at, usize::try_from(count).unwrap_or(0)), 0)
}

unsafe extern "C" fn send(_: User, fd: c_int, at: *const c_void, len: size_t, flags: c_int) -> ssize_t {
    write_from(fd, &[iovec { iov_base: at.cast_mut(), iov_len: len }], flags)
}

unsafe extern "C" fn sendto(
    _: User,
    fd: c_int,
    at: *const c_void,
    len: size_t,
    flags: c_int,
    _to: *const sockaddr,
    _to_len: socklen_t,
) -> ssize_t {
    write_from(fd, &[iovec { iov_base: at.cast_mut(), iov_len: len }], flags)
}

unsafe extern "C" fn sendmsg(_: User, fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    write_from(fd, buffers((*message).msg_iov, (*message).msg_iovlen), flags)
}

// In C these two functions have a variable number of arguments. In Linux's calling conventions the first variable argument, an
// integer or a pointer, is passed like an ordinary third one.
unsafe extern "C" fn fcntl(_: User, fd: c_int, command: c_int, argument: c_int) -> c_int {
    answer(plugin().fcntl(fd, command, argument)) as c_int
}

unsafe extern "C" fn ioctl(_: User, fd: c_int, request: c_ulong, value: *mut c_int) -> c_int {
    // packetdrill passes the request as a signed number of 32 bits.
    let found = plugin().ioctl(fd, u64::from(request as u32));
    answer(found.map(|found| {
        *value = found as c_int;
        0
    })) as c_int
}

unsafe extern "C" fn close(_: User, fd: c_int) -> c_int {
    answer(plugin().close(fd)) as c_int
}

unsafe extern "C" fn shutdown(_: User, fd: c_int, how: c_int) -> c_int {
    answer(plugin().shutdown(fd, how)) as c_int
}

unsafe extern "C" fn get_option(
    _: User,
    fd: c_int,
    level: c_int,
    name: c_int,
    at: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    let found = plugin().get_option(fd, level, name, *len as usize);
    answer(found.map(|bytes| {
        from_raw_parts_mut(at.cast::<u8>(), bytes.len()).copy_from_slice(&bytes);
        *len = bytes.len() as socklen_t;
        0
    })) as c_int
}

unsafe extern "C" fn set_option(
    _: User,
    fd: c_int,
    level: c_int,
    name: c_int,
    at: *const c_void,
    len: socklen_t,
) -> c_int {
    let value = if at.is_null() { &[] } else { from_raw_parts(at.cast::<u8>(), len as usize) };
    answer(plugin().set_option(fd, level, name, value)) as c_int
}

unsafe extern "C" fn poll(_: User, at: *mut pollfd, count: nfds_t, _timeout: c_int) -> c_int {
    let all = if count == 0 { &mut [] } else { from_raw_parts_mut(at, count as usize) };
    let mut asked: Vec<Polled> =
        all.iter().map(|one| Polled { fd: one.fd, events: one.events.into(), found: 0 }).collect();
    let ready = plugin().poll(&mut asked);
    for (one, asked) in all.iter_mut().zip(&asked) {
        one.revents = asked.found as i16;
    }
    answer(ready) as c_int
}

unsafe extern "C" fn netdev_send(_: User, at: *const c_void, len: size_t) -> c_int {
    plugin().inject(from_raw_parts(at.cast::<u8>(), len));
    0
}

unsafe extern "C" fn netdev_receive(_: User, at: *mut c_void, len: *mut size_t, time: *mut c_longlong) -> c_int {
    match plugin().next_packet() {
        Some((micros, packet)) if packet.len() <= *len => {
            from_raw_parts_mut(at.cast::<u8>(), packet.len()).copy_from_slice(&packet);
            (*len, *time) = (packet.len(), micros);
        }
        Some(_) => broken("a packet is longer than packetdrill's buffer"),
        None => *len = 0,
    }
    0
}

unsafe extern "C" fn usleep(_: User, micros: useconds_t) -> c_int {
    plugin().sleep(Nanos::from_micros(micros.into()));
    0
}

unsafe extern "C" fn gettimeofday(_: User, at: *mut timeval, _zone: *mut c_void) -> c_int {
    let micros = plugin().clock();
    *at = timeval { tv_sec: micros / 1_000_000, tv_usec: micros % 1_000_000 };
    0
}

unsafe extern "C" fn epoll_create(_: User, _size: c_int) -> c_int {
    not_understood("epoll_create")
}

unsafe extern "C" fn epoll_ctl(_: User, _epoll: c_int, _what: c_int, _fd: c_int, _event: *mut c_void) -> c_int {
    not_understood("epoll_ctl")
}

unsafe extern "C" fn epoll_wait(_: User, _epoll: c_int, _events: *mut c_void, _most: c_int, _timeout: c_int) -> c_int {
    not_understood("epoll_wait")
}

unsafe extern "C" fn pipe(_: User, _both: *mut c_int) -> c_int {
    not_understood("pipe")
}

unsafe extern "C" fn splice(
    _: User,
    _from: c_int,
    _from_at: *mut off_t,
    _to: c_int,
    _to_at: *mut off_t,
    _len: size_t,
    _flags: c_uint,
) -> ssize_t {
    not_understood("splice")
}

/// packetdrill's table: 33 entries, the first of which is passed to each function.
type Table = [*const c_void; 33];

/// Fills packetdrill's table and starts the engine with `flags`, the text of `--so_flags`.
///
/// # Safety
/// `flags` is a C string or null, and `table` points to packetdrill's table.
#[unsafe(no_mangle)]
unsafe extern "C" fn packetdrill_interface_init(flags: *const c_char, table: *mut Table) {
    let text = if flags.is_null() { String::new() } else { CStr::from_ptr(flags).to_string_lossy().into_owned() };
    let made = flags::parse(&text).and_then(Plugin::new).unwrap_or_else(|why| broken(&why));
    *PLUGIN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(made));
    *table = [
        std::ptr::null(),
        free as *const c_void,
        socket as *const c_void,
        bind as *const c_void,
        listen as *const c_void,
        accept as *const c_void,
        connect as *const c_void,
        read as *const c_void,
        readv as *const c_void,
        recv as *const c_void,
        recvfrom as *const c_void,
        recvmsg as *const c_void,
        write as *const c_void,
        writev as *const c_void,
        send as *const c_void,
        sendto as *const c_void,
        sendmsg as *const c_void,
        fcntl as *const c_void,
        ioctl as *const c_void,
        close as *const c_void,
        shutdown as *const c_void,
        get_option as *const c_void,
        set_option as *const c_void,
        poll as *const c_void,
        netdev_send as *const c_void,
        netdev_receive as *const c_void,
        usleep as *const c_void,
        gettimeofday as *const c_void,
        epoll_create as *const c_void,
        epoll_ctl as *const c_void,
        epoll_wait as *const c_void,
        pipe as *const c_void,
        splice as *const c_void,
    ];
}

/// For its assertions, packetdrill reads `TCP_INFO` without using its table. With this library in `LD_PRELOAD`, that call
/// arrives here.
///
/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn getsockopt(fd: c_int, level: c_int, name: c_int, at: *mut c_void, len: *mut socklen_t) -> c_int {
    match find() {
        Some(plugin) if plugin.has(fd) => get_option(std::ptr::null_mut(), fd, level, name, at, len),
        Some(_) | None => libc::syscall(libc::SYS_getsockopt, fd, level, name, at, len) as c_int,
    }
}

/// In virtual time, nothing must be locked in memory, which would need privileges.
#[unsafe(no_mangle)]
extern "C" fn mlockall(_flags: c_int) -> c_int {
    0
}

/// In virtual time, no priority is needed.
#[unsafe(no_mangle)]
extern "C" fn sched_setscheduler(_process: c_int, _policy: c_int, _parameter: *const c_void) -> c_int {
    0
}

/// packetdrill begins at a tick of this clock; waiting for one would take a tenth of a second.
#[unsafe(no_mangle)]
extern "C" fn times(_at: *mut c_void) -> c_long {
    static TICKS: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(1);
    TICKS.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

#[cfg(test)]
mod tests;
