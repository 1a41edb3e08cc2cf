//! The victim behind a device. A kernel routes the packets of the attacker's device to the device of the attacked host, and back.
//! Meanwhile a client of this kernel sends data to the same listener.

use crate::attack::{at, host, Attack, Victim, BACKLOG, BUFFER};
use crate::heap::measured;
use ackclock_live::clock::{thread_time, Clock};
use ackclock_live::driver::{Application, Driver, Going};
use ackclock_live::namespace::Namespace;
use ackclock_live::netlink::Device;
use ackclock_live::supervise::Shared;
use ackclock_live::tun::Tun;
use ackclock_live::wire::Wire;
use ackclock_live::LiveError;
use ackclock_tcp::connection::State;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::host::{Host, Id};
use ackclock_wire::{parse, Checksums, Dialect, Header, Writing};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpStream};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// The kernel's own address, from which the client connects.
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
/// Networks of the attacker: its connection, strangers, and the addresses of a flood of SYNs.
const ATTACKERS: [(Ipv4Addr, u8); 2] = [(Ipv4Addr::new(10, 0, 0, 2), 31), (Ipv4Addr::new(11, 0, 0, 0), 8)];
/// Packets of the attacker that wait for the victim at most; the device's queue has room for these, so that none is lost.
const UNDERWAY: u64 = 256;
/// Longer than the driver sleeps: after this time without an answer, the victim has nothing more to send.
const QUIET: Duration = Duration::from_millis(100);
/// The longest that the victim or the client may be without progress.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest that a transfer of the client may take.
const LONGEST: Duration = Duration::from_secs(10);
/// Memory of the client's connection: buffers in both directions.
const CLIENTS: isize = 2 * BUFFER as isize;
/// Bytes of each transfer of the client, and the pause after it: most packets are the attacker's.
const PAYLOAD: usize = 1 << 16;
const PAUSE: Duration = Duration::from_millis(20);

/// What an attack has led to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Damage {
    /// Packets of the attacker.
    pub(crate) packets: u64,
    /// Packets to the attacker.
    pub(crate) answers: u64,
    /// Packets on the victim's device, in both directions, with those of the client.
    pub(crate) frames: u64,
    /// From the first packet to the last.
    pub(crate) time: Duration,
    /// Processor time of the victim's thread, its system calls included.
    pub(crate) processor: Nanos,
    /// The most bytes of heap that this thread held.
    pub(crate) kept: isize,
    /// Connections that the victim keeps.
    pub(crate) connections: usize,
    /// Complete transfers of the client.
    pub(crate) transfers: u64,
    /// The longest of these.
    pub(crate) slowest: Duration,
}

impl Damage {
    /// The most answers: the attack's bound for each second that it lasted, or part of one, since hosts limit the rate of
    /// many answers.
    pub(crate) fn most_answers(&self, attack: &Attack) -> u64 {
        attack.most_answers(self.packets) * (1 + self.time.as_secs())
    }

    /// The most memory: the attack's bound, and that of the client's connection.
    pub(crate) fn most_kept(attack: &Attack) -> isize {
        attack.kept + CLIENTS
    }

    /// Whether answers, memory and connections are within the attack's bounds, and the client was served.
    pub(crate) fn within(&self, attack: &Attack) -> bool {
        self.answers <= self.most_answers(attack)
            && self.kept <= Self::most_kept(attack)
            // With those of the attacker and of the client.
            && self.connections <= BACKLOG + 2
            && self.transfers > 0
            && self.slowest < LONGEST
    }

    /// Processor time of the victim for a packet of either direction, ns.
    pub(crate) fn each(&self) -> f64 {
        self.processor.0 as f64 / self.frames.max(1) as f64
    }
}

/// Packets on the victim's device.
#[derive(Default)]
struct Counted {
    /// From the attacker.
    heard: AtomicU64,
    /// To the attacker.
    answered: AtomicU64,
    /// All.
    frames: AtomicU64,
}

