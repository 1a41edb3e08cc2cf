//! A limit per second: a token bucket.

use ackclock_tcp::time::Time;

/// The limit on an event per second. After a second without events, the whole budget is available as a
/// burst.
#[derive(Debug)]
pub(super) struct Budget {
    per_second: u64,
    /// In billionths of an event.
    tokens: u64,
    at: Time,
}

impl Budget {
    pub(super) fn new(per_second: u32) -> Self {
        let per_second = u64::from(per_second);
        Budget { per_second, tokens: per_second * 1_000_000_000, at: Time::ZERO }
    }

    /// Whether the event is allowed now; if so, it is counted.
    pub(super) fn take(&mut self, now: Time) -> bool {
        let gained = now.since(self.at).0.saturating_mul(self.per_second);
        self.tokens = self.tokens.saturating_add(gained).min(self.per_second * 1_000_000_000);
        self.at = self.at.max(now);
        let enough = self.tokens >= 1_000_000_000;
        self.tokens -= if enough { 1_000_000_000 } else { 0 };
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_second_has_more_than_the_first_burst_and_what_a_second_brings() {
        let mut budget = Budget::new(200);
        let taken =
            |budget: &mut Budget, from: u64| (0..10_000).filter(|i| budget.take(Time(from + i * 100_000))).count();
        assert_eq!(taken(&mut budget, 0), 399, "a full bucket and the tokens of 0.9999 s");
        assert_eq!(taken(&mut budget, 1_000_000_000), 200);
        assert_eq!(taken(&mut budget, 1_000_000_000_000), 399);
        assert!(!Budget::new(0).take(Time(u64::MAX)));
    }
}
