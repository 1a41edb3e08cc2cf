//! Many connections behind one device: a host's TCP, without I/O.
//!
//! Source: RFC 9293 §3.10 (the processing of a segment, by its connection), §3.9.1 (open, listen), RFC 6056 (ports).
//!
//! The four calls are those of an [`Endpoint`], but for all connections together. After each call, and after a connection was
//! written to, read from or closed, call [`Host::poll_transmit`] until it returns `None`; [`Host::next_timer`] is valid only
//! then.
//!
//! | part | content |
//! | --- | --- |
//! | `table` | the connection that a packet belongs to |
//! | `listener`, `flood` | listeners for connections, and their behaviour under a flood of SYNs |
//! | `stranger`, `time_wait` | packets without a connection, and of connections in TIME-WAIT |
//! | `slots`, `timers` | the connections, and the next of their timers |
//! | `ports` | local ports |

mod budget;
mod config;
mod cookie;
mod flood;
mod listener;
mod ports;
mod slot;
mod slots;
mod stranger;
mod table;
mod time_wait;
mod timers;
mod watch;

use crate::border::Border;
use crate::endpoint::{Buffers, Endpoint};
use crate::icmp::{self, Heard};
use crate::initial::{Initial, Secret};
use crate::packet::{Checksums, Header, Packet, Refused};
use crate::write::{WriteError, Writing, Written};
use ackclock_tcp::connection::State;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use budget::Budget;
pub use config::{ConnectError, Counters, HostConfig, ListenError};
use listener::Listeners;
use ports::Ports;
use slot::{Owner, Place, Slot};
pub use slots::Id;
use slots::Slots;
use std::collections::VecDeque;
use std::net::SocketAddr;
use table::{Keyed, Pair, Table};
use time_wait::TimeWaits;
use timers::Timers;
pub use watch::{Arrival, Watch};

/// The maximum number of the host's own answers that wait to be sent. More are dropped, since nothing depends on them.
const MAX_REPLIES: usize = 256;

/// Connections, listeners, and the state between them and a device.
pub struct Host {
    config: HostConfig,
    secret: Secret,
    table: Table<Place>,
    slots: Slots<Slot>,
    timers: Timers,
    listeners: Listeners,
    time_waits: TimeWaits,
    ports: Ports,
    /// Connections that may have something to send, in turn.
    ready: VecDeque<Id>,
    /// Connections with events that the application has not seen.
    changed: VecDeque<Id>,
    replies: VecDeque<Header>,
    /// The limits on RSTs in answer to segments without a connection, and on ACKs in TIME-WAIT.
    resets: Budget,
    late_acks: Budget,
    counters: Counters,
}

impl Host {
    /// A host without connections.
    pub fn new(config: HostConfig, secret: Secret) -> Self {
        Host {
            table: Table::with_hasher(Keyed(secret.clone())),
            slots: Slots::new(),
            timers: Timers::new(),
            listeners: Listeners::default(),
            time_waits: TimeWaits::new(config.max_time_wait),
            ports: Ports::default(),
            ready: VecDeque::new(),
            changed: VecDeque::new(),
            replies: VecDeque::new(),
            resets: Budget::new(config.replies_per_second),
            late_acks: Budget::new(config.replies_per_second),
            counters: Counters::default(),
            config,
            secret,
        }
    }

    /// Listens for connections at `local`; with the unspecified address, at every address of its family. Connections get this
    /// stack and these buffers. At most `backlog` of them are half open; beyond that, SYN cookies are used. If `backlog`
    /// connections wait for [`Host::accept`], SYNs are dropped.
    ///
    /// # Errors
    /// A listener already exists there, or the address is not this host's.
    pub fn listen(
        &mut self,
        local: SocketAddr,
        stack: &Stack,
        buffers: Buffers,
        backlog: usize,
    ) -> Result<(), ListenError> {
        if !local.ip().is_unspecified() && !self.config.addresses.contains(&local.ip()) {
            return Err(ListenError::NotOurs(local.ip()));
        }
        self.listeners.add(local, stack, buffers, backlog)
    }

    /// The largest MSS that the listener at `local` announces from now on, bytes (`TCP_MAXSEG`). Default: the device's.
    pub fn limit_mss(&mut self, local: SocketAddr, mss: u32) {
        if let Some(listener) = self.listeners.get_mut(local) {
            listener.max_segment = Some(mss);
        }
    }

    /// How many repetitions of the SYN-ACK the listener at `local` waits for data, before an ACK alone opens a connection
    /// (`TCP_DEFER_ACCEPT`). Default: 0.
    pub fn defer_accept(&mut self, local: SocketAddr, repetitions: u32) {
        if let Some(listener) = self.listeners.get_mut(local) {
            listener.defers = repetitions;
        }
    }

