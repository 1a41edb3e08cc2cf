//! Wobble: a link's delay rises and falls regularly.
//!
//! Source: our own; the simplest delay that changes with time and can be computed in closed form.
//!
//! Idea: the link's own delay grows by `amplitude` · (1 + sin(2π t / `period`)), or by a square wave that is high and low when
//! the sine is: 2 · `amplitude` in the first half of each period, 0 in the second. t is when a packet leaves the transmitter.
//!
//! Packets overtake each other where the delay falls faster than time advances: with a sine if 2π · `amplitude` > `period`, with
//! a square at each of its falls. A falling delay bunches packets in any case.
//!
//! Departures: none. Unsaid in the source: nothing.

use super::direction::DirectionSpec;
use super::packet::Only;
use super::properties::{Acts, Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Delays, Element, Site};
use crate::error::Fault;
use ackclock_tcp::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Adds a periodic delay: from 0 to twice `amplitude` and back in each period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Periodic delay", extend("examples" = [{ "amplitude": "10 ms", "period": "1 s" }]))]
pub struct WobbleSpec {
    /// Shape of the wave.
    #[serde(default)]
    pub shape: Shape,
    /// Largest difference of the delay from its mean.
    pub amplitude: Nanos,
    /// Length of a period, above zero.
    pub period: Nanos,
    /// Whether a packet may arrive before one that left earlier.
    #[serde(default = "yes")]
    pub overtaking: bool,
}

fn yes() -> bool {
    true
}

/// Shape of a periodic delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A sine wave that starts at its mean and rises.
    #[default]
    Sine,
    /// High in the first half of each period, low in the second.
    Square,
}

