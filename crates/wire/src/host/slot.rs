//! A connection of a host from its first packet until it is no longer needed.

use super::table::Pair;
use super::{Host, Id};
use crate::endpoint::Endpoint;
use ackclock_tcp::connection::{Insecure, State};
use ackclock_tcp::time::Time;
use std::net::SocketAddr;

/// A connection and its owner.
pub(super) struct Slot {
    pub(super) endpoint: Endpoint,
    pub(super) pair: Pair,
    pub(super) owner: Owner,
    /// Whether the table has it, so that packets find it.
    pub(super) routed: bool,
    pub(super) ready: bool,
    pub(super) changed: bool,
}

/// The owner, who will read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// None yet: the handshake with this listener is in progress.
    HalfOpen(SocketAddr),
    /// None yet: it waits to be accepted.
    Waiting,
    /// The application.
    Application,
    /// None any more: it closes on its own.
    Nobody,
}

/// The entry of a pair of ends in the table of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A connection.
    Connection(Id),
    /// A connection in TIME-WAIT.
    TimeWait(Id),
}

impl Host {
    /// A connection had an event: it may have something to send, and its owner may have changed.
    pub(super) fn look_after(&mut self, id: Id) {
        self.prepare(id);
        match self.slots.get(id).map(|slot| slot.owner) {
            Some(Owner::Application) => self.tell(id),
            Some(Owner::HalfOpen(listener)) => self.look_after_half_open(id, listener),
            Some(Owner::Waiting | Owner::Nobody) | None => {}
        }
    }

    /// It may have data to send.
    pub(super) fn prepare(&mut self, id: Id) {
        if let Some(slot) = self.slots.get_mut(id).filter(|slot| !slot.ready) {
            slot.ready = true;
            self.ready.push_back(id);
        }
    }

    /// The application must be told about it.
    pub(super) fn tell(&mut self, id: Id) {
        if let Some(slot) = self.slots.get_mut(id).filter(|slot| !slot.changed) {
            slot.changed = true;
            self.changed.push_back(id);
        }
    }

    /// It has nothing to send now.
    pub(super) fn settle(&mut self, now: Time, id: Id) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        self.timers.set(id.index(), slot.endpoint.next_timer());
        match slot.endpoint.state() {
            State::Closed => {}
            State::TimeWait => self.begin_wait(now, id),
            State::Listen
            | State::SynSent
            | State::SynReceived
            | State::Established
            | State::FinWait1
            | State::FinWait2
            | State::CloseWait
            | State::Closing
            | State::LastAck => return,
        }
        let Some(slot) = self.slots.get_mut(id) else { return };
        if std::mem::take(&mut slot.routed) {
            self.table.remove(&slot.pair);
        }
        match slot.owner {
            // Arrived data can still be read.
            Owner::Application | Owner::Waiting => {}
            Owner::HalfOpen(_) | Owner::Nobody => self.forget(id),
        }
    }

    /// Removes it.
    pub(super) fn forget(&mut self, id: Id) {
        let Some(slot) = self.slots.remove(id) else { return };
        self.timers.set(id.index(), None);
        if slot.routed {
            self.table.remove(&slot.pair);
        }
        if let Owner::HalfOpen(listener) = slot.owner {
            self.listeners.closed(listener);
        }
    }

    pub(super) fn add(&mut self, mut endpoint: Endpoint, pair: Pair, owner: Owner) -> Id {
        if self.config.insecure != Insecure::default() {
            endpoint.set_insecure(self.config.insecure);
        }
        endpoint.set_syn_rules(self.config.syn);
        let slot = Slot { endpoint, pair, owner, routed: true, ready: false, changed: false };
        let id = self.slots.insert(slot);
        self.table.insert(pair, Place::Connection(id));
        id
    }
}
