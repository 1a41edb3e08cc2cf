//! Random queue swaps (Blanton & Allman §2.2): at random times, two waiting packets change places.

use super::direction::{DirectionSpec, QueueLimit};
use super::packet::Only;
use super::properties::{Acts, Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, Site};
use crate::error::Fault;
use crate::rng::{Gap, Stream};
use ackclock_tcp::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Swaps queued packets at random times (Blanton & Allman §2.2). Needs a rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Queue swaps", extend("examples" = [{ "mode": "neighbours", "gap": { "exponential": "500 ms" } }]))]
pub struct SwapSpec {
    /// Which two packets are swapped.
    pub mode: SwapMode,
    /// Number of swaps at each event, all at the same instant.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
    /// Time between events.
    pub gap: Gap,
}

fn one() -> u32 {
    1
}

/// Which two packets are swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SwapMode {
    /// Two slots of the queue, drawn uniformly; nothing happens if one is empty or both are the same. The queue needs a limit in packets.
    Slots,
    /// Two different waiting packets, drawn uniformly.
    Literal,
    /// A waiting packet and the one behind it.
    Neighbours,
}

impl Element for SwapSpec {
    fn properties(&self) -> Properties {
        Properties {
            acts: Acts::Late,
            bunches: false,
            rate: RateUse::Waits,
            beside_split: false,
            only_one: None,
            reorders: true,
            loses: false,
            duplicates: false,
            only: Only::All,
            flow: None,
        }
    }

    fn fault(&self, on: &DirectionSpec) -> Option<Fault> {
        let SwapSpec { mode, count, gap } = self;
        let slots = *mode == SwapMode::Slots && !matches!(on.queue.limit, QueueLimit::Packets(1..));
        let found = "a swap with mode \"slots\" on a queue whose slots cannot be counted";
        let allowed = "a queue limit in packets, or mode \"literal\" or \"neighbours\"";
        slots
            .then(|| Fault::of("", found, allowed))
            .or_else(|| Fault::whole("count", (*count).into(), 1..=100_000))
            .or_else(|| gap.fault("gap"))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        let n = site.nth("swap");
        let rng = ["gap", "pair"].map(|part| site.stream(format_args!("swap.{n}/{part}")));
        let slots = match (self.mode, site.on.queue.limit) {
            (SwapMode::Slots, QueueLimit::Packets(n)) => u64::from(n),
            (SwapMode::Slots | SwapMode::Literal | SwapMode::Neighbours, _) => 0,
        };
        site.swaps.push((site.element, Swap::new(site.link, self, slots, rng)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let gap = Gap::Exponential(Nanos::from_millis(100));
        let spec = |mode| ElementSpec::Swap(SwapSpec { mode, count: 3, gap });
        [SwapMode::Slots, SwapMode::Literal, SwapMode::Neighbours].map(spec).into()
    }
}

pub(crate) struct Swap {
    /// The directed link on whose queue it acts.
    pub(crate) link: u32,
    mode: SwapMode,
    count: u32,
    gap: Gap,
    /// Places of the queue, the one in transmission included if the limit counts it.
    slots: u64,
    /// Times and places are drawn from two streams, so the queue's contents do not change the times.
    times: Stream,
    places: Stream,
    /// Events so far, and the number of them that found fewer than two packets waiting.
    pub(crate) events: u64,
    pub(crate) skipped: u64,
}

impl Swap {
    pub(crate) fn new(link: u32, spec: &SwapSpec, slots: u64, rng: [Stream; 2]) -> Self {
        let SwapSpec { mode, count, gap } = *spec;
        let [times, places] = rng;
        Swap { link, mode, count, gap, slots, times, places, events: 0, skipped: 0 }
    }

    /// The time until the next event.
    pub(crate) fn gap(&mut self) -> Nanos {
        self.times.gap(self.gap)
    }

    /// One event on a queue with `waiting` packets; `exchange` is called with each pair of positions.
    pub(crate) fn act(&mut self, waiting: usize, mut exchange: impl FnMut(usize, usize)) {
        self.events += 1;
        if waiting < 2 {
            self.skipped += 1;
            return;
        }
        for _ in 0..self.count {
            if let Some((a, b)) = self.pair(waiting as u64) {
                exchange(a as usize, b as usize);
            }
        }
    }

    fn pair(&mut self, waiting: u64) -> Option<(u64, u64)> {
        match self.mode {
            SwapMode::Slots => {
                let (a, b) = (self.places.below(self.slots), self.places.below(self.slots));
                (a != b && a.max(b) < waiting).then_some((a, b))
            }
            SwapMode::Literal => {
                let (a, b) = (self.places.below(waiting), self.places.below(waiting - 1));
                Some((a, b + u64::from(b >= a)))
            }
            SwapMode::Neighbours => {
                let a = self.places.below(waiting - 1);
                Some((a, a + 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(mode: SwapMode, waiting: usize) -> (Swap, Vec<(usize, usize)>) {
        let rng = [Stream::new(3, "times"), Stream::new(3, "places")];
        let mut s = Swap::new(0, &SwapSpec { mode, count: 4000, gap: Gap::Constant(Nanos(5)) }, 65, rng);
        let mut seen = Vec::new();
        s.act(waiting, |a, b| seen.push((a, b)));
        (s, seen)
    }

    #[test]
    fn every_pair_lies_in_the_queue_and_has_two_different_places() {
        for mode in [SwapMode::Slots, SwapMode::Literal, SwapMode::Neighbours] {
            let (_, seen) = pairs(mode, 7);
            assert!(seen.iter().all(|&(a, b)| a != b && a < 7 && b < 7), "{mode:?}");
        }
        assert!(pairs(SwapMode::Neighbours, 7).1.iter().all(|&(a, b)| b == a + 1));
        assert_eq!(pairs(SwapMode::Literal, 2).1.len(), 4000);
    }

    #[test]
    fn slots_find_a_pair_as_often_as_both_slots_are_taken() {
        // 20 of 65 places taken: 20/65 · 19/65 of the draws.
        let found = pairs(SwapMode::Slots, 20).1.len() as f64 / 4000.0;
        assert!((found - 20.0 * 19.0 / (65.0 * 65.0)).abs() < 0.02, "{found}");
    }

    #[test]
    fn an_event_with_fewer_than_two_waiting_does_nothing_and_is_counted() {
        let (s, seen) = pairs(SwapMode::Literal, 1);
        assert_eq!((s.events, s.skipped, seen.len()), (1, 1, 0));
    }
}
