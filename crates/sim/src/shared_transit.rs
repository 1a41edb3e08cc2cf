//! Shared transits: one list for the packets of several links that are alike.
//!
//! Several links may have the same rate and delay, and packets may enter them in the order of time: the access links of a
//! dumbbell, for example. Packets then also arrive in that order, whichever link each is on. They share one list, and one
//! key represents all these links in the search for the next event. A packet that would have to be inserted between others
//! (because it waited behind another on its own link) stays in its own transit instead. So a list is always in order, and
//! no result depends on it.

use crate::next_event::NEVER;
use crate::slab::{Slab, NONE};
use crate::topology::{FUSED, HOST};
use crate::transit::Transit;
use std::collections::BTreeMap;

/// The largest number of lists in a run; further kinds of links have only their own transits.
const MOST: usize = 4;

/// The shared lists of a run.
pub(crate) struct SharedTransits {
    /// The key of the first packet of each.
    keys: [u64; MOST],
    /// The least of these keys.
    min: u64,
    lists: [List; MOST],
}

#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
    /// The hop of the first packet, read when it became the first, so that it is in the cache when its turn comes.
    hop: u32,
    /// The latest key ever in this list.
    latest: u64,
}

impl SharedTransits {
    /// Assigns a list to every transit.
    ///
    /// `hops` are the paths, concatenated; `first` is the start of each host's path.
    pub(crate) fn new(transits: &mut [Transit], hops: &[u32], first: &[u32]) -> Self {
        for (list, alike) in alike(transits, hops, first).iter().take(MOST).enumerate() {
            for transit in alike.iter().map(|link| *link as usize) {
                // Packets that may overtake each other are in ports.
                if !transits[transit].is_overtaking() {
                    transits[transit].shared = list as u8;
                }
            }
        }
        SharedTransits {
            keys: [NEVER; MOST],
            min: NEVER,
            lists: [List { head: NONE, tail: NONE, hop: 0, latest: 0 }; MOST],
        }
    }

    /// The least key of all; [`NEVER`] if there is no packet.
    #[inline]
    pub(crate) fn min(&self) -> u64 {
        self.min
    }

    /// Appends packet `h`, whose arrival has this key, to list `list`, if it arrives after all others there.
    #[inline]
    pub(crate) fn push(&mut self, list: u8, slab: &mut Slab, h: u32, key: u64) -> bool {
        let Some(l) = self.lists.get_mut(usize::from(list)).filter(|l| l.latest <= key) else { return false };
        l.latest = key;
        let tail = std::mem::replace(&mut l.tail, h);
        if tail == NONE {
            (l.head, l.hop) = (h, slab[h].hop);
            self.keys[usize::from(list) % MOST] = key;
            self.min = self.min.min(key);
        } else {
            let last = &mut slab[tail];
            last.next = h;
            last.next_key = key;
        }
        true
    }

    /// Takes the first packet of the list whose first key this is; returns it and its position in the list of paths.
    #[inline]
    pub(crate) fn pop(&mut self, key: u64, slab: &Slab) -> (u32, u32) {
        // Keys differ. The list is not looked up in the link's transit, because nothing else here needs the transit.
        let at = (0..MOST).map(|at| at * usize::from(self.keys[at] == key)).sum::<usize>() % MOST;
        let list = &mut self.lists[at];
        let (h, hop) = (list.head, list.hop);
        if h == list.tail {
            list.tail = NONE;
            self.keys[at] = NEVER;
        } else {
            let p = &slab[h];
            (list.head, list.hop) = (p.next, slab[p.next].hop);
            self.keys[at] = p.next_key;
        }
        self.min = self.keys.iter().fold(NEVER, |m, k| m.min(*k));
        (h, hop)
    }

    /// The first and the last packet of the list whose first key this is.
    pub(crate) fn ends(&self, key: u64) -> (u32, u32) {
        let list = self.keys.iter().position(|k| *k == key).map_or(&self.lists[0], |at| &self.lists[at]);
        (list.head, list.tail)
    }

    /// Packets in all lists, by walking them.
    pub(crate) fn count(&self, slab: &Slab) -> u32 {
        let walk = |list: &List| {
            let (mut n, mut h) = (u32::from(list.tail != NONE), list.head);
            while list.tail != NONE && h != list.tail {
                h = slab[h].next;
                n += 1;
            }
            n
        };
        self.lists.iter().map(walk).sum()
    }
}

/// Where packets enter a link from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum From {
    Senders,
    Receivers,
    Link(u32),
    Several,
}