    /// Stops listening there; connections that were not accepted are reset.
    pub fn unlisten(&mut self, local: SocketAddr) {
        let Some(listener) = self.listeners.remove(local) else { return };
        let half_open = |slot: &Slot| slot.owner == Owner::HalfOpen(local);
        let mut gone: Vec<Id> = self.slots.ids().filter(|id| self.slots.get(*id).is_some_and(half_open)).collect();
        gone.extend(listener.waiting);
        gone.into_iter().for_each(|id| self.abort(id));
    }

    /// The next connection established at `local`, which is now the application's.
    pub fn accept(&mut self, local: SocketAddr) -> Option<Id> {
        let id = self.listeners.get_mut(local)?.waiting.pop_front()?;
        self.slots.get_mut(id)?.owner = Owner::Application;
        // Data may have arrived before.
        self.tell(id);
        Some(id)
    }

    /// Opens a connection to `remote`. A `local` port of 0 is replaced by a free port (RFC 6056).
    ///
    /// # Errors
    /// Why the connection cannot be opened.
    pub fn connect(
        &mut self,
        now: Time,
        local: SocketAddr,
        remote: SocketAddr,
        stack: &Stack,
        buffers: Buffers,
    ) -> Result<Id, ConnectError> {
        if !self.config.addresses.contains(&local.ip()) {
            return Err(ConnectError::NotOurs(local.ip()));
        }
        if self.slots.len() >= self.config.max_connections {
            return Err(ConnectError::TooMany);
        }
        let mut pair = Pair::new(local, remote);
        if pair.local.port() == 0 {
            let free = |port| {
                let local = SocketAddr::new(local.ip(), port);
                !self.table.contains_key(&Pair { local, ..pair }) && !self.listeners.has(local)
            };
            let ends = (local.ip(), pair.remote);
            let port = self.ports.choose(&self.secret, ends, &self.config.ports, free);
            pair.local.set_port(port.ok_or(ConnectError::NoFreePort)?);
        } else if self.table.contains_key(&pair) {
            return Err(ConnectError::InUse);
        }
        let border = self.border(pair, self.initial(pair, now))?;
        let id = self.add(Endpoint::connect(stack, border, buffers), pair, Owner::Application);
        self.prepare(id);
        Ok(id)
    }

    /// Read access to a connection; `None` after it was [removed](Host::remove).
    pub fn endpoint(&self, id: Id) -> Option<&Endpoint> {
        self.slots.get(id).filter(|slot| slot.owner == Owner::Application).map(|slot| &slot.endpoint)
    }

    /// Access to a connection for writing, reading or closing.
    pub fn endpoint_mut(&mut self, id: Id) -> Option<&mut Endpoint> {
        self.prepare(id);
        self.slots.get_mut(id).filter(|slot| slot.owner == Owner::Application).map(|slot| &mut slot.endpoint)
    }

    /// The next of the application's connections with an event: it opened, data arrived or was acknowledged, it closed. Each
    /// connection is listed once until it is returned.
    pub fn next_changed(&mut self) -> Option<Id> {
        while let Some(id) = self.changed.pop_front() {
            if let Some(slot) = self.slots.get_mut(id) {
                slot.changed = false;
                if slot.owner == Owner::Application {
                    return Some(id);
                }
            }
        }
        None
    }

