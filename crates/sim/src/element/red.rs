//! Random early detection: packets are dropped before the queue is full, with a probability that grows with its average length.
//!
//! *Source.* Floyd & Jacobson 1993 §4, §7 and §8; `wait` and `gentle` as in ns-2.35.
//!
//! *Idea.* A moving average of the queue lets bursts pass; evenly spaced drops hit flows in proportion to their share.
//!
//! | source | here |
//! | --- | --- |
//! | min_th, max_th, max_p, w_q | `thresholds`, `max_p`, `weight` |
//! | avg, count | `average`, `count` (with `per = "byte"`: `count_bytes`) |
//! | m = f(time − q_time) | idle time ÷ transmission time of `mean_packet` |
//! | buffer | the queue's limit; only waiting packets count, in `thresholds` and (as in ns-2's RED) there |
//!
//! *Departures*, all ns-2's. No packet is dropped while at most one packet waits. The first packet that finds the average above
//! min_th is not dropped; counting begins with it. A drop by a full queue also restarts the count.
//! *Unsaid in the source.* Whether an average of max_th or more leads to a random drop: here the drop is certain (ns-2:
//! `use_mark_p_ false`). RFC 3168 §5 leaves the choice of marked packets to the queue: here as in ns-2, the packets drawn at
//! random below max_th.

#[cfg(test)]
mod ns2;

use super::direction::DirectionSpec;
use super::packet::{Backlog, Fate, Only, Per, Place, Seen};
use super::properties::{Acts, Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, GateKind, Site};
use crate::error::Fault;
use crate::rng::Stream;
use crate::transit::Pace;
use crate::watch::DropWhy;
use ackclock_tcp::units::{Bytes, Length, Packets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Random early detection as in ns-2 (Floyd & Jacobson 1993). Needs a rate. The queue's `limit` also applies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(title = "RED", extend("examples" = [{ "min": "5 packets", "max": "15 packets" }]))]
pub struct RedSpec {
    /// The averages between which the drop probability rises from 0 to `max_p`.
    pub thresholds: Thresholds,
    /// Drop probability at the upper threshold, before drops are spaced.
    pub max_p: f64,
    /// Weight of the newest queue length in the average, w_q.
    pub weight: f64,
    /// Above the upper threshold the probability rises from `max_p` to 1 at twice that threshold; otherwise
    /// everything is dropped there.
    pub gentle: bool,
    /// Whether drops are from 1 / p to 2 / p packets apart; otherwise they are from 1 to 1 / p packets apart, evenly
    /// distributed.
    pub wait: bool,
    /// Whether packets are dropped with the same probability, or in proportion to their size.
    pub per: Per,
    /// The size of a typical packet on the wire, bytes: the unit for idle time and, with `per = "byte"`, for packet sizes.
    pub mean_packet: u32,
    /// Below the upper threshold, packets that support ECN are marked instead of dropped (RFC 3168 §5).
    pub ecn: bool,
}

/// As it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    /// Average queue length below which nothing is dropped, in packets or bytes on the wire.
    min: Length,
    /// Average queue length from which everything is dropped; with `gentle`, from twice this length. Above `min`, in the same unit.
    max: Length,
    /// Drop probability at `max`, before drops are spaced. The default is that of ns-2 (`linterm_ 10`).
    #[serde(default = "max_p")]
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0))]
    max_p: f64,
    /// Weight of the current length in the average. The default is from Floyd & Jacobson 1993 §8.
    #[serde(default = "weight")]
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0))]
    weight: f64,
    /// Whether the probability rises from `max_p` at `max` to 1 at twice `max`. The default is that of ns-2 since 2001; the paper's RED has no such
    /// region.
    #[serde(default = "yes")]
    gentle: bool,
    /// Whether drops are at least 1 / p packets apart. The default is that of ns-2; the paper spaces them evenly from 1 to 1 / p.
    #[serde(default = "yes")]
    wait: bool,
    /// The unit to which the probability applies.
    #[serde(default)]
    per: Per,
    /// Size of a typical packet on the wire. It scales idle time and, with `per = "byte"`, packet sizes. The default is that of ns-2.
    #[serde(default = "mean_packet", with = "ackclock_tcp::units::bytes")]
    #[schemars(schema_with = "ackclock_tcp::units::bytes_schema")]
    mean_packet: u32,
    /// Whether ECN-capable packets are marked instead of dropped while the average is below `max` (RFC 3168 §5). Flows whose stack has `options.ecn =
    /// true` send such packets.
    #[serde(default)]
    ecn: bool,
}