impl Element for WobbleSpec {
    fn properties(&self) -> Properties {
        let falls_fast = match self.shape {
            Shape::Sine => TAU * self.amplitude.0 as f64 > self.period.0 as f64,
            Shape::Square => self.amplitude > Nanos::ZERO,
        };
        Properties {
            acts: Acts::OnDelay,
            bunches: true,
            rate: RateUse::None,
            beside_split: false,
            only_one: None,
            reorders: self.overtaking && falls_fast,
            loses: false,
            duplicates: false,
            only: Only::All,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        Fault::time("amplitude", self.amplitude).or_else(|| Fault::above_zero("period", self.period))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        site.lengthen(Delays::Wobble(Wobble::new(self)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let spec = |shape, amplitude, overtaking| {
            let (amplitude, period) = (Nanos::from_millis(amplitude), Nanos::from_millis(300));
            ElementSpec::Wobble(WobbleSpec { shape, amplitude, period, overtaking })
        };
        vec![
            spec(Shape::Sine, 80, true),
            spec(Shape::Sine, 40, true),
            spec(Shape::Square, 100, true),
            spec(Shape::Square, 100, false),
        ]
    }
}

pub(crate) struct Wobble {
    shape: Shape,
    amplitude: f64,
    period: u64,
    overtaking: bool,
    /// The latest arrival so far, without the link's own delay.
    last: u64,
}

impl Wobble {
    pub(crate) fn new(spec: &WobbleSpec) -> Self {
        let WobbleSpec { shape, amplitude, period, overtaking } = *spec;
        Wobble { shape, amplitude: amplitude.0 as f64, period: period.0, overtaking, last: 0 }
    }

    /// The amount added to the delay of a packet that leaves at `now`; times must not go back.
    pub(crate) fn of(&mut self, now: u64) -> u64 {
        // Within a period, so that rounding loses nothing late in a run.
        let at = now % self.period;
        let wave = match self.shape {
            Shape::Sine => libm::sin(TAU * (at as f64 / self.period as f64)),
            Shape::Square if 2 * at < self.period => 1.0,
            Shape::Square => -1.0,
        };
        let delay = libm::rint(self.amplitude * (1.0 + wave)) as u64;
        if self.overtaking {
            return delay;
        }
        self.last = self.last.max(now + delay);
        self.last - now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Sim;
    use crate::results::Results;
    use crate::scenario::*;
    use crate::topology::dumbbell::{dumbbell, flow, pipe};
    use ackclock_tcp::stack::Stack;
    use ackclock_tcp::units::Rate;

    const MS: u64 = 1_000_000;

    fn wobble(shape: Shape, amplitude: u64, overtaking: bool) -> Wobble {
        let (amplitude, period) = (Nanos(amplitude), Nanos(120 * MS));
        Wobble::new(&WobbleSpec { shape, amplitude, period, overtaking })
    }

    #[test]
    fn a_sine_has_the_values_that_one_knows_without_computing_it() {
        let mut w = wobble(Shape::Sine, 10 * MS, true);
        // In twelfths of a period: sin 30° is a half, sin 60° the root of three quarters.
        let root = libm::rint(10.0 * libm::sqrt(0.75) * MS as f64) as u64;
        let up = [10 * MS, 15 * MS, 10 * MS + root, 20 * MS, 10 * MS + root, 15 * MS];
        let down = [10 * MS, 5 * MS, 10 * MS - root, 0, 10 * MS - root, 5 * MS];
        for (k, want) in up.into_iter().chain(down).enumerate() {
            // The same in the first period and after years.
            for period in [0, 3, 10_000_000_000] {
                assert_eq!(w.of((12 * period + k as u64) * 10 * MS), want, "{k} twelfths");
            }
        }
    }

    #[test]
    fn a_square_is_high_for_half_a_period_and_low_for_the_other() {
        let mut w = wobble(Shape::Square, 10 * MS, true);
        let times = [0, 60 * MS - 1, 60 * MS, 120 * MS - 1, 120 * MS, 179 * MS, 180 * MS];
        assert_eq!(times.map(|t| w.of(t) / MS), [20, 20, 0, 0, 20, 20, 0]);
    }

    #[test]
    fn packets_overtake_just_where_the_delay_falls_faster_than_time_advances() {
        // 2π · 19 ms < 120 ms < 2π · 20 ms.
        for (amplitude, overtaking, reorders) in [(19, true, false), (20, true, true), (20, false, false)] {
            let mut w = wobble(Shape::Sine, amplitude * MS, overtaking);
            let arrivals: Vec<u64> = (0..100_000).map(|i| i * 10_000).map(|t| t + w.of(t)).collect();
            assert_eq!(arrivals.is_sorted(), !reorders, "{amplitude} ms");
            let (amplitude, period) = (Nanos(amplitude * MS), Nanos(120 * MS));
            let spec = WobbleSpec { shape: Shape::Sine, amplitude, period, overtaking };
            assert_eq!(spec.properties().reorders, reorders);
        }
    }

    #[test]
    fn without_overtaking_no_packet_waits_longer_than_for_the_latest_before_it() {
        let (mut free, mut kept) = (wobble(Shape::Square, 10 * MS, true), wobble(Shape::Square, 10 * MS, false));
        let mut latest = 0;
        for t in (0..2_000).map(|i| i * 333_333) {
            latest = latest.max(t + free.of(t));
            assert_eq!(t + kept.of(t), latest);
        }
    }

    /// A square wave between two links of one rate: at each of its falls 20 ms of packets arrive together. `counted`: the second
    /// link has an element that never acts.
    fn trial(counted: bool) -> Results {
        let link = |from, elements, limit| {
            let queue = QueueSpec { limit, limit_counts_service: true };
            let forward = DirectionSpec { elements, queue, ..pipe(Some(Rate(20_000_000)), Nanos(5 * MS)) };
            LinkSpec { from, to: 1 - from, forward, back: pipe(None, Nanos(5 * MS)) }
        };
        let (amplitude, period) = (Nanos(40 * MS), Nanos(400 * MS));
        let wobble = WobbleSpec { shape: Shape::Square, amplitude, period, overtaking: true };
        let never = vec![ScriptRule { nth: u64::MAX, action: ScriptAction::Drop }];
        let nothing =
            ElementSpec::Script(ScriptSpec { at: Default::default(), only: Only::All, flow: None, rules: never });
        let behind = if counted { vec![nothing] } else { Vec::new() };
        let mut s: Scenario = dumbbell(0, &pipe(None, Nanos::ZERO), &pipe(None, Nanos::ZERO), &flow());
        s.duration = Nanos::from_secs(10);
        s.nodes.push("R3".to_owned());
        s.links = vec![
            link(0, vec![ElementSpec::Wobble(wobble)], QueueLimit::Packets(100)),
            LinkSpec { from: 1, to: 2, ..link(1, behind, QueueLimit::Packets(45)) },
        ];
        s.flows = vec![FlowSpec { to: 2, ..flow() }];
        // Dropped packets do not make it slower.
        let source = SourceSpec { rate: Rate(15_000_000), packet: 1500, on_off: None };
        let kind = BackgroundKind::Source(source);
        s.background = vec![BackgroundSpec { from: 0, to: 2, start: Nanos::ZERO, stop: None, kind }];
        let stack = Stack::named("sack-ff96").expect("a named stack");
        Sim::new(&s, &[stack], 1, ()).expect("a scenario that can be run").run()
    }

    #[test]
    fn a_queue_behind_a_wobble_drops_what_it_would_drop_if_it_were_watched() {
        let (plain, counted) = (trial(false), trial(true));
        let dropped = plain.links[2].drops.queue;
        assert!(dropped > 100, "{dropped}");
        let seen = |r: &Results| (r.links[2].drops, r.flows.clone(), r.background.clone());
        assert_eq!(seen(&plain), seen(&counted));
    }
}
