//! Finds the element with the next event: one packed key for each, time and element, and their minimum.
//!
//! Up to 16 elements the keys are simply scanned; above, the nodes of a winner tree keep the least of each four. Both return the
//! same minimum, so the choice does not affect any result.

/// Bits of a key that hold the element, unless a run has more elements.
const FEWEST_BITS: u32 = 17;
/// The largest number of elements in any run.
pub(crate) const MAX_ELEMENTS: usize = 1 << 24;
/// A time after the end of every run, in ns (39 hours): the first that no key can hold.
pub(crate) const MAX_TIME: u64 = 1 << (64 - FEWEST_BITS);
/// The key of an element that waits for nothing; later than any other.
pub(crate) const NEVER: u64 = u64::MAX;

/// The form of a run's keys: `time << bits | element`. The form affects no result, since keys compare as time and element do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    /// Bits of the element.
    bits: u32,
    /// The largest number in these bits, and the last time in the others.
    largest: u64,
    last: u64,
}

impl Keys {
    /// For a run with this many elements, at most [`MAX_ELEMENTS`].
    pub(crate) fn new(elements: usize) -> Self {
        let bits = elements.max(1 << FEWEST_BITS).next_power_of_two().ilog2();
        Keys { bits, largest: (1 << bits) - 1, last: u64::MAX >> bits }
    }

    /// The first time that a key cannot hold.
    pub(crate) fn end(self) -> u64 {
        self.last + 1
    }

    /// The key of `element` at `at`. Times too large for a key become the largest one, which is after the end of any run.
    #[inline]
    pub(crate) fn key(self, at: u64, element: u32) -> u64 {
        at.min(self.last) << self.bits | u64::from(element)
    }

    /// A key that no element's key at this time exceeds.
    #[inline]
    pub(crate) fn last(self, at: u64) -> u64 {
        self.key(at, 0) | self.largest
    }

    /// The time in a key.
    #[inline]
    pub(crate) fn time_of(self, key: u64) -> u64 {
        key >> self.bits
    }

    /// The element in a key.
    #[inline]
    pub(crate) fn element_of(self, key: u64) -> u32 {
        (key & self.largest) as u32
    }
}

/// The method of finding the minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// Scan up to [`SCAN`] elements, a tree above.
    Auto,
    /// Always a tree.
    #[cfg(test)]
    Tree,
}

const SCAN: usize = 16;

/// One key for each of `n` places, and their minimum.
#[cfg_attr(test, derive(Clone, PartialEq, Eq, Hash))]
pub(crate) enum NextEvent {
    /// The keys themselves.
    Scan { keys: [u64; SCAN], half: bool },
    /// Node 0 is the root, node `i` has the children `4i + 1` to `4i + 4`, and `fours[i]` holds their keys; a node's key is the least
    /// of its children's. The places are the last nodes, behind the root and `above` others; their depths differ by at most one.
    Tree { fours: Box<[[u64; 4]]>, above: usize, root: u64 },
}

impl NextEvent {
    pub(crate) fn new(n: usize, search: Search) -> Self {
        if n <= SCAN && search == Search::Auto {
            return NextEvent::Scan { keys: [NEVER; SCAN], half: n <= SCAN / 2 };
        }
        // A node more with four children is a place less and four more.
        let nodes = n.saturating_sub(1).div_ceil(3).max(1);
        NextEvent::Tree { fours: vec![[NEVER; 4]; nodes].into(), above: nodes - 1, root: NEVER }
    }

    /// The least key; [`NEVER`] if there is no event.
    #[inline]
    pub(crate) fn min(&self) -> u64 {
        match self {
            NextEvent::Scan { keys, half } => {
                let (a, b) = keys.split_at(SCAN / 2);
                let low = least(a);
                if *half {
                    low
                } else {
                    low.min(least(b))
                }
            }
            NextEvent::Tree { root, .. } => *root,
        }
    }

    /// Sets the key of place `i`.
    #[inline]
    pub(crate) fn set(&mut self, i: usize, key: u64) {
        match self {
            NextEvent::Scan { keys, .. } => keys[i % SCAN] = key,
            NextEvent::Tree { fours, above, root } => replay(fours, root, *above + i, key),
        }
    }
}

