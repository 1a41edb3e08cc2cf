//! Applications on the kernel's sockets: bulk senders and receivers, with one thread for each namespace.
//!
//! The bytes of a stream form a pattern by their offsets, so that a receiver can verify them.

use super::TcpInfo;
use crate::clock::Clock;
use crate::error::LiveError;
use crate::namespace::Namespace;
use crate::sys;
use ackclock_tcp::time::{Nanos, Time};
use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::socket::sockopt::{ReuseAddr, TcpCongestion};
use nix::sys::socket::{
    bind, connect, listen, setsockopt, socket, AddressFamily, Backlog, SockFlag, SockType, SockaddrIn,
};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;
use std::time::Duration;

/// The longest time for which a thread sleeps before it checks whether to stop.
const LOOK: Duration = Duration::from_millis(20);
/// The same if an application may be told to continue at any time.
const SOON: Duration = Duration::from_millis(1);
/// Bytes written or read in one call.
const CHUNK: usize = 1 << 18;
/// The pattern's period: a prime, so that a shift by a power of two is detected.
const PERIOD: usize = 251;

/// A sender's socket and its data.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its own address.
    pub from: SocketAddrV4,
    /// The receiver's.
    pub to: SocketAddrV4,
    /// When it connects, after the run's start; if not yet known, [`Apps::go`] sets it later.
    pub start: Option<Nanos>,
    /// Whether [`Apps::go`] sets how much it may write.
    pub is_driven: bool,
    /// How much it sends before it closes; `None`: it never stops.
    pub bytes: Option<u64>,
    /// `TCP_CONGESTION`.
    pub congestion: String,
    /// `TCP_MAXSEG`.
    pub mss: u32,
}

/// A receiver's socket.
#[derive(Clone, Debug)]
pub struct Sink {
    /// Where it listens.
    pub at: SocketAddrV4,
    /// `TCP_MAXSEG`.
    pub mss: u32,
    /// `TCP_WINDOW_CLAMP`: the largest window that it announces, bytes.
    pub window: u32,
}

/// The sockets of one namespace.
pub struct Apps {
    sources: Vec<Sending>,
    sinks: Vec<Receiving>,
}

struct Sending {
    spec: Source,
    socket: TcpStream,
    /// When it connects, nanoseconds after the run's start; `u64::MAX` while unknown.
    start: AtomicU64,
    /// Bytes that it may have written.
    allowed: AtomicU64,
}

struct Receiving {
    window: u32,
    listener: TcpListener,
    received: AtomicU64,
    /// The offset of the first wrong byte.
    damaged: Mutex<Option<u64>>,
}

impl Apps {
    /// Creates the sockets; none connects yet.
    ///
    /// # Errors
    /// Errors of the kernel: [`LiveError::Input`] for a congestion control that it does not have or allow.
    pub fn new(namespace: &Namespace, sources: &[Source], sinks: &[Sink]) -> Result<Apps, LiveError> {
        namespace.run(|| {
            let sources = sources.iter().map(Sending::new).collect::<Result<_, _>>()?;
            let sinks = sinks.iter().map(Receiving::new).collect::<Result<_, _>>()?;
            Ok(Apps { sources, sinks })
        })?
    }

    /// The `tcp_info` of sender number `source`.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn info(&self, source: usize) -> io::Result<TcpInfo> {
        TcpInfo::of(self.sources[source].socket.as_fd())
    }

    /// Sender number `source` connects at `start` after the run's start, and writes up to `allowed` bytes in all.
    pub fn go(&self, source: usize, start: Nanos, allowed: u64) {
        let s = &self.sources[source];
        s.start.store(start.0, Ordering::Relaxed);
        s.allowed.store(allowed, Ordering::Relaxed);
    }

    /// Bytes that receiver number `sink` has read.
    pub fn received(&self, sink: usize) -> u64 {
        self.sinks[sink].received.load(Ordering::Relaxed)
    }

    /// The offset of the first wrong byte that receiver number `sink` read.
    pub fn damaged(&self, sink: usize) -> Option<u64> {
        self.sinks[sink].damaged.lock().ok().and_then(|at| *at)
    }

    /// Connects, sends and receives until `stop`; the run starts at `zero`. Must run on a thread of its own.
    ///
    /// # Errors
    /// Errors of the kernel; the end of a connection is not an error.
    pub fn run(&self, clock: Clock, zero: Time, stop: &AtomicBool) -> io::Result<()> {
        let mut pattern = vec![0; CHUNK + PERIOD];
        pattern.iter_mut().enumerate().for_each(|(i, b)| *b = (i % PERIOD) as u8);
        let mut senders: Vec<Sender<'_>> = self.sources.iter().map(Sender::new).collect();
        let mut readers: Vec<Reader<'_>> = self.sinks.iter().map(Reader::new).collect();
        let mut buf = vec![0; CHUNK];
        while !stop.load(Ordering::Relaxed) {
            let mut wait = LOOK;
            for s in &mut senders {
                wait = wait.min(s.begin(&clock, zero)?);
            }
            let sending = senders.iter().enumerate().filter_map(|(i, s)| Some((Ready::Sender(i), s.waits()?)));
            let reading = readers.iter().enumerate().filter_map(|(i, r)| Some((Ready::Reader(i), r.waits()?)));
            let (who, mut fds): (Vec<Ready>, Vec<PollFd<'_>>) = sending.chain(reading).unzip();
            poll(&mut fds, PollTimeout::try_from(wait).unwrap_or(PollTimeout::ZERO)).or_else(interrupted)?;
            let some = |fd: &PollFd<'_>| fd.any().unwrap_or(true);
            let ready: Vec<Ready> = who.into_iter().zip(&fds).filter(|(_, fd)| some(fd)).map(|(who, _)| who).collect();
            drop(fds);
            for who in ready {
                match who {
                    Ready::Sender(i) => senders[i].send(&pattern)?,
                    Ready::Reader(i) => readers[i].receive(&mut buf, &pattern)?,
                }
            }
        }
        Ok(())
    }
}

