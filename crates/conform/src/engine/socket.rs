//! One socket: its kind, its state and its options.

use super::{Engine, System};
use crate::errno::Errno;
use ackclock_tcp::connection::{CloseReason, State};
use ackclock_tcp::units::Bytes;
use ackclock_wire::host::Watch;
use ackclock_wire::icmp::Unreachable;
use ackclock_wire::Id;
use std::net::SocketAddr;

/// A socket.
#[derive(Clone, Debug)]
pub(super) struct Socket {
    pub(super) v6: bool,
    pub(super) kind: Kind,
    /// Where it was bound.
    pub(super) local: Option<SocketAddr>,
    pub(super) options: Options,
    pub(super) non_blocking: bool,
    /// An error that no call has reported yet.
    pub(super) error: Option<Errno>,
    /// Whether the peer's SYN has arrived.
    pub(super) met: bool,
    /// Whether its connection was ever established.
    pub(super) was_open: bool,
    /// `shutdown(SHUT_RD)`.
    pub(super) read_shut: bool,
    /// `shutdown(SHUT_WR)`, or the connection has ended.
    pub(super) write_shut: bool,
    /// Bytes that a blocked `write` has taken so far.
    pub(super) written: usize,
    /// The state of its connection when it was last checked.
    pub(super) state: State,
    /// Whether its end was noticed.
    pub(super) ended: bool,
}

/// What a socket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Neither connected nor listening.
    Fresh,
    /// A listener.
    Listener(SocketAddr),
    /// One end of a connection.
    Connection(Id),
}

/// The options that the application set with `setsockopt`.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) receive_buffer: Option<Bytes>,
    pub(super) send_buffer: Option<Bytes>,
    pub(super) max_segment: Option<u32>,
    pub(super) congestion: Option<String>,
    pub(super) no_delay: bool,
    pub(super) cork: bool,
    pub(super) keep_alive: bool,
    /// In seconds.
    pub(super) keep_idle: Option<i64>,
    pub(super) keep_interval: Option<i64>,
    pub(super) keep_count: Option<i64>,
    /// In milliseconds.
    pub(super) user_timeout: Option<i64>,
    pub(super) linger: Option<(bool, i64)>,
    pub(super) low_water: Option<i64>,
    /// Bytes not sent above which a `write` finds no room.
    pub(super) not_sent_low_water: Option<u64>,
    pub(super) window_clamp: Option<Bytes>,
    pub(super) quick_ack: Option<bool>,
    /// Timeouts of the SYN-ACK, not seconds.
    pub(super) defer_accept: u32,
    /// Options without an effect here, which can be read back.
    pub(super) others: Vec<(crate::tcp::SocketOption, i64)>,
}

impl Socket {
    pub(super) fn new(v6: bool) -> Self {
        Socket {
            v6,
            kind: Kind::Fresh,
            local: None,
            options: Options::default(),
            non_blocking: false,
            error: None,
            met: false,
            was_open: false,
            read_shut: false,
            write_shut: false,
            written: 0,
            state: State::Closed,
            ended: false,
        }
    }

    /// The connection.
    pub(super) fn id(&self) -> Option<Id> {
        match self.kind {
            Kind::Connection(id) => Some(id),
            Kind::Fresh | Kind::Listener(_) => None,
        }
    }
}

impl<W: Watch> Engine<W> {
    /// Checks all connections for changes that the next call must know.
    pub(super) fn notice(&mut self) {
        let system = self.settings.system;
        for socket in self.sockets.iter_mut().flatten() {
            let Some(endpoint) = socket.id().and_then(|id| self.host.endpoint(id)) else { continue };
            let state = endpoint.state();
            socket.was_open |= is_open(state);
            socket.met |= socket.was_open || state == State::SynReceived;
            if state == State::Closed && !socket.ended {
                socket.ended = true;
                socket.write_shut = true;
                let why = endpoint.connection().close_reason();
                let error = error_of(why, socket.was_open, endpoint.unreachable());
                // `tcp_reset` in `net/ipv4/tcp_input.c`.
                let half_closed = system == System::Linux && socket.state == State::CloseWait;
                let error = error.map(|e| if half_closed && e == Errno::ECONNRESET { Errno::EPIPE } else { e });
                socket.error = socket.error.or(error);
            }
            socket.state = state;
        }
    }
}

/// Past the handshake.
pub(super) fn is_open(state: State) -> bool {
    match state {
        State::Closed | State::Listen | State::SynSent | State::SynReceived => false,
        State::Established
        | State::FinWait1
        | State::FinWait2
        | State::CloseWait
        | State::Closing
        | State::LastAck
        | State::TimeWait => true,
    }
}

/// The error that an application sees after a connection has ended.
fn error_of(why: Option<CloseReason>, was_open: bool, unreachable: Option<Unreachable>) -> Option<Errno> {
    match why? {
        CloseReason::Finished | CloseReason::Aborted | CloseReason::FinWait2 => None,
        CloseReason::Reset if was_open => Some(Errno::ECONNRESET),
        CloseReason::Reset => Some(Errno::ECONNREFUSED),
        CloseReason::TimedOut | CloseReason::KeepAlive => Some(unreachable.map_or(Errno::ETIMEDOUT, error_for)),
        CloseReason::Unreachable => Some(unreachable.map_or(Errno::ETIMEDOUT, error_for)),
    }
}

/// Linux's errors for ICMP messages (`net/ipv4/icmp.c`, `icmp_err_convert`).
fn error_for(why: Unreachable) -> Errno {
    match why {
        Unreachable::Route | Unreachable::Prohibited => Errno::EHOSTUNREACH,
        Unreachable::Port => Errno::ECONNREFUSED,
    }
}
