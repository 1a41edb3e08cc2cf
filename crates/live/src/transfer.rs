//! A file sent or received by the engine: over a device that the user created and routed, or with this machine's kernel at the
//! other end.

use crate::bench::{Family, DEVICE, MAX_TRAIN};
use crate::clock::{thread_time, Clock};
use crate::driver::{Counts, Driver};
use crate::error::LiveError;
use crate::link::Link;
use crate::namespace::Namespace;
use crate::netlink::{Device, Netlink};
use crate::payload::{Sink, Source};
use crate::pcapng::{Capture, Tapped};
use crate::peer::{self, Seen};
use crate::realtime::{self, Priority};
use crate::session::{check_mtu, first_line, with_kernel, Ours, Receiver, Sender};
use crate::stream::{Output, Stream};
use crate::supervise::Shared;
use crate::tun::Tun;
use crate::wire::Wire;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use ackclock_wire::{Buffers, Host, HostConfig, Secret};
use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

/// On the user's device: how long a finished sender still replies to a peer that missed its last ACK.
const LINGER: Nanos = Nanos::from_secs(1);

/// The data of the transfer and their direction.
pub enum What {
    /// A file is sent to this address.
    Send(Stream, SocketAddr),
    /// One connection to this address is received into a file.
    Receive(Stream, SocketAddr),
}

/// The other end.
pub enum Other {
    /// Any host reached over the user's TUN device with this name.
    Tun(String),
    /// This machine's kernel, in a namespace of its own. It receives into the file, or sends it; without a file, received data
    /// is discarded.
    Kernel(Option<Stream>),
}

/// A requested transfer.
pub struct Wanted {
    /// The data and their direction.
    pub what: What,
    /// The other end.
    pub other: Other,
    /// Our address if we send; port 0 is replaced by a free port. Default: the neighbour of the address to which we send.
    pub from: Option<SocketAddr>,
    /// The MTU of a created device, bytes; the user's device has its own.
    pub mtu: u32,
    /// Whether packets may be trains of segments.
    pub offload: bool,
    /// The engine's stack.
    pub stack: Stack,
    /// The engine's buffers.
    pub buffers: Buffers,
    /// Whether to request real-time priority.
    pub realtime: bool,
    /// The file for a capture.
    pub pcap: Option<PathBuf>,
}

/// A transfer with its files and device open.
pub struct Ready {
    wanted: Wanted,
    files: Files,
    link: Link,
    namespace: Option<Namespace>,
    mtu: u32,
    /// Our address.
    here: SocketAddr,
}

/// The files of a transfer: ours and the kernel's.
enum Files {
    Send { ours: File, to: SocketAddr, kernels: Option<Output> },
    Receive { ours: Output, kernels: Option<File> },
}

/// The results of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Transferred {
    /// Payload bytes.
    pub bytes: u64,
    /// Their XXH3 hash, 64 bits.
    pub hash: u64,
    /// Whether the kernel's end has the same count and hash; `None` if the other end is another host.
    pub hashes_equal: Option<bool>,
    /// From the first packet until everything was acknowledged, or read.
    pub time: Nanos,
    /// The engine thread's share of a processor.
    pub engine_processor: f64,
    /// The frames on the wire.
    pub counts: Counts,
    /// Segments that the engine retransmitted.
    pub retransmitted: u64,
    /// The 99th percentile of the lateness of timers.
    pub late_p99: Option<Nanos>,
    /// The largest lateness of a timer.
    pub late_worst: Option<Nanos>,
    /// The outcome of the request for real-time priority.
    pub priority: Priority,
}

