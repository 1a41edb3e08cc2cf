//! The loop between a wire and a host's TCP: arrived frames are passed in, frames to be sent are passed out, and between
//! two events the thread sleeps.
//!
//! Source: `man 2 ppoll` (a timeout in nanoseconds).

use crate::clock::{Clock, Lateness, Now};
use crate::error::LiveError;
use crate::supervise::Shared;
use crate::wire::{Wire, MAX_FRAME};
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::host::Watch;
use ackclock_wire::icmp::{ICMPV4, ICMPV6};
use ackclock_wire::offload::{self, VnetHeader, LEN};
use ackclock_wire::{parse, Checksums, Host, Refused, Writing};
use nix::errno::Errno;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::time::TimeSpec;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// The number of frames taken or sent before it is the other direction's turn.
const BATCH: usize = 64;
/// The longest sleep, so that a request to stop is noticed.
const NAP: Nanos = Nanos::from_millis(50);

/// The user of the connections.
pub trait Application {
    /// Called in every iteration, after the arrived frames were taken: write, read, close.
    ///
    /// # Errors
    /// An error ends the run.
    fn turn(&mut self, now: Time, host: &mut Host) -> Result<Going, LiveError>;

    /// A file that the application waits for, until it becomes readable or writable.
    fn waits_for(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        None
    }

    /// The run is stopped: called so that it can notify the peer, usually with a RST.
    fn give_up(&mut self, _host: &mut Host) {}
}

/// Whether a run continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Going {
    /// More work is due now.
    On,
    /// It is done.
    Done,
}

/// What one turn of the loop did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Frames were taken or sent; more may be waiting.
    Busy,
    /// Nothing is due now.
    Idle,
    /// The application is done, and everything is sent.
    Done,
}

/// Counters of the frames on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that arrived.
    pub received: u64,
    /// Received frames that were not TCP, such as router solicitations.
    pub other: u64,
    /// Received frames that were refused as malformed, or for their checksum.
    pub malformed: u64,
    /// Frames that were sent.
    pub sent: u64,
    /// Frames that were lost because a queue of the device was full.
    pub lost: u64,
    /// How often the thread slept.
    pub naps: u64,
}

/// A host behind a wire.
pub struct Driver<W, O, C = Clock> {
    wire: W,
    /// Its connections.
    pub host: Host,
    /// Their listener.
    pub watch: O,
    clock: C,
    counts: Counts,
    lateness: Lateness,
    frame: Box<[u8]>,
}

impl<W: Wire, O: Watch, C: Now> Driver<W, O, C> {
    /// A host behind `wire`, at the time of `clock`.
    pub fn new(wire: W, host: Host, watch: O, clock: C) -> Self {
        let frame = vec![0; MAX_FRAME].into_boxed_slice();
        Driver { wire, host, watch, clock, counts: Counts::default(), lateness: Lateness::default(), frame }
    }

    /// Runs until the application is done, or the run is stopped.
    ///
    /// # Errors
    /// Errors of the wire and the application; [`LiveError::Interrupted`] if it was stopped.
    pub fn run<A: Application>(&mut self, application: &mut A, shared: &Shared) -> Result<(), LiveError> {
        loop {
            if shared.stopped() {
                application.give_up(&mut self.host);
                self.give()?;
                return Err(LiveError::Interrupted);
            }
            match self.turn(application)? {
                Turn::Done => return Ok(()),
                Turn::Busy => {}
                Turn::Idle => self.nap(application)?,
            }
        }
    }

    /// One turn of the loop, without sleeping: arrived frames, timers, the application, frames to be sent.
    ///
    /// # Errors
    /// Errors of the wire and the application.
    pub fn turn<A: Application>(&mut self, application: &mut A) -> Result<Turn, LiveError> {
        let arrived = self.take()?;
        let now = self.clock.now();
        if let Some(due) = self.host.next_timer().filter(|due| *due <= now) {
            self.lateness.record(due, now);
            self.host.on_timer(now, &mut self.watch);
        }
        let going = application.turn(now, &mut self.host)?;
        let sent = self.give()?;
        Ok(match going {
            Going::Done if sent < BATCH => Turn::Done,
            Going::On | Going::Done if arrived == 0 && sent == 0 => Turn::Idle,
            Going::On | Going::Done => Turn::Busy,
        })
    }

