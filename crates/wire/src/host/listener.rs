//! Listeners, and connections that the application has not yet accepted.
//!
//! Source: RFC 9293 §3.10.7.2 (LISTEN), §3.9.1.1.

use super::table::Pair;
use super::{Arrival, Host, Id, ListenError, Owner, Watch};
use crate::endpoint::{Buffers, Endpoint};
use crate::initial::Initial;
use crate::packet::Packet;
use crate::reset::is_one_host;
use ackclock_tcp::connection::State;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Listeners by their address.
#[derive(Default)]
pub(super) struct Listeners(BTreeMap<SocketAddr, Listener>);

/// Waits for connections.
pub(super) struct Listener {
    pub(super) stack: Stack,
    pub(super) buffers: Buffers,
    backlog: usize,
    pub(super) max_segment: Option<u32>,
    /// Repetitions of the SYN-ACK during which data is awaited.
    pub(super) defers: u32,
    /// The number of handshakes in progress.
    pub(super) half_open: usize,
    /// Cookies may be valid until then.
    pub(super) cookies_until: Time,
    /// Established, but not accepted.
    pub(super) waiting: VecDeque<Id>,
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
        let listener = Listener {
            stack: stack.clone(),
            buffers,
            backlog,
            max_segment: None,
            defers: 0,
            half_open: 0,
            cookies_until: Time::ZERO,
            waiting: VecDeque::new(),
        };
        self.0.insert(local, listener);
        Ok(())
    }

    pub(super) fn remove(&mut self, local: SocketAddr) -> Option<Listener> {
        self.0.remove(&plain(local))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, local: SocketAddr) -> Option<&Listener> {
        self.0.get(&plain(local))
    }

    pub(super) fn get_mut(&mut self, local: SocketAddr) -> Option<&mut Listener> {
        self.0.get_mut(&plain(local))
    }

    /// Whether there is a listener at exactly this address.
    pub(super) fn has(&self, local: SocketAddr) -> bool {
        self.0.contains_key(&local)
    }

    /// The listener for a packet to `local`: one at that address, otherwise one at the unspecified
    /// address.
    pub(super) fn for_packet(&self, local: SocketAddr) -> Option<SocketAddr> {
        let any = match local.ip() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        [local, SocketAddr::new(any, local.port())].into_iter().find(|at| self.has(*at))
    }

    /// A handshake ended without a connection.
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
    /// A SYN for the listener `at`.
    pub(super) fn on_syn<W: Watch>(
        &mut self,
        now: Time,
        pair: Pair,
        packet: &Packet<'_>,
        at: SocketAddr,
        watch: &mut W,
    ) -> Arrival {
        let drop = |host: &mut Host| {
            host.counters.listen_drops += 1;
            Arrival::Ignored
        };
        if !is_one_host(pair.local.ip()) || !is_one_host(pair.remote.ip()) {
            return drop(self);
        }
        if self.is_full(at) {
            return drop(self);
        }
        if !self.has_place(at) {
            return self.send_cookie(now, pair, packet, at);
        }
        let initial = self.initial(pair, now);
        self.open_passively(now, (pair, initial), packet, at, watch)
    }

    /// A connection of the listener `at`, which has room for it.
    pub(super) fn open_passively<W: Watch>(
        &mut self,
        now: Time,
        (pair, initial): (Pair, Initial),
        packet: &Packet<'_>,
        at: SocketAddr,
        watch: &mut W,
    ) -> Arrival {
        let Ok(border) = self.border(pair, initial) else { return Arrival::Ignored };
        let Some(listener) = self.listeners.get_mut(at) else { return Arrival::Ignored };
        listener.half_open += 1;
        let mut endpoint = Endpoint::listen(&listener.stack, border, listener.buffers);
        if let Some(mss) = listener.max_segment {
            endpoint.limit_mss(mss);
        }
        endpoint.defer_accept(listener.defers);
        let id = self.add(endpoint, pair, Owner::HalfOpen(at));
        self.hand_over(now, id, packet, watch)
    }

    /// Whether a listener has room for another handshake.
    pub(super) fn has_place(&self, at: SocketAddr) -> bool {
        self.slots.len() < self.config.max_connections
            && self.listeners.get(at).is_some_and(|l| l.half_open < l.backlog && l.waiting.len() < l.backlog)
    }

    /// Whether a listener can accept no further connection now.
    pub(super) fn is_full(&mut self, at: SocketAddr) -> bool {
        let overflow = self.listeners.get(at).is_some_and(|l| l.waiting.len() >= l.backlog);
        self.counters.listen_overflows += u64::from(overflow);
        overflow || self.slots.len() >= self.config.max_connections
    }

    /// A handshake has progressed: it is established, refused, or neither.
    pub(super) fn look_after_half_open(&mut self, id: Id, at: SocketAddr) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        match slot.endpoint.state() {
            // A refused one is removed once its answer is sent.
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
