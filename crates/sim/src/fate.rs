//! Which retransmissions were needless: those of data of which an earlier copy was dropped nowhere (it has arrived or
//! still will). Decided by the fate of every copy, so it needs neither DSACKs nor work for each packet: only
//! retransmissions and drops are written down.

/// One copy of some data: `sends` counts transmissions (1 = first).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Copy {
    start: u64,
    len: u32,
    sends: u8,
}

impl Copy {
    fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
}

/// What happened to the copies of one flow's data.
#[derive(Default)]
pub(crate) struct Fates {
    again: Vec<Copy>,
    /// Those of `again` with which a fast recovery began, by their place in it.
    first: Vec<u32>,
    /// The episode of the last of these.
    episode: u32,
    dropped: Vec<Copy>,
    /// The network doubled these: two drops are needed to lose one.
    doubled: Vec<Copy>,
}

impl Fates {
    /// What is written down.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.again.len() + self.dropped.len() + self.doubled.len()
    }

    /// Data were sent again; in a fast recovery, with its episode (from 1).
    pub(crate) fn retransmitted(&mut self, start: u64, len: u32, sends: u8, recovery: Option<u32>) {
        if let Some(episode) = recovery.filter(|e| *e != self.episode) {
            self.episode = episode;
            self.first.push(self.again.len() as u32);
        }
        self.again.push(Copy { start, len, sends });
    }

    /// A copy was dropped.
    pub(crate) fn dropped(&mut self, start: u64, len: u32, sends: u8) {
        self.dropped.push(Copy { start, len, sends });
    }

    /// The network made two packets of one; that is still one copy.
    pub(crate) fn doubled(&mut self, start: u64, len: u32, sends: u8) {
        self.doubled.push(Copy { start, len, sends });
    }

    /// Retransmissions that were needless, as far as known now, and those of them with which a fast recovery began: a copy
    /// still on its way counts as not dropped.
    pub(crate) fn needless(&self) -> (u64, u64) {
        let mut lost = self.dropped.clone();
        lost.sort_unstable();
        for d in &self.doubled {
            if let Ok(i) = lost.binary_search(d) {
                lost.remove(i);
            }
        }
        let longest = lost.iter().map(|c| u64::from(c.len)).max().unwrap_or(0);
        let needless = |r: &&Copy| !needed(r, near(&lost, r, longest));
        let first = self.first.iter().map(|i| &self.again[*i as usize]);
        (self.again.iter().filter(needless).count() as u64, first.filter(needless).count() as u64)
    }
}

/// The dropped copies that may overlap `r`.
fn near<'a>(lost: &'a [Copy], r: &Copy, longest: u64) -> &'a [Copy] {
    let from = lost.partition_point(|c| c.start + longest <= r.start);
    let to = lost.partition_point(|c| c.start < r.end());
    &lost[from..to.max(from)]
}

/// Whether some byte of `r` had lost all its copies before it: as many as there were.
fn needed(r: &Copy, lost: &[Copy]) -> bool {
    let before = |at: u64| lost.iter().filter(|c| c.sends < r.sends && c.start <= at && at < c.end()).count();
    let copies = usize::from(r.sends.saturating_sub(1));
    // The number of lost copies changes only where one begins, so these bytes and the first stand for all.
    let begins = lost.iter().map(|c| c.start).filter(|s| *s > r.start);
    std::iter::once(r.start).chain(begins).any(|at| before(at) >= copies)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needless(again: &[(u64, u32, u8)], dropped: &[(u64, u32, u8)], doubled: &[(u64, u32, u8)]) -> u64 {
        let mut f = Fates::default();
        again.iter().for_each(|&(s, l, n)| f.retransmitted(s, l, n, None));
        dropped.iter().for_each(|&(s, l, n)| f.dropped(s, l, n));
        doubled.iter().for_each(|&(s, l, n)| f.doubled(s, l, n));
        f.needless().0
    }

    #[test]
    fn of_each_fast_recovery_the_first_retransmission_counts_apart() {
        let mut f = Fates::default();
        // Recovery 1 was a mistake; recovery 3 was not, though its second retransmission was; 0 is none.
        for (start, recovery) in [(1, Some(1)), (11, Some(1)), (21, None), (31, Some(3)), (41, Some(3))] {
            f.retransmitted(start, 10, 2, recovery);
        }
        f.dropped(31, 10, 1);
        assert_eq!(f.needless(), (4, 1));
    }

    #[test]
    fn a_retransmission_is_needless_iff_an_earlier_copy_was_dropped_nowhere() {
        assert_eq!(needless(&[(1, 10, 2)], &[], &[]), 1);
        assert_eq!(needless(&[(1, 10, 2)], &[(1, 10, 1)], &[]), 0);
        // Its own drop says nothing about it, but makes the third copy needed if the first was lost too.
        assert_eq!(needless(&[(1, 10, 2)], &[(1, 10, 2)], &[]), 1);
        assert_eq!(needless(&[(1, 10, 2), (1, 10, 3)], &[(1, 10, 1), (1, 10, 2)], &[]), 0);
        assert_eq!(needless(&[(1, 10, 2), (1, 10, 3)], &[(1, 10, 1)], &[]), 1);
        assert_eq!(needless(&[(1, 10, 2), (11, 10, 2)], &[(11, 10, 1)], &[]), 1);
    }

    #[test]
    fn segments_of_other_sizes_count_by_the_bytes_that_they_cover() {
        // Two small segments sent again as one large: needed if either was lost, whichever.
        assert_eq!(needless(&[(1, 20, 2)], &[(11, 10, 1)], &[]), 0);
        assert_eq!(needless(&[(1, 20, 2)], &[(1, 10, 1)], &[]), 0);
        assert_eq!(needless(&[(11, 10, 2)], &[(1, 10, 1)], &[]), 1);
        // A large one lost, sent again in halves.
        assert_eq!(needless(&[(1, 10, 2), (11, 10, 2)], &[(1, 20, 1)], &[]), 0);
    }

    #[test]
    fn duplicates_made_by_the_network_are_no_copies() {
        assert_eq!(needless(&[(1, 10, 2)], &[(1, 10, 1)], &[(1, 10, 1)]), 1);
        assert_eq!(needless(&[(1, 10, 2)], &[(1, 10, 1), (1, 10, 1)], &[(1, 10, 1)]), 0);
    }
}
