//! Outages: a link loses all packets for a while.
//!
//! *Idea.* A packet that arrives during an outage, its last instant excepted, is lost.
//!
//! *Unsaid in the source.* Packets on the wire when the outage begins still arrive.

use super::direction::DirectionSpec;
use super::interruption::{InterruptionSpec, Interruptions};
use super::packet::{Fate, Place, Seen};
use super::properties::{Acts, Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, GateKind, Site};
use crate::error::Fault;
use crate::watch::DropWhy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Drops packets that arrive during an outage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "Outages", extend("examples" = [{ "gap": { "exponential": "10 s" }, "length": "100 ms" }]))]
pub struct OutageSpec(pub InterruptionSpec);

impl Element for OutageSpec {
    fn properties(&self) -> Properties {
        Properties {
            acts: Acts::of(self.0.at == Place::Exit, false),
            bunches: false,
            rate: RateUse::None,
            beside_split: self.0.at == Place::Entry,
            only_one: None,
            reorders: false,
            loses: true,
            duplicates: false,
            only: self.0.only,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        self.0.fault()
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        let interruptions = self.0.on(site);
        site.gate(self.0.at, self.0.only, GateKind::Outage(Outage(interruptions)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        InterruptionSpec::examples().map(|i| ElementSpec::Outage(OutageSpec(i))).to_vec()
    }
}

pub(crate) struct Outage(Interruptions);

impl Outage {
    pub(crate) fn judge(&mut self, seen: &Seen) -> Fate {
        let Outage(i) = self;
        i.follow(seen.now);
        if (i.begin..i.end).contains(&seen.now) {
            Fate::Drop(DropWhy::Loss)
        } else {
            Fate::Pass
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interruption::When;
    use super::super::packet::Only;
    use super::*;
    use crate::rng::{Gap, Stream};
    use ackclock_tcp::time::Nanos;

    const MS: u64 = 1_000_000;

    fn fates(when: When, times: impl IntoIterator<Item = u64>) -> Vec<Fate> {
        let spec = InterruptionSpec { when, length: Nanos(3 * MS), at: Place::Exit, only: Only::All };
        assert_eq!(spec.fault(), None);
        let mut i = Outage(Interruptions::new(&spec.when, spec.length, Stream::new(1, "test")));
        times.into_iter().map(|now| i.judge(&Seen { now, ..Seen::DATA })).collect()
    }

    #[test]
    fn an_outage_drops_what_comes_before_its_last_instant() {
        let when = When::Times(vec![Nanos(5 * MS), Nanos(20 * MS)]);
        let times = [0, 5 * MS - 1, 5 * MS, 7 * MS, 8 * MS, 8 * MS + 1, 22 * MS, 900 * MS];
        let lost = Fate::Drop(DropWhy::Loss);
        assert_eq!(fates(when, times), [Fate::Pass, Fate::Pass, lost, lost, Fate::Pass, Fate::Pass, lost, Fate::Pass]);
    }

    #[test]
    fn interruptions_take_their_share_of_the_time() {
        for gap in [Gap::Constant(Nanos(7 * MS)), Gap::Exponential(Nanos(7 * MS))] {
            let all = fates(When::Gap(gap), (0..1_000_000).map(|i| i * MS / 10));
            let lost = all.iter().filter(|f| **f != Fate::Pass).count();
            // 3 of every 10 ms.
            assert!((lost as i64 - 300_000).abs() < 5_000, "{gap:?} {lost}");
        }
        // The result does not depend on how often packets arrive.
        let when = || When::Gap(Gap::Exponential(Nanos(7 * MS)));
        let often = fates(when(), (0..100_000).map(|i| i * MS / 10));
        let seldom = fates(when(), (0..100).map(|i| i * 100 * MS));
        assert!(seldom.iter().enumerate().all(|(i, f)| *f == often[i * 1000]));
    }
}
