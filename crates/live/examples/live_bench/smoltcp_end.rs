//! smoltcp at our end of the same device, for comparison with another TCP in user space.

use ackclock_live::bench::{Direction, DEVICE};
use ackclock_live::clock::{thread_time, Clock};
use ackclock_live::namespace::Namespace;
use ackclock_live::netlink::Device;
use ackclock_live::payload::{Pattern, Sink, Source};
use ackclock_live::supervise::Shared;
use ackclock_live::tun::Tun;
use ackclock_live::{peer, realtime, LiveError};
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use serde_json::{json, Value};
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use xxhash_rust::xxh3::Xxh3;

/// A TUN device with smoltcp's interface.
struct Phy {
    tun: Tun,
    arrived: Vec<u8>,
    out: Vec<u8>,
}

struct Rx<'a>(&'a [u8]);
struct Tx<'a>(&'a Tun, &'a mut Vec<u8>);

impl phy::RxToken for Rx<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

impl phy::TxToken for Tx<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let frame = &mut self.1[..len];
        let done = f(frame);
        // A frame that does not fit is lost, as on any wire.
        let _ = self.0.send(frame);
        done
    }
}

impl phy::Device for Phy {
    type RxToken<'a> = Rx<'a>;
    type TxToken<'a> = Tx<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Rx<'_>, Tx<'_>)> {
        let len = self.tun.recv(&mut self.arrived).ok()??;
        Some((Rx(&self.arrived[..len]), Tx(&self.tun, &mut self.out)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Tx<'_>> {
        Some(Tx(&self.tun, &mut self.out))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut it = DeviceCapabilities::default();
        (it.medium, it.max_transmission_unit) = (Medium::Ip, 1500);
        it
    }
}

/// A transfer over IPv4 without offload, which smoltcp does not have.
pub(crate) fn measured(direction: Direction, bytes: u64) -> Result<Value, LiveError> {
    let (ours, theirs) = (SocketAddr::from(([10, 77, 0, 1], 5001)), SocketAddr::from(([10, 77, 0, 2], 5001)));
    let namespace = Namespace::new()?;
    let tun = Tun::new(&namespace, DEVICE, false)?;
    let device = Device { addresses: vec![(theirs.ip(), 24)], ..Device::default() };
    namespace.netlink()?.configure(DEVICE, &device)?;
    let shared = Shared::default();
    let listener = peer::listen(&namespace, theirs)?;
    let done = AtomicBool::new(false);
    let kernels = || {
        let seen = match direction {
            Direction::Send => {
                let nowhere = Sink::new(None).map_err(LiveError::system("the kernel's end"))?;
                peer::sink(listener, nowhere, true, &shared)
            }
            Direction::Receive => {
                peer::source(&namespace, ours, Source::Pattern(Pattern::new(bytes)), 0xffff_0000, true, &shared)
            }
        };
        done.store(true, Ordering::Relaxed);
        seen
    };
    let (ran, kernel) = std::thread::scope(|scope| {
        let kernel = scope.spawn(kernels);
        let ran = scope.spawn(|| run(tun, direction, bytes, (ours, theirs), &done)).join();
        if !matches!(ran, Ok(Ok(_))) {
            shared.stop();
        }
        (ran, kernel.join())
    });
    let panicked = |_| LiveError::Failed("a thread panicked".into());
    let ((got, hash, time, used), kernel) = (ran.map_err(panicked)??, kernel.map_err(panicked)??);
    Ok(json!({
        "direction": match direction { Direction::Send => "send", Direction::Receive => "receive" },
        "offload": false, "family": "IPv4", "stack": "smoltcp 0.14, CUBIC", "bytes": got, "seconds": time,
        "gbps": got as f64 * 8e-9 / time, "hashes_equal": (kernel.bytes, kernel.hash) == (got, hash) && got == bytes,
        "wraps": 0, "engine_processor": used / time, "kernel_processor": kernel.processor.as_secs_f64() / time,
        "priority": "real-time priority",
    }))
}

fn failed(e: &dyn std::fmt::Debug) -> LiveError {
    LiveError::Failed(format!("smoltcp: {e:?}"))
}

/// Writes as much as fits.
fn fill(socket: &mut tcp::Socket<'_>, pattern: &mut Pattern) -> Result<(), LiveError> {
    while socket.can_send() && pattern.left() > 0 {
        let taken = socket.send_slice(pattern.next(1 << 16)).map_err(|e| failed(&e))?;
        pattern.advance(taken);
        if taken == 0 {
            break;
        }
    }
    Ok(())
}

/// Reads all available data; returns the number of bytes.
fn empty(socket: &mut tcp::Socket<'_>, hash: &mut Xxh3) -> Result<u64, LiveError> {
    let mut got = 0;
    while socket.can_recv() {
        let take = |piece: &mut [u8]| {
            hash.update(piece);
            (piece.len(), piece.len())
        };
        got += socket.recv(take).map_err(|e| failed(&e))? as u64;
    }
    Ok(got)
}

/// Bytes, their hash, seconds, and CPU seconds.
type Ran = (u64, u64, f64, f64);

fn run(
    tun: Tun,
    direction: Direction,
    bytes: u64,
    (ours, theirs): (SocketAddr, SocketAddr),
    done: &AtomicBool,
) -> Result<Ran, LiveError> {
    realtime::request(true);
    let clock = Clock::start();
    let time = || Instant::from_micros((clock.now().0 / 1000) as i64);
    let mut phy = Phy { tun, arrived: vec![0; 2048], out: vec![0; 2048] };
    let mut iface = Interface::new(Config::new(HardwareAddress::Ip), &mut phy, time());
    iface.update_ip_addrs(|list| _ = list.push(IpCidr::new(IpAddress::v4(10, 77, 0, 1), 24)));
    let buffer = || tcp::SocketBuffer::new(vec![0; 1 << 20]);
    let mut sockets = SocketSet::new(Vec::new());
    let mut socket = tcp::Socket::new(buffer(), buffer());
    socket.set_congestion_control(tcp::CongestionControl::Cubic);
    socket.set_nagle_enabled(false);
    match direction {
        Direction::Send => socket.connect(iface.context(), theirs, 40_000).map_err(|e| failed(&e))?,
        Direction::Receive => socket.listen(ours.port()).map_err(|e| failed(&e))?,
    }
    let handle = sockets.add(socket);
    let (mut pattern, mut hash, mut got) = (Pattern::new(bytes), Xxh3::new(), 0u64);
    let (began, used) = (clock.now(), thread_time());
    loop {
        iface.poll(time(), &mut phy, &mut sockets);
        let socket = sockets.get_mut::<tcp::Socket<'_>>(handle);
        match direction {
            Direction::Send => fill(socket, &mut pattern)?,
            Direction::Receive => got += empty(socket, &mut hash)?,
        }
        if pattern.left() == 0 || got == bytes {
            socket.close();
        }
        // The kernel's thread ends when it has received everything, or has failed.
        if done.load(Ordering::Relaxed) {
            break;
        }
        let wait = iface.poll_delay(time(), &sockets).map_or(10_000, |d| d.total_micros());
        if wait > 0 {
            let ms = PollTimeout::from(wait.div_ceil(1000).min(10) as u16);
            poll(&mut [PollFd::new(phy.tun.as_fd(), PollFlags::POLLIN)], ms).map_err(LiveError::system("poll"))?;
        }
    }
    let (time, used) = (clock.now().since(began).as_secs_f64(), (thread_time() - used).as_secs_f64());
    Ok(match direction {
        Direction::Send => (bytes - pattern.left(), pattern.hash(), time, used),
        Direction::Receive => (got, hash.digest(), time, used),
    })
}