/// Groups of links that are alike, the largest first.
fn alike(transits: &[Transit], hops: &[u32], first: &[u32]) -> Vec<Vec<u32>> {
    let mut entered: BTreeMap<u32, From> = BTreeMap::new();
    for (host, start) in first.iter().enumerate() {
        let mut from = if host % 2 == 0 { From::Senders } else { From::Receivers };
        for hop in hops[*start as usize..].iter().take_while(|hop| **hop != HOST) {
            let link = hop & !FUSED;
            entered.entry(link).and_modify(|f| *f = if *f == from { from } else { From::Several }).or_insert(from);
            from = From::Link(link);
        }
    }
    let mut kinds: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for (link, from) in entered {
        let pace = transits[link as usize].pace;
        kinds.entry((from, pace.num, pace.den, pace.delay)).or_default().push(link);
    }
    let mut alike: Vec<_> = kinds.into_values().filter(|links| links.len() > 1).collect();
    alike.sort_by_key(|links| std::cmp::Reverse(links.len()));
    alike
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::next_event::{Keys, NextEvent, Search};
    use crate::transit::{Form, Pace};
    use proptest::prelude::*;

    const PLAIN: Form = Form::Computed { limited: false, gated: false };

    const LINKS: u32 = 3;

    /// Paths of three senders over a link each and then one that all share, and of their receivers back.
    fn paths() -> (Vec<u32>, Vec<u32>) {
        let hops = [0, 6 | FUSED, 3 | FUSED, HOST, 1, 6, 4 | FUSED, HOST, 2, 6, 5 | FUSED, HOST];
        (hops.to_vec(), vec![0, 4, 8])
    }

    fn transits(rates: [u64; 7]) -> Vec<Transit> {
        rates.map(|rate| Transit::new(Pace::new(Some(rate), 5_000), PLAIN, 0)).to_vec()
    }

    #[test]
    fn links_are_alike_if_pace_and_what_feeds_them_are() {
        let (hops, first) = paths();
        let listed = |rates, first: &[u32]| {
            let mut transits = transits(rates);
            SharedTransits::new(&mut transits, &hops, first);
            transits.iter().map(|l| l.shared).collect::<Vec<_>>()
        };
        const NO: u8 = Transit::ALONE;
        let senders = [first[0], 3, first[1], 3, first[2]];
        assert_eq!(listed([8; 7], &senders), [0, 0, 0, 1, 1, 1, NO]);
        assert_eq!(listed([8, 8, 9, 7, 8, 9, 8], &senders), [0, 0, NO, NO, NO, NO, NO]);
        // The second path is a receiver's.
        assert_eq!(listed([8; 7], &first)[..3], [1, NO, 1]);
    }

    proptest! {
        #[test]
        fn packets_come_out_in_the_order_of_their_keys_whether_shared_or_not(
            ops in prop::collection::vec((0u64..4_000, 0u32..LINKS, prop_oneof![Just(40u32), Just(1500)], any::<bool>()), 1..200),
            rate in prop_oneof![Just(1_000_000_000u64), Just(10_000_000_000_000)],
        ) {
            let (hops, first) = paths();
            let (mut transits, mut slab) = (transits([rate; 7]), Slab::new());
            let mut shared = SharedTransits::new(&mut transits, &hops, &[first[0], 3, first[1], 3, first[2]]);
            let mut next = NextEvent::new(7, Search::Auto);
            let (mut now, mut model, keys) = (0, Vec::new(), Keys::new(7));
            for (gap, link, wire, pop) in ops {
                now += gap;
                let transit = &mut transits[link as usize];
                let pace = transit.pace;
                let k = keys.key(transit.transmitter.send(now, wire, &pace) + pace.delay, link);
                let h = slab.alloc();
                if !shared.push(transit.shared, &mut slab, h, k) && transit.push(&mut slab, h, k) {
                    next.set(link as usize, k);
                }
                model.push((k, h));
                model.sort_by_key(|(k, _)| *k);
                prop_assert_eq!(shared.min().min(next.min()), model[0].0);
                if !pop {
                    continue;
                }
                let k = shared.min().min(next.min());
                let link = keys.element_of(k) as usize;
                let first = if k == shared.min() {
                    shared.pop(k, &slab).0
                } else {
                    let (h, after) = transits[link].pop(&slab);
                    next.set(link, after);
                    h
                };
                prop_assert_eq!((k, first), model.remove(0));
                slab.free(first);
                now = now.max(keys.time_of(k));
                let lying = transits.iter().map(|l| l.count(&slab)).sum::<u32>() + shared.count(&slab);
                prop_assert_eq!(lying as usize, model.len());
            }
        }
    }
}
