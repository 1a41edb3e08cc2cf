//! Interruptions: when a link is interrupted, for delay spikes and outages alike.

use super::packet::{Only, Place};
use super::Site;
use crate::error::Fault;
use crate::rng::{Gap, Stream};
use ackclock_tcp::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a link is interrupted, where, and for which packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(inline)]
pub struct InterruptionSpec {
    /// When each begins.
    pub when: When,
    /// How long each lasts; above 0.
    pub length: Nanos,
    /// Where on the link.
    pub at: Place,
    /// The packets that it affects. The others overtake the packets that a delay spike holds back.
    pub only: Only,
}

/// The keys of a file.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, extend("oneOf" = [{ "required": ["times"] }, { "required": ["gap"] }]))]
struct Written {
    /// Start times, as in `["5 s", "20 s"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    times: Option<Vec<Nanos>>,
    /// Time from the end of one interruption to the start of the next, at least 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<Gap>,
    /// How long each lasts.
    length: Nanos,
    /// Where on the link. At the exit, waiting packets do not fill the queue.
    #[serde(default = "Place::exit")]
    at: Place,
    /// The packets that the element acts on. Default: all packets. The others overtake packets that a delay spike holds back.
    #[serde(default, skip_serializing_if = "Only::is_all")]
    only: Only,
}

impl TryFrom<Written> for InterruptionSpec {
    type Error = Fault;

    fn try_from(w: Written) -> Result<Self, Fault> {
        let Written { times, gap, length, at, only } = w;
        Ok(InterruptionSpec { when: When::read(times, gap)?, length, at, only })
    }
}

impl From<InterruptionSpec> for Written {
    fn from(s: InterruptionSpec) -> Self {
        let InterruptionSpec { when, length, at, only } = s;
        let (times, gap) = when.written();
        Written { times, gap, length, at, only }
    }
}

impl InterruptionSpec {
    /// The first value out of range.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.when.fault(self.length)
    }

    /// Its interruptions on a link. Both kinds share the names of their random streams.
    pub(super) fn on(&self, site: &mut Site<'_, '_>) -> Interruptions {
        let n = site.nth("interruption");
        Interruptions::new(&self.when, self.length, site.stream(format_args!("interruption.{n}")))
    }

    /// Interruptions with different properties, for the elements that have them.
    #[cfg(test)]
    pub(super) fn examples() -> [Self; 4] {
        let times = When::Times(vec![Nanos::from_millis(400), Nanos::from_secs(3)]);
        let gap = When::Gap(Gap::Exponential(Nanos::from_secs(1)));
        let spec =
            |when: &When, at, only| InterruptionSpec { when: when.clone(), length: Nanos::from_millis(300), at, only };
        [
            spec(&times, Place::Entry, Only::All),
            spec(&gap, Place::Exit, Only::All),
            spec(&times, Place::Exit, Only::Data),
            spec(&gap, Place::Entry, Only::Acks),
        ]
    }
}

/// When interruptions begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// At these times, each after the end of the previous one.
    Times(Vec<Nanos>),
    /// This long after the end of the previous one; the first this long after time 0. At least 1 ms.
    Gap(Gap),
}

/// Each interruption is counted, even if no packet meets it.
const SHORTEST_GAP: Nanos = Nanos::from_millis(1);

impl When {
    /// Reads exactly one of the keys `times` and `gap`.
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

    /// In the form of the keys `times` and `gap`.
    pub(super) fn written(self) -> (Option<Vec<Nanos>>, Option<Gap>) {
        match self {
            When::Times(times) => (Some(times), None),
            When::Gap(gap) => (None, Some(gap)),
        }
    }

    /// The first value out of range, if each interruption lasts for `length`.
    pub(super) fn fault(&self, length: Nanos) -> Option<Fault> {
        if length == Nanos::ZERO {
            return Some(Fault::of("length", length, "above 0 s"));
        }
        match self {
            When::Gap(gap) => {
                let short =
                    (gap.mean() < SHORTEST_GAP).then(|| Fault::of("gap", gap.mean(), "at least 1 ms on average"));
                gap.fault("gap").or(short)
            }
            When::Times(times) if times.is_empty() => Some(Fault::of("times", "no time", "at least one time")),
            When::Times(times) => {
                let early = times.windows(2).position(|w| w[1].0 <= w[0].0.saturating_add(length.0));
                early.map(|i| {
                    let allowed = "a time after the end of the previous interruption";
                    Fault::of(format!("times[{}]", i + 1), times[i + 1], allowed)
                })
            }
        }
    }
}

/// The interruptions of a link, in sequence.
pub(super) struct Interruptions {
    when: When,
    length: u64,
    rng: Stream,
    /// The current interruption, or the next one.
    pub(super) begin: u64,
    pub(super) end: u64,
    /// Interruptions that began at or before `begin`.
    seen: usize,
}

impl Interruptions {
    pub(super) fn new(when: &When, length: Nanos, rng: Stream) -> Self {
        let mut i = Interruptions { when: when.clone(), length: length.0, rng, begin: 0, end: 0, seen: 0 };
        i.advance();
        i
    }

    /// Whether the link is interrupted at `now`. Times must not decrease.
    pub(super) fn holds(&mut self, now: u64) -> bool {
        self.follow(now);
        self.begin <= now && now < self.end
    }

    /// Moves to the first interruption whose last instant is not before `now`.
    pub(super) fn follow(&mut self, now: u64) {
        while now > self.end {
            self.advance();
        }
    }

    /// Moves to the next interruption.
    fn advance(&mut self) {
        let begin = match &self.when {
            When::Times(times) => times.get(self.seen).map(|t| t.0),
            When::Gap(gap) => Some(self.end.saturating_add(self.rng.gap(*gap).0)),
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