/// Writes the key of the node `i` behind the root and replays its matches up to the root.
#[inline]
fn replay(fours: &mut [[u64; 4]], root: &mut u64, mut i: usize, mut key: u64) {
    let earlier = key < fours[i >> 2][i & 3];
    loop {
        let node = i >> 2;
        let four = &mut fours[node];
        four[i & 3] = key;
        let others = four[i & 3 ^ 1].min(four[i & 3 ^ 2]).min(four[i & 3 ^ 3]);
        // An earlier key that loses a match changes nothing above.
        if earlier && others <= key {
            return;
        }
        key = key.min(others);
        if node == 0 {
            break;
        }
        i = node - 1;
    }
    *root = key;
}

#[inline]
fn least(keys: &[u64]) -> u64 {
    keys.iter().fold(NEVER, |m, k| m.min(*k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(at: u64, element: u32) -> u64 {
        Keys::new(300).key(at, element)
    }

    proptest! {
        #[test]
        fn scan_and_tree_name_the_same_element(n in 1usize..=16, sets in prop::collection::vec((0usize..16, 0u64..50), 1..200)) {
            let (mut scan, mut tree) = (NextEvent::new(n, Search::Auto), NextEvent::new(n, Search::Tree));
            for (i, at) in sets {
                let k = if at == 0 { NEVER } else { key(at, (i % n) as u32) };
                scan.set(i % n, k);
                tree.set(i % n, k);
                prop_assert_eq!(scan.min(), tree.min());
            }
        }

        #[test]
        fn the_tree_names_the_least_of_many(n in 17usize..300, sets in prop::collection::vec((any::<usize>(), 0u64..1000), 1..200)) {
            let mut tree = NextEvent::new(n, Search::Auto);
            let mut keys = vec![NEVER; n];
            for (i, at) in sets {
                keys[i % n] = key(at, (i % n) as u32);
                tree.set(i % n, keys[i % n]);
                prop_assert_eq!(tree.min(), *keys.iter().min().unwrap());
            }
        }
    }

    /// Every state that any number of changes leads to, with keys among these.
    fn reached(n: usize, search: Search, values: &[u64]) -> usize {
        let first = (NextEvent::new(n, search), vec![NEVER; n]);
        let (mut seen, mut open) = (std::collections::HashSet::from([first.clone()]), vec![first]);
        while let Some((state, keys)) = open.pop() {
            assert_eq!(state.min(), *keys.iter().min().unwrap(), "{keys:?}");
            for (i, value) in (0..n).flat_map(|i| values.iter().map(move |value| (i, *value))) {
                let mut next = (state.clone(), keys.clone());
                next.0.set(i, value);
                next.1[i] = value;
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        seen.len()
    }

    #[test]
    fn the_least_is_named_in_every_state_that_changes_of_any_number_lead_to() {
        // Keys are only compared, so ranks stand for all keys. The state is the keys' function, whatever the order of changes.
        assert_eq!(reached(4, Search::Auto, &[1, 2, 3, 4, NEVER]), 5usize.pow(4));
        assert_eq!(reached(4, Search::Tree, &[1, 2, 3, 4, NEVER]), 5usize.pow(4));
        assert_eq!(reached(6, Search::Tree, &[1, 2, 3, NEVER]), 4usize.pow(6));
        // Three groups of the lower level.
        assert_eq!(reached(9, Search::Tree, &[1, 2, NEVER]), 3usize.pow(9));
    }

    #[test]
    fn equal_times_are_decided_by_the_element_and_times_beyond_the_packing_never_wrap() {
        for elements in [2, 1 << 17, (1 << 17) + 1, 2_000_002, MAX_ELEMENTS] {
            let keys = Keys::new(elements);
            let last = elements as u32 - 1;
            assert!(keys.key(5, 0) < keys.key(5, last) && keys.key(5, last) < keys.key(6, 0));
            assert_eq!((keys.time_of(keys.key(77, last)), keys.element_of(keys.key(77, last))), (77, last));
            assert!(keys.last(5) >= keys.key(5, last) && keys.last(5) < keys.key(6, 0));
            assert!(keys.key(u64::MAX, 1) > keys.key(keys.end() - 2, 1) && keys.key(u64::MAX, 1) < NEVER);
            assert!(keys.end() <= MAX_TIME);
        }
        assert_eq!(Keys::new(1 << 17).end(), MAX_TIME);
    }
}
