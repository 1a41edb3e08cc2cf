//! How fast the engine is on a device, and whether the bytes are the same: transfers to and from this machine's kernel.
//!
//! Each transfer has a namespace of its own, with a fresh device and nothing remembered. The kernel's application has a thread,
//! the engine has another one. Both hash what they handle.

use crate::clock::{thread_time, Clock};
use crate::driver::{Application, Counts, Driver, Going};
use crate::error::LiveError;
use crate::namespace::Namespace;
use crate::netlink::Device;
use crate::payload::Pattern;
use crate::pcapng::{Capture, Tapped};
use crate::peer::{self, Seen, Source};
use crate::realtime::{self, Priority};
use crate::supervise::Shared;
use crate::wire::{Link, Wire};
use ackclock_tcp::connection::State;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::{Buffers, Host, HostConfig, Id, Initial, Secret};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::thread;
use xxhash_rust::xxh3::Xxh3;

/// The device's name in its namespace.
pub const DEVICE: &str = "tun0";
/// The kernel listens there, or the engine does.
const PORT: u16 = 5001;
/// Both ends' sequence numbers begin here, 64 KiB below 2³², so that every longer transfer wraps.
pub const ISN: u32 = 0xffff_0000;
/// A large packet is at most this long: 44 segments of 1448 bytes.
const MAX_TRAIN: u16 = 44;
/// Bytes that the application gives at a time: fewer calls, and trains are full.
const PIECE: usize = 1 << 16;

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The engine sends, the kernel receives.
    Send,
    /// The kernel sends, the engine receives.
    Receive,
}

/// Which IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// A transfer.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Which way.
    pub direction: Direction,
    /// Over which IP.
    pub family: Family,
    /// Whether packets may be trains of segments.
    pub offload: bool,
    /// How many bytes.
    pub bytes: u64,
    /// The device's MTU, bytes.
    pub mtu: u32,
    /// The engine's stack.
    pub stack: Stack,
    /// The engine's buffers.
    pub buffers: Buffers,
    /// Whether both threads ask for real-time priority.
    pub realtime: bool,
    /// Where a capture goes.
    pub pcap: Option<PathBuf>,
}

/// What came of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Payload bytes that the receiver's application read.
    pub bytes: u64,
    /// From the first packet until everything was acknowledged, or read.
    pub time: Nanos,
    /// Whether both ends' bytes have the same hash, and are equally many.
    pub hashes_equal: bool,
    /// Share of a processor that the engine's thread used.
    pub engine_processor: f64,
    /// Share of a processor that the thread of the kernel's application used; its system calls carry most of the kernel's TCP.
    pub kernel_processor: f64,
    /// What went over the wire.
    pub counts: Counts,
    /// How late 99 of 100 timers were at most.
    pub late_p99: Option<Nanos>,
    /// How late the last one was.
    pub late_worst: Option<Nanos>,
    /// How often the sender's sequence numbers passed 2³².
    pub wraps: u64,
    /// What became of the request for real-time priority.
    pub priority: Priority,
}

/// A kernel to talk to.
pub struct Bench {
    /// The kernel's namespace.
    pub namespace: Namespace,
    /// Our address, and the kernel's.
    pub addresses: (IpAddr, IpAddr),
}

impl Family {
    /// Our address, and the kernel's.
    fn addresses(self) -> (IpAddr, IpAddr) {
        let v6 = |last| IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, last));
        match self {
            Family::V4 => (Ipv4Addr::new(10, 77, 0, 1).into(), Ipv4Addr::new(10, 77, 0, 2).into()),
            Family::V6 => (v6(1), v6(2)),
        }
    }
}

impl Transfer {
    /// The namespace and the device, ready for packets.
    ///
    /// # Errors
    /// [`LiveError::Unavailable`] without the permission.
    pub fn prepare(&self) -> Result<(Bench, Link), LiveError> {
        let namespace = Namespace::new()?;
        // What one transfer taught the kernel, the next one must not know; and 2 GB/s want larger buffers than the default.
        for (name, value) in [
            ("net.ipv4.tcp_no_metrics_save", "1"),
            ("net.ipv4.tcp_rmem", "4096 4194304 33554432"),
            ("net.ipv4.tcp_wmem", "4096 4194304 33554432"),
        ] {
            namespace.set_sysctl(name, value)?;
        }
        let addresses = self.family.addresses();
        let prefix = if addresses.1.is_ipv4() { 24 } else { 64 };
        let device = Device { mtu: self.mtu, addresses: vec![(addresses.1, prefix)], ..Device::default() };
        let link = Link::open(&namespace, DEVICE, &device, self.offload)?;
        Ok((Bench { namespace, addresses }, link))
    }

