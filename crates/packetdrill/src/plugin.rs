//! Descriptors and calls, without C types.
//!
//! Virtual time passes in three places: in `sleep`, while packetdrill waits for the next packet, and a little after many reads
//! of the clock in a row, since packetdrill waits for the last 20 microseconds before an event by reading the clock. Before
//! each step every other thread must be asleep, so that a call that has just ended reads the time of its end.

use crate::desk::{Office, Step, LONGEST};
use crate::end::{broken, not_understood};
use crate::flags::Flags;
use crate::info;
use crate::names::{option, queue, read_flags, write_flags, SO_MEMINFO, TCP_CC_INFO};
use ackclock_conform::errno::Errno;
use ackclock_conform::tcp::{ready, Answer, Call, OptionValue, SocketOption};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::{parse, Checksums, Packet};
use libc::c_int;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The reading of the clock at the start of virtual time, seconds: any number far from 0.
const START: u64 = 1_000_000;
/// After this many reads of the clock in a row, the program counts as waiting. Fewer reads take no time.
const WAITS_BY_LOOKING: u32 = 30;
/// How far the clock then advances. Both of packetdrill's waits of this kind, 20 µs and 250 µs, are multiples of it, so that
/// events happen exactly when they are due.
const AFTER_LOOKING: Nanos = Nanos::from_micros(10);
/// How often another thread may be found awake, and for how long this thread then waits.
const MOST_LOOKS: u32 = 100_000;
const BETWEEN_LOOKS: Duration = Duration::from_micros(100);
/// Checks without a pause, before a thread that is still awake is given time.
const QUICK_LOOKS: u32 = 20;

/// An open descriptor.
struct Descriptor {
    socket: u32,
    non_blocking: bool,
    /// A real descriptor, so that its number is this process's.
    _file: OwnedFd,
}

/// A descriptor that `poll` asks for.
pub(crate) struct Polled {
    pub(crate) fd: c_int,
    pub(crate) events: i64,
    pub(crate) found: i64,
}

/// The plug-in of one run.
pub(crate) struct Plugin {
    office: Office,
    v6: bool,
    /// packetdrill's own thread.
    main: ThreadId,
    open: Mutex<BTreeMap<c_int, Descriptor>>,
    /// Reads of the clock since the last other call.
    looks: AtomicU32,
    /// The source of the last SYN.
    peer: Mutex<Option<SocketAddr>>,
}

type Outcome<T> = Result<T, Errno>;

impl Plugin {
    /// Starts an engine; the thread that calls this is packetdrill's own.
    ///
    /// # Errors
    /// The file of commands cannot be opened.
    pub(crate) fn new(flags: Flags) -> Result<Self, String> {
        let v6 = flags.address.is_ipv6();
        let main = thread::current().id();
        let office = Office::open(flags)?;
        Ok(Plugin { office, v6, main, open: Mutex::default(), looks: AtomicU32::new(0), peer: Mutex::default() })
    }

    fn in_main(&self) -> bool {
        thread::current().id() == self.main
    }

    fn descriptors(&self) -> MutexGuard<'_, BTreeMap<c_int, Descriptor>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a descriptor is a socket of this plug-in.
    pub(crate) fn has(&self, fd: c_int) -> bool {
        self.descriptors().contains_key(&fd)
    }

    fn at(&self, fd: c_int) -> Outcome<u32> {
        self.descriptors().get(&fd).map(|descriptor| descriptor.socket).ok_or(Errno::EBADF)
    }

    fn insert(&self, socket: i64) -> Outcome<c_int> {
        let file: OwnedFd = File::open("/dev/null").map_err(|_| Errno::ENOBUFS)?.into();
        let fd = file.as_raw_fd();
        let descriptor = Descriptor { socket: socket as u32, non_blocking: false, _file: file };
        self.descriptors().insert(fd, descriptor);
        Ok(fd)
    }