impl Wanted {
    /// Opens the files, creates the namespace and the device, or uses the user's.
    ///
    /// # Errors
    /// [`LiveError::Unavailable`] without the permission, [`LiveError::Input`] for inconsistent addresses and for files that
    /// cannot be read or created.
    pub fn prepare(mut self) -> Result<Ready, LiveError> {
        let (other, ours) = match self.what {
            What::Send(_, to) => (to, self.from.unwrap_or_else(|| SocketAddr::new(neighbour(to.ip()), 0))),
            What::Receive(_, listen) => (SocketAddr::new(neighbour(listen.ip()), 0), listen),
        };
        if other.is_ipv4() != ours.is_ipv4() {
            return Err(LiveError::Input(format!("found {ours} and {other}, allowed: both of one family")));
        }
        if let (What::Receive(..), Other::Kernel(None)) = (&self.what, &self.other) {
            return Err(LiveError::Input(
                "the kernel's end has nothing to send; name a file for it, or a device".into(),
            ));
        }
        if ours.ip() == other.ip() {
            return Err(LiveError::Input(format!("found {} at both ends, allowed: two addresses", ours.ip())));
        }
        let files = self.files()?;
        let (link, namespace, mtu) = match &self.other {
            Other::Tun(name) => {
                // Before it is attached, because attaching would create it.
                let mtu = Netlink::new()?.mtu(name)?;
                (Link::Tun(Tun::attach(name, self.offload)?), None, mtu)
            }
            Other::Kernel(_) => {
                check_mtu(self.mtu, ours.is_ipv6())?;
                let namespace = Namespace::new()?;
                let prefix = if other.is_ipv4() { 24 } else { 64 };
                let device = Device { mtu: self.mtu, addresses: vec![(other.ip(), prefix)], ..Device::default() };
                let link = Link::open(&namespace, DEVICE, &device, self.offload)?;
                (link, Some(namespace), self.mtu)
            }
        };
        self.stack.limits.max_train = if self.offload { MAX_TRAIN } else { 1 };
        Ok(Ready { wanted: self, files, link, namespace, mtu, here: ours })
    }

    fn files(&self) -> Result<Files, LiveError> {
        let kernels = match &self.other {
            Other::Tun(_) => None,
            Other::Kernel(file) => file.as_ref(),
        };
        Ok(match &self.what {
            What::Send(file, to) => {
                let kernels = kernels.map(Stream::to_write).transpose()?;
                Files::Send { ours: file.to_read()?, to: *to, kernels }
            }
            What::Receive(file, _) => {
                let kernels = kernels.map(Stream::to_read).transpose()?;
                Files::Receive { ours: file.to_write()?, kernels }
            }
        })
    }
}

/// The next address after this one.
fn neighbour(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(a) => Ipv4Addr::from(u32::from(a) ^ 3).into(),
        IpAddr::V6(a) => Ipv6Addr::from(u128::from(a) ^ 3).into(),
    }
}

impl Ready {
    /// The first line of a run: namespace, device, MTU, offload, congestion control.
    pub fn describe(&self) -> String {
        let (namespace, device) = match &self.wanted.other {
            Other::Tun(name) => ("this process's", name.as_str()),
            Other::Kernel(_) => ("its own", DEVICE),
        };
        let kernel = self.namespace.as_ref().map_or("", |_| ", the kernel's cubic at the other end");
        first_line(namespace, device, self.link.kind(), self.mtu, self.wanted.offload, &self.wanted.stack) + kernel
    }

    /// Runs the transfer.
    ///
    /// # Errors
    /// Any error during the transfer.
    pub fn run(self, shared: &Shared) -> Result<Transferred, LiveError> {
        let Ready { wanted, files, link, namespace, mtu, here } = self;
        let Wanted { stack, buffers, realtime, pcap, .. } = wanted;
        let clock = Clock::start();
        let capture = pcap.map(|path| Capture::create(&path, link.kind(), clock, None)).transpose()?;
        let host = Host::new(HostConfig::new([here.ip()], mtu), secret()?);
        let mut driver = Driver::new(Tapped::new(link, capture), host, (), clock);
        let priority = realtime::request(realtime);
        let session =
            Session { driver: &mut driver, here, stack: &stack, buffers, namespace: namespace.as_ref(), shared };
        let (ran, output) = match files {
            Files::Send { ours, to, kernels } => (session.send(ours, to, kernels.as_ref()), kernels),
            Files::Receive { ours, kernels } => (session.receive(&ours, kernels), Some(ours)),
        };
        driver.wire_mut().close()?;
        let (ours, kernel) = ran?;
        let hashes_equal = kernel.map(|k| (k.bytes, k.hash) == (ours.bytes, ours.hash));
        if let Some(output) = output.filter(|_| hashes_equal != Some(false)) {
            output.complete()?;
        }
        Ok(Transferred {
            bytes: ours.bytes,
            hash: ours.hash,
            hashes_equal,
            time: ours.time,
            engine_processor: ours.processor.as_secs_f64() / ours.time.as_secs_f64().max(1e-9),
            counts: driver.counts(),
            retransmitted: ours.retransmitted,
            late_p99: driver.lateness().percentile(990),
            late_worst: driver.lateness().worst(),
            priority,
        })
    }
}

