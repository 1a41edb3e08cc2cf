//! A path element from outside the crate.

use super::direction::DirectionSpec;
use super::packet::{Fate, Only, Place, Seen};
use super::properties::{Acts, Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, GateKind, Site};
use crate::error::Fault;
use crate::watch::DropWhy;
use ackclock_tcp::time::{Nanos, Time};
use serde::{Serialize, Serializer};
use serde_json::{json, Map, Value};
use std::fmt;
use std::sync::Arc;

/// Decides the fate of packets, in code outside this crate. It has no clock, no queue and no random numbers but its own: its
/// answers must follow from its seed and from the calls made to it, so that runs can be repeated.
pub trait PathElement {
    /// The fate of a packet that arrives now; times do not go back.
    fn packet(&mut self, packet: &Packet) -> Verdict;
}

/// A packet, as a path sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When it arrives.
    pub at: Time,
    /// Its number among the packets that the element sees, from 0.
    pub nth: u64,
    /// Bytes on the wire.
    pub wire: u32,
    /// Whether it takes up sequence numbers (data, SYN, FIN); else it is a pure ACK.
    pub data: bool,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It passes.
    Pass,
    /// It is lost.
    Drop,
    /// It passes after this delay. Packets that arrive later and pass earlier overtake it.
    Delay(Nanos),
    /// It passes twice.
    Duplicate,
}

/// Makes the element of one link for one run; the argument is the seed of its random numbers.
pub type Make = dyn Fn(u64) -> Box<dyn PathElement> + Send + Sync;

/// A path element from outside the crate: a factory, so that several runs can share one description.
#[derive(Clone)]
pub struct Factory {
    /// A name for display.
    pub name: String,
    /// Hash of the element's source and parameters: part of a run's identity.
    pub identity: u64,
    /// Makes one.
    pub make: Arc<Make>,
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "custom \"{}\" ({:016x})", self.name, self.identity)
    }
}

impl PartialEq for Factory {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity && self.name == other.name
    }
}

/// A path element from outside the crate, and its declared properties. An undeclared verdict is ignored: the packet passes.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomSpec {
    /// Makes its state.
    pub factory: Factory,
    /// Its place on the link.
    pub at: Place,
    /// The packets that it sees.
    pub only: Only,
    /// Whether it may delay packets.
    pub delays: bool,
    /// Whether it may reorder packets. An element that delays but does not reorder keeps them in order: no packet passes before
    /// one that arrived earlier, and a packet that waits for an earlier one is not duplicated.
    pub reorders: bool,
    /// Whether it may drop packets.
    pub loses: bool,
    /// Whether it may duplicate packets.
    pub duplicates: bool,
    /// Its table in a scenario file, without the kind; only the factory's author knows its meaning.
    pub table: Map<String, Value>,
}

impl CustomSpec {
    /// The element with a table that names its code instead of the place of its class: a run's identity is the same wherever
    /// the class lies.
    pub fn by_code(self) -> Self {
        let CustomSpec {
            factory: Factory { name, identity, make: _ },
            at,
            only,
            delays,
            reorders,
            loses,
            duplicates,
            ..
        } = &self;
        let table = json!({
            "name": name, "identity": identity, "at": at, "only": only,
            "delays": delays, "reorders": reorders, "loses": loses, "duplicates": duplicates,
        });
        let table = table.as_object().cloned().unwrap_or_default();
        CustomSpec { table, ..self }
    }
}

impl Serialize for CustomSpec {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.table.serialize(s)
    }
}

