//! Many connections behind one device: a host's TCP, without I/O.
//!
//! Source: RFC 9293 §3.10 (what becomes of a segment, by its connection), §3.9.1 (open, listen), RFC 6056 (ports).
//!
//! The four calls are those of an [`Endpoint`], for all of them at once. After each call, and after a connection was written to,
//! read from or closed, take what is to be sent with [`Host::poll_transmit`] until it says `None`; then
//! [`Host::next_timer`] is right.
//!
//! | part | what |
//! | --- | --- |
//! | `table` | which connection a packet is for |
//! | `listener` | who waits for connections |
//! | `slots`, `timers` | the connections, and which of their timers is next |
//! | `ports` | local ports |

mod config;
mod listener;
mod ports;
mod slots;
mod table;
mod timers;
mod watch;

use crate::border::Border;
use crate::endpoint::{Buffers, Endpoint};
use crate::initial::{Initial, Secret};
use crate::packet::{Header, Packet};
use crate::reset::reset_header;
use crate::write::{WriteError, Writing, Written};
use ackclock_tcp::connection::State;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
pub use config::{ConnectError, Counters, HostConfig, ListenError};
use listener::Listeners;
use ports::Ports;
pub use slots::Id;
use slots::Slots;
use std::collections::VecDeque;
use std::net::SocketAddr;
use table::{Keyed, Pair, Table};
use timers::Timers;
pub use watch::{Arrival, Watch};

/// Answers of the host's own that wait to be sent. More are dropped: nobody relies on one.
const MAX_REPLIES: usize = 256;

/// Connections, listeners, and what is between them and a device.
pub struct Host {
    config: HostConfig,
    secret: Secret,
    table: Table<Id>,
    slots: Slots<Slot>,
    timers: Timers,
    listeners: Listeners,
    ports: Ports,
    /// Who may have something to send, in turn.
    ready: VecDeque<Id>,
    /// With whom something happened that the application has not been told.
    changed: VecDeque<Id>,
    replies: VecDeque<Header>,
    counters: Counters,
}

/// A connection and whose it is.
struct Slot {
    endpoint: Endpoint,
    pair: Pair,
    owner: Owner,
    /// The table has it: packets find it.
    routed: bool,
    ready: bool,
    changed: bool,
}

/// Who will read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Nobody yet: the handshake with this listener goes on.
    HalfOpen(SocketAddr),
    /// Nobody yet: it waits to be accepted.
    Waiting,
    /// The application.
    Application,
    /// Nobody any more: it ends by itself.
    Nobody,
}

impl Host {
    /// A host without connections.
    pub fn new(config: HostConfig, secret: Secret) -> Self {
        Host {
            table: Table::with_hasher(Keyed(secret.clone())),
            slots: Slots::new(),
            timers: Timers::new(),
            listeners: Listeners::default(),
            ports: Ports::default(),
            ready: VecDeque::new(),
            changed: VecDeque::new(),
            replies: VecDeque::new(),
            counters: Counters::default(),
            config,
            secret,
        }
    }

    /// Waits for connections at `local`; with the unspecified address, at every address of its family. Connections get this
    /// stack and these buffers. At most `backlog` of them are half open, and as many wait for [`Host::accept`].
    ///
    /// # Errors
    /// Somebody listens there already, or the address is not this host's.
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

    /// Nobody waits there any more; what was not accepted is reset.
    pub fn unlisten(&mut self, local: SocketAddr) {
        let Some(listener) = self.listeners.remove(local) else { return };
        let half_open = |slot: &Slot| slot.owner == Owner::HalfOpen(local);
        let mut gone: Vec<Id> = self.slots.ids().filter(|id| self.slots.get(*id).is_some_and(half_open)).collect();
        gone.extend(listener.waiting);
        gone.into_iter().for_each(|id| self.abort(id));
    }

    /// The next connection that was made at `local`, which is now the application's.
    pub fn accept(&mut self, local: SocketAddr) -> Option<Id> {
        let id = self.listeners.get_mut(local)?.waiting.pop_front()?;
        self.slots.get_mut(id)?.owner = Owner::Application;
        // Data may have come before.
        self.tell(id);
        Some(id)
    }

    /// Opens a connection to `remote`. A `local` port of 0 is chosen (RFC 6056).
    ///
    /// # Errors
    /// Why there can be none.
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

    /// A connection to look at; `None` once it was [removed](Host::remove).
    pub fn endpoint(&self, id: Id) -> Option<&Endpoint> {
        self.slots.get(id).filter(|slot| slot.owner == Owner::Application).map(|slot| &slot.endpoint)
    }

    /// A connection to write to, read from or close.
    pub fn endpoint_mut(&mut self, id: Id) -> Option<&mut Endpoint> {
        self.prepare(id);
        self.slots.get_mut(id).filter(|slot| slot.owner == Owner::Application).map(|slot| &mut slot.endpoint)
    }

    /// The next connection of the application's with which something happened: it opened, data came or were acknowledged, it
    /// closed. Each is told of once until it was asked for.
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

