//! A connection of a host from its first packet until nobody wants it any more.

use super::table::Pair;
use super::{Host, Id};
use crate::endpoint::Endpoint;
use ackclock_tcp::connection::State;
use ackclock_tcp::time::Time;
use std::net::SocketAddr;

/// A connection and whose it is.
pub(super) struct Slot {
    pub(super) endpoint: Endpoint,
    pub(super) pair: Pair,
    pub(super) owner: Owner,
    /// The table has it: packets find it.
    pub(super) routed: bool,
    pub(super) ready: bool,
    pub(super) changed: bool,
}

/// Who will read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Nobody yet: the handshake with this listener goes on.
    HalfOpen(SocketAddr),
    /// Nobody yet: it waits to be accepted.
    Waiting,
    /// The application.
    Application,
    /// Nobody any more: it ends by itself.
    Nobody,
}

/// What a pair of ends leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A connection.
    Connection(Id),
    /// One that is over.
    TimeWait(Id),
}

impl Host {
    /// Something happened to a connection: it may have something to send, and whose it is may have changed.
    #[inline]
    pub(super) fn look_after(&mut self, id: Id) {
        self.prepare(id);
        match self.slots.get(id).map(|slot| slot.owner) {
            Some(Owner::Application) => self.tell(id),
            Some(Owner::HalfOpen(listener)) => self.look_after_half_open(id, listener),
            Some(Owner::Waiting | Owner::Nobody) | None => {}
        }
    }

    /// It may have something to send.
    #[inline]
    pub(super) fn prepare(&mut self, id: Id) {
        if let Some(slot) = self.slots.get_mut(id).filter(|slot| !slot.ready) {
            slot.ready = true;
            self.ready.push_back(id);
        }
    }

    /// The application is to hear of it.
    #[inline]
    pub(super) fn tell(&mut self, id: Id) {
        if let Some(slot) = self.slots.get_mut(id).filter(|slot| !slot.changed) {
            slot.changed = true;
            self.changed.push_back(id);
        }
    }

    /// It has nothing to send for now.
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
            // What arrived can still be read.
            Owner::Application | Owner::Waiting => {}
            Owner::HalfOpen(_) | Owner::Nobody => self.forget(id),
        }
    }

    /// It is no more.
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

    pub(super) fn add(&mut self, endpoint: Endpoint, pair: Pair, owner: Owner) -> Id {
        let slot = Slot { endpoint, pair, owner, routed: true, ready: false, changed: false };
        let id = self.slots.insert(slot);
        self.table.insert(pair, Place::Connection(id));
        id
    }
}
