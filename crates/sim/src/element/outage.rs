//! Outages: for a while a link loses all packets.
//!
//! *Idea.* What comes during an outage, its last instant excepted, is lost.
//!
//! *Unsaid in the source.* Packets that are on the wire when the outage begins arrive.

use super::direction::DirectionSpec;
use super::interruption::{Interruptions, When};
use super::packet::{Fate, Only, Place, Seen};
use super::properties::{Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, GateKind, Site};
use crate::error::Fault;
use crate::rng::{Gap, Stream};
use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets that come during an outage are lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(title = "Outages", extend("examples" = [{ "gap": { "exponential": "10 s" }, "length": "100 ms" }]))]
pub struct OutageSpec {
    /// When each begins.
    pub when: When,
    /// How long each lasts; above 0.
    pub length: Nanos,
    /// Where on the link.
    pub at: Place,
    /// Which packets it sees.
    pub only: Only,
}

/// As it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["times"] }, { "required": ["gap"] }]))]
struct Written {
    /// When each begins, as in `["5 s", "20 s"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    times: Option<Vec<Nanos>>,
    /// Time from the end of one to the next, at least 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<Gap>,
    /// How long each lasts.
    length: Nanos,
    /// Where on the link. At the exit what waits does not fill the queue.
    #[serde(default = "Place::exit")]
    at: Place,
    /// Which packets it sees. Default: all.
    #[serde(default, skip_serializing_if = "Only::is_all")]
    only: Only,
}

impl TryFrom<Written> for OutageSpec {
    type Error = Fault;

    fn try_from(w: Written) -> Result<Self, Fault> {
        let Written { times, gap, length, at, only } = w;
        Ok(OutageSpec { when: When::read(times, gap)?, length, at, only })
    }
}

impl From<OutageSpec> for Written {
    fn from(s: OutageSpec) -> Self {
        let OutageSpec { when, length, at, only } = s;
        let (times, gap) = when.written();
        Written { times, gap, length, at, only }
    }
}

impl Element for OutageSpec {
    fn properties(&self) -> Properties {
        Properties {
            acts_late: self.at == Place::Exit,
            bunches: false,
            rate: RateUse::None,
            beside_split: self.at == Place::Entry,
            only_one: None,
            reorders: false,
            loses: true,
            duplicates: false,
            only: self.only,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        self.when.fault(self.length)
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        // Both kinds of interruptions are counted together.
        let n = site.nth("interruption");
        let luck = site.stream(format_args!("interruption.{n}"));
        site.gate(self.at, self.only, GateKind::Outage(Outage::new(self, luck)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let spec = |when, at, only| ElementSpec::Outage(OutageSpec { when, length: Nanos::from_millis(300), at, only });
        let times = When::Times(vec![Nanos::from_millis(400), Nanos::from_secs(3)]);
        let gap = When::Gap(Gap::Exponential(Nanos::from_secs(1)));
        vec![
            spec(times.clone(), Place::Entry, Only::All),
            spec(gap.clone(), Place::Exit, Only::All),
            spec(times, Place::Exit, Only::Data),
            spec(gap, Place::Entry, Only::Acks),
        ]
    }
}

pub(crate) struct Outage(Interruptions);

impl Outage {
    pub(crate) fn new(spec: &OutageSpec, luck: Stream) -> Self {
        Outage(Interruptions::new(spec.when.clone(), spec.length, luck))
    }

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
    use super::*;

    const MS: u64 = 1_000_000;

    fn fates(when: When, times: impl IntoIterator<Item = u64>) -> Vec<Fate> {
        let spec = OutageSpec { when, length: Nanos(3 * MS), at: Place::Exit, only: Only::All };
        assert_eq!(spec.when.fault(spec.length), None);
        let mut i = Outage::new(&spec, Stream::new(1, "test"));
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
        // Nothing depends on how often packets come.
        let when = || When::Gap(Gap::Exponential(Nanos(7 * MS)));
        let often = fates(when(), (0..100_000).map(|i| i * MS / 10));
        let seldom = fates(when(), (0..100).map(|i| i * 100 * MS));
        assert!(seldom.iter().enumerate().all(|(i, f)| *f == often[i * 1000]));
    }
}
