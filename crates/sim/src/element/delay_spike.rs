//! Delay spikes: a link holds back all packets for a while.
//!
//! *Source.* Ludwig & Katz 2000 and RFC 3522 §1: handovers and repair on wireless links delay packets by more than the
//! retransmission timeout without losing any.
//!
//! *Idea.* During a spike, from its first to its last instant, the link releases no packet. At its end it releases all
//! waiting packets at the same instant, in order.
//!
//! *Unsaid in the source.* Where packets wait. After transmission (the default) they do not fill the queue, and none is lost.
//! In front of the queue they are released as a burst, which may overflow it. Packets on the wire when the spike begins still
//! arrive.

use super::direction::DirectionSpec;
use super::interruption::{InterruptionSpec, Interruptions};
use super::packet::{Fate, Only, Place, Seen};
use super::properties::{Acts, Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, GateKind, Site};
use crate::error::Fault;
use ackclock_tcp::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Holds packets that arrive during a spike until it ends, then releases them in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "Delay spikes", extend("examples" = [{ "gap": { "exponential": "10 s" }, "length": "500 ms" }]))]
pub struct DelaySpikeSpec(pub InterruptionSpec);

impl Element for DelaySpikeSpec {
    fn properties(&self) -> Properties {
        Properties {
            acts: Acts::of(self.0.at == Place::Exit, true),
            bunches: self.0.at == Place::Exit,
            rate: RateUse::None,
            beside_split: self.0.at == Place::Entry,
            only_one: None,
            reorders: self.0.only != Only::All,
            loses: false,
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
        site.gate(self.0.at, self.0.only, GateKind::DelaySpike(DelaySpike(interruptions)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        InterruptionSpec::examples().map(|i| ElementSpec::DelaySpike(DelaySpikeSpec(i))).to_vec()
    }
}

pub(crate) struct DelaySpike(Interruptions);

impl DelaySpike {
    pub(crate) fn judge(&mut self, seen: &Seen) -> Fate {
        let DelaySpike(i) = self;
        i.follow(seen.now);
        if seen.now < i.begin {
            return Fate::Pass;
        }
        // At its last instant, too: the packets that it holds are still there, and would be overtaken.
        Fate::Delay(Nanos(i.end - seen.now))
    }
}

#[cfg(test)]
mod tests {
    use super::super::interruption::When;
    use super::*;
    use crate::rng::Stream;

    const MS: u64 = 1_000_000;

    fn fates(when: When, times: impl IntoIterator<Item = u64>) -> Vec<Fate> {
        let spec = InterruptionSpec { when, length: Nanos(3 * MS), at: Place::Exit, only: Only::All };
        assert_eq!(spec.fault(), None);
        let mut i = DelaySpike(Interruptions::new(&spec.when, spec.length, Stream::new(1, "test")));
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
