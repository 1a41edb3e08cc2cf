//! Maps the addresses and ports of a segment to its connection.
//!
//! Each direction has its own key, with the bytes in the order of the packet, so that they need not be reordered first.

use ackclock_wire::packet::Captured;

/// Addresses and ports of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    V4(Four),
    V6(Six),
}

/// The addresses in the packet's byte order. Packed, so that an entry of the table takes 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(4))]
pub(super) struct Four {
    addresses: u64,
    ports: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Six {
    src: u128,
    dst: u128,
    ports: u32,
}

/// Maps each direction of each connection to a number.
#[derive(Debug, Default)]
pub(super) struct Table {
    four: Half<Four>,
    six: Half<Six>,
}

/// Open addressing with linear probing. At most a quarter is full: a second probe is then so rare that the processor need not
/// wait for the first.
#[derive(Debug, Default)]
struct Half<K> {
    places: Vec<(K, Option<Value>)>,
    len: usize,
}

/// A number below 2³² − 1, stored plus one.
type Value = std::num::NonZeroU32;

trait Tuple: Copy + Eq + Default {
    fn hash(&self) -> u64;
}

/// The product of 64 by 64 bits, its halves folded.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

impl Tuple for Four {
    #[inline(always)]
    fn hash(&self) -> u64 {
        fold(self.addresses ^ 0x9e37_79b9_7f4a_7c15, u64::from(self.ports) ^ 0xe703_7ed1_a0b4_28db)
    }
}

impl Tuple for Six {
    #[inline(always)]
    fn hash(&self) -> u64 {
        let low = fold(self.src as u64 ^ 0x9e37_79b9_7f4a_7c15, self.dst as u64 ^ 0xe703_7ed1_a0b4_28db);
        let high = (self.src >> 64) as u64 ^ ((self.dst >> 64) as u64).rotate_left(32);
        fold(low ^ u64::from(self.ports), high ^ 0x8ebc_6af0_9c88_c6e3)
    }
}

impl Key {
    #[inline(always)]
    pub(super) fn of(tcp: &Captured<'_>) -> Key {
        let (addresses, ports) = (tcp.ip.addresses, tcp.ports());
        if let Some(six) = addresses.first_chunk::<32>() {
            let (src, dst) = six.split_at(16);
            let number = |half: &[u8]| half.iter().fold(0u128, |n, b| n << 8 | u128::from(*b));
            return Key::V6(Six { src: number(src), dst: number(dst), ports });
        }
        let addresses = addresses.first_chunk::<8>().map_or(0, |four| u64::from_le_bytes(*four));
        Key::V4(Four { addresses, ports })
    }

    /// The key of the other direction.
    pub(super) fn back(&self) -> Key {
        match *self {
            Key::V4(Four { addresses, ports }) => {
                Key::V4(Four { addresses: addresses.rotate_left(32), ports: ports.rotate_left(16) })
            }
            Key::V6(Six { src, dst, ports }) => Key::V6(Six { src: dst, dst: src, ports: ports.rotate_left(16) }),
        }
    }
}

impl Table {
    #[inline(always)]
    pub(super) fn find(&self, key: &Key) -> Option<u32> {
        match key {
            Key::V4(key) => self.four.find(key),
            Key::V6(key) => self.six.find(key),
        }
    }

    /// Adds a key that is not in the table.
    pub(super) fn insert(&mut self, key: &Key, number: u32) {
        let Some(value) = Value::new(number + 1) else { return };
        match key {
            Key::V4(key) => self.four.insert(*key, value),
            Key::V6(key) => self.six.insert(*key, value),
        }
    }

    pub(super) fn remove(&mut self, key: &Key) {
        match key {
            Key::V4(key) => self.four.remove(key),
            Key::V6(key) => self.six.remove(key),
        }
    }
}

impl<K: Tuple> Half<K> {
    #[inline(always)]
    fn find(&self, key: &K) -> Option<u32> {
        let mask = self.places.len().checked_sub(1)?;
        let mut at = key.hash() as usize & mask;
        loop {
            let (other, value) = &self.places[at];
            match value {
                Some(value) if other == key => return Some(value.get() - 1),
                Some(_) => at = (at + 1) & mask,
                None => return None,
            }
        }
    }

    fn insert(&mut self, key: K, value: Value) {
        if (self.len + 1) * 4 > self.places.len() {
            let larger = vec![(K::default(), None); (self.places.len() * 2).max(64)];
            for (key, value) in std::mem::replace(&mut self.places, larger) {
                if let Some(value) = value {
                    self.put(key, value);
                }
            }
        }
        self.put(key, value);
        self.len += 1;
    }

    fn put(&mut self, key: K, value: Value) {
        let mask = self.places.len() - 1;
        let mut at = key.hash() as usize & mask;
        while self.places[at].1.is_some() {
            at = (at + 1) & mask;
        }
        self.places[at] = (key, Some(value));
    }

    /// Removes a key; later entries move up, so that no search ends too early.
    fn remove(&mut self, key: &K) {
        let Some(mask) = self.places.len().checked_sub(1) else { return };
        let mut hole = key.hash() as usize & mask;
        while self.places[hole].1.is_some() && self.places[hole].0 != *key {
            hole = (hole + 1) & mask;
        }
        if self.places[hole].1.take().is_none() {
            return;
        }
        self.len -= 1;
        let mut at = (hole + 1) & mask;
        while let (other, Some(value)) = self.places[at] {
            let home = other.hash() as usize & mask;
            // An entry may move to the hole unless its home position is behind the hole.
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.places[hole] = (other, Some(value));
                self.places[at].1 = None;
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
    use std::collections::btree_map::{BTreeMap, Entry};

    fn key(n: u16) -> Key {
        let (a, ports) = (u32::from(n % 7), u32::from(n));
        match n % 3 {
            0 => Key::V6(Six { src: u128::from(a) << 64, dst: 1, ports }),
            _ => Key::V4(Four { addresses: a.into(), ports }),
        }
    }

    proptest! {
        #[test]
        fn the_table_finds_what_a_map_finds(steps in prop::collection::vec((any::<bool>(), 0u16..300), 0..2000)) {
            let (mut table, mut map) = (Table::default(), BTreeMap::new());
            for (number, (add, n)) in steps.into_iter().enumerate() {
                if !add {
                    table.remove(&key(n));
                    map.remove(&n);
                } else if let Entry::Vacant(place) = map.entry(n) {
                    table.insert(&key(n), number as u32);
                    place.insert(number as u32);
                }
                prop_assert_eq!(table.four.len + table.six.len, map.len());
            }
            for n in 0..300 {
                prop_assert_eq!(table.find(&key(n)), map.get(&n).copied());
            }
        }
    }

    #[test]
    fn the_way_back_of_the_way_back_is_the_way_itself() {
        let v4 = Key::V4(Four { addresses: 0x0a00_0001_0a00_0002, ports: 0x1234_0050 });
        assert_eq!(v4.back(), Key::V4(Four { addresses: 0x0a00_0002_0a00_0001, ports: 0x0050_1234 }));
        for n in 0..3 {
            assert_eq!(key(n).back().back(), key(n));
        }
    }
}