impl Element for CustomSpec {
    fn properties(&self) -> Properties {
        let exit = self.at == Place::Exit;
        Properties {
            acts: Acts::of(exit, self.delays),
            bunches: exit && (self.delays || self.duplicates),
            rate: RateUse::None,
            beside_split: !exit,
            only_one: None,
            // Packets that it does not see overtake the packets that it delays.
            reorders: self.delays && (self.reorders || self.only != Only::All),
            loses: self.loses,
            duplicates: self.duplicates,
            only: self.only,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        (self.reorders && !self.delays).then(|| Fault::of("reorders", true, "false, or also `delays`"))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        let n = site.nth("custom");
        let seed = site.stream(format_args!("custom.{n}")).below(u64::MAX);
        let state = Custom { state: (self.factory.make)(seed), spec: self.clone(), last: None };
        site.gate(self.at, self.only, GateKind::Custom(state));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        tests::examples()
    }
}

pub(crate) struct Custom {
    state: Box<dyn PathElement>,
    spec: CustomSpec,
    /// When the latest delayed packet passes. Recorded only where order matters.
    last: Option<u64>,
}

impl Custom {
    pub(crate) fn judge(&mut self, nth: u64, seen: &Seen) -> Fate {
        let packet = Packet { at: Time(seen.now), nth, wire: seen.wire, data: seen.data };
        let CustomSpec { delays, reorders, loses, duplicates, .. } = self.spec;
        let held = self.last.filter(|last| *last >= seen.now);
        let later = match self.state.packet(&packet) {
            Verdict::Drop if loses => return Fate::Drop(DropWhy::Loss),
            Verdict::Duplicate if duplicates && held.is_none() => return Fate::Duplicate,
            Verdict::Delay(by) if delays => by.0,
            Verdict::Pass | Verdict::Drop | Verdict::Duplicate | Verdict::Delay(_) => 0,
        };
        let at = seen.now.saturating_add(later).max(held.unwrap_or(0));
        if later == 0 && held.is_none() {
            return Fate::Pass;
        }
        self.last = (!reorders).then_some(at);
        // The delay may be zero: packets that wait until now have not passed yet.
        Fate::Delay(Nanos(at - seen.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns these numbers in turn.
    struct Turns(Vec<Verdict>);

    impl PathElement for Turns {
        fn packet(&mut self, packet: &Packet) -> Verdict {
            self.0[packet.nth as usize % self.0.len()]
        }
    }

    fn turns(verdicts: Vec<Verdict>) -> CustomSpec {
        let name = format!("{verdicts:?}");
        let make: Arc<Make> = Arc::new(move |_| Box::new(Turns(verdicts.clone())));
        let factory = Factory { name, identity: 1, make };
        let (at, only) = (Place::Entry, Only::All);
        let table = Map::new();
        CustomSpec { factory, at, only, delays: false, reorders: false, loses: false, duplicates: false, table }
    }

    const LATE: Verdict = Verdict::Delay(Nanos(9_000_000));

    pub(super) fn examples() -> Vec<ElementSpec> {
        let mix = || turns(vec![Verdict::Pass, LATE, Verdict::Pass, Verdict::Pass]);
        vec![
            ElementSpec::Custom(CustomSpec { delays: true, reorders: true, ..mix() }),
            ElementSpec::Custom(CustomSpec { delays: true, at: Place::Exit, ..mix() }),
            ElementSpec::Custom(CustomSpec { delays: true, only: Only::Data, ..mix() }),
            ElementSpec::Custom(CustomSpec {
                loses: true,
                ..turns([vec![Verdict::Pass; 70], vec![Verdict::Drop]].concat())
            }),
            ElementSpec::Custom(CustomSpec { duplicates: true, ..turns(vec![Verdict::Duplicate, Verdict::Pass]) }),
        ]
    }

    fn fates(spec: CustomSpec, times: &[u64]) -> Vec<Fate> {
        let mut c = Custom { state: (spec.factory.make)(1), spec, last: None };
        times.iter().zip(0..).map(|(now, nth)| c.judge(nth, &Seen { now: *now, ..Seen::DATA })).collect()
    }

    #[test]
    fn what_was_not_declared_is_not_carried_out() {
        let all = turns(vec![Verdict::Drop, Verdict::Duplicate, LATE]);
        assert_eq!(fates(all.clone(), &[0, 1, 2]), [Fate::Pass; 3]);
        let declared = CustomSpec { delays: true, reorders: true, loses: true, duplicates: true, ..all };
        let late = Fate::Delay(Nanos(9_000_000));
        assert_eq!(fates(declared, &[0, 1, 2]), [Fate::Drop(DropWhy::Loss), Fate::Duplicate, late]);
    }

    #[test]
    fn an_element_that_does_not_reorder_lets_no_packet_pass_an_earlier_one() {
        let spec = CustomSpec { delays: true, ..turns(vec![LATE, Verdict::Pass]) };
        let held = |n| Fate::Delay(Nanos(n));
        assert_eq!(
            fates(spec, &[0, 1_000_000, 5_000_000, 14_000_000, 15_000_000]),
            [held(9_000_000), held(8_000_000), held(9_000_000), held(0), held(9_000_000)]
        );
    }
}