    /// Carries it out over `wire`, which is the bench's link or something around it.
    ///
    /// # Errors
    /// Whatever goes wrong on the way; a hash that differs is none.
    pub fn run<W: Wire>(&self, bench: &Bench, wire: W, shared: &Shared) -> Result<Outcome, LiveError> {
        let clock = Clock::start();
        let capture = self.pcap.as_ref().map(|path| Capture::create(path, DEVICE, clock)).transpose()?;
        let mut driver = Driver::new(Tapped::new(wire, capture), self.host(bench), (), clock);
        shared.expect(self.bytes);
        let priority = realtime::request(self.realtime);
        let ran = match self.direction {
            Direction::Send => self.send(bench, &mut driver, shared),
            Direction::Receive => self.receive(bench, &mut driver, shared),
        };
        driver.wire_mut().close()?;
        let (ours, kernel) = ran?;
        let Ours { bytes, hash, time, processor } = ours;
        let share = |used: Nanos| used.as_secs_f64() / time.as_secs_f64().max(1e-9);
        Ok(Outcome {
            bytes: kernel.bytes.min(bytes),
            time,
            hashes_equal: (kernel.bytes, kernel.hash) == (bytes, hash) && bytes == self.bytes,
            engine_processor: share(processor),
            kernel_processor: share(kernel.processor),
            counts: driver.counts(),
            late_p99: driver.lateness().percentile(0.99),
            late_worst: driver.lateness().worst(),
            wraps: (u64::from(ISN) + 1 + self.bytes) >> 32,
            priority,
        })
    }

    fn host(&self, bench: &Bench) -> Host {
        let mut config = HostConfig::new([bench.addresses.0], self.mtu);
        config.initial = Some(Initial { isn: SeqNum(ISN), timestamp_offset: 0x1234_5678, label: 1 });
        Host::new(config, Secret::new([0; 16]))
    }

    fn stack(&self) -> Stack {
        let mut stack = self.stack.clone();
        stack.limits.max_train = if self.offload { MAX_TRAIN } else { 1 };
        stack
    }

    fn send<W: Wire>(
        &self,
        bench: &Bench,
        driver: &mut Driver<W, ()>,
        shared: &Shared,
    ) -> Result<(Ours, Seen), LiveError> {
        let (here, there) = bench.addresses;
        let to = SocketAddr::new(there, PORT);
        let listener = peer::listen(&bench.namespace, to)?;
        with_kernel(
            || peer::sink(listener, None, self.realtime, shared),
            shared,
            || {
                let from = SocketAddr::new(here, 0);
                let id = driver.host.connect(driver.now(), from, to, &self.stack(), self.buffers);
                let id = id.map_err(|e| LiveError::Failed(e.to_string()))?;
                let (began, used) = (driver.now(), thread_time());
                let mut sender = Sender { id, pattern: Pattern::new(self.bytes), ended: None, shared };
                driver.run(&mut sender, shared)?;
                let time = sender.ended.unwrap_or_else(|| driver.now()).since(began);
                let processor = thread_time() - used;
                Ok(Ours { bytes: self.bytes, hash: sender.pattern.hash(), time, processor })
            },
        )
    }

    fn receive<W: Wire>(
        &self,
        bench: &Bench,
        driver: &mut Driver<W, ()>,
        shared: &Shared,
    ) -> Result<(Ours, Seen), LiveError> {
        let at = SocketAddr::new(bench.addresses.0, PORT);
        driver.host.listen(at, &self.stack(), self.buffers, 1).map_err(|e| LiveError::Failed(e.to_string()))?;
        let source = Source::Pattern(Pattern::new(self.bytes));
        with_kernel(
            || peer::source(&bench.namespace, at, source, ISN, self.realtime, shared),
            shared,
            || {
                let (began, used) = (driver.now(), thread_time());
                let mut receiver = Receiver { at, id: None, hash: Xxh3::new(), bytes: 0, ended: None, shared };
                driver.run(&mut receiver, shared)?;
                let time = receiver.ended.unwrap_or_else(|| driver.now()).since(began);
                let processor = thread_time() - used;
                Ok(Ours { bytes: receiver.bytes, hash: receiver.hash.digest(), time, processor })
            },
        )
    }
}