/// The sockets that are ready.
#[derive(Clone, Copy)]
enum Ready {
    Sender(usize),
    Reader(usize),
}

fn interrupted(e: Errno) -> nix::Result<i32> {
    if e == Errno::EINTR {
        Ok(0)
    } else {
        Err(e)
    }
}

fn tcp_socket() -> nix::Result<OwnedFd> {
    socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC, None)
}

/// Limits the window that a receiver announces, bytes.
fn clamp(fd: &impl AsFd, window: u32) -> io::Result<()> {
    sys::set_option(fd.as_fd(), libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, window.min(i32::MAX as u32) as i32)
}

fn set(fd: &impl AsFd, name: libc::c_int, value: u32) -> Result<(), LiveError> {
    sys::set_option(fd.as_fd(), libc::IPPROTO_TCP, name, value.min(i32::MAX as u32) as i32)
        .map_err(LiveError::system("setting an option of a socket"))
}

/// The congestion controls that the kernel has.
fn available() -> Result<Vec<String>, LiveError> {
    let file = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let text = std::fs::read_to_string(file).map_err(LiveError::system(file))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

impl Sending {
    fn new(spec: &Source) -> Result<Sending, LiveError> {
        let socket = tcp_socket().map_err(LiveError::system("making a socket"))?;
        let there = available()?;
        let wanted = &spec.congestion;
        // Otherwise the kernel would look for a module, and load it for the whole machine.
        if !there.contains(wanted) {
            let allowed = there.iter().map(|c| format!("kernel:{c}")).collect::<Vec<_>>().join(", ");
            let found = format!("found kernel:{wanted}, allowed: an algorithm that this kernel has loaded: {allowed}");
            return Err(LiveError::Input(format!("command line: key `--sender`: {found}")));
        }
        setsockopt(&socket, TcpCongestion, &wanted.clone().into())
            .map_err(LiveError::system(format!("choosing kernel:{wanted}")))?;
        set(&socket, libc::TCP_MAXSEG, spec.mss)?;
        bind(socket.as_raw_fd(), &SockaddrIn::from(spec.from)).map_err(LiveError::system("binding a socket"))?;
        let start = AtomicU64::new(spec.start.map_or(u64::MAX, |start| start.0));
        let allowed = AtomicU64::new(if spec.is_driven { 0 } else { u64::MAX });
        Ok(Sending { spec: spec.clone(), socket: socket.into(), start, allowed })
    }
}

impl Receiving {
    fn new(spec: &Sink) -> Result<Receiving, LiveError> {
        let listener = tcp_socket().map_err(LiveError::system("making a socket"))?;
        set(&listener, libc::TCP_MAXSEG, spec.mss)?;
        clamp(&listener, spec.window).map_err(LiveError::system("setting an option of a socket"))?;
        let open = || {
            setsockopt(&listener, ReuseAddr, &true)?;
            bind(listener.as_raw_fd(), &SockaddrIn::from(spec.at))?;
            listen(&listener, Backlog::new(8)?)
        };
        open().map_err(LiveError::system("listening on a socket"))?;
        let window = spec.window;
        Ok(Receiving { window, listener: listener.into(), received: AtomicU64::new(0), damaged: Mutex::new(None) })
    }
}

/// A running sender.
struct Sender<'a> {
    of: &'a Sending,
    begun: bool,
    written: u64,
    over: bool,
}

