//! Moves packets between the devices and the path.

use super::ledger::{Ledger, Way};
use crate::clock::{Clock, Lateness};
use crate::emulator::{Emulator, Leaving};
use crate::error::LiveError;
use crate::path::hosts::{Host, SIDES};
use crate::realtime::{self, Priority};
use crate::wire::MAX_FRAME;
use ackclock_lab::scenario::Plan;
use ackclock_sim::engine::outside::Entering;
use ackclock_sim::reordering::Order;
use ackclock_sim::watch::Side;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_trace::Both;
use ackclock_wire::write::mark_congestion;
use ackclock_wire::{parse, Checksums};
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::time::{TimeSpec, TimeValLike};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Packets taken from a device before it is the other one's turn.
const BATCH: usize = 32;
/// The longest sleep, so that a request to stop is noticed.
const NAP: Nanos = Nanos::from_millis(20);

/// Messages between the path and the thread that waits for the programs.
#[derive(Default)]
pub(super) struct Signals {
    /// Whether the path must end.
    pub(super) stop: AtomicBool,
    /// Packets that the program's end has sent.
    pub(super) sent: AtomicU64,
}

/// The path's counts.
pub(super) struct Counted {
    pub(super) ways: [Way; 2],
    pub(super) lateness: Lateness,
    pub(super) lasted: Nanos,
}

pub(super) struct Bridge<'a> {
    emulator: Emulator<Both<Order, Ledger>>,
    hosts: &'a [Host; 2],
    clock: Clock,
    /// When the path's clock ends.
    end: Time,
    lateness: Lateness,
    /// The data that each side has sent, as if they were one stream.
    streams: [Offset; 2],
    pub(super) priority: Priority,
}

impl<'a> Bridge<'a> {
    /// Creates the bridge for the calling thread, and sets the thread's timer slack and priority.
    pub(super) fn new(plan: &Plan, seed: u64, hosts: &'a [Host; 2], realtime: bool) -> Result<Self, LiveError> {
        let emulator = Emulator::new(plan, seed, Both(Order::default(), Ledger::default()));
        let emulator = emulator.map_err(|e| LiveError::Input(format!("{}: {e}", plan.file)))?;
        // Without it a sleep may be 50 µs too long; a refusal by the kernel is harmless.
        let _ = nix::sys::prctl::set_timerslack(1);
        Ok(Bridge {
            emulator,
            hosts,
            clock: Clock::start(),
            end: Time(plan.scenario.duration.0),
            lateness: Lateness::default(),
            streams: [Offset::DATA; 2],
            priority: realtime::request(realtime),
        })
    }

    fn now(&self) -> Time {
        Time(self.clock.now().since(Clock::START).0)
    }

    /// Carries packets until it is told to stop, or the path's clock ends.
    pub(super) fn run(mut self, signals: &Signals) -> Result<Counted, LiveError> {
        let mut buf = vec![0; MAX_FRAME];
        loop {
            let now = self.now();
            if signals.stop.load(Relaxed) || now >= self.end {
                return Ok(self.end());
            }
            while let Some(packet) = self.emulator.next(now) {
                self.hand_over(packet)?;
            }
            let mut idle = true;
            for (i, side) in SIDES.into_iter().enumerate() {
                for _ in 0..BATCH {
                    let got = self.hosts[i].tun.recv(&mut buf).map_err(LiveError::system("reading the device"))?;
                    let Some(len) = got else { break };
                    idle = false;
                    let entering = self.entering(i, &buf[..len]);
                    // Not the time of the turn: a packet must not enter before it was sent.
                    self.emulator.put(self.now(), 0, side, entering, &buf[..len]);
                    if side == Side::Sender {
                        signals.sent.fetch_add(1, Relaxed);
                    }
                }
            }
            if idle {
                self.wait(now)?;
            }
        }
    }

    fn hand_over(&mut self, mut packet: Leaving) -> Result<(), LiveError> {
        if packet.seg.opts & Segment::CE != 0 {
            mark_congestion(&mut packet.bytes);
        }
        match self.hosts[usize::from(packet.to == Side::Receiver)].tun.send(&packet.bytes) {
            // A program may set its device down; later packets are lost.
            Err(e) if e.raw_os_error() != Some(libc::EIO) => {
                return Err(LiveError::system("writing to the device")(e));
            }
            Ok(()) | Err(_) => {}
        }
        self.lateness.record(packet.at, self.now());
        self.emulator.give_back(packet.bytes);
        Ok(())
    }

    /// A packet as elements see it. Packets with a payload count as data: each is the next piece of
    /// one stream.
    fn entering(&mut self, from: usize, bytes: &[u8]) -> Entering {
        let (len, flags) = match parse(bytes, Checksums::Trust) {
            Ok(packet) => (packet.payload.len() as u32, packet.header.flags & (Segment::SYN | Segment::FIN)),
            Err(_) => (bytes.len() as u32, 0),
        };
        let opts = if is_ecn_capable(bytes) { Segment::ECT } else { 0 };
        let seg = Segment { seq: self.streams[from], len, flags, opts, ..Segment::EMPTY };
        self.streams[from] = seg.end();
        Entering { seg, wire: bytes.len() as u32, sends: u8::from(seg.seq_len() > 0), resend: None }
    }

    fn wait(&self, now: Time) -> Result<(), LiveError> {
        let due = self.emulator.next_event().map_or(u64::MAX, |t| t.0).min(now.0 + NAP.0);
        let left = due.saturating_sub(self.now().0);
        let mut fds = [0, 1].map(|i: usize| PollFd::new(self.hosts[i].tun.as_fd(), PollFlags::POLLIN));
        match ppoll(&mut fds, Some(TimeSpec::nanoseconds(left as i64)), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(e) => Err(LiveError::system("waiting for packets")(e)),
        }
    }

    fn end(self) -> Counted {
        let (lasted, lateness) = (Nanos(self.now().0), self.lateness);
        let Both(order, Ledger { mut ways }) = self.emulator.into_watch();
        for (way, to) in ways.iter_mut().zip([Side::Receiver, Side::Sender]) {
            way.order = order.at(0, to).cloned().unwrap_or_default();
        }
        Counted { ways, lateness, lasted }
    }
}

/// Whether a queue may mark an IP packet (RFC 3168 §5), regardless of its payload.
fn is_ecn_capable(packet: &[u8]) -> bool {
    match packet {
        [first, class, ..] if first >> 4 == 6 => class >> 4 & 3 != 0,
        [first, tos, ..] if first >> 4 == 4 => tos & 3 != 0,
        _ => false,
    }
}
