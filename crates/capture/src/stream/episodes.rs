//! Counts acknowledgments without SACK: whether their number equals the number of segments that must have arrived.
//!
//! Idea: while data is missing, the receiver acknowledges each segment immediately (RFC 5681 §4.2). From the first
//! acknowledgment that repeats the last one to the acknowledgment that passes the last hole, there is one for each arrival, and
//! everything that it then passes must have arrived in the meantime. If there were no more acknowledgments than these, nothing
//! arrived twice or was refused. The first out-of-order arrival may have been acknowledged together with a segment whose
//! acknowledgment was delayed (§4.2): then the last acknowledgment before passes only one segment, and one fewer follows.

use std::collections::BTreeSet;

/// From the first duplicate acknowledgment to the end of the last hole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Episodes {
    /// The number of the current episode, or of the last.
    number: u32,
    active: bool,
    acks: u64,
    /// Whether the acknowledgment number has been repeated since it last advanced.
    repeated: bool,
    /// The number of acknowledged first copies at the beginning, and at the last advance.
    from: u64,
    to: u64,
    /// Whether the previous acknowledgment passed a single segment, and the receiver delays acknowledgments.
    single: bool,
    /// The episodes that ended with one acknowledgment for each segment.
    exact: BTreeSet<u32>,
}

impl Episodes {
    /// Whether an episode is active.
    pub(super) fn active(&self) -> bool {
        self.active
    }

    /// An acknowledgment that repeats the last one, when `passed` first copies have been acknowledged. The expected number
    /// depends on whether the receiver `delays` acknowledgments, and whether the last that advanced passed only `one` copy.
    /// Returns its episode.
    pub(super) fn repeated(&mut self, passed: u64, (delays, one): (bool, bool)) -> u32 {
        if !self.active {
            let (number, exact) = (self.number + 1, std::mem::take(&mut self.exact));
            *self = Episodes {
                number,
                active: true,
                from: passed,
                to: passed,
                single: delays && one,
                exact,
                ..Episodes::default()
            };
        }
        self.acks += 1;
        self.repeated = true;
        self.number
    }

    /// An acknowledgment that advances; with it `passed` first copies have been acknowledged.
    pub(super) fn advanced(&mut self, passed: u64) {
        if !self.active {
            return;
        }
        if self.repeated {
            self.acks += 1;
            self.repeated = false;
            self.to = passed;
            return;
        }
        self.active = false;
        if self.acks + u64::from(self.single) == self.to - self.from {
            self.exact.insert(self.number);
        }
    }

    /// Whether nothing arrived twice or was refused in that episode. Unknown while it is active.
    pub(super) fn exact(&self, number: u32) -> bool {
        self.exact.contains(&number)
    }

    /// Forgets the episodes before `number`.
    pub(super) fn forget_before(&mut self, number: u32) {
        self.exact = self.exact.split_off(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgment_for_each_segment_that_arrived_leaves_none_for_a_second_copy() {
        let mut e = Episodes::default();
        // Two of segments 10 to 16 are missing: four duplicates, one that advances, one duplicate, one that advances.
        let first = (0..4).map(|_| e.repeated(10, (true, false))).last().unwrap();
        e.advanced(13);
        e.repeated(13, (true, false));
        assert!(e.active() && !e.exact(first));
        e.advanced(17);
        e.advanced(18);
        assert_eq!((e.active(), e.exact(first)), (false, true), "seven segments, seven acknowledgments");
        let second = (0..2).map(|_| e.repeated(18, (true, false))).last().unwrap();
        e.advanced(21);
        e.advanced(22);
        assert!(second != first && e.exact(second), "three of each");
        let third = (0..3).map(|_| e.repeated(22, (true, false))).last().unwrap();
        e.advanced(25);
        e.advanced(26);
        assert!(!e.exact(third), "one too many");
        e.forget_before(third);
        assert!(!e.exact(second));
        for (acks, exact) in [(2, true), (3, false)] {
            let number = (0..acks).map(|_| e.repeated(26, (true, true))).last().unwrap();
            e.advanced(30);
            e.advanced(31);
            assert_eq!(e.exact(number), exact, "the first of four may have been answered before");
        }
    }
}