    fn answer(&self, call: Call) -> Outcome<Answer> {
        let answer = if self.in_main() {
            self.looks.store(0, Ordering::Relaxed);
            let asked = call.clone();
            self.office.with(move |desk| desk.call(&asked))
        } else {
            let (waiter, end) = channel();
            let asked = call.clone();
            self.office.with(move |desk| desk.call_beside(&asked, waiter));
            end.recv().unwrap_or_else(|_| broken("the engine's thread has ended"))
        };
        match answer {
            Answer::Failed(errno) => Err(errno),
            Answer::Unknown | Answer::Wait => not_understood(&format!("{call:?}")),
            Answer::Done(_) | Answer::Value(_) => Ok(answer),
        }
    }

    fn number(&self, call: Call) -> Outcome<i64> {
        match self.answer(call)? {
            Answer::Done(number) => Ok(number),
            Answer::Value(_) | Answer::Failed(_) | Answer::Wait | Answer::Unknown => Ok(0),
        }
    }

    pub(crate) fn socket(&self, non_blocking: bool) -> Outcome<c_int> {
        let socket = self.number(Call::Socket { v6: self.v6 })?;
        let fd = self.insert(socket)?;
        if non_blocking {
            self.set_non_blocking(fd, true)?;
        }
        Ok(fd)
    }

    pub(crate) fn bind(&self, fd: c_int, local: SocketAddr) -> Outcome<i64> {
        self.number(Call::Bind { socket: self.at(fd)?, local })
    }

    pub(crate) fn listen(&self, fd: c_int, backlog: u32) -> Outcome<i64> {
        self.number(Call::Listen { socket: self.at(fd)?, backlog })
    }

    /// The new descriptor, and the peer's address.
    pub(crate) fn accept(&self, fd: c_int) -> Outcome<(c_int, Option<SocketAddr>)> {
        let socket = self.number(Call::Accept { socket: self.at(fd)? })?;
        let peer = *self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((self.insert(socket)?, peer))
    }

    pub(crate) fn connect(&self, fd: c_int, remote: SocketAddr) -> Outcome<i64> {
        self.number(Call::Connect { socket: self.at(fd)?, remote })
    }

    pub(crate) fn read(&self, fd: c_int, len: usize, flags: c_int) -> Outcome<i64> {
        let flags = read_flags(flags).unwrap_or_else(|| not_understood(&format!("flags {flags:#x} of a reading call")));
        self.number(Call::Read { socket: self.at(fd)?, len, flags })
    }

    pub(crate) fn write(&self, fd: c_int, len: usize, flags: c_int) -> Outcome<i64> {
        let flags =
            write_flags(flags).unwrap_or_else(|| not_understood(&format!("flags {flags:#x} of a writing call")));
        self.number(Call::Write { socket: self.at(fd)?, len, flags })
    }

    pub(crate) fn close(&self, fd: c_int) -> Outcome<i64> {
        let socket = self.at(fd)?;
        self.descriptors().remove(&fd);
        self.number(Call::Close { socket })
    }

    pub(crate) fn shutdown(&self, fd: c_int, how: c_int) -> Outcome<i64> {
        let (read, write) = match how {
            libc::SHUT_RD => (true, false),
            libc::SHUT_WR => (false, true),
            libc::SHUT_RDWR => (true, true),
            _ => return Err(Errno::EINVAL),
        };
        self.number(Call::Shutdown { socket: self.at(fd)?, read, write })
    }

    fn set_non_blocking(&self, fd: c_int, on: bool) -> Outcome<i64> {
        let socket = self.at(fd)?;
        if let Some(descriptor) = self.descriptors().get_mut(&fd) {
            descriptor.non_blocking = on;
        }
        self.number(Call::SetNonBlocking { socket, on })
    }

