//! Connections between the same addresses and ports in several VLANs.
//!
//! Idea: a connection belongs to the VLAN of its first segment. A segment in another VLAN belongs to it, too, if its numbers fit
//! ([`Flow::fits`](super::Flow)): a mirror sees packets with and without a tag, before and behind a router, and the two directions
//! may use two VLANs. Otherwise it begins a connection of its own. What was decided once holds for the direction and its VLAN.

use super::table::Key;
use std::collections::BTreeMap;

/// The most decisions that are kept; others are made again for each segment.
const MOST: usize = 1 << 16;

/// What is known about VLANs, beyond the first connection between two ends and its first VLAN.
#[derive(Debug, Default)]
pub(super) struct Vlans {
    /// Values as in the table.
    places: BTreeMap<(Key, u32), u32>,
    any: bool,
}

impl Vlans {
    /// Whether any segment went through a VLAN.
    #[inline(always)]
    pub(super) fn are_any(&self) -> bool {
        self.any
    }

    /// A segment went through this VLAN; 0 is none.
    pub(super) fn note(&mut self, vlan: u32) {
        self.any |= vlan != 0;
    }

    pub(super) fn find(&self, key: &Key, vlan: u32) -> Option<u32> {
        self.places.get(&(*key, vlan)).copied()
    }

    /// All connections between these ends.
    pub(super) fn between(&self, key: &Key) -> impl Iterator<Item = u32> + '_ {
        self.places.range((*key, 0)..=(*key, u32::MAX)).map(|(_, place)| *place)
    }

    /// A direction of a known connection also goes through this VLAN.
    pub(super) fn learn(&mut self, key: Key, vlan: u32, place: u32) {
        self.any = true;
        if self.places.len() < MOST {
            self.places.insert((key, vlan), place);
        }
    }

    /// A connection that is not the first between its ends.
    pub(super) fn insert(&mut self, key: Key, vlan: u32, place: u32) {
        self.any = true;
        self.places.entry((key, vlan)).or_insert(place);
    }

    /// Forgets what is known about a connection in this direction.
    pub(super) fn remove(&mut self, key: &Key, is_it: impl Fn(u32) -> bool) {
        if self.places.is_empty() {
            return;
        }
        let ended = self.places.range((*key, 0)..=(*key, u32::MAX)).filter(|(_, place)| is_it(**place));
        let ended: Vec<_> = ended.map(|(known, _)| *known).collect();
        for known in ended {
            self.places.remove(&known);
        }
    }
}