    /// Takes arrived frames, at most a batch; returns their number.
    fn take(&mut self) -> Result<usize, LiveError> {
        let offload = self.wire.offload();
        for n in 0..BATCH {
            let Some(len) = self.wire.recv(&mut self.frame).map_err(LiveError::system("reading from the device"))?
            else {
                return Ok(n);
            };
            self.counts.received += 1;
            // For each frame, so that none counts as taken before it arrived.
            let now = self.clock.now();
            let frame = self.frame.get(..len).unwrap_or_default();
            let packet = if offload { offload::parse(frame) } else { parse(frame, Checksums::Verify) };
            match packet {
                Ok(packet) => _ = self.host.on_packet(now, &packet, &mut self.watch),
                Err(Refused::NotTcp(ICMPV4 | ICMPV6)) => {
                    self.counts.other += 1;
                    let message = frame.get(if offload { LEN } else { 0 }..).unwrap_or_default();
                    let read = self.host.on_icmp(now, message, Checksums::Verify);
                    self.counts.malformed += u64::from(read.is_err());
                }
                Err(Refused::NotTcp(_) | Refused::Version(_)) => self.counts.other += 1,
                Err(
                    Refused::Fragment
                    | Refused::Underway
                    | Refused::CutOff { .. }
                    | Refused::Length
                    | Refused::IpChecksum
                    | Refused::TcpChecksum
                    | Refused::IcmpChecksum,
                ) => self.counts.malformed += 1,
            }
        }
        Ok(BATCH)
    }

    /// Sends waiting frames, at most a batch; returns their number.
    fn give(&mut self) -> Result<usize, LiveError> {
        let (writing, head) = if self.wire.offload() { (Writing::Offload, LEN) } else { (Writing::Whole, 0) };
        let now = self.clock.now();
        for n in 0..BATCH {
            let packet = &mut self.frame[head..];
            let written = self.host.poll_transmit(now, writing, packet, &mut self.watch);
            let Some(written) = written.map_err(|e| LiveError::Failed(format!("cannot write a packet: {e}")))? else {
                return Ok(n);
            };
            if head > 0 {
                self.frame[..LEN].copy_from_slice(&VnetHeader::of(&written).to_bytes());
            }
            self.counts.sent += 1;
            match self.wire.send(&self.frame[..head + written.len]) {
                Ok(()) => {}
                Err(e) if is_full(&e) => self.counts.lost += 1,
                Err(e) => return Err(LiveError::system("writing to the device")(e)),
            }
        }
        Ok(BATCH)
    }

    /// Sleeps until something arrives or is due.
    fn nap<A: Application>(&mut self, application: &A) -> Result<(), LiveError> {
        let now = self.clock.now();
        let due = self.host.next_timer().map_or(NAP, |due| Nanos(due.0.saturating_sub(now.0)).min(NAP));
        if due == Nanos(0) {
            return Ok(());
        }
        self.counts.naps += 1;
        let wire = PollFd::new(self.wire.readable(), PollFlags::POLLIN);
        // Without a file of the application, the wire is listed twice.
        let other = application.waits_for().map_or(wire.clone(), |(fd, flags)| PollFd::new(fd, flags));
        match ppoll(&mut [wire, other], Some(TimeSpec::from(Duration::from_nanos(due.0))), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(e) => Err(LiveError::system("waiting for the device")(e)),
        }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The counters so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The lateness of timers.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// The wire.
    pub fn wire_mut(&mut self) -> &mut W {
        &mut self.wire
    }
}

/// To TCP, a frame that does not fit is like one lost on the path.
fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS)
}
