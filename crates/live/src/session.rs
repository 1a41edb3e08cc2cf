//! The two ends of a transfer: the user of the engine's connection, and the kernel's end.

use crate::driver::{Application, Going};
use crate::error::LiveError;
use crate::payload::{Sink, Source};
use crate::peer::Seen;
use crate::supervise::Shared;
use ackclock_tcp::connection::{CloseReason, Connection, State};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::{Endpoint, Host, Id};
use nix::poll::PollFlags;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::thread;

/// Bytes that the application writes at a time: large enough for few calls and full trains.
const PIECE: usize = 1 << 16;

/// IPv6 requires a larger MTU than IPv4 (RFC 791 §3.2, RFC 8200 §5).
pub(crate) fn check_mtu(mtu: u32, v6: bool) -> Result<(), LiveError> {
    let (least, most) = (if v6 { 1280 } else { 68 }, 65_535);
    if (least..=most).contains(&mtu) {
        return Ok(());
    }
    Err(LiveError::Input(format!("found an MTU of {mtu} bytes, allowed: {least} to {most}")))
}

/// The first line of a run, without the other end.
pub(crate) fn first_line(namespace: &str, device: &str, kind: &str, mtu: u32, offload: bool, stack: &Stack) -> String {
    let offload = if offload { "on" } else { "off" };
    let (name, control) = (&stack.name, congestion_control(stack));
    format!("namespace: {namespace}, device: {device} ({kind}), MTU {mtu}, offload {offload}, {name} ({control})")
}

/// The congestion control's name, as in scenario files.
fn congestion_control(stack: &Stack) -> String {
    let spec = serde_json::to_value(&stack.congestion).unwrap_or_default();
    let name = spec.as_str().or_else(|| spec.get("kind")?.as_str());
    name.unwrap_or("congestion control from outside").to_owned()
}

/// The results at our end of a transfer.
pub(crate) struct Ours {
    pub(crate) bytes: u64,
    pub(crate) hash: u64,
    pub(crate) time: Nanos,
    pub(crate) processor: Nanos,
    /// Segments that it retransmitted.
    pub(crate) retransmitted: u64,
}

/// Runs our end on this thread and the kernel's end on another; if one fails, the other is stopped.
pub(crate) fn with_kernel(
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
            // An end that was only stopped is not the cause.
            (Err(LiveError::Interrupted), Err(e)) | (Err(e), _) | (Ok(_), Err(e)) => Err(e),
            (Ok(ours), Ok(kernel)) => Ok((ours, kernel)),
        }
    })
}

/// Sends a source's data, and closes.
pub(crate) struct Sender<'a> {
    id: Id,
    pub(crate) source: Source,
    /// The room that it waits for.
    piece: usize,
    /// How long our end waits after closing, in case its last ACK was lost.
    linger: Nanos,
    pub(crate) ended: Option<Time>,
    pub(crate) retransmitted: u64,
    shared: &'a Shared,
}

impl<'a> Sender<'a> {
    /// Creates the sender on a connection that is opening, with a send buffer of `buffer` bytes.
    pub(crate) fn new(id: Id, source: Source, buffer: u64, linger: Nanos, shared: &'a Shared) -> Self {
        let piece = PIECE.min((buffer / 2) as usize);
        Sender { id, source, piece, linger, ended: None, retransmitted: 0, shared }
    }

    fn fill(&mut self, end: &mut Endpoint) -> Result<(), LiveError> {
        while end.room() >= self.piece.max(1) {
            let bytes =
                self.source.next(end.room().min(PIECE)).map_err(LiveError::system("reading the data to send"))?;
            let taken = end.write(bytes);
            self.source.advance(taken);
            if taken == 0 {
                break;
            }
        }
        Ok(())
    }
}

