//! Delay spikes: for a while a link holds all packets back.
//!
//! *Source.* Ludwig & Katz 2000 and RFC 3522 §1: handovers and repair on wireless links delay packets by more than the
//! retransmission timeout without losing any.
//!
//! *Idea.* During a spike, from its first to its last instant, the link lets nothing out; what came goes on at its end, at once
//! and in order.
//!
//! *Unsaid in the source.* Where packets wait. After transmission (the default) they do not fill the queue and none is lost;
//! before the queue they come back as a burst, which may overflow it. Packets that are on the wire when the spike begins
//! arrive.

use super::direction::DirectionSpec;
use super::interruption::{Interruptions, When};
use super::packet::{Fate, Only, Place, Seen};
use super::properties::{Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, GateKind, Site};
use crate::error::Fault;
use crate::rng::{Gap, Stream};
use ackclock_tcp::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets that come during a spike wait for its end, then go on in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(title = "Delay spikes", extend("examples" = [{ "gap": { "exponential": "10 s" }, "length": "500 ms" }]))]
pub struct DelaySpikeSpec {
    /// When each begins.
    pub when: When,
    /// How long each lasts; above 0.
    pub length: Nanos,
    /// Where on the link.
    pub at: Place,
    /// Which packets it sees. The others overtake those that wait.
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
    /// Which packets it sees. Default: all. The others overtake those that wait.
    #[serde(default, skip_serializing_if = "Only::is_all")]
    only: Only,
}

impl TryFrom<Written> for DelaySpikeSpec {
    type Error = Fault;

    fn try_from(w: Written) -> Result<Self, Fault> {
        let Written { times, gap, length, at, only } = w;
        Ok(DelaySpikeSpec { when: When::read(times, gap)?, length, at, only })
    }
}

impl From<DelaySpikeSpec> for Written {
    fn from(s: DelaySpikeSpec) -> Self {
        let DelaySpikeSpec { when, length, at, only } = s;
        let (times, gap) = when.written();
        Written { times, gap, length, at, only }
    }
}

impl Element for DelaySpikeSpec {
    fn properties(&self) -> Properties {
        Properties {
            acts_late: true,
            bunches: self.at == Place::Exit,
            rate: RateUse::None,
            beside_split: self.at == Place::Entry,
            only_one: None,
            reorders: self.only != Only::All,
            loses: false,
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
        site.gate(self.at, self.only, GateKind::DelaySpike(DelaySpike::new(self, luck)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let spec = |when, at, only| {
            ElementSpec::DelaySpike(DelaySpikeSpec { when, length: Nanos::from_millis(300), at, only })
        };
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

pub(crate) struct DelaySpike(Interruptions);

impl DelaySpike {
    pub(crate) fn new(spec: &DelaySpikeSpec, luck: Stream) -> Self {
        DelaySpike(Interruptions::new(spec.when.clone(), spec.length, luck))
    }

    pub(crate) fn judge(&mut self, seen: &Seen) -> Fate {
        let DelaySpike(i) = self;
        i.follow(seen.now);
        if seen.now < i.begin {
            return Fate::Pass;
        }
        // Also at its last instant, for those that wait are still there and would be overtaken.
        Fate::Delay(Nanos(i.end - seen.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn fates(when: When, times: impl IntoIterator<Item = u64>) -> Vec<Fate> {
        let spec = DelaySpikeSpec { when, length: Nanos(3 * MS), at: Place::Exit, only: Only::All };
        assert_eq!(spec.when.fault(spec.length), None);
        let mut i = DelaySpike::new(&spec, Stream::new(1, "test"));
        times.into_iter().map(|now| i.judge(&Seen { now, ..Seen::DATA })).collect()
    }

    #[test]
    fn a_spike_holds_up_to_its_last_instant() {
        let when = When::Times(vec![Nanos(5 * MS), Nanos(20 * MS)]);
        let times = [0, 5 * MS - 1, 5 * MS, 7 * MS, 8 * MS, 8 * MS + 1, 22 * MS, 900 * MS];
        let hold = |n| Fate::Delay(Nanos(n));
        assert_eq!(
            fates(when, times),
            [Fate::Pass, Fate::Pass, hold(3 * MS), hold(MS), hold(0), Fate::Pass, hold(MS), Fate::Pass]
        );
    }
}