/// Runs an attack of `count` packets in a namespace of its own.
///
/// # Errors
/// [`LiveError::Unavailable`] without the rights; the client's transfer that failed; the victim's error.
pub(crate) fn run(attack: &Attack, count: u64) -> Result<Damage, LiveError> {
    let namespace = Namespace::new()?;
    namespace.set_sysctl("net.ipv4.ip_forward", "1")?;
    let (victims, attackers) = devices(&namespace)?;
    let (counted, writes, over, shared) = Default::default();
    thread::scope(|scope| {
        let (counted, writes, over, shared): (&Counted, &AtomicBool, &AtomicBool, &Shared) =
            (&counted, &writes, &over, &shared);
        let victim = scope.spawn(|| serve(victims, counted, writes, shared));
        let client = scope.spawn(|| transfers(&namespace, over));
        let began = now();
        let attacked = scope.spawn(|| {
            let mut behind = Behind::new(attackers, counted, writes);
            (attack.run)(&mut behind, count);
            behind.sent
        });
        let packets = attacked.join();
        let time = began.elapsed();
        over.store(true, Relaxed);
        let client = client.join();
        shared.stop();
        let victim = victim.join();
        let failed = |what: &str| LiveError::Failed(format!("{}: {what} panicked", attack.name));
        let packets = packets.map_err(|_| failed("the attacker"))?;
        let (transfers, slowest) = client.map_err(|_| failed("the client"))??;
        let (processor, kept, connections) = victim.map_err(|_| failed("the victim"))??;
        let (answers, frames) = (counted.answered.load(Relaxed), counted.frames.load(Relaxed));
        Ok(Damage { packets, answers, frames, time, processor, kept, connections, transfers, slowest })
    })
}

/// The devices of the victim and of its attacker, with the routes to them.
fn devices(namespace: &Namespace) -> Result<(Tun, Tun), LiveError> {
    let netlink = namespace.netlink()?;
    let victims = Tun::new(namespace, "tun0", false)?;
    netlink.configure("tun0", &Device { addresses: vec![(CLIENT.into(), 32)], ..Device::default() })?;
    netlink.add_route((at(1, 0).ip(), 32), "tun0", None)?;
    let attackers = Tun::new(namespace, "tun1", false)?;
    netlink.configure("tun1", &Device::default())?;
    for (to, prefix) in ATTACKERS {
        netlink.add_route((to.into(), prefix), "tun1", None)?;
    }
    Ok((victims, attackers))
}

#[expect(clippy::disallowed_methods, reason = "a live run")]
fn now() -> Instant {
    Instant::now()
}

/// The victim's thread, until it is stopped: its processor time, its memory, and its connections in the end.
fn serve(
    wire: Tun,
    counted: &Counted,
    writes: &AtomicBool,
    shared: &Shared,
) -> Result<(Nanos, isize, usize), LiveError> {
    let (ran, kept, _) = measured(|| {
        let mut driver = Driver::new(Counting { wire, counted }, host(), (), Clock::start());
        let began = thread_time();
        match driver.run(&mut Service { open: Vec::new(), writes }, shared) {
            Err(LiveError::Interrupted) | Ok(()) => Ok((thread_time() - began, driver.host.connections())),
            Err(e) => Err(e),
        }
    });
    ran.map(|(processor, connections)| (processor, kept, connections))
}

/// The victim's application: it reads everything, and writes as much as it can to the attacker if that is asked for.
struct Service<'a> {
    open: Vec<Id>,
    writes: &'a AtomicBool,
}

impl Application for Service<'_> {
    fn turn(&mut self, now: Time, host: &mut Host) -> Result<Going, LiveError> {
        while let Some(id) = host.accept(at(1, 7)) {
            self.open.push(id);
        }
        let writes = self.writes.load(Relaxed);
        self.open.retain(|id| {
            let Some(end) = host.endpoint_mut(*id) else { return false };
            end.consume(usize::MAX);
            if end.is_at_end() {
                end.close();
            } else if writes && end.border().remote().ip() != IpAddr::V4(CLIENT) {
                while end.write(&[9; 4096]) > 0 {}
            }
            let stays = end.state() != State::Closed;
            if !stays {
                host.remove(now, *id);
            }
            stays
        });
        Ok(Going::On)
    }
}

/// A device whose packets are counted.
struct Counting<'a> {
    wire: Tun,
    counted: &'a Counted,
}

/// Whether a packet has another address than the client's at this place. Packets of IPv6 are the kernel's own.
fn is_attackers(frame: &[u8], place: usize) -> bool {
    frame.first().is_some_and(|first| first >> 4 == 4) && frame.get(place..place + 4) != Some(&CLIENT.octets())
}

