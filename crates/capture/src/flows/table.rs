//! From the two ends of a connection to its slot.

use std::net::{IpAddr, SocketAddr};

/// Two ends, the smaller first: the same for both directions. IPv4's addresses are written as RFC 4291 §2.5.5.2 maps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    small: u128,
    large: u128,
    ports: u32,
}

/// Open addressing with linear probing; at most half full. A place holds a slot's number plus one and the hash beside it.
#[derive(Debug, Default)]
pub(super) struct Table {
    places: Vec<Place>,
    len: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    key: Option<Key>,
    slot: u32,
}

impl Key {
    /// The key, and whether the source is the larger of the two.
    #[inline]
    pub(super) fn new(src: &SocketAddr, dst: &SocketAddr) -> (Key, bool) {
        let (a, b) = (address(src), address(dst));
        let turned = (a, src.port()) > (b, dst.port());
        let (small, large, low, high) =
            if turned { (b, a, dst.port(), src.port()) } else { (a, b, src.port(), dst.port()) };
        (Key { small, large, ports: u32::from(low) << 16 | u32::from(high) }, turned)
    }

    /// Products of 64 by 64 bits, the halves of each folded; the factors have bits everywhere.
    #[inline]
    fn hash(&self) -> u64 {
        let fold = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            (product >> 64) as u64 ^ product as u64
        };
        let low = fold(self.small as u64 ^ 0x9e37_79b9_7f4a_7c15, self.large as u64 ^ 0xe703_7ed1_a0b4_28db);
        let high = (self.small >> 64) as u64 ^ ((self.large >> 64) as u64).rotate_left(32);
        fold(low ^ u64::from(self.ports), high ^ 0x8ebc_6af0_9c88_c6e3)
    }
}

#[inline]
fn address(of: &SocketAddr) -> u128 {
    match of.ip() {
        IpAddr::V4(v4) => 0xffff << 32 | u128::from(u32::from(v4)),
        IpAddr::V6(v6) => u128::from(v6),
    }
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn find(&self, key: &Key) -> Option<u32> {
        let mask = self.places.len().checked_sub(1)?;
        let mut at = key.hash() as usize & mask;
        loop {
            match &self.places[at].key {
                Some(other) if other == key => return Some(self.places[at].slot),
                Some(_) => at = (at + 1) & mask,
                None => return None,
            }
        }
    }

    /// Adds a key that is not there.
    pub(super) fn insert(&mut self, key: Key, slot: u32) {
        if (self.len + 1) * 2 > self.places.len() {
            let larger = (self.places.len() * 2).max(64);
            for place in std::mem::replace(&mut self.places, vec![Place::default(); larger]) {
                if let Some(key) = place.key {
                    self.put(key, place.slot);
                }
            }
        }
        self.put(key, slot);
        self.len += 1;
    }

    fn put(&mut self, key: Key, slot: u32) {
        let mask = self.places.len() - 1;
        let mut at = key.hash() as usize & mask;
        while self.places[at].key.is_some() {
            at = (at + 1) & mask;
        }
        self.places[at] = Place { key: Some(key), slot };
    }

    /// Takes a key away; those behind it move up, so that no search ends too early.
    pub(super) fn remove(&mut self, key: &Key) {
        let Some(mask) = self.places.len().checked_sub(1) else { return };
        let mut hole = key.hash() as usize & mask;
        while self.places[hole].key != Some(*key) {
            if self.places[hole].key.is_none() {
                return;
            }
            hole = (hole + 1) & mask;
        }
        self.places[hole].key = None;
        self.len -= 1;
        let mut at = (hole + 1) & mask;
        while let Some(other) = self.places[at].key {
            let home = other.hash() as usize & mask;
            // It may move to the hole if its home is not behind the hole.
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.places[hole] = self.places[at];
                self.places[at].key = None;
                hole = at;
            }
            at = (at + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn key(n: u16) -> Key {
        let end = |port: u16| SocketAddr::new(IpAddr::from([10, 0, 0, (port % 3) as u8]), port);
        Key::new(&end(n), &end(7)).0
    }

    proptest! {
        #[test]
        fn the_table_finds_what_a_map_finds(steps in prop::collection::vec((any::<bool>(), 0u16..300), 0..2000)) {
            let (mut table, mut map) = (Table::default(), BTreeMap::new());
            for (slot, (add, n)) in steps.into_iter().enumerate() {
                if !add {
                    table.remove(&key(n));
                    map.remove(&n);
                } else if !map.contains_key(&n) {
                    table.insert(key(n), slot as u32);
                    map.insert(n, slot as u32);
                }
                prop_assert_eq!(table.len(), map.len());
            }
            for n in 0..300 {
                prop_assert_eq!(table.find(&key(n)), map.get(&n).copied());
            }
        }
    }

    #[test]
    fn both_directions_have_one_key_and_differ_in_which_is_turned() {
        let (a, b): (SocketAddr, SocketAddr) = ("10.0.0.9:80".parse().unwrap(), "10.0.0.10:4000".parse().unwrap());
        let (there, back) = (Key::new(&a, &b), Key::new(&b, &a));
        assert_eq!(there.0, back.0);
        assert_ne!(there.1, back.1);
        assert_ne!(Key::new(&a, &"[::ffff:0:10]:4000".parse().unwrap()).0, there.0);
    }
}