    /// Releases a connection; its name becomes invalid. Written data is still sent, followed by a FIN ([`Endpoint::orphan`]). If
    /// unread data had arrived, a RST is sent (RFC 9293 §3.6.1, RFC 2525 §2.17).
    pub fn remove(&mut self, now: Time, id: Id) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        slot.owner = Owner::Nobody;
        slot.endpoint.orphan(now);
        self.prepare(id);
    }

    /// Aborts a connection: a RST is sent, and its name becomes invalid.
    pub fn abort(&mut self, id: Id) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        slot.owner = Owner::Nobody;
        slot.endpoint.abort();
        self.prepare(id);
    }

    /// A packet has arrived.
    pub fn on_packet<W: Watch>(&mut self, now: Time, packet: &Packet<'_>, watch: &mut W) -> Arrival {
        let pair = Pair { local: packet.header.dst, remote: packet.header.src };
        match self.table.get(&pair) {
            Some(&Place::Connection(id)) => self.hand_over(now, id, packet, watch),
            Some(&Place::TimeWait(id)) => self.on_late(now, id, packet, watch),
            None => self.on_stranger(now, pair, packet, watch),
        }
    }

    /// An ICMP packet has arrived; `bytes` begin with its IP header.
    ///
    /// # Errors
    /// Those of [`icmp::parse`].
    pub fn on_icmp(&mut self, now: Time, bytes: &[u8], checksums: Checksums) -> Result<Option<(Id, Heard)>, Refused> {
        let Some(message) = icmp::parse(bytes, checksums)? else { return Ok(None) };
        let pair = Pair { local: message.local, remote: message.remote };
        let Some(&Place::Connection(id)) = self.table.get(&pair) else { return Ok(None) };
        let Some(slot) = self.slots.get_mut(id) else { return Ok(None) };
        let heard = slot.endpoint.on_icmp(now, &message);
        if heard == Heard::Believed {
            self.look_after(id);
        }
        Ok(Some((id, heard)))
    }

    /// The time advances to `now`.
    pub fn on_timer<W: Watch>(&mut self, now: Time, watch: &mut W) {
        while let Some((_, index)) = self.timers.first().filter(|(at, _)| *at <= now) {
            // It is set again when the connection has nothing more to send.
            self.timers.set(index, None);
            let Some(id) = self.slots.at(index) else { continue };
            if let Some(slot) = self.slots.get_mut(id) {
                slot.endpoint.on_timer(now, watch.of(id));
            }
            self.look_after(id);
        }
        self.end_waits(now);
    }

    /// The latest time for the caller's next call; as with
    /// [`Connection::next_timer`](ackclock_tcp::connection::Connection::next_timer), this may be immediately.
    pub fn next_timer(&self) -> Option<Time> {
        self.timers.next().into_iter().chain(self.time_waits.next()).min()
    }

    /// Writes the next packet into the front of `buf`; returns `None` if there is nothing to send now. Connections take turns,
    /// packet by packet.
    ///
    /// # Errors
    /// Those of [`Header::write`]. The packet then counts as sent and lost.
    pub fn poll_transmit<W: Watch>(
        &mut self,
        now: Time,
        writing: Writing,
        buf: &mut [u8],
        watch: &mut W,
    ) -> Result<Option<Written>, WriteError> {
        if let Some(header) = self.replies.pop_front() {
            return header.write(self.config.dialect, writing, buf, 0, |_| {}).map(Some);
        }
        while let Some(id) = self.ready.pop_front() {
            let Some(slot) = self.slots.get_mut(id) else { continue };
            let sent = slot.endpoint.poll_transmit(now, writing, buf, watch.of(id));
            if !matches!(sent, Ok(None)) {
                self.ready.push_back(id);
                return sent;
            }
            slot.ready = false;
            self.settle(now, id);
        }
        Ok(None)
    }

    /// The configuration, which may change between calls. Existing connections keep the old value.
    pub fn config_mut(&mut self) -> &mut HostConfig {
        &mut self.config
    }

    /// The counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The number of connections, including those not accepted and those closing on their own.
    pub fn connections(&self) -> usize {
        self.slots.len()
    }

    /// The number of connections in TIME-WAIT. Connections that the application still has are not counted.
    pub fn time_waits(&self) -> usize {
        self.time_waits.len()
    }

    /// The states of all connections that are not closed, in no particular order: listeners, connections, TIME-WAIT.
    pub fn states(&self) -> impl Iterator<Item = State> + '_ {
        let connections = self.slots.ids().filter_map(|id| self.slots.get(id));
        // A connection in TIME-WAIT that the application still has is counted once, among the waits.
        let open = connections.filter(|slot| slot.routed).map(|slot| slot.endpoint.state());
        let listeners = std::iter::repeat_n(State::Listen, self.listeners.len());
        let waits = std::iter::repeat_n(State::TimeWait, self.time_waits.len());
        listeners.chain(open).chain(waits)
    }

    /// Forgets every connection in TIME-WAIT, for tests that use the same ends again.
    pub fn end_time_waits(&mut self) {
        while let Some(oldest) = self.time_waits.oldest() {
            self.end_wait(oldest);
        }
    }

    /// Whether [`Host::accept`] would return a connection.
    pub fn may_accept(&self, local: SocketAddr) -> bool {
        self.listeners.get(local).is_some_and(|listener| !listener.waiting.is_empty())
    }

    fn hand_over<W: Watch>(&mut self, now: Time, id: Id, packet: &Packet<'_>, watch: &mut W) -> Arrival {
        let Some(slot) = self.slots.get_mut(id) else { return Arrival::Ignored };
        let taken = slot.endpoint.on_packet(now, packet, watch.of(id));
        self.look_after(id);
        Arrival::Of(id, taken)
    }

    fn initial(&self, pair: Pair, now: Time) -> Initial {
        self.config.initial.unwrap_or_else(|| self.secret.choose(pair.local, pair.remote, now))
    }

    fn border(&self, pair: Pair, initial: Initial) -> Result<Border, ConnectError> {
        Border::new(pair.local, pair.remote, self.config.mtu, initial, self.config.dialect)
            .map_err(ConnectError::Border)
    }
}