impl<'a> Sender<'a> {
    fn new(of: &'a Sending) -> Self {
        Sender { of, begun: false, written: 0, over: false }
    }

    /// Connects if it is time; returns how long it is until then.
    fn begin(&mut self, clock: &Clock, zero: Time) -> io::Result<Duration> {
        let interval = if self.of.spec.is_driven && !self.over { SOON } else { LOOK };
        if self.begun {
            return Ok(interval);
        }
        let start = self.of.start.load(Ordering::Relaxed);
        let left = Duration::from_nanos(start.saturating_add(zero.0).saturating_sub(clock.now().0));
        if left > Duration::ZERO {
            return Ok(left.min(interval));
        }
        self.begun = true;
        match connect(self.of.socket.as_raw_fd(), &SockaddrIn::from(self.of.spec.to)) {
            Ok(()) | Err(Errno::EINPROGRESS) => Ok(interval),
            Err(e) => Err(e.into()),
        }
    }

    fn waits(&self) -> Option<PollFd<'_>> {
        let wanted = self.begun && !self.over && self.left() != Some(0);
        wanted.then(|| PollFd::new(self.of.socket.as_fd(), PollFlags::POLLOUT))
    }

    /// Bytes that it may write now; `None` if everything is written and the connection is to be closed.
    fn left(&self) -> Option<u64> {
        let left = self.of.spec.bytes.map_or(u64::MAX, |all| all - self.written);
        (left > 0).then(|| left.min(self.of.allowed.load(Ordering::Relaxed).saturating_sub(self.written)))
    }

    fn send(&mut self, pattern: &[u8]) -> io::Result<()> {
        while self.begun && !self.over {
            let Some(left) = self.left() else {
                self.over = true;
                return self.of.socket.shutdown(Shutdown::Write).or_else(not_connected);
            };
            if left == 0 {
                return Ok(());
            }
            let from = (self.written % PERIOD as u64) as usize;
            let len = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            match (&self.of.socket).write(&pattern[from..from + len]) {
                Ok(n) => {
                    self.written += n as u64;
                    if n < len {
                        // The buffer is full.
                        return Ok(());
                    }
                }
                Err(e) => match e.kind() {
                    ErrorKind::Interrupted => {}
                    // Not connected yet, or the buffer is full.
                    ErrorKind::WouldBlock | ErrorKind::NotConnected => return Ok(()),
                    // Refused, reset, timed out: the table shows how far it got.
                    _ => self.over = true,
                },
            }
        }
        Ok(())
    }
}

fn not_connected(e: io::Error) -> io::Result<()> {
    if e.kind() == ErrorKind::NotConnected {
        Ok(())
    } else {
        Err(e)
    }
}

/// A running receiver. Each thread reads one connection.
struct Reader<'a> {
    sink: &'a Receiving,
    stream: Option<TcpStream>,
    read: u64,
    over: bool,
}

impl<'a> Reader<'a> {
    fn new(sink: &'a Receiving) -> Self {
        Reader { sink, stream: None, read: 0, over: false }
    }

    fn waits(&self) -> Option<PollFd<'_>> {
        let fd = self.stream.as_ref().map_or(self.sink.listener.as_fd(), TcpStream::as_fd);
        (!self.over).then(|| PollFd::new(fd, PollFlags::POLLIN))
    }

    fn receive(&mut self, buf: &mut [u8], pattern: &[u8]) -> io::Result<()> {
        if self.stream.is_none() {
            match self.sink.listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(true)?;
                    self.stream = Some(stream);
                }
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(()),
                Err(e) => return Err(e),
            }
        }
        while let (Some(mut stream), false) = (self.stream.as_ref(), self.over) {
            // The first full segments change the clamp, depending on the buffer (`tcp_measure_rcv_mss`).
            clamp(stream, self.sink.window)?;
            match stream.read(buf) {
                Ok(0) => self.over = true,
                Ok(n) => {
                    self.check(&buf[..n], pattern);
                    if n < buf.len() {
                        // That was all.
                        return Ok(());
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.over = true,
            }
        }
        if self.over {
            // Sequences of transfers need many sockets, one after another.
            self.stream = None;
        }
        Ok(())
    }

    /// Counts the bytes read, and compares them with the bytes sent.
    fn check(&mut self, got: &[u8], pattern: &[u8]) {
        let from = (self.read % PERIOD as u64) as usize;
        if let Some(at) = got.iter().zip(&pattern[from..]).position(|(a, b)| a != b)
            && let Ok(mut damaged) = self.sink.damaged.lock()
        {
            damaged.get_or_insert(self.read + at as u64);
        }
        self.read += got.len() as u64;
        self.sink.received.store(self.read, Ordering::Relaxed);
    }
}
