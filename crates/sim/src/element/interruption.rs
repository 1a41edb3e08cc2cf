//! Interruptions: when a link is interrupted, for delay spikes and outages alike.

use super::Fault;
use crate::rng::{Gap, Stream};
use ackclock_tcp::time::Nanos;

/// When interruptions begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// At these times, each after the end of the one before.
    Times(Vec<Nanos>),
    /// This long after the end of the one before; the first this long after time 0. At least 1 ms.
    Gap(Gap),
}

/// Interruptions are counted one by one, also those that no packet meets.
const SHORTEST_GAP: Nanos = Nanos::from_millis(1);

impl When {
    /// Of the keys `times` and `gap`, one.
    pub(super) fn read(times: Option<Vec<Nanos>>, gap: Option<Gap>) -> Result<Self, Fault> {
        match (times, gap) {
            (Some(times), None) => Ok(When::Times(times)),
            (None, Some(gap)) => Ok(When::Gap(gap)),
            (times, _) => {
                let found = if times.is_some() { "both `times` and `gap`" } else { "neither `times` nor `gap`" };
                Err(Fault::of("", found, "times = [\"5 s\"] or gap = { exponential = \"30 s\" }"))
            }
        }
    }

    /// As the keys `times` and `gap`.
    pub(super) fn written(self) -> (Option<Vec<Nanos>>, Option<Gap>) {
        match self {
            When::Times(times) => (Some(times), None),
            When::Gap(gap) => (None, Some(gap)),
        }
    }

    /// What is out of range, if each interruption lasts for `length`.
    pub(super) fn fault(&self, length: Nanos) -> Option<Fault> {
        if length == Nanos::ZERO {
            return Some(Fault::of("length", length, "above 0 s"));
        }
        match self {
            When::Gap(gap) => (gap.mean() < SHORTEST_GAP).then(|| Fault::of("gap", gap.mean(), "at least 1 ms")),
            When::Times(times) if times.is_empty() => Some(Fault::of("times", "no time", "at least one time")),
            When::Times(times) => {
                let early = times.windows(2).position(|w| w[1].0 <= w[0].0.saturating_add(length.0));
                early.map(|i| {
                    let allowed = "a time after the end of the interruption before";
                    Fault::of(format!("times[{}]", i + 1), times[i + 1], allowed)
                })
            }
        }
    }
}

/// The interruptions of a link, one after the other.
pub(super) struct Interruptions {
    when: When,
    length: u64,
    luck: Stream,
    /// The interruption that goes on, or else the next one.
    pub(super) begin: u64,
    pub(super) end: u64,
    /// Interruptions that began at or before `begin`.
    seen: usize,
}

impl Interruptions {
    pub(super) fn new(when: When, length: Nanos, luck: Stream) -> Self {
        let mut i = Interruptions { when, length: length.0, luck, begin: 0, end: 0, seen: 0 };
        i.advance();
        i
    }

    /// Goes on to the first interruption whose last instant is not before `now`.
    pub(super) fn follow(&mut self, now: u64) {
        while now > self.end {
            self.advance();
        }
    }

    /// Goes to the next interruption.
    fn advance(&mut self) {
        let begin = match &self.when {
            When::Times(times) => times.get(self.seen).map(|t| t.0),
            When::Gap(gap) => Some(self.end.saturating_add(self.luck.gap(*gap).0)),
        };
        self.begin = begin.unwrap_or(u64::MAX);
        self.end = self.begin.saturating_add(self.length);
        self.seen += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn what_is_out_of_range_is_named() {
        let fault = |when: When| when.fault(Nanos(3 * MS)).map(|f| f.key);
        assert_eq!(fault(When::Times(vec![Nanos(5 * MS), Nanos(8 * MS)])).as_deref(), Some("times[1]"));
        assert_eq!(fault(When::Times(Vec::new())).as_deref(), Some("times"));
        assert_eq!(fault(When::Gap(Gap::Constant(Nanos(5)))).as_deref(), Some("gap"));
    }
}