fn max_p() -> f64 {
    0.1
}

fn weight() -> f64 {
    0.002
}

fn yes() -> bool {
    true
}

fn mean_packet() -> u32 {
    500
}

impl TryFrom<Written> for RedSpec {
    type Error = Fault;

    fn try_from(w: Written) -> Result<Self, Fault> {
        let Written { min, max, max_p, weight, gentle, wait, per, mean_packet, ecn } = w;
        let thresholds = match (min, max) {
            (Length::Packets(Packets(min)), Length::Packets(Packets(max))) => Thresholds::Packets { min, max },
            (Length::Bytes(min), Length::Bytes(max)) => Thresholds::Bytes { min, max },
            (Length::Packets(_), Length::Bytes(_)) | (Length::Bytes(_), Length::Packets(_)) => {
                return Err(Fault::of("max", max, format!("more than `min` (\"{min}\"), in the same unit")))
            }
        };
        Ok(RedSpec { thresholds, max_p, weight, gentle, wait, per, mean_packet, ecn })
    }
}

impl From<RedSpec> for Written {
    fn from(s: RedSpec) -> Self {
        let RedSpec { thresholds, max_p, weight, gentle, wait, per, mean_packet, ecn } = s;
        let (min, max) = match thresholds {
            Thresholds::Packets { min, max } => (Length::Packets(Packets(min)), Length::Packets(Packets(max))),
            Thresholds::Bytes { min, max } => (Length::Bytes(min), Length::Bytes(max)),
        };
        Written { min, max, max_p, weight, gentle, wait, per, mean_packet, ecn }
    }
}

/// Thresholds of RED's average, and with them its unit. Both count waiting packets, without the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thresholds {
    /// The average is of packets.
    Packets {
        /// Nothing is dropped below it.
        min: u32,
        /// Everything is dropped from here on, or with `gentle` from twice this on. Above `min`.
        max: u32,
    },
    /// The average is of bytes (ns-2: `queue_in_bytes_`).
    Bytes {
        /// Nothing is dropped below it.
        min: Bytes,
        /// Everything is dropped from here on, or with `gentle` from twice this on. Above `min`.
        max: Bytes,
    },
}

impl RedSpec {
    /// ns-2's defaults with these thresholds.
    pub fn new(thresholds: Thresholds) -> Self {
        let (max_p, weight, mean_packet) = (max_p(), weight(), mean_packet());
        RedSpec { thresholds, max_p, weight, gentle: yes(), wait: yes(), per: Per::default(), mean_packet, ecn: false }
    }

    fn limits(&self) -> (f64, f64) {
        match self.thresholds {
            Thresholds::Packets { min, max } => (f64::from(min), f64::from(max)),
            Thresholds::Bytes { min, max } => (min as f64, max as f64),
        }
    }
}