impl Application for Sender<'_> {
    fn turn(&mut self, now: Time, host: &mut Host) -> Result<Going, LiveError> {
        let Some(end) = host.endpoint_mut(self.id) else { return Ok(Going::Done) };
        if !self.source.ended() {
            self.fill(end)?;
        }
        // Before the end of the handshake, a close would end the connection.
        if self.source.ended() && end.state() != State::SynSent {
            end.close();
        }
        self.shared.tell(end.connection().acked());
        let sent = match end.state() {
            // Our FIN is acknowledged, and therefore everything.
            State::FinWait2 => true,
            State::TimeWait => {
                let since = *self.ended.get_or_insert(now);
                self.retransmitted = retransmitted(end.connection());
                return Ok(if now.since(since) >= self.linger { Going::Done } else { Going::On });
            }
            State::Closed => return closed(end.connection(), self.ended),
            _ => false,
        };
        if sent {
            self.ended.get_or_insert(now);
        }
        Ok(Going::On)
    }

    fn waits_for(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        self.source.waits_for().map(|fd| (fd, PollFlags::POLLIN))
    }

    fn give_up(&mut self, host: &mut Host) {
        host.abort(self.id);
    }
}

/// Accepts a connection and reads it to its end.
pub(crate) struct Receiver<'a> {
    at: SocketAddr,
    id: Option<Id>,
    pub(crate) sink: Sink,
    /// The sink took less than was available.
    full: bool,
    pub(crate) began: Option<Time>,
    pub(crate) ended: Option<Time>,
    shared: &'a Shared,
}

impl<'a> Receiver<'a> {
    /// Creates the receiver on a host that listens at `at`.
    pub(crate) fn new(at: SocketAddr, sink: Sink, shared: &'a Shared) -> Self {
        Receiver { at, id: None, sink, full: false, began: None, ended: None, shared }
    }

    fn empty(&mut self, end: &mut Endpoint) -> Result<(), LiveError> {
        self.full = false;
        // Readable data is in two pieces.
        for _ in 0..2 {
            let bytes = end.readable().0;
            let (len, taken) = (bytes.len(), self.sink.take(bytes));
            let taken = taken.map_err(LiveError::system("writing the received data"))?;
            end.consume(taken);
            if taken < len {
                self.full = true;
                break;
            }
        }
        self.shared.tell(self.sink.taken().0);
        Ok(())
    }
}

impl Application for Receiver<'_> {
    fn turn(&mut self, now: Time, host: &mut Host) -> Result<Going, LiveError> {
        if self.id.is_none() {
            self.id = host.accept(self.at);
            self.began = self.id.map(|_| now);
        }
        let Some(end) = self.id.and_then(|id| host.endpoint_mut(id)) else { return Ok(Going::On) };
        if !end.readable().0.is_empty() {
            self.empty(end)?;
        }
        if end.is_at_end() {
            self.ended.get_or_insert(now);
            end.close();
        }
        match end.state() {
            // After a simultaneous close, it is TIME-WAIT.
            State::TimeWait | State::Closed if self.ended.is_some() => Ok(Going::Done),
            State::Closed if end.readable().0.is_empty() => closed(end.connection(), self.ended),
            _ => Ok(Going::On),
        }
    }

    fn waits_for(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        self.sink.waits_for().filter(|_| self.full).map(|fd| (fd, PollFlags::POLLOUT))
    }

    fn give_up(&mut self, host: &mut Host) {
        self.id.into_iter().for_each(|id| host.abort(id));
    }
}

fn retransmitted(connection: &Connection) -> u64 {
    u64::from(connection.info().total_retrans)
}

/// The connection has ended, normally or early.
fn closed(connection: &Connection, ended: Option<Time>) -> Result<Going, LiveError> {
    let why = match connection.close_reason() {
        _ if ended.is_some() => return Ok(Going::Done),
        Some(CloseReason::Finished) => "it closed before all data arrived",
        Some(CloseReason::Reset) => "the peer reset it",
        Some(CloseReason::Aborted) | None => "it was aborted",
        Some(CloseReason::Unreachable) => "nobody answered",
        Some(CloseReason::TimedOut) => "nothing was acknowledged for too long",
        Some(CloseReason::KeepAlive) => "the peer stopped answering probes",
        Some(CloseReason::FinWait2) => "the peer never closed",
    };
    Err(LiveError::Failed(format!("the connection was lost: {why}")))
}