/// The state that both directions need.
struct Session<'a, W> {
    driver: &'a mut Driver<W, ()>,
    here: SocketAddr,
    stack: &'a Stack,
    buffers: Buffers,
    namespace: Option<&'a Namespace>,
    shared: &'a Shared,
}

impl<W: Wire> Session<'_, W> {
    fn send(self, file: File, to: SocketAddr, kernels: Option<&Output>) -> Result<(Ours, Option<Seen>), LiveError> {
        let Session { driver, here, stack, buffers, namespace, shared } = self;
        let linger = if namespace.is_some() { Nanos(0) } else { LINGER };
        shared.expect(file.metadata().map_or(0, |m| m.len()));
        let ours = |driver: &mut Driver<W, ()>| {
            let id = driver.host.connect(driver.now(), here, to, stack, buffers);
            let id = id.map_err(|e| LiveError::Failed(e.to_string()))?;
            let mut sender = Sender::new(id, Source::file(file), buffers.send, linger, shared);
            let (began, used) = (driver.now(), thread_time());
            driver.run(&mut sender, shared)?;
            let (bytes, hash) = sender.source.sent();
            let time = sender.ended.unwrap_or_else(|| driver.now()).since(began);
            Ok(Ours { bytes, hash, time, processor: thread_time() - used, retransmitted: sender.retransmitted })
        };
        let Some(namespace) = namespace else { return ours(driver).map(|ours| (ours, None)) };
        let listener = peer::listen(namespace, to)?;
        let sink = Sink::new(kernels.map(Output::file).transpose()?);
        let sink = sink.map_err(LiveError::system("the file of the kernel's end"))?;
        let ran = with_kernel(|| peer::sink(listener, sink, false, shared), shared, || ours(driver));
        ran.map(|(ours, kernel)| (ours, Some(kernel)))
    }

    fn receive(self, file: &Output, kernels: Option<File>) -> Result<(Ours, Option<Seen>), LiveError> {
        let Session { driver, here, stack, buffers, namespace, shared } = self;
        let file = file.file()?;
        driver.host.listen(here, stack, buffers, 1).map_err(|e| LiveError::Failed(e.to_string()))?;
        let ours = |driver: &mut Driver<W, ()>| {
            let sink = Sink::new(Some(file)).map_err(LiveError::system("the file for the received data"))?;
            let mut receiver = Receiver::new(here, sink, shared);
            let used = thread_time();
            driver.run(&mut receiver, shared)?;
            let (bytes, hash) = receiver.sink.taken();
            let now = driver.now();
            let time = receiver.ended.unwrap_or(now).since(receiver.began.unwrap_or(now));
            Ok(Ours { bytes, hash, time, processor: thread_time() - used, retransmitted: 0 })
        };
        let (Some(namespace), Some(source)) = (namespace, kernels) else {
            return ours(driver).map(|ours| (ours, None));
        };
        shared.expect(source.metadata().map_or(0, |m| m.len()));
        let isn = u32::from_ne_bytes(random()?);
        let kernel = || peer::source(namespace, here, Source::file(source), isn.max(1), false, shared);
        with_kernel(kernel, shared, || ours(driver)).map(|(ours, kernel)| (ours, Some(kernel)))
    }
}

/// Random bytes from the kernel.
fn random<const N: usize>() -> Result<[u8; N], LiveError> {
    let mut bytes = [0; N];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(LiveError::system("/dev/urandom"))?;
    Ok(bytes)
}

/// A key for unguessable sequence numbers.
fn secret() -> Result<Secret, LiveError> {
    random().map(Secret::new)
}

impl Family {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        }
    }
}
