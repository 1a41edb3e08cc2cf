//! Parts of a stream.

use ackclock_tcp::seq::Offset;

/// Disjoint ranges of offsets, in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(Vec<(Offset, Offset)>);

impl Ranges {
    /// Adds `from..to`.
    pub(crate) fn take(&mut self, mut from: Offset, mut to: Offset) {
        let first = self.0.partition_point(|(_, end)| *end < from);
        let last = self.0.partition_point(|(start, _)| *start <= to);
        if first < last {
            (from, to) = (from.min(self.0[first].0), to.max(self.0[last - 1].1));
        }
        self.0.splice(first..last.max(first), [(from, to)]);
    }

    /// The parts of `from..to` that are not in any range.
    pub(crate) fn missing(&self, from: Offset, to: Offset) -> Vec<(Offset, Offset)> {
        let (mut at, mut missing) = (from, Vec::new());
        let first = self.0.partition_point(|(_, end)| *end <= from);
        for (start, end) in &self.0[first..] {
            if *start >= to {
                break;
            }
            if at < *start {
                missing.push((at, *start));
            }
            at = at.max(*end);
        }
        missing.extend((at < to).then_some((at, to)));
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_know_what_a_list_of_bytes_knows(takes in prop::collection::vec((0u64..60, 0u64..20), 0..20), ask in (0u64..60, 0u64..30)) {
            let (mut ranges, mut bytes) = (Ranges::default(), [false; 90]);
            for (from, len) in takes {
                ranges.take(Offset(from), Offset(from + len));
                bytes[from as usize..(from + len) as usize].fill(true);
            }
            let (from, to) = (ask.0, ask.0 + ask.1);
            let mut missing = [false; 90];
            for (a, b) in ranges.missing(Offset(from), Offset(to)) {
                missing[a.0 as usize..b.0 as usize].fill(true);
            }
            for at in 0..90u64 {
                let inside = (from..to).contains(&at);
                prop_assert_eq!(missing[at as usize], inside && !bytes[at as usize]);
            }
        }
    }
}
