//! Split: the packets of a link take several parallel paths, in turns, at random or by flow.
//!
//! Source: Leung & Ma 2005 §IV-B (weighted round robin over two paths of different rate and delay); for flows RFC 2992 §1.
//!
//! Idea: with each packet every path collects credit in proportion to its weight; the path with the most credit takes the
//! packet and pays for it. Shares are exact over any run of packets whose length is the sum of the weights.
//!
//! | source | here |
//! | --- | --- |
//! | "weighted round-robin traffic splitting", per packet | `choice = "turns"` |
//! | proportion of the flow on a path | `weight` over the sum of weights |
//! | hash-threshold (RFC 2992): regions of the key space, one for each path | `choice = "flows"`; a region has its path's share |
//! | R1-R2-R4 and R1-R3-R4 | two paths of one link R1-R4: rate of the slower hop, sum of the delays |
//!
//! `off` switches it by time, as a load balancer that is turned on and off, or a handover between paths.
//!
//! Departures: each path is one hop (docs/decisions/0026).
//!
//! Unsaid in the source: how the turns interleave. Here by credit (weights 1 and 1 alternate; ties go to the earlier path).
//! `choice = "random"` draws the path of each packet instead. A flow's two directions are hashed separately, and each transfer of
//! background traffic is a flow of its own.

use super::direction::{DirectionSpec, LinkForm, QueueSpec};
use super::interruption::{Interruptions, When};
use super::packet::Only;
use super::properties::{Acts, Properties, RateUse};
use super::{Element, ElementSpec, Site};
use crate::error::Fault;
use crate::rng::{Gap, Stream};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Rate;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Replaces this direction by several parallel paths (Leung & Ma 2005 §IV-B). Only elements that act before the queue may be used beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Parallel paths", extend("examples" = [{ "paths": [{ "weight": 1 }, { "weight": 1, "delay": "40 ms" }] }]))]
pub struct SplitSpec {
    /// How a packet's path is chosen.
    #[serde(default)]
    pub choice: SplitChoice,
    /// The paths. At least one needs a weight above 0.
    #[schemars(length(min = 1))]
    pub paths: Vec<SplitPath>,
    /// When all packets take the first path. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<OffSpec>,
}

/// When a split sends all packets along its first path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenOff", into = "WrittenOff")]
#[schemars(inline)]
pub struct OffSpec {
    /// When each such time begins.
    pub when: When,
    /// How long each lasts; above 0.
    pub length: Nanos,
}

/// When all packets take the first path.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, title = "off", extend("oneOf" = [{ "required": ["times"] }, { "required": ["gap"] }]))]
struct WrittenOff {
    /// Start times, as in `["5 s", "20 s"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    times: Option<Vec<Nanos>>,
    /// Time from the end of one to the start of the next, at least 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<Gap>,
    /// How long each lasts.
    length: Nanos,
}

impl TryFrom<WrittenOff> for OffSpec {
    type Error = Fault;

    fn try_from(w: WrittenOff) -> Result<Self, Fault> {
        let WrittenOff { times, gap, length } = w;
        Ok(OffSpec { when: When::read(times, gap)?, length })
    }
}

impl From<OffSpec> for WrittenOff {
    fn from(s: OffSpec) -> Self {
        let OffSpec { when, length } = s;
        let (times, gap) = when.written();
        WrittenOff { times, gap, length }
    }
}

/// How a split chooses a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SplitChoice {
    /// Weighted round robin, packet by packet.
    #[default]
    Turns,
    /// An independent random choice for each packet.
    Random,
    /// A hash of the flow chooses one path for all its packets; the hash differs between seeds.
    Flows,
}

/// One of the paths of a split. Keys that are not given are taken from the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Written", into = "Written")]
pub struct SplitPath {
    /// Its share is this over the sum of all weights. 0 to 1,000,000.
    pub weight: u32,
    /// Rate, delay, queue and elements.
    pub way: DirectionSpec,
}