impl Element for RedSpec {
    fn properties(&self) -> Properties {
        Properties {
            acts: Acts::Late,
            bunches: false,
            rate: RateUse::Needs,
            beside_split: false,
            only_one: None,
            reorders: false,
            loses: true,
            duplicates: false,
            only: Only::All,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        let (min, max) = self.limits();
        (max <= min)
            .then(|| Fault::of("max", max, "more than `min`"))
            .or_else(|| Fault::share("max_p", self.max_p))
            .or_else(|| Fault::share("weight", self.weight))
            .or_else(|| Fault::bytes("mean_packet", self.mean_packet.into(), 1..=65_535))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        let n = site.nth("red");
        let rng = site.stream(format_args!("red.{n}"));
        let pace = Pace::new(site.on.rate.map(|r| r.0), 0);
        site.gate(Place::Entry, Only::All, GateKind::Red(Red::new(*self, &pace, rng)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let packets = RedSpec { max_p: 0.5, weight: 0.1, ..RedSpec::new(Thresholds::Packets { min: 2, max: 8 }) };
        let bytes = RedSpec { per: Per::Byte, ..RedSpec::new(Thresholds::Bytes { min: 3_000, max: 9_000 }) };
        vec![ElementSpec::Red(packets), ElementSpec::Red(bytes)]
    }
}

pub(crate) struct Red {
    law: Law,
    rng: Stream,
}

impl Red {
    pub(crate) fn new(spec: RedSpec, pace: &Pace, rng: Stream) -> Self {
        Red { law: Law::new(spec, pace), rng }
    }

    pub(crate) fn judge(&mut self, seen: &Seen) -> Fate {
        let rng = &mut self.rng;
        match self.law.drops(seen, || rng.unit()) {
            false => Fate::Pass,
            true if self.law.marks() => Fate::Mark,
            true => Fate::Drop(DropWhy::Early),
        }
    }
}

/// RED without its random numbers.
struct Law {
    spec: RedSpec,
    min: f64,
    max: f64,
    /// Transmission time of a typical packet, ns.
    packet_time: f64,
    average: f64,
    /// Packets, and their bytes, since the last drop.
    count: u64,
    count_bytes: u64,
    /// Whether the previous packet found the average above the lower threshold.
    above: bool,
}

impl Law {
    fn new(spec: RedSpec, pace: &Pace) -> Self {
        let (min, max) = spec.limits();
        let packet_time = f64::from(spec.mean_packet) * pace.num as f64 / pace.den.get() as f64;
        Law { spec, min, max, packet_time, average: 0.0, count: 0, count_bytes: 0, above: false }
    }

    /// Whether the arriving packet is dropped early. `uniform` is a random number from 0 to 1, drawn only if it decides.
    fn drops(&mut self, seen: &Seen, uniform: impl FnOnce() -> f64) -> bool {
        let Backlog { packets, bytes, idle_since, full } = seen.backlog;
        let (waiting, held) = match self.spec.thresholds {
            Thresholds::Packets { .. } => (f64::from(packets), u64::from(packets)),
            Thresholds::Bytes { .. } => (bytes as f64, bytes),
        };
        if let Some(since) = idle_since {
            // §4: as if this many packets had found the queue empty.
            let missed = libm::floor((seen.now - since) as f64 / self.packet_time);
            self.average *= libm::pow(1.0 - self.spec.weight, missed);
        }
        self.average = (1.0 - self.spec.weight) * self.average + self.spec.weight * waiting;
        self.count += 1;
        self.count_bytes += u64::from(seen.wire);
        let certain = if self.spec.gentle { 2.0 * self.max } else { self.max };
        let mut drop = false;
        if self.average < self.min || held <= 1 {
            self.above = false;
        } else if self.average >= certain {
            drop = true;
        } else if !self.above {
            (self.above, self.count, self.count_bytes) = (true, 1, u64::from(seen.wire));
        } else {
            drop = uniform() < self.probability(seen.wire);
        }
        if drop || full {
            (self.count, self.count_bytes) = (0, 0);
        }
        // A packet dropped by the full queue counts as the queue's own drop.
        drop && !full
    }

    /// Whether a drop now becomes a mark for packets that may be marked: not where the queue stays long in spite of marks.
    fn marks(&self) -> bool {
        self.spec.ecn && self.average < self.max
    }

    /// The probability that a packet of `wire` bytes is dropped now.
    fn probability(&self, wire: u32) -> f64 {
        let (RedSpec { max_p, wait, per, mean_packet, .. }, avg) = (self.spec, self.average);
        let p = if avg < self.max {
            max_p * (avg - self.min) / (self.max - self.min)
        } else {
            max_p + (1.0 - max_p) * (avg - self.max) / self.max
        };
        match per {
            Per::Packet => spaced(p, self.count, wait),
            // §4, "byte mode"; ns-2 counts in whole typical packets, and a due drop hits a packet of any size.
            Per::Byte => match spaced(p, self.count_bytes / u64::from(mean_packet), wait) {
                due if due >= 1.0 => 1.0,
                share => (share * f64::from(wire) / f64::from(mean_packet)).min(1.0),
            },
        }
    }
}

/// §7: from the probability `p` for each packet to evenly spaced drops; `count` packets arrived since the last drop.
fn spaced(p: f64, count: u64, wait: bool) -> f64 {
    let expected = count as f64 * p;
    match wait {
        true if expected < 1.0 => 0.0,
        true if expected < 2.0 => (p / (2.0 - expected)).min(1.0),
        false if expected < 1.0 => (p / (1.0 - expected)).min(1.0),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::dumbbell::pipe;
    use ackclock_tcp::time::Nanos;
    use ackclock_tcp::units::Rate;

    fn fault(spec: &RedSpec) -> Option<Fault> {
        spec.fault(&pipe(Some(Rate(800_000)), Nanos::ZERO))
    }

    /// Wang & Shin's Table 4, from which the paper's values can be computed by hand.
    fn table_4() -> RedSpec {
        let thresholds = Thresholds::Packets { min: 5, max: 20 };
        RedSpec { max_p: 0.02, gentle: false, wait: false, mean_packet: 1000, ..RedSpec::new(thresholds) }
    }

    fn law(spec: RedSpec) -> Law {
        assert_eq!(fault(&spec), None);
        Law::new(spec, &Pace::new(Some(Rate(800_000).0), 0))
    }

    fn waiting(packets: u32) -> Seen {
        let bytes = u64::from(packets) * 1000;
        Seen { wire: 1000, backlog: Backlog { packets, bytes, ..Backlog::NONE }, ..Seen::DATA }
    }

    #[test]
    fn the_average_follows_the_queue_by_its_weight() {
        let mut r = law(table_4());
        for _ in 0..100 {
            r.drops(&waiting(20), || 1.0);
        }
        // 20 (1 − 0.998^100).
        assert!((r.average - 3.628_664).abs() < 1e-6, "{}", r.average);
    }

    #[test]
    fn an_idle_queue_counts_as_many_empty_arrivals_as_it_could_have_sent_packets() {
        let mut r = law(table_4());
        r.average = 10.0;
        // 10 ms for each packet of 1000 bytes: 50 in half a second.
        let idle = Backlog { idle_since: Some(1_000_000_000), ..Backlog::NONE };
        r.drops(&Seen { now: 1_500_000_000, backlog: idle, ..waiting(0) }, || 0.0);
        assert!((r.average - 10.0 * libm::pow(0.998, 51.0)).abs() < 1e-9);
    }

    #[test]
    fn drops_are_spaced_as_the_paper_says_and_wait_as_ns_2_does() {
        let mut r = law(table_4());
        r.average = 12.5;
        for (count, want) in [(0, 0.01), (10, 0.011_111), (50, 0.02), (90, 0.1), (100, 1.0)] {
            r.count = count;
            assert!((r.probability(1000) - want).abs() < 1e-6, "{count}");
        }
        r.spec.wait = true;
        for (count, want) in [(0, 0.0), (99, 0.0), (100, 0.01), (150, 0.02), (200, 1.0)] {
            r.count = count;
            assert!((r.probability(1000) - want).abs() < 1e-6, "{count}");
        }
    }

    #[test]
    fn gentle_continues_from_max_p_to_1_at_twice_the_threshold() {
        let mut r = law(RedSpec { gentle: true, ..table_4() });
        for (average, want) in [(20.0, 0.02), (30.0, 0.51), (39.99, 0.99951)] {
            (r.average, r.count) = (average, 0);
            assert!((r.probability(1000) - want).abs() < 1e-6, "{average}");
        }
        (r.average, r.above) = (41.0, true);
        assert!(r.drops(&waiting(41), || 1.0));
        let mut abrupt = law(table_4());
        (abrupt.average, abrupt.above) = (20.1, true);
        assert!(abrupt.drops(&waiting(21), || 1.0));
    }

    #[test]
    fn with_ecn_what_luck_hits_below_the_upper_threshold_is_marked_and_above_it_dropped() {
        for (average, gentle, want) in [
            (12.5, false, Fate::Mark),
            (19.9, true, Fate::Mark),
            (20.1, true, Fate::Drop(DropWhy::Early)),
            (20.1, false, Fate::Drop(DropWhy::Early)),
        ] {
            let spec = RedSpec { ecn: true, gentle, weight: 1e-9, ..table_4() };
            let mut r = Red::new(spec, &Pace::new(Some(800_000), 0), Stream::new(1, "red"));
            (r.law.average, r.law.above) = (average, true);
            let hit = (0..200).map(|_| r.judge(&waiting(12))).find(|f| *f != Fate::Pass);
            assert_eq!(hit, Some(want), "{average}");
            // A mark restarts the count, as a drop does.
            assert_eq!(r.law.count, 0);
        }
        let full = Seen { backlog: Backlog { full: true, ..waiting(12).backlog }, ..waiting(12) };
        let mut r = Red::new(RedSpec { ecn: true, ..table_4() }, &Pace::new(Some(800_000), 0), Stream::new(1, "red"));
        (r.law.average, r.law.above, r.law.count) = (12.5, true, 1000);
        assert_eq!(r.judge(&full), Fate::Pass, "the full queue drops it");
    }

    #[test]
    fn by_bytes_small_packets_are_dropped_by_their_share() {
        let thresholds = Thresholds::Bytes { min: 5_000, max: 20_000 };
        let mut r = law(RedSpec { thresholds, per: Per::Byte, ..table_4() });
        (r.average, r.above) = (12_500.0, true);
        assert!((r.probability(1000) - 0.01).abs() < 1e-9 && (r.probability(40) - 0.0004).abs() < 1e-9);
        r.count_bytes = 50_999;
        assert!((r.probability(1000) - 0.02).abs() < 1e-9);
    }

    #[test]
    fn drops_come_as_often_as_the_probability_says_and_evenly() {
        for (wait, mean, most) in [(false, 50.5, 100), (true, 150.0, 200)] {
            let mut r = Red::new(RedSpec { wait, ..table_4() }, &Pace::new(Some(800_000), 0), Stream::new(1, "red"));
            (r.law.average, r.law.above, r.law.spec.weight) = (12.5, true, 1e-9);
            let (mut gap, mut gaps) = (0, Vec::new());
            for _ in 0..500_000 {
                gap += 1;
                if r.judge(&waiting(12)) != Fate::Pass {
                    gaps.push(gap);
                    gap = 0;
                }
            }
            let got = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
            assert!((got / mean - 1.0).abs() < 0.02 && gaps.iter().all(|g| *g <= most + 1), "{wait} {got}");
        }
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let t = |min, max| fault(&RedSpec { thresholds: Thresholds::Packets { min, max }, ..table_4() });
        assert_eq!(t(5, 5), Some(Fault::of("max", "5", "more than `min`")));
        let key = |spec| fault(&spec).unwrap().key;
        assert_eq!(key(RedSpec { weight: 0.0, ..table_4() }), "weight");
        assert_eq!(key(RedSpec { max_p: f64::NAN, ..table_4() }), "max_p");
        assert_eq!(key(RedSpec { mean_packet: 0, ..table_4() }), "mean_packet");
    }
}