/// What our end says of a transfer.
struct Ours {
    bytes: u64,
    hash: u64,
    time: Nanos,
    processor: Nanos,
}

/// Our end on this thread, the kernel's on another; where one fails, the other is stopped.
fn with_kernel(
    kernel: impl FnOnce() -> Result<Seen, LiveError> + Send,
    shared: &Shared,
    ours: impl FnOnce() -> Result<Ours, LiveError>,
) -> Result<(Ours, Seen), LiveError> {
    thread::scope(|scope| {
        let kernel = scope.spawn(|| {
            let seen = kernel();
            if seen.is_err() {
                shared.stop();
            }
            seen
        });
        let ran = ours();
        if ran.is_err() {
            shared.stop();
        }
        let kernel = kernel.join().unwrap_or_else(|_| Err(LiveError::Failed("the kernel's end panicked".into())));
        match (ran, kernel) {
            // Whoever was merely stopped is not the cause.
            (Err(LiveError::Interrupted), Err(e)) | (Err(e), _) | (Ok(_), Err(e)) => Err(e),
            (Ok(ours), Ok(kernel)) => Ok((ours, kernel)),
        }
    })
}

/// Sends a made-up stream and closes.
struct Sender<'a> {
    id: Id,
    pattern: Pattern,
    ended: Option<Time>,
    shared: &'a Shared,
}

impl Application for Sender<'_> {
    fn turn(&mut self, now: Time, host: &mut Host) -> Result<Going, LiveError> {
        let Some(end) = host.endpoint_mut(self.id) else { return Ok(Going::Done) };
        loop {
            let left = self.pattern.left();
            let room = end.room();
            if left == 0 || (room < PIECE && (room as u64) < left) {
                break;
            }
            let taken = end.write(self.pattern.next(room.min(PIECE)));
            self.pattern.advance(taken);
            if taken == 0 {
                break;
            }
        }
        // Before the handshake is done that would end it.
        if self.pattern.left() == 0 && end.state() != State::SynSent {
            end.close();
        }
        self.shared.tell(end.connection().acked());
        match end.state() {
            State::TimeWait => {
                self.ended.get_or_insert(now);
                Ok(Going::Done)
            }
            State::Closed => Err(gone(end.connection().close_reason())),
            _ => {
                if self.ended.is_none() && self.pattern.left() == 0 && matches!(end.state(), State::FinWait2) {
                    self.ended = Some(now);
                }
                Ok(Going::On)
            }
        }
    }
}

/// Accepts a connection and reads it to its end.
struct Receiver<'a> {
    at: SocketAddr,
    id: Option<Id>,
    hash: Xxh3,
    bytes: u64,
    ended: Option<Time>,
    shared: &'a Shared,
}

impl Application for Receiver<'_> {
    fn turn(&mut self, now: Time, host: &mut Host) -> Result<Going, LiveError> {
        if self.id.is_none() {
            self.id = host.accept(self.at);
        }
        let Some(end) = self.id.and_then(|id| host.endpoint_mut(id)) else { return Ok(Going::On) };
        let (a, b) = end.readable();
        let n = a.len() + b.len();
        if n > 0 {
            self.hash.update(a);
            self.hash.update(b);
            self.bytes += n as u64;
            end.consume(n);
            self.shared.tell(self.bytes);
        }
        if end.is_at_end() {
            self.ended.get_or_insert(now);
            end.close();
        }
        match end.state() {
            // Where both closed at once, it is TIME-WAIT.
            State::TimeWait | State::Closed if self.ended.is_some() => Ok(Going::Done),
            State::Closed => Err(gone(end.connection().close_reason())),
            _ => Ok(Going::On),
        }
    }
}

fn gone(reason: Option<ackclock_tcp::connection::CloseReason>) -> LiveError {
    LiveError::Failed(format!("the connection was lost: {reason:?}"))
}