impl Wire for Counting<'_> {
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let len = self.wire.recv(buf)?;
        if let Some(frame) = len.and_then(|len| buf.get(..len)) {
            self.counted.frames.fetch_add(1, Relaxed);
            self.counted.heard.fetch_add(is_attackers(frame, 12).into(), Relaxed);
        }
        Ok(len)
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.counted.frames.fetch_add(1, Relaxed);
        self.counted.answered.fetch_add(is_attackers(frame, 16).into(), Relaxed);
        self.wire.send(frame)
    }

    fn offload(&self) -> bool {
        false
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.wire.readable()
    }
}

/// The client: transfers until the attack is over; the number of these, and the longest.
fn transfers(namespace: &Namespace, over: &AtomicBool) -> Result<(u64, Duration), LiveError> {
    let (mut count, mut slowest) = (0, Duration::ZERO);
    loop {
        let began = now();
        namespace.run(transfer)?.map_err(LiveError::system("a client beside the attacker"))?;
        (count, slowest) = (count + 1, slowest.max(began.elapsed()));
        if over.load(Relaxed) {
            return Ok((count, slowest));
        }
        thread::sleep(PAUSE);
    }
}

/// Sends data, and waits until the victim has read them.
fn transfer() -> io::Result<()> {
    let mut socket = TcpStream::connect_timeout(&at(1, 7), PATIENCE)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    socket.write_all(&[5; PAYLOAD])?;
    socket.shutdown(Shutdown::Write)?;
    match socket.read_to_end(&mut Vec::new())? {
        0 => Ok(()),
        n => Err(io::Error::other(format!("{n} bytes that nobody sent"))),
    }
}

/// The attacker's side of a victim behind a device.
struct Behind<'a> {
    device: Tun,
    counted: &'a Counted,
    writes: &'a AtomicBool,
    buf: Vec<u8>,
    sent: u64,
    next: SeqNum,
    /// Time that has yet to pass.
    owed: Duration,
}

impl<'a> Behind<'a> {
    fn new(device: Tun, counted: &'a Counted, writes: &'a AtomicBool) -> Self {
        Behind { device, counted, writes, buf: vec![0; 70_000], sent: 0, next: SeqNum(0), owed: Duration::ZERO }
    }

    /// Takes the answers that have arrived; returns their number.
    fn take(&mut self) -> usize {
        let mut taken = 0;
        while let Some(len) = self.device.recv(&mut self.buf).expect("the attacker's device") {
            let Ok(packet) = parse(&self.buf[..len], Checksums::Verify) else { continue };
            let takes = packet.payload.len() as u32 + u32::from(packet.header.flags & 0x03 != 0);
            self.next = SeqNum(packet.header.seq.0.wrapping_add(takes));
            taken += 1;
        }
        taken
    }

    /// Waits until no more than this number of packets is underway.
    fn wait(&mut self, underway: u64) {
        let began = now();
        while self.sent.saturating_sub(self.counted.heard.load(Relaxed)) > underway {
            if self.take() == 0 {
                assert!(began.elapsed() < PATIENCE, "a packet of the attacker was lost");
                thread::yield_now();
            }
        }
    }
}

impl Victim for Behind<'_> {
    fn hear(&mut self, header: &Header, payload: usize) {
        let written = header.write(Dialect::Linux, Writing::Whole, &mut self.buf, payload, |p| p.fill(3));
        let len = written.expect("a packet").len;
        self.device.send(&self.buf[..len]).expect("the attacker's device");
        self.sent += 1;
        self.take();
        self.wait(UNDERWAY);
    }

    /// Time passes by itself; a tenth of a millisecond stands for a second. The victim is not woken for each packet.
    fn pass(&mut self, time: Nanos) {
        self.owed += Duration::from_nanos(time.0 / 10_000);
        if self.owed >= Duration::from_millis(5) {
            thread::sleep(std::mem::take(&mut self.owed));
        }
    }

    fn settle(&mut self) {
        self.wait(0);
        let mut last = now();
        while last.elapsed() < QUIET {
            if self.take() > 0 {
                last = now();
            } else {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    fn next(&self) -> SeqNum {
        self.next
    }

    fn accept(&mut self) {}

    fn write(&mut self) {
        if !self.writes.swap(true, Relaxed) {
            self.settle();
        }
    }

    fn read(&mut self) {}
}
