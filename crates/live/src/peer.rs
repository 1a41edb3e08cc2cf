//! The kernel's end of a run: a thread in the namespace with a real socket.
//!
//! Source: `man 7 tcp`; Linux, `net/ipv4/tcp.c` (`TCP_QUEUE_SEQ`), `net/ipv4/tcp_ipv4.c` (`tcp_v4_connect` keeps a number that
//! has been set).

use crate::clock::thread_time;
use crate::error::LiveError;
use crate::namespace::Namespace;
use crate::payload::{is_ready, Sink, Source};
use crate::realtime;
use crate::supervise::Shared;
use crate::sys;
use ackclock_tcp::time::Nanos;
use nix::poll::{PollFlags, PollTimeout};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// How long a socket blocks before its thread checks whether the run was stopped.
const BLOCK: Duration = Duration::from_millis(100);
/// How long a connection may take to open.
const CONNECT: Duration = Duration::from_secs(10);
/// The application's buffer.
const BUFFER: usize = 1 << 18;

/// A transfer as seen by the application on the kernel's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Payload bytes that it read or wrote.
    pub bytes: u64,
    /// Their XXH3 hash.
    pub hash: u64,
    /// CPU time of its thread.
    pub processor: Nanos,
}

/// A listening socket in `namespace`.
///
/// # Errors
/// Errors of the kernel.
pub fn listen(namespace: &Namespace, at: SocketAddr) -> Result<TcpListener, LiveError> {
    namespace.run(|| TcpListener::bind(at))?.map_err(LiveError::system(format!("the kernel's socket at {at}")))
}

/// Accepts a connection and reads it to its end.
///
/// # Errors
/// Errors of the kernel; [`LiveError::Interrupted`] if the run was stopped.
pub fn sink(listener: TcpListener, mut sink: Sink, realtime: bool, shared: &Shared) -> Result<Seen, LiveError> {
    realtime::request(realtime);
    let began = thread_time();
    let failed = || LiveError::system("the kernel's socket");
    let listener = Socket::from(listener);
    listener.set_read_timeout(Some(BLOCK)).map_err(failed())?;
    let mut socket = until(shared, || listener.accept())?.0;
    socket.set_read_timeout(Some(BLOCK)).map_err(failed())?;
    let mut buffer = vec![0; BUFFER];
    loop {
        let n = until(shared, || socket.read(&mut buffer))?;
        if n == 0 {
            break;
        }
        let mut taken = 0;
        while taken < n {
            let more = sink.take(&buffer[taken..n]).map_err(LiveError::system("the file of the kernel's end"))?;
            if more == 0 {
                wait(sink.waits_for(), PollFlags::POLLOUT, shared)?;
            }
            taken += more;
        }
    }
    let (bytes, hash) = sink.taken();
    Ok(Seen { bytes, hash, processor: thread_time() - began })
}

/// Connects from `namespace` and writes all of `source`. The congestion control is CUBIC, regardless of the system's default,
/// and the first data byte follows the sequence number `isn`.
///
/// # Errors
/// Those of [`sink`].
pub fn source(
    namespace: &Namespace,
    to: SocketAddr,
    mut source: Source,
    isn: u32,
    realtime: bool,
    shared: &Shared,
) -> Result<Seen, LiveError> {
    realtime::request(realtime);
    let began = thread_time();
    let socket = namespace.run(|| connect(to, isn))?;
    let mut socket = socket.map_err(LiveError::system(format!("the kernel's socket to {to}")))?;
    while !source.ended() {
        let piece = source.next(usize::MAX).map_err(LiveError::system("the file of the kernel's end"))?;
        if piece.is_empty() {
            wait(source.waits_for(), PollFlags::POLLIN, shared)?;
            continue;
        }
        let sent = until(shared, || socket.write(piece))?;
        source.advance(sent);
    }
    socket.shutdown(Shutdown::Write).map_err(LiveError::system("the kernel's socket"))?;
    // Until the other end has closed as well.
    let mut buffer = vec![0; BUFFER];
    while until(shared, || socket.read(&mut buffer))? > 0 {}
    let (bytes, hash) = source.sent();
    Ok(Seen { bytes, hash, processor: thread_time() - began })
}

/// Waits a moment for a pipe.
fn wait(fd: Option<BorrowedFd<'_>>, flags: PollFlags, shared: &Shared) -> Result<(), LiveError> {
    if shared.stopped() {
        return Err(LiveError::Interrupted);
    }
    if let Some(fd) = fd {
        is_ready(fd, flags, PollTimeout::from(100u8)).map_err(LiveError::system("the file of the kernel's end"))?;
    }
    Ok(())
}

fn connect(to: SocketAddr, isn: u32) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_tcp_congestion(b"cubic")?;
    sys::set_isn(socket.as_fd(), isn)?;
    socket.connect_timeout(&to.into(), CONNECT)?;
    socket.set_read_timeout(Some(BLOCK))?;
    socket.set_write_timeout(Some(BLOCK))?;
    Ok(socket)
}

/// Retries after a timeout, unless the run was stopped.
fn until<T>(shared: &Shared, mut work: impl FnMut() -> io::Result<T>) -> Result<T, LiveError> {
    loop {
        match work() {
            Ok(done) => return Ok(done),
            Err(_) if shared.stopped() => return Err(LiveError::Interrupted),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
            Err(e) => return Err(LiveError::system("the kernel's socket")(e)),
        }
    }
}
