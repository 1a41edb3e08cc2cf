//! The right edge of the receiver's window in the last round trip.

/// The number of edges that are kept.
const KEPT: usize = 12;
/// They are at least this fraction of a round trip apart.
const PART: i64 = 8;

/// The last edges, each with its time, in few bytes: 1,024 ns, and the lower half of the number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Edges {
    last: [(u32, u32); KEPT],
    count: u32,
    newest: i64,
}

impl Edges {
    /// The edge after an acknowledgment at this time, nanoseconds.
    #[inline(always)]
    pub(super) fn on(&mut self, at: i64, edge: u64, round_trip: i64) {
        if at.saturating_sub(self.newest) > round_trip / PART {
            self.newest = at;
            self.last[self.count as usize % KEPT] = ((at >> 10) as u32, edge as u32);
            self.count += 1;
        }
    }

    /// The edge at that time, if it is known; it is now `edge`.
    pub(super) fn at(&self, at: i64, edge: u64) -> Option<u64> {
        let kept = &self.last[..KEPT.min(self.count as usize)];
        let age = |then: u32| ((self.newest >> 10) as u32).wrapping_sub(then);
        let least = u32::try_from(self.newest.saturating_sub(at) >> 10).ok()?;
        let known = kept.iter().filter(|(then, _)| age(*then) >= least).min_by_key(|(then, _)| age(*then))?;
        Some(edge.saturating_sub(u64::from((edge as u32).wrapping_sub(known.1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_of_a_round_trip_ago_is_known_and_an_older_one_is_not() {
        let mut edges = Edges::default();
        let start = (1 << 32) - 20_000;
        (1..=40).for_each(|n| edges.on(n * 1_000_000, start + 1_000 * n as u64, 8_000_000));
        let now = start + 40_000;
        let known = edges.at(32_000_000, now).unwrap();
        assert!((start + 30_000..=start + 32_000).contains(&known), "{known}");
        assert_eq!(edges.at(1_000_000, now), None);
    }
}