    pub(crate) fn fcntl(&self, fd: c_int, command: c_int, argument: c_int) -> Outcome<i64> {
        match command {
            libc::F_GETFL => {
                let non_blocking = self.descriptors().get(&fd).ok_or(Errno::EBADF)?.non_blocking;
                Ok((libc::O_RDWR | if non_blocking { libc::O_NONBLOCK } else { 0 }).into())
            }
            libc::F_SETFL => self.set_non_blocking(fd, argument & libc::O_NONBLOCK != 0),
            other => not_understood(&format!("fcntl with command {other}")),
        }
    }

    /// The length of a queue.
    pub(crate) fn ioctl(&self, fd: c_int, request: u64) -> Outcome<i64> {
        let queue = queue(request).unwrap_or_else(|| not_understood(&format!("ioctl {request:#x}")));
        self.number(Call::QueueLength { socket: self.at(fd)?, queue })
    }

    /// The value of an option, at most `room` bytes long.
    pub(crate) fn get_option(&self, fd: c_int, level: c_int, name: c_int, room: usize) -> Outcome<Vec<u8>> {
        let socket = self.at(fd)?;
        match (level, name) {
            (libc::IPPROTO_TCP, libc::TCP_INFO) => {
                return Ok(self.office.with(move |desk| {
                    let now = desk.world.now();
                    info::bytes(room, |field| desk.world.info(now, socket, field))
                }))
            }
            (libc::IPPROTO_TCP, TCP_CC_INFO) | (libc::SOL_SOCKET, SO_MEMINFO) => return Ok(vec![0; room]),
            _ => {}
        }
        let mut bytes = match self.answer(Call::GetOption { socket, option: named(level, name) })? {
            Answer::Value(OptionValue::Integer(number)) => (number as c_int).to_ne_bytes().to_vec(),
            Answer::Value(OptionValue::Text(text)) => text.into_bytes(),
            Answer::Value(OptionValue::Linger { on, seconds }) => {
                [c_int::from(on).to_ne_bytes(), (seconds as c_int).to_ne_bytes()].concat()
            }
            Answer::Done(_) | Answer::Failed(_) | Answer::Wait | Answer::Unknown => Vec::new(),
        };
        bytes.truncate(room);
        Ok(bytes)
    }