/// One of the paths of a split. Keys that are not given are taken from the link.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "paths", transform = as_in_the_link)]
struct Written {
    /// Its share of the packets is this weight divided by the sum of all weights.
    #[schemars(range(max = 1_000_000))]
    weight: u32,
    /// Bits or bytes per second, or `"unlimited"`: transmission takes no time.
    #[serde(with = "ackclock_tcp::units::rate_or_unlimited")]
    #[schemars(schema_with = "ackclock_tcp::units::rate_or_unlimited::schema")]
    rate: Option<Rate>,
    /// Propagation delay, at most an hour.
    delay: Nanos,
    /// Capacity of the queue, in packets or in bytes on the wire; or a table with the limit and its convention.
    #[serde(default)]
    queue: QueueSpec,
    /// The elements that act on packets, in order.
    #[serde(default)]
    elements: Vec<ElementSpec>,
    /// How the link is simulated. Both forms give the same results.
    #[serde(default)]
    form: LinkForm,
}

/// The reader of a scenario fills in from the link the keys that a path leaves out.
fn as_in_the_link(path: &mut Schema) {
    path.insert("required".to_owned(), vec!["weight"].into());
    let keys = path.get_mut("properties").and_then(|p| p.as_object_mut());
    for key in keys.into_iter().flat_map(|p| p.values_mut()) {
        key.as_object_mut().map(|k| k.remove("default"));
    }
}

impl From<Written> for SplitPath {
    fn from(w: Written) -> Self {
        let Written { weight, rate, delay, queue, elements, form } = w;
        SplitPath { weight, way: DirectionSpec { rate, delay, queue, elements, form } }
    }
}

impl From<SplitPath> for Written {
    fn from(p: SplitPath) -> Self {
        let SplitPath { weight, way: DirectionSpec { rate, delay, queue, elements, form } } = p;
        Written { weight, rate, delay, queue, elements, form }
    }
}

/// The largest weight of a path.
const HEAVIEST: u64 = 1_000_000;

/// A path of a split, which has a number among the links of the run.
pub(crate) struct Path<'a> {
    /// The directed link that is split.
    pub(crate) link: u32,
    /// The name of the path's random streams.
    pub(crate) name: String,
    pub(crate) way: &'a DirectionSpec,
}

