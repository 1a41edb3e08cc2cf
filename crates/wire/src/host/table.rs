//! Finds a packet's connection: a hash table by the four-tuple.
//!
//! The hash is keyed. An attacker who could predict it could choose addresses and ports that all collide, and make every
//! packet search through all of them (Crosby & Wallach 2003).

use crate::initial::{four_tuple, Secret};
use siphasher::sip::SipHasher24;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::net::SocketAddr;

/// Both ends of a connection, without IPv6's flow and scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
}

/// A map from pairs to values.
pub(super) type Table<T> = HashMap<Pair, T, Keyed>;

#[derive(Clone)]
pub(super) struct Keyed(pub(super) Secret);

impl Pair {
    pub(super) fn new(local: SocketAddr, remote: SocketAddr) -> Self {
        let plain = |a: SocketAddr| SocketAddr::new(a.ip(), a.port());
        Pair { local: plain(local), remote: plain(remote) }
    }
}

impl Hash for Pair {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(&four_tuple(self.local, self.remote));
    }
}

impl BuildHasher for Keyed {
    type Hasher = SipHasher24;

    fn build_hasher(&self) -> Self::Hasher {
        self.0.hasher()
    }
}
