//! The kernel's end of a run: a thread in the namespace with a real socket.
//!
//! Source: `man 7 tcp`; Linux, `net/ipv4/tcp.c` (`TCP_QUEUE_SEQ`), `net/ipv4/tcp_ipv4.c` (`tcp_v4_connect` keeps a number that
//! was set).

use crate::clock::thread_time;
use crate::error::LiveError;
use crate::namespace::Namespace;
use crate::payload::Pattern;
use crate::realtime;
use crate::supervise::Shared;
use crate::sys;
use ackclock_tcp::time::Nanos;
use socket2::{Domain, Protocol, Socket, Type};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::time::Duration;
use xxhash_rust::xxh3::Xxh3;

/// How long a socket blocks before its thread looks whether the run was stopped.
const BLOCK: Duration = Duration::from_millis(100);
/// How long a connection may take to open.
const CONNECT: Duration = Duration::from_secs(10);
/// The application's buffer.
const BUFFER: usize = 1 << 18;

/// What the kernel's application saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Payload bytes that it read or wrote.
    pub bytes: u64,
    /// XXH3 of them.
    pub hash: u64,
    /// Processor time of its thread.
    pub processor: Nanos,
}

/// What the kernel's end sends.
pub enum Source {
    /// A made-up stream.
    Pattern(Pattern),
    /// What is read from a file.
    File(File),
}

/// A listening socket in `namespace`.
///
/// # Errors
/// What the kernel answers.
pub fn listen(namespace: &Namespace, at: SocketAddr) -> Result<TcpListener, LiveError> {
    namespace.run(|| TcpListener::bind(at))?.map_err(LiveError::system(format!("the kernel's socket at {at}")))
}

/// Accepts a connection and reads it to its end; into `file`, if there is one.
///
/// # Errors
/// What the kernel answers; [`LiveError::Interrupted`] if the run was stopped.
pub fn sink(listener: TcpListener, mut file: Option<File>, realtime: bool, shared: &Shared) -> Result<Seen, LiveError> {
    realtime::request(realtime);
    let began = thread_time();
    let failed = || LiveError::system("the kernel's socket");
    let listener = Socket::from(listener);
    listener.set_read_timeout(Some(BLOCK)).map_err(failed())?;
    let mut socket = until(shared, || listener.accept())?.0;
    socket.set_read_timeout(Some(BLOCK)).map_err(failed())?;
    let (mut buffer, mut hash, mut bytes) = (vec![0; BUFFER], Xxh3::new(), 0);
    loop {
        let n = until(shared, || socket.read(&mut buffer))?;
        if n == 0 {
            break;
        }
        hash.update(&buffer[..n]);
        bytes += n as u64;
        if let Some(file) = &mut file {
            file.write_all(&buffer[..n]).map_err(LiveError::system("the file of the kernel's end"))?;
        }
    }
    Ok(Seen { bytes, hash: hash.digest(), processor: Nanos(thread_time().0 - began.0) })
}

/// Connects from `namespace` and writes all of `source`. The congestion control is CUBIC, whatever the system's default is,
/// and the first data byte stands behind the sequence number `isn`.
///
/// # Errors
/// As [`sink`].
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
    let (mut hash, mut bytes, mut buffer) = (Xxh3::new(), 0, vec![0; BUFFER]);
    loop {
        let piece = match &mut source {
            Source::Pattern(pattern) => pattern.next(usize::MAX),
            Source::File(file) => {
                let n = file.read(&mut buffer).map_err(LiveError::system("the file of the kernel's end"))?;
                &buffer[..n]
            }
        };
        let n = piece.len();
        if n == 0 {
            break;
        }
        let mut sent = 0;
        while sent < n {
            sent += until(shared, || socket.write(&piece[sent..]))?;
        }
        bytes += n as u64;
        match &mut source {
            Source::Pattern(pattern) => pattern.advance(n),
            Source::File(_) => hash.update(&buffer[..n]),
        }
    }
    socket.shutdown(Shutdown::Write).map_err(LiveError::system("the kernel's socket"))?;
    // Until the other end has closed, too.
    while until(shared, || socket.read(&mut buffer))? > 0 {}
    let hash = match source {
        Source::Pattern(pattern) => pattern.hash(),
        Source::File(_) => hash.digest(),
    };
    Ok(Seen { bytes, hash, processor: Nanos(thread_time().0 - began.0) })
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

/// Tries again what a time limit ended, unless the run was stopped.
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