impl Element for SplitSpec {
    fn properties(&self) -> Properties {
        let switched = self.off.is_some();
        let used = || {
            let is = |(i, p): &(usize, &SplitPath)| p.weight > 0 || (switched && *i == 0);
            self.paths.iter().enumerate().filter(is).map(|(_, p)| p)
        };
        let any = |what: fn(&Properties) -> bool| used().any(|p| p.way.elements.iter().any(|e| what(&e.properties())));
        Properties {
            acts: Acts::AtEntry,
            bunches: true,
            rate: RateUse::None,
            beside_split: true,
            only_one: Some("a split"),
            reorders: ((switched || self.choice != SplitChoice::Flows) && used().count() > 1) || any(|p| p.reorders),
            loses: any(|p| p.loses),
            duplicates: any(|p| p.duplicates),
            only: Only::All,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        let paths = || self.paths.iter().enumerate();
        let heavy =
            |(i, p): (usize, &SplitPath)| Fault::whole(format!("paths[{i}].weight"), p.weight.into(), 0..=HEAVIEST);
        let within = |(i, p): (usize, &SplitPath)| {
            p.way.split().map(|_| Fault::of(format!("paths[{i}].elements"), "a split", "paths without a split"))
        };
        let way = |(i, p): (usize, &SplitPath)| p.way.fault().map(|f| f.within(format!("paths[{i}]")));
        let weightless = self.paths.iter().all(|p| p.weight == 0);
        paths()
            .find_map(heavy)
            .or_else(|| weightless.then(|| Fault::of("paths", "no path with a weight above 0", "at least one")))
            .or_else(|| paths().find_map(within))
            .or_else(|| paths().find_map(way))
            .or_else(|| self.off.as_ref().and_then(|o| o.when.fault(o.length)).map(|f| f.within("off".to_owned())))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        let nth = site.nth("split");
        let first = site.first_path + site.paths.len() as u32;
        let mut split = Split::new(self, first, site.stream(format_args!("split.{nth}")));
        let off = |o: &OffSpec| Interruptions::new(&o.when, o.length, site.stream(format_args!("split.{nth}.off")));
        split.off = self.off.as_ref().map(off);
        site.port.split = Some(split);
        let (link, name) = (site.link, site.name);
        let path = |(n, p): (usize, &'a SplitPath)| Path { link, name: format!("{name}/split.{nth}/{n}"), way: &p.way };
        site.paths.extend(self.paths.iter().enumerate().map(path));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        tests::examples()
    }
}

pub(crate) struct Split {
    /// The link number of the first path; the others follow.
    first: u32,
    weights: Vec<i64>,
    credit: Vec<i64>,
    total: i64,
    choice: Choice,
    /// When all packets take the first path.
    off: Option<Interruptions>,
}

/// How it chooses, with the state for it.
enum Choice {
    Turns,
    Random(Stream),
    /// By flow, with the seed of the hash.
    Flows(u64),
}

impl Split {
    pub(crate) fn new(spec: &SplitSpec, first: u32, mut rng: Stream) -> Self {
        let weights: Vec<i64> = spec.paths.iter().map(|p| i64::from(p.weight)).collect();
        let (credit, total) = (vec![0; weights.len()], weights.iter().sum());
        let choice = match spec.choice {
            SplitChoice::Turns => Choice::Turns,
            SplitChoice::Random => Choice::Random(rng),
            SplitChoice::Flows => Choice::Flows(rng.below(u64::MAX)),
        };
        Split { first, weights, credit, total, choice, off: None }
    }

    /// The link that the next packet takes; `to` is the packet's destination, which also identifies its flow.
    pub(crate) fn next(&mut self, to: u32, now: u64) -> u32 {
        if self.off.as_mut().is_some_and(|off| off.holds(now)) {
            return self.first;
        }
        let total = self.total as u64;
        let path = match &mut self.choice {
            Choice::Turns => self.turn(),
            Choice::Random(rng) => {
                let share = rng.below(total);
                self.holding(share)
            }
            Choice::Flows(seed) => {
                let key = xxh3_64_with_seed(&to.to_le_bytes(), *seed);
                self.holding(((u128::from(key) * u128::from(total)) >> 64) as u64)
            }
        };
        self.first + path as u32
    }

    fn turn(&mut self) -> usize {
        let mut best = 0;
        for i in 0..self.weights.len() {
            self.credit[i] += self.weights[i];
            if self.credit[i] > self.credit[best] {
                best = i;
            }
        }
        self.credit[best] -= self.total;
        best
    }

    /// The path to which this share belongs, counted from the first path.
    fn holding(&self, share: u64) -> usize {
        let mut left = share as i64;
        let mut mine = |w: &i64| {
            left -= w;
            left < 0
        };
        self.weights.iter().position(&mut mine).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::direction::QueueLimit;
    use crate::topology::dumbbell::pipe;

    pub(super) fn examples() -> Vec<ElementSpec> {
        let path = |weight, delay, elements| SplitPath {
            weight,
            way: DirectionSpec {
                rate: Some(Rate(4_000_000)),
                delay: Nanos::from_millis(delay),
                queue: QueueSpec { limit: QueueLimit::Packets(10), limit_counts_service: true },
                elements,
                form: LinkForm::Auto,
            },
        };
        let lossy = crate::element::bernoulli::BernoulliSpec::examples();
        let spec = |choice, paths| ElementSpec::Split(SplitSpec { choice, paths, off: None });
        let switched = |when| {
            let off = Some(OffSpec { when, length: Nanos::from_millis(700) });
            let paths = vec![path(0, 5, Vec::new()), path(1, 20, Vec::new())];
            ElementSpec::Split(SplitSpec { choice: SplitChoice::Flows, paths, off })
        };
        vec![
            spec(SplitChoice::Turns, vec![path(1, 5, Vec::new()), path(2, 9, Vec::new())]),
            spec(SplitChoice::Random, vec![path(1, 5, lossy), path(3, 20, Vec::new())]),
            spec(SplitChoice::Turns, vec![path(1, 5, Vec::new()), path(0, 1, Vec::new())]),
            spec(SplitChoice::Flows, vec![path(1, 5, Vec::new()), path(1, 20, Vec::new())]),
            switched(When::Times(vec![Nanos::ZERO, Nanos::from_secs(2)])),
            switched(When::Gap(Gap::Exponential(Nanos::from_secs(1)))),
        ]
    }

    fn choices(weights: &[u32], choice: SplitChoice, n: usize) -> Vec<u32> {
        let path = |w: &u32| SplitPath { weight: *w, way: pipe(None, Nanos::ZERO) };
        let spec = SplitSpec { paths: weights.iter().map(path).collect(), choice, off: None };
        let mut s = Split::new(&spec, 7, Stream::new(1, "test"));
        (0..n).map(|i| s.next(i as u32, 0)).collect()
    }

    #[test]
    fn equal_weights_alternate_and_others_are_spread_evenly() {
        assert_eq!(choices(&[1, 1], SplitChoice::Turns, 4), [7, 8, 7, 8]);
        assert_eq!(choices(&[3, 1], SplitChoice::Turns, 8), [7, 7, 8, 7, 7, 7, 8, 7]);
        assert_eq!(choices(&[0, 5], SplitChoice::Turns, 3), [8, 8, 8]);
    }

    #[test]
    fn shares_are_exact_over_as_many_packets_as_the_sum_of_the_weights() {
        let all = choices(&[7, 2, 4], SplitChoice::Turns, 130);
        for round in all.chunks(13) {
            let of = |link| round.iter().filter(|l| **l == link).count();
            assert_eq!([of(7), of(8), of(9)], [7, 2, 4]);
        }
    }

    #[test]
    fn random_choices_have_the_shares_of_the_weights() {
        let first = choices(&[3, 7], SplitChoice::Random, 100_000).iter().filter(|l| **l == 7).count();
        assert!(first.abs_diff(30_000) < 600, "{first}");
        assert!(choices(&[0, 1], SplitChoice::Random, 1000).iter().all(|l| *l == 8));
    }

    #[test]
    fn while_it_is_off_all_packets_take_the_first_path_and_the_turns_wait() {
        let path = |weight| SplitPath { weight, way: pipe(None, Nanos::ZERO) };
        let off = OffSpec { when: When::Times(vec![Nanos(3), Nanos(9)]), length: Nanos(4) };
        let spec = SplitSpec { paths: [0, 1, 1].map(path).into(), choice: SplitChoice::Turns, off: None };
        let mut s = Split::new(&spec, 7, Stream::new(1, "test"));
        s.off = Some(Interruptions::new(&off.when, off.length, Stream::new(1, "off")));
        let chosen: Vec<u32> = (0..15).map(|now| s.next(0, now)).collect();
        assert_eq!(chosen, [8, 9, 8, 7, 7, 7, 7, 9, 8, 7, 7, 7, 7, 9, 8]);
    }

    #[test]
    fn a_switched_split_may_reorder_even_by_flow_and_names_what_is_out_of_range() {
        let path = |weight| SplitPath { weight, way: pipe(None, Nanos::ZERO) };
        let spec = |length| {
            let off = Some(OffSpec { when: When::Times(vec![Nanos(3), Nanos(9)]), length });
            SplitSpec { paths: [0, 1].map(path).into(), choice: SplitChoice::Flows, off }
        };
        assert!(spec(Nanos(4)).properties().reorders);
        assert!(!SplitSpec { off: None, ..spec(Nanos(4)) }.properties().reorders);
        let fault = |length| spec(length).fault(&pipe(None, Nanos::ZERO)).map(|f| f.key);
        assert_eq!(fault(Nanos(4)), None);
        assert_eq!(fault(Nanos(6)).as_deref(), Some("off.times[1]"));
        assert_eq!(fault(Nanos::ZERO).as_deref(), Some("off.length"));
    }

    #[test]
    fn a_flow_keeps_to_its_path_and_flows_have_the_shares_of_the_weights() {
        let path = |weight| SplitPath { weight, way: pipe(None, Nanos::ZERO) };
        let spec = SplitSpec { paths: [3, 0, 7].map(path).into(), choice: SplitChoice::Flows, off: None };
        let split = |seed| Split::new(&spec, 7, Stream::new(seed, "test"));
        let of = |s: &mut Split| (0..100_000).map(|to| s.next(to, 0)).collect::<Vec<_>>();
        let (mut s, mut other) = (split(1), split(2));
        let chosen = of(&mut s);
        assert_eq!(of(&mut s), chosen, "whatever was sent before");
        // Binomial with 30 %: the deviation is 145.
        let first = chosen.iter().filter(|l| **l == 7).count();
        assert!(first.abs_diff(30_000) < 600 && !chosen.contains(&8), "{first}");
        // Another seed chooses independently: 0.3² + 0.7² of the flows keep their path.
        let stay = chosen.iter().zip(of(&mut other)).filter(|(a, b)| **a == *b).count();
        assert!(stay.abs_diff(58_000) < 700, "{stay}");
    }
}