    pub(crate) fn set_option(&self, fd: c_int, level: c_int, name: c_int, value: &[u8]) -> Outcome<i64> {
        let socket = self.at(fd)?;
        let option = named(level, name);
        let number = |at: usize| -> Outcome<i64> {
            let bytes = value.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).ok_or(Errno::EINVAL)?;
            Ok(c_int::from_ne_bytes(bytes).into())
        };
        let value = match option {
            SocketOption::Linger => OptionValue::Linger { on: number(0)? != 0, seconds: number(4)? },
            SocketOption::Congestion => {
                OptionValue::Text(String::from_utf8_lossy(value).trim_end_matches('\0').to_owned())
            }
            _ => OptionValue::Integer(number(0)?),
        };
        self.number(Call::SetOption { socket, option, value })
    }

    /// Counts the descriptors with requested events; errors always count.
    pub(crate) fn poll(&self, all: &mut [Polled]) -> Outcome<i64> {
        let mut ready = 0;
        for one in all {
            let found = self.number(Call::Poll { socket: self.at(one.fd)? })?;
            one.found = found & (one.events | ready::ERR | ready::HUP);
            ready += i64::from(one.found != 0);
        }
        Ok(ready)
    }

    /// A packet arrives at the engine.
    pub(crate) fn inject(&self, packet: &[u8]) {
        if let Ok(Packet { header, .. }) = parse(packet, Checksums::Trust) {
            if header.src.ip().is_unspecified() {
                not_understood("packetdrill gives packets no addresses before `listen` or `connect`");
            }
            if header.flags & (Segment::SYN | Segment::ACK) == Segment::SYN {
                *self.peer.lock().unwrap_or_else(PoisonError::into_inner) = Some(header.src);
            }
        }
        self.looks.store(0, Ordering::Relaxed);
        let packet = packet.to_vec();
        self.office.with(move |desk| desk.world.inject(&packet)).unwrap_or_else(|why| broken(&why));
        self.quiesce();
    }

    /// The next packet with its time in microseconds; `None` if none is sent for an hour.
    pub(crate) fn next_packet(&self) -> Option<(i64, Vec<u8>)> {
        self.looks.store(0, Ordering::Relaxed);
        self.quiesce();
        let limit = self.office.with(|desk| desk.world.now()) + LONGEST;
        loop {
            match self.office.with(move |desk| desk.towards_packet(limit)) {
                Step::Packet(at, packet) => return Some((micros(at), packet)),
                Step::Moved => self.quiesce(),
                Step::Nothing => return None,
            }
        }
    }

    pub(crate) fn sleep(&self, time: Nanos) {
        self.looks.store(0, Ordering::Relaxed);
        self.quiesce();
        let until = self.office.with(|desk| desk.world.now()) + time;
        self.advance(until);
    }

    /// Microseconds on the clock.
    pub(crate) fn clock(&self) -> i64 {
        if self.in_main() && self.looks.fetch_add(1, Ordering::Relaxed) >= WAITS_BY_LOOKING {
            self.looks.store(0, Ordering::Relaxed);
            let now = self.office.with(|desk| desk.world.now());
            self.advance(now + AFTER_LOOKING);
        }
        micros(self.office.with(|desk| desk.world.now()))
    }

    fn advance(&self, until: Time) {
        while self.office.with(move |desk| desk.step(until)) {
            self.quiesce();
        }
        self.office.with(move |desk| desk.world.advance(until)).unwrap_or_else(|why| broken(&why));
    }

    /// Waits until every other thread sleeps.
    fn quiesce(&self) {
        if !self.in_main() {
            return;
        }
        let own = fs::read_link("/proc/thread-self").ok().and_then(|path| Some(path.file_name()?.to_owned()));
        for look in 0..MOST_LOOKS {
            let Ok(tasks) = fs::read_dir("/proc/self/task") else { broken("/proc/self/task cannot be read") };
            let others = tasks.flatten().filter(|task| Some(task.file_name()) != own);
            let awake = |text: String| !text.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S'));
            // A thread that has ended in the meantime has no file any more.
            let busy = others.filter_map(|task| fs::read_to_string(task.path().join("stat")).ok()).any(awake);
            if !busy {
                return;
            }
            if look < QUICK_LOOKS {
                thread::yield_now();
            } else {
                thread::sleep(BETWEEN_LOOKS);
            }
        }
        broken("another thread does not come to rest")
    }
}

fn named(level: c_int, name: c_int) -> SocketOption {
    option(level, name).unwrap_or_else(|| not_understood(&format!("socket option {name} of level {level}")))
}

fn micros(at: Time) -> i64 {
    (START * 1_000_000 + at.0 / 1000) as i64
}

/// An address in the form of `struct sockaddr_in` or `sockaddr_in6`; an IPv4 address that is mapped into IPv6 is IPv4.
pub(crate) fn address(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    let ip = match c_int::from(family) {
        libc::AF_INET => IpAddr::from(<[u8; 4]>::try_from(bytes.get(4..8)?).ok()?),
        libc::AF_INET6 => IpAddr::from(<[u8; 16]>::try_from(bytes.get(8..24)?).ok()?).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// The inverse of [`address`].
pub(crate) fn address_bytes(address: SocketAddr) -> Vec<u8> {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 } as u16;
    let mut bytes = [family.to_ne_bytes(), address.port().to_be_bytes()].concat();
    match address.ip() {
        IpAddr::V4(ip) => bytes.extend([ip.octets().as_slice(), &[0; 8]].concat()),
        IpAddr::V6(ip) => bytes.extend([[0; 4].as_slice(), &ip.octets(), &[0; 4]].concat()),
    }
    bytes
}
