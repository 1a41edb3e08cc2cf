//! Counts how often each byte of a stream has been sent: between two TCPs this must be inferred from their
//! packets.

use ackclock_tcp::seq::Offset;
use std::collections::BTreeMap;

/// The data that one end has sent so far.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// The end of all data sent.
    end: u64,
    /// Data sent more than once: starts, with ends and counts.
    again: BTreeMap<u64, (u64, u8)>,
}

impl Copies {
    /// `from..to` is sent. Returns the transmissions of the byte sent most often, this one included; 0 for
    /// nothing.
    pub fn sent(&mut self, from: Offset, to: Offset) -> u8 {
        let (from, to) = (from.0, to.0);
        if from >= to {
            return 0;
        }
        let known = self.end.min(to);
        self.end = self.end.max(to);
        if from >= known {
            return 1;
        }
        self.sent_again(from, known)
    }

    fn sent_again(&mut self, from: u64, to: u64) -> u8 {
        self.split(from);
        self.split(to);
        let (mut at, mut most, mut gaps) = (from, 2, Vec::new());
        for (start, (end, count)) in self.again.range_mut(from..to) {
            if at < *start {
                gaps.push((at, *start));
            }
            *count = count.saturating_add(1);
            (at, most) = (*end, most.max(*count));
        }
        if at < to {
            gaps.push((at, to));
        }
        self.again.extend(gaps.into_iter().map(|(start, end)| (start, (end, 2))));
        most
    }

    /// Splits the range that contains `at`.
    fn split(&mut self, at: u64) {
        let Some((_, range)) = self.again.range_mut(..at).next_back() else { return };
        let (end, count) = *range;
        if end > at {
            range.0 = at;
            self.again.insert(at, (end, count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_counts_as_one_does_byte_by_byte(sends in prop::collection::vec((0u64..60, 0u64..20), 1..60)) {
            let (mut copies, mut bytes) = (Copies::default(), [0u8; 80]);
            let mut high = 0;
            for (from, len) in sends {
                // A sender leaves no gap.
                let from = from.min(high);
                let to = from + len;
                high = high.max(to);
                bytes[from as usize..to as usize].iter_mut().for_each(|n| *n += 1);
                let most = bytes[from as usize..to as usize].iter().copied().max().unwrap_or(0);
                prop_assert_eq!(copies.sent(Offset(from), Offset(to)), most);
            }
        }
    }
}
