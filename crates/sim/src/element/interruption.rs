//! Interruptions: for a while a link holds all packets back (*delay spike*), or loses them (*outage*).
//!
//! *Source.* Ludwig & Katz 2000 and RFC 3522 §1: handovers and repair on wireless links delay packets by more than the
//! retransmission timeout without losing any.
//!
//! *Idea.* During an interruption a spike lets nothing out; what came goes on at its end, at once and in order.
//!
//! | source | here |
//! | --- | --- |
//! | delay spike | `Interruption::DelaySpike`; packets that come from its first to its last instant |
//! | link outage | `Interruption::Outage`; packets that come before its last instant |
//!
//! *Unsaid in the source.* Where packets wait. After transmission (the default for spikes) they do not fill the queue and
//! none is lost; before the queue they come back as a burst, which may overflow it. Packets that are on the wire when the
//! interruption begins arrive.

use super::{Fate, Seen};
use crate::rng::Stream;
use crate::scenario::{Gap, Only, Place};
use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;

/// Interruptions of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct InterruptionSpec {
    /// What happens to packets during one.
    pub what: Interruption,
    /// When they begin. No default.
    pub when: When,
    /// How long each lasts; above 0. No default.
    pub length: Nanos,
    /// Before the queue, or after transmission. Default: after transmission.
    pub at: Place,
    /// Which packets are interrupted. Default: all. Packets that are not overtake those that wait.
    pub only: Only,
}

/// What an interruption does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// Packets wait for its end and go on then, in order (Ludwig & Katz 2000).
    DelaySpike,
    /// Packets are lost.
    Outage,
}

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

impl InterruptionSpec {
    /// What is out of range: key, what was found, what is allowed.
    pub(crate) fn fault(&self) -> Option<super::Fault> {
        if self.length == Nanos::ZERO {
            return Some(("length", self.length.to_string(), "above 0 s"));
        }
        match &self.when {
            When::Gap(Gap::Constant(gap) | Gap::Exponential(gap)) => {
                (*gap < SHORTEST_GAP).then(|| ("gap", gap.to_string(), "at least 1 ms"))
            }
            When::Times(times) if times.is_empty() => Some(("times", "no time".to_owned(), "at least one time")),
            When::Times(times) => times.windows(2).find(|w| w[1].0 <= w[0].0.saturating_add(self.length.0)).map(|w| {
                ("times", format!("{} after {}", w[1], w[0]), "times after the end of the interruption before")
            }),
        }
    }
}

pub(crate) struct Interruptions {
    spec: InterruptionSpec,
    luck: Stream,
    /// The interruption that goes on, or else the next one.
    begin: u64,
    end: u64,
    /// Interruptions that began at or before `begin`.
    seen: usize,
}

impl Interruptions {
    pub(crate) fn new(spec: InterruptionSpec, luck: Stream) -> Self {
        let mut i = Interruptions { spec, luck, begin: 0, end: 0, seen: 0 };
        i.advance();
        i
    }

    /// Goes to the next interruption.
    fn advance(&mut self) {
        let begin = match &self.spec.when {
            When::Times(times) => times.get(self.seen).map(|t| t.0),
            When::Gap(gap) => Some(self.end.saturating_add(self.luck.gap(*gap).0)),
        };
        self.begin = begin.unwrap_or(u64::MAX);
        self.end = self.begin.saturating_add(self.spec.length.0);
        self.seen += 1;
    }

    pub(crate) fn judge(&mut self, seen: &Seen) -> Fate {
        while seen.now > self.end {
            self.advance();
        }
        match self.spec.what {
            _ if seen.now < self.begin => Fate::Pass,
            // Also at its last instant, for those that wait are still there and would be overtaken.
            Interruption::DelaySpike => Fate::Delay(Nanos(self.end - seen.now)),
            Interruption::Outage if seen.now < self.end => Fate::Drop(DropWhy::Loss),
            Interruption::Outage => Fate::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn spec(what: Interruption, when: When) -> InterruptionSpec {
        InterruptionSpec { what, when, length: Nanos(3 * MS), at: Place::Exit, only: Only::All }
    }

    fn fates(spec: InterruptionSpec, times: impl IntoIterator<Item = u64>) -> Vec<Fate> {
        assert_eq!(spec.fault(), None);
        let mut i = Interruptions::new(spec, Stream::new(1, "test"));
        times.into_iter().map(|now| i.judge(&Seen { now, ..Seen::DATA })).collect()
    }

    #[test]
    fn a_spike_holds_up_to_its_last_instant_and_an_outage_drops_before_it() {
        let when = When::Times(vec![Nanos(5 * MS), Nanos(20 * MS)]);
        let times = [0, 5 * MS - 1, 5 * MS, 7 * MS, 8 * MS, 8 * MS + 1, 22 * MS, 900 * MS];
        let hold = |n| Fate::Delay(Nanos(n));
        assert_eq!(
            fates(spec(Interruption::DelaySpike, when.clone()), times),
            [Fate::Pass, Fate::Pass, hold(3 * MS), hold(MS), hold(0), Fate::Pass, hold(MS), Fate::Pass]
        );
        let lost = Fate::Drop(DropWhy::Loss);
        assert_eq!(
            fates(spec(Interruption::Outage, when), times),
            [Fate::Pass, Fate::Pass, lost, lost, Fate::Pass, Fate::Pass, lost, Fate::Pass]
        );
    }

    #[test]
    fn interruptions_take_their_share_of_the_time() {
        for gap in [Gap::Constant(Nanos(7 * MS)), Gap::Exponential(Nanos(7 * MS))] {
            let all = fates(spec(Interruption::Outage, When::Gap(gap)), (0..1_000_000).map(|i| i * MS / 10));
            let lost = all.iter().filter(|f| **f != Fate::Pass).count();
            // 3 of every 10 ms.
            assert!((lost as i64 - 300_000).abs() < 5_000, "{gap:?} {lost}");
        }
        // Nothing depends on how often packets come.
        let when = || When::Gap(Gap::Exponential(Nanos(7 * MS)));
        let often = fates(spec(Interruption::Outage, when()), (0..100_000).map(|i| i * MS / 10));
        let seldom = fates(spec(Interruption::Outage, when()), (0..100).map(|i| i * 100 * MS));
        assert!(seldom.iter().enumerate().all(|(i, f)| *f == often[i * 1000]));
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let overlapping = When::Times(vec![Nanos(5 * MS), Nanos(8 * MS)]);
        assert_eq!(spec(Interruption::Outage, overlapping).fault().map(|f| f.0), Some("times"));
        assert_eq!(spec(Interruption::Outage, When::Times(Vec::new())).fault().map(|f| f.0), Some("times"));
        assert_eq!(spec(Interruption::Outage, When::Gap(Gap::Constant(Nanos(5)))).fault().map(|f| f.0), Some("gap"));
    }
}