    /// The application is done with a connection, and its name means nothing any more. What was written is still sent, then
    /// comes a FIN. If something had arrived that was not read, or does from now on, a RST says so (RFC 9293 §3.6.1, RFC 2525 §2.17).
    pub fn remove(&mut self, id: Id) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        slot.owner = Owner::Nobody;
        match slot.endpoint.readable().0.is_empty() {
            true => slot.endpoint.close(),
            false => slot.endpoint.abort(),
        }
        self.prepare(id);
    }

    /// Gives a connection up: a RST is sent, and its name means nothing any more.
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
            Some(&id) => self.hand_over(now, id, packet, watch),
            None => self.on_stranger(now, pair, packet, watch),
        }
    }

    /// Time has come.
    pub fn on_timer<W: Watch>(&mut self, now: Time, watch: &mut W) {
        while let Some((_, index)) = self.timers.first().filter(|(at, _)| *at <= now) {
            // Set again when it has nothing more to send.
            self.timers.set(index, None);
            let Some(id) = self.slots.at(index) else { continue };
            if let Some(slot) = self.slots.get_mut(id) {
                slot.endpoint.on_timer(now, watch.of(id));
            }
            self.look_after(id);
        }
    }

    /// When the driver should come back at the latest.
    pub fn next_timer(&self) -> Option<Time> {
        self.timers.next()
    }

    /// Writes the next packet into the front of `buf`; `None` means that nothing is to be sent now. Connections take turns,
    /// packet by packet.
    ///
    /// # Errors
    /// As [`Header::write`]. The packet then counts as sent and lost.
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
            self.settle(id);
        }
        Ok(None)
    }

    /// What has happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// How many connections there are, those included that nobody has accepted or that end by themselves.
    pub fn connections(&self) -> usize {
        self.slots.len()
    }

    fn hand_over<W: Watch>(&mut self, now: Time, id: Id, packet: &Packet<'_>, watch: &mut W) -> Arrival {
        let Some(slot) = self.slots.get_mut(id) else { return Arrival::Ignored };
        let taken = slot.endpoint.on_packet(now, packet, watch.of(id));
        // RFC 9293 §3.6.1: data for nobody.
        if slot.owner == Owner::Nobody && taken.bytes > 0 {
            slot.endpoint.abort();
        }
        self.look_after(id);
        Arrival::Of(id, taken)
    }

    /// A packet of no connection (RFC 9293 §3.10.7.1 and §3.10.7.2).
    #[cold]
    fn on_stranger<W: Watch>(&mut self, now: Time, pair: Pair, packet: &Packet<'_>, watch: &mut W) -> Arrival {
        if !self.config.addresses.contains(&pair.local.ip()) {
            self.counters.not_ours += 1;
            return Arrival::Ignored;
        }
        if listener::is_first_syn(packet) && self.listeners.for_packet(pair.local).is_some() {
            return self.on_syn(now, pair, packet, watch);
        }
        match reset_header(packet) {
            Some(header) => self.reply(header),
            None => Arrival::Ignored,
        }
    }

    fn reply(&mut self, header: Header) -> Arrival {
        if self.replies.len() >= MAX_REPLIES {
            return Arrival::Ignored;
        }
        self.replies.push_back(header);
        self.counters.resets_sent += 1;
        Arrival::Answered
    }

    /// Something happened to a connection: it may have something to send, and whose it is may have changed.
    #[inline]
    fn look_after(&mut self, id: Id) {
        self.prepare(id);
        match self.slots.get(id).map(|slot| slot.owner) {
            Some(Owner::Application) => self.tell(id),
            Some(Owner::HalfOpen(listener)) => self.look_after_half_open(id, listener),
            Some(Owner::Waiting | Owner::Nobody) | None => {}
        }
    }

    /// It may have something to send.
    #[inline]
    fn prepare(&mut self, id: Id) {
        if let Some(slot) = self.slots.get_mut(id).filter(|slot| !slot.ready) {
            slot.ready = true;
            self.ready.push_back(id);
        }
    }

    /// The application is to hear of it.
    #[inline]
    fn tell(&mut self, id: Id) {
        if let Some(slot) = self.slots.get_mut(id).filter(|slot| !slot.changed) {
            slot.changed = true;
            self.changed.push_back(id);
        }
    }

    /// It has nothing to send for now.
    fn settle(&mut self, id: Id) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        if slot.endpoint.state() != State::Closed {
            return self.timers.set(id.index(), slot.endpoint.next_timer());
        }
        self.timers.set(id.index(), None);
        if std::mem::take(&mut slot.routed) {
            self.table.remove(&slot.pair);
        }
        match slot.owner {
            Owner::Application | Owner::Waiting => {}
            Owner::HalfOpen(listener) => {
                self.listeners.closed(listener);
                self.slots.remove(id);
            }
            Owner::Nobody => _ = self.slots.remove(id),
        }
    }

    fn add(&mut self, endpoint: Endpoint, pair: Pair, owner: Owner) -> Id {
        let slot = Slot { endpoint, pair, owner, routed: true, ready: false, changed: false };
        let id = self.slots.insert(slot);
        self.table.insert(pair, id);
        id
    }

    fn initial(&self, pair: Pair, now: Time) -> Initial {
        self.config.initial.unwrap_or_else(|| self.secret.choose(pair.local, pair.remote, now))
    }

    fn border(&self, pair: Pair, initial: Initial) -> Result<Border, ConnectError> {
        Border::new(pair.local, pair.remote, self.config.mtu, initial, self.config.dialect)
            .map_err(ConnectError::Border)
    }
}
