//! Who waits for connections, and connections on their way to the application.
//!
//! Source: RFC 9293 §3.10.7.2 (LISTEN), §3.9.1.1.

use super::table::Pair;
use super::{Arrival, Host, Id, ListenError, Owner, Watch};
use crate::endpoint::{Buffers, Endpoint};
use crate::packet::Packet;
use crate::reset::is_one_host;
use ackclock_tcp::connection::State;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Who waits, by where.
#[derive(Default)]
pub(super) struct Listeners(BTreeMap<SocketAddr, Listener>);

/// Waits for connections.
pub(super) struct Listener {
    stack: Stack,
    buffers: Buffers,
    backlog: usize,
    /// How many handshakes go on.
    half_open: usize,
    /// Made, and not accepted.
    pub(super) waiting: VecDeque<Id>,
}

/// Whether it asks for a connection.
pub(super) fn is_first_syn(packet: &Packet<'_>) -> bool {
    packet.header.flags & (Segment::SYN | Segment::ACK | Segment::RST) == Segment::SYN
}

impl Listeners {
    pub(super) fn add(
        &mut self,
        local: SocketAddr,
        stack: &Stack,
        buffers: Buffers,
        backlog: usize,
    ) -> Result<(), ListenError> {
        let local = plain(local);
        if self.has(local) {
            return Err(ListenError::InUse(local));
        }
        let listener = Listener { stack: stack.clone(), buffers, backlog, half_open: 0, waiting: VecDeque::new() };
        self.0.insert(local, listener);
        Ok(())
    }

    pub(super) fn remove(&mut self, local: SocketAddr) -> Option<Listener> {
        self.0.remove(&plain(local))
    }

    pub(super) fn get_mut(&mut self, local: SocketAddr) -> Option<&mut Listener> {
        self.0.get_mut(&plain(local))
    }

    /// Whether somebody waits exactly there.
    pub(super) fn has(&self, local: SocketAddr) -> bool {
        self.0.contains_key(&local)
    }

    /// Who gets a packet for `local`: the one that named the address, else the one that named none.
    pub(super) fn for_packet(&self, local: SocketAddr) -> Option<SocketAddr> {
        let any = match local.ip() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        [local, SocketAddr::new(any, local.port())].into_iter().find(|at| self.has(*at))
    }

    /// A handshake has ended without a connection.
    pub(super) fn closed(&mut self, local: SocketAddr) {
        if let Some(listener) = self.0.get_mut(&local) {
            listener.half_open -= 1;
        }
    }
}

fn plain(at: SocketAddr) -> SocketAddr {
    SocketAddr::new(at.ip(), at.port())
}

impl Host {
    /// Somebody asks for a connection with a listener of ours.
    pub(super) fn on_syn<W: Watch>(&mut self, now: Time, pair: Pair, packet: &Packet<'_>, watch: &mut W) -> Arrival {
        let drop = |host: &mut Host| {
            host.counters.listen_drops += 1;
            Arrival::Ignored
        };
        if !is_one_host(pair.local.ip()) || !is_one_host(pair.remote.ip()) {
            return drop(self);
        }
        let Some(at) = self.listeners.for_packet(pair.local) else { return drop(self) };
        let Some(listener) = self.listeners.get_mut(at) else { return drop(self) };
        if listener.waiting.len() >= listener.backlog {
            self.counters.listen_overflows += 1;
            return drop(self);
        }
        if listener.half_open >= listener.backlog || self.slots.len() >= self.config.max_connections {
            return drop(self);
        }
        let (stack, buffers) = (listener.stack.clone(), listener.buffers);
        let Ok(border) = self.border(pair, self.initial(pair, now)) else { return drop(self) };
        if let Some(listener) = self.listeners.get_mut(at) {
            listener.half_open += 1;
        }
        let id = self.add(Endpoint::listen(&stack, border, buffers), pair, Owner::HalfOpen(at));
        self.hand_over(now, id, packet, watch)
    }

    /// A handshake has gone on: made, refused, or neither.
    pub(super) fn look_after_half_open(&mut self, id: Id, at: SocketAddr) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        match slot.endpoint.state() {
            // What is refused is forgotten once its answer is sent.
            State::Closed | State::SynReceived => return,
            State::Listen => return slot.endpoint.abort(),
            State::SynSent
            | State::Established
            | State::FinWait1
            | State::FinWait2
            | State::CloseWait
            | State::Closing
            | State::LastAck
            | State::TimeWait => slot.owner = Owner::Waiting,
        }
        if let Some(listener) = self.listeners.get_mut(at) {
            listener.half_open -= 1;
            listener.waiting.push_back(id);
        }
    }
}
