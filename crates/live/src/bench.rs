//! Measures the engine's speed on a device, and compares the bytes: transfers to and from this machine's kernel.
//!
//! Each transfer has a namespace of its own, with a new device and no state from earlier transfers. The kernel's application
//! and the engine each have a thread, and both hash the bytes.

use crate::clock::{thread_time, Clock};
use crate::driver::{Counts, Driver};
use crate::error::LiveError;
use crate::link::Link;
use crate::namespace::Namespace;
use crate::netlink::Device;
use crate::payload::{Pattern, Sink, Source};
use crate::pcapng::{Capture, Tapped};
use crate::peer::{self, Seen};
use crate::realtime::{self, Priority};
use crate::session::{check_mtu, first_line, with_kernel, Ours, Receiver, Sender};
use crate::supervise::Shared;
use crate::wire::Wire;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use ackclock_wire::{Buffers, Host, HostConfig, Initial, Secret};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

/// The device's name in its namespace.
pub const DEVICE: &str = "tun0";
/// The kernel, or the engine, listens on this port.
const PORT: u16 = 5001;
/// Both ends' sequence numbers begin here, 64 KiB below 2³², so that every longer transfer wraps.
pub const ISN: u32 = 0xffff_0000;
/// The maximum length of a large packet: 44 segments of 1448 bytes.
pub(crate) const MAX_TRAIN: u16 = 44;

/// The direction of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The engine sends, the kernel receives.
    Send,
    /// The kernel sends, the engine receives.
    Receive,
}

/// The IP version.
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
    /// Its direction.
    pub direction: Direction,
    /// Its IP version.
    pub family: Family,
    /// Whether packets may be trains of segments.
    pub offload: bool,
    /// The number of bytes.
    pub bytes: u64,
    /// The device's MTU, bytes.
    pub mtu: u32,
    /// The engine's stack.
    pub stack: Stack,
    /// The engine's buffers.
    pub buffers: Buffers,
    /// Whether both threads request real-time priority.
    pub realtime: bool,
    /// The file for a capture.
    pub pcap: Option<PathBuf>,
}

/// The results of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Payload bytes that the receiver's application read.
    pub bytes: u64,
    /// From the first packet until everything was acknowledged, or read.
    pub time: Nanos,
    /// Whether both ends' bytes have the same hash and the same number.
    pub hashes_equal: bool,
    /// The engine thread's share of a processor.
    pub engine_processor: f64,
    /// The share of a processor used by the thread of the kernel's application; its system calls include most of the work of
    /// the kernel's TCP.
    pub kernel_processor: f64,
    /// The frames on the wire.
    pub counts: Counts,
    /// The 99th percentile of the lateness of timers.
    pub late_p99: Option<Nanos>,
    /// The largest lateness of a timer.
    pub late_worst: Option<Nanos>,
    /// Segments that the engine retransmitted.
    pub retransmitted: u64,
    /// How often the sender's sequence numbers wrapped at 2³².
    pub wraps: u64,
    /// The outcome of the request for real-time priority.
    pub priority: Priority,
}

/// A kernel as the peer.
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
        check_mtu(self.mtu, self.family == Family::V6)?;
        let namespace = Namespace::new()?;
        // State learned in one transfer must not affect the next, and 2 GB/s needs larger buffers than the default.
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

    /// The first line of a run: namespace, device, MTU, offload, congestion control.
    pub fn describe(&self, link: &Link) -> String {
        let line = first_line("its own", DEVICE, link.kind(), self.mtu, self.offload, &self.stack);
        let verb = match self.direction {
            Direction::Send => "sends",
            Direction::Receive => "receives",
        };
        format!("{line} {verb} over {}, the kernel's cubic at the other end", self.family.name())
    }

    /// Runs the transfer over `wire`, which is the bench's link or a wrapper around it.
    ///
    /// # Errors
    /// Any error during the transfer; different hashes are not an error.
    pub fn run<W: Wire>(&self, bench: &Bench, wire: W, shared: &Shared) -> Result<Outcome, LiveError> {
        let clock = Clock::start();
        let capture = self.pcap.as_ref().map(|path| Capture::create(path, DEVICE, clock, None)).transpose()?;
        let mut driver = Driver::new(Tapped::new(wire, capture), self.host(bench), (), clock);
        shared.expect(self.bytes);
        let priority = realtime::request(self.realtime);
        let ran = match self.direction {
            Direction::Send => self.send(bench, &mut driver, shared),
            Direction::Receive => self.receive(bench, &mut driver, shared),
        };
        driver.wire_mut().close()?;
        let (ours, kernel) = ran?;
        let Ours { bytes, hash, time, processor, retransmitted } = ours;
        let share = |used: Nanos| used.as_secs_f64() / time.as_secs_f64().max(1e-9);
        Ok(Outcome {
            bytes: kernel.bytes.min(bytes),
            time,
            hashes_equal: (kernel.bytes, kernel.hash) == (bytes, hash) && bytes == self.bytes,
            engine_processor: share(processor),
            kernel_processor: share(kernel.processor),
            counts: driver.counts(),
            late_p99: driver.lateness().percentile(990),
            late_worst: driver.lateness().worst(),
            retransmitted,
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
        let nowhere = Sink::new(None).map_err(LiveError::system("the kernel's end"))?;
        with_kernel(
            || peer::sink(listener, nowhere, self.realtime, shared),
            shared,
            || {
                let from = SocketAddr::new(here, 0);
                let id = driver.host.connect(driver.now(), from, to, &self.stack(), self.buffers);
                let id = id.map_err(|e| LiveError::Failed(e.to_string()))?;
                let (began, used) = (driver.now(), thread_time());
                let mut sender =
                    Sender::new(id, Source::Pattern(Pattern::new(self.bytes)), self.buffers.send, Nanos(0), shared);
                driver.run(&mut sender, shared)?;
                let time = sender.ended.unwrap_or_else(|| driver.now()).since(began);
                let processor = thread_time() - used;
                Ok(Ours {
                    bytes: self.bytes,
                    hash: sender.source.sent().1,
                    time,
                    processor,
                    retransmitted: sender.retransmitted,
                })
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
                let mut receiver = Receiver::new(at, Sink::new(None).map_err(LiveError::system("our end"))?, shared);
                driver.run(&mut receiver, shared)?;
                let time = receiver.ended.unwrap_or_else(|| driver.now()).since(began);
                let processor = thread_time() - used;
                let (bytes, hash) = receiver.sink.taken();
                Ok(Ours { bytes, hash, time, processor, retransmitted: 0 })
            },
        )
    }
}
