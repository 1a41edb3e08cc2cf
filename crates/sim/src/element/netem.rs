//! Netem: Linux's network emulator (sch_netem): delay with jitter, reordering, a rate, and a queue sorted by sending time.
//!
//! Source: tc-netem(8) of iproute2 6.1, and the behaviour of Linux 6.x's queueing discipline `netem`.
//!
//! Idea: every packet gets a sending time, and the queue is sorted by it; packets that draw a shorter delay overtake. One of
//! `gap` packets may skip the delay and be sent immediately, before all waiting packets.
//!
//! | source | here |
//! | --- | --- |
//! | delay TIME JITTER CORRELATION, distribution | `delay`, `jitter`, `jitter_correlation`, `distribution` |
//! | reorder PERCENT CORRELATION gap DISTANCE | `reorder`, `reorder_correlation`, `gap` |
//! | rate RATE | `rate`: a packet follows the last one in the queue by its transmission time; jitter counts from there |
//! | limit PACKETS | `limit`: a packet that finds this many in the queue is dropped |
//!
//! Departures: the normal distribution is 4096 of its quantiles, computed here, where iproute2 reads a table from a file; the
//! random numbers are ours. Loss, duplication, corruption, overheads and slots are left out: other elements do these.
//!
//! As in Linux: correlated numbers are no longer uniform, and the delay is a remainder of them, so that most of their
//! correlation disappears. Without `distribution` the jitter is uniform, although the manual says otherwise. See
//! docs/decisions/0029.

use super::direction::DirectionSpec;
use super::packet::{Fate, Only, Place};
use super::properties::{Acts, Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, GateKind, Site};
use crate::error::Fault;
use crate::rng::Stream;
use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{Packets, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Linux's network emulator, before the queue (tc-netem(8)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(title = "Network emulator (netem)", extend("examples" = [{ "delay": "10 ms", "jitter": "2 ms" }]))]
pub struct NetemSpec {
    /// Delay of each packet.
    pub delay: Nanos,
    /// The variation of the delay: half the width of a uniform distribution, the standard deviation of a normal one. At
    /// most 2147 ms, as in Linux.
    pub jitter: Nanos,
    /// Correlation of a delay's random number with the previous one, 0 to 1.
    pub jitter_correlation: f64,
    /// The distribution of the delay.
    pub distribution: Distribution,
    /// Probability with which a packet skips the delay.
    pub reorder: f64,
    /// Correlation of the random number for skipping with the previous one, 0 to 1.
    pub reorder_correlation: f64,
    /// The smallest number of packets between two that skip the delay. 0: none skips it.
    pub gap: u32,
    /// Packets follow each other at this rate; `None`: at once.
    pub rate: Option<Rate>,
    /// The size of the emulator's queue, packets. A packet that finds it full is dropped.
    pub limit: Packets,
}

impl Default for NetemSpec {
    fn default() -> Self {
        NetemSpec {
            delay: Nanos::ZERO,
            jitter: Nanos::ZERO,
            jitter_correlation: 0.0,
            distribution: Distribution::Uniform,
            reorder: 0.0,
            reorder_correlation: 0.0,
            gap: 0,
            rate: None,
            limit: limit(),
        }
    }
}

fn limit() -> Packets {
    Packets(1000)
}

/// Distribution of netem's delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Uniform, at most `jitter` below or above `delay`.
    #[default]
    Uniform,
    /// Normal, truncated near four standard deviations.
    Normal,
}

/// As it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("dependentRequired" = { "reorder": ["delay"], "gap": ["delay"] }))]
struct Written {
    /// Delay of each packet.
    #[serde(default)]
    delay: Nanos,
    /// Variation of the delay: half the width of the range, or the standard deviation. At most 2147483647 ns.
    #[serde(default)]
    jitter: Nanos,
    /// Correlation of each random number with the one before it.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    jitter_correlation: f64,
    /// Distribution of the delay.
    #[serde(default)]
    distribution: Distribution,
    /// Probability that a packet skips the delay. Default: 0, or 1 if `gap` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    reorder: Option<f64>,
    /// At most one in this many packets skips the delay. Default: 1 if `reorder` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    gap: Option<u32>,
    /// Rate at which packets follow each other. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "ackclock_tcp::units::rate_or_unlimited")]
    #[schemars(schema_with = "ackclock_tcp::units::rate_or_unlimited::schema")]
    rate: Option<Rate>,
    /// Correlation of each random number for skipping with the one before it.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    reorder_correlation: f64,
    /// Capacity of the emulator's queue.
    #[serde(default = "limit")]
    limit: Packets,
}

impl TryFrom<Written> for NetemSpec {
    type Error = Fault;

    fn try_from(w: Written) -> Result<Self, Fault> {
        let Written { delay, jitter, jitter_correlation, distribution, reorder, gap, rate, reorder_correlation, limit } =
            w;
        if delay == Nanos::ZERO && (reorder.is_some() || gap.is_some()) {
            return Err(without_delay(if reorder.is_some() { "reorder" } else { "gap" }));
        }
        if gap == Some(0) {
            return Err(Fault::of("gap", 0, "a whole number from 1 to 1000000"));
        }
        // `reorder` alone: tc sets the gap to 1. `gap` alone: the kernel uses the probability 1.
        let (reorder, gap) = match (reorder, gap) {
            (None, None) => (0.0, 0),
            (Some(reorder), gap) => (reorder, gap.unwrap_or(1)),
            (None, Some(gap)) => (1.0, gap),
        };
        Ok(NetemSpec {
            delay,
            jitter,
            jitter_correlation,
            distribution,
            reorder,
            reorder_correlation,
            gap,
            rate,
            limit,
        })
    }
}

impl From<NetemSpec> for Written {
    fn from(s: NetemSpec) -> Self {
        let NetemSpec {
            delay,
            jitter,
            jitter_correlation,
            distribution,
            reorder,
            reorder_correlation,
            gap,
            rate,
            limit,
        } = s;
        let (reorder, gap) = if gap > 0 { (Some(reorder), Some(gap)) } else { (None, None) };
        Written { delay, jitter, jitter_correlation, distribution, reorder, gap, rate, reorder_correlation, limit }
    }
}

/// The longest jitter in Linux's netem: 2³¹ − 1 ns.
const LONGEST_JITTER: Nanos = Nanos((1 << 31) - 1);

/// tc refuses this too.
fn without_delay(key: &str) -> Fault {
    Fault::of(key, "reordering without a delay", "also the key `delay`, above zero")
}

impl Element for NetemSpec {
    fn properties(&self) -> Properties {
        Properties {
            acts: Acts::HoldsBack,
            bunches: false,
            rate: RateUse::None,
            beside_split: true,
            only_one: None,
            reorders: self.jitter > Nanos::ZERO || self.gap > 0,
            loses: true,
            duplicates: false,
            only: Only::All,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        let reordering = self.gap > 0 && self.delay == Nanos::ZERO;
        Fault::time("delay", self.delay)
            .or_else(|| {
                (self.jitter > LONGEST_JITTER).then(|| Fault::of("jitter", self.jitter, "at most 2147483647 ns"))
            })
            .or_else(|| Fault::probability("jitter_correlation", self.jitter_correlation))
            .or_else(|| Fault::probability("reorder", self.reorder))
            .or_else(|| Fault::probability("reorder_correlation", self.reorder_correlation))
            .or_else(|| reordering.then(|| without_delay("gap")))
            .or_else(|| (self.gap > 0).then(|| Fault::whole("gap", self.gap.into(), 1..=1_000_000)).flatten())
            .or_else(|| (self.rate == Some(Rate(0))).then(|| Fault::of("rate", "0 bps", "at least 1 bps")))
            .or_else(|| (self.limit == Packets(0)).then(|| Fault::of("limit", self.limit, "at least 1 packet")))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        let n = site.nth("netem");
        let rng = ["jitter", "reorder"].map(|part| site.stream(format_args!("netem/{part}.{n}")));
        site.gate(Place::Entry, Only::All, GateKind::Netem(Netem::new(self, rng)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let plain = NetemSpec { delay: Nanos::from_millis(10), ..NetemSpec::default() };
        let jitter = NetemSpec { jitter: Nanos::from_millis(5), jitter_correlation: 0.3, ..plain.clone() };
        vec![
            ElementSpec::Netem(NetemSpec { rate: Some(Rate(4_000_000)), limit: Packets(30), ..plain.clone() }),
            ElementSpec::Netem(NetemSpec { distribution: Distribution::Normal, ..jitter }),
            ElementSpec::Netem(NetemSpec { reorder: 0.2, gap: 5, ..plain }),
        ]
    }
}

/// Entries of the table of quantiles.
const TABLE: usize = 4096;
/// The value of a quantile of 1 in that table.
const SCALE: f64 = 8192.0;

pub(crate) struct Netem {
    delay: i64,
    jitter: i64,
    table: Vec<i16>,
    jitter_rng: Correlated,
    reorder: u32,
    reorder_rng: Correlated,
    gap: u64,
    /// Packets delayed since the last one that skipped the delay.
    counter: u64,
    /// Bits per second.
    rate: Option<u64>,
    limit: usize,
    /// The sending times of the packets in the queue, ascending.
    queue: VecDeque<u64>,
}

impl Netem {
    pub(crate) fn new(spec: &NetemSpec, rng: [Stream; 2]) -> Self {
        let [jitter_rng, reorder_rng] = rng;
        Netem {
            delay: spec.delay.0 as i64,
            jitter: spec.jitter.0 as i64,
            table: if spec.distribution == Distribution::Normal { quantiles() } else { Vec::new() },
            jitter_rng: Correlated::new(spec.jitter_correlation, jitter_rng),
            reorder: share(spec.reorder),
            reorder_rng: Correlated::new(spec.reorder_correlation, reorder_rng),
            gap: u64::from(spec.gap),
            counter: 0,
            rate: spec.rate.map(|r| r.0),
            limit: spec.limit.0 as usize,
            queue: VecDeque::new(),
        }
    }

    /// The fate of a packet of `wire` bytes that arrives at `now`.
    pub(crate) fn judge(&mut self, now: u64, wire: u32) -> Fate {
        while self.queue.front().is_some_and(|at| *at <= now) {
            self.queue.pop_front();
        }
        if self.queue.len() >= self.limit {
            return Fate::Drop(DropWhy::Queue);
        }
        let delayed = self.gap == 0 || self.counter < self.gap - 1 || self.reorder < self.reorder_rng.next();
        if !delayed {
            self.counter = 0;
            return Fate::Pass;
        }
        self.counter += 1;
        let at = self.send_at(now, wire);
        if at <= now {
            return Fate::Pass;
        }
        let i = self.queue.partition_point(|other| *other <= at);
        self.queue.insert(i, at);
        Fate::Delay(Nanos(at - now))
    }

    fn send_at(&mut self, now: u64, wire: u32) -> u64 {
        let (mut from, mut delay) = (now as i64, self.draw());
        if let Some(rate) = self.rate {
            // The packet's wait for the last one counts towards its delay.
            if let Some(last) = self.queue.back() {
                delay = (delay - (*last as i64 - from)).max(0);
                from = *last as i64;
            }
            delay += (u128::from(wire) * 8_000_000_000 / u128::from(rate)) as i64;
        }
        (from + delay).max(0) as u64
    }

    fn draw(&mut self) -> i64 {
        if self.jitter == 0 {
            return self.delay;
        }
        let drawn = self.jitter_rng.next();
        if self.table.is_empty() {
            return i64::from(drawn) % (2 * self.jitter) + self.delay - self.jitter;
        }
        let x = f64::from(self.table[drawn as usize % TABLE]) / SCALE;
        self.delay + libm::rint(x * self.jitter as f64) as i64
    }
}

/// Random numbers, each correlated with the previous one.
struct Correlated {
    rho: u64,
    last: u64,
    rng: Stream,
}

impl Correlated {
    fn new(correlation: f64, mut rng: Stream) -> Self {
        Correlated { rho: u64::from(share(correlation)), last: rng.below(1 << 32), rng }
    }

    fn next(&mut self) -> u32 {
        let value = self.rng.below(1 << 32);
        if self.rho == 0 {
            return value as u32;
        }
        let rho = self.rho + 1;
        self.last =
            ((u128::from(value) * u128::from((1 << 32) - rho) + u128::from(self.last) * u128::from(rho)) >> 32) as u64;
        self.last as u32
    }
}

/// A probability in units of 1 / (2³² − 1).
fn share(p: f64) -> u32 {
    libm::rint(p * f64::from(u32::MAX)) as u32
}

/// Quantiles of the normal distribution, by bisection.
fn quantiles() -> Vec<i16> {
    let half: Vec<i16> = (TABLE / 2..TABLE)
        .map(|i| {
            let above = 1.0 - (i as f64 + 0.5) / TABLE as f64;
            let (mut low, mut high) = (0.0, 4.0);
            for _ in 0..24 {
                let x = 0.5 * (low + high);
                if 0.5 * libm::erfc(x / std::f64::consts::SQRT_2) > above {
                    low = x;
                } else {
                    high = x;
                }
            }
            libm::rint(0.5 * (low + high) * SCALE) as i16
        })
        .collect();
    half.iter().rev().map(|x| -x).chain(half.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn spec(delay: u64, jitter: u64) -> NetemSpec {
        NetemSpec { delay: Nanos(delay * MS), jitter: Nanos(jitter * MS), ..NetemSpec::default() }
    }

    fn netem(spec: &NetemSpec) -> Netem {
        Netem::new(spec, [Stream::new(1, "jitter"), Stream::new(1, "reorder")])
    }

    /// Delays in ns of `n` packets that arrive `apart` from each other.
    fn delays(spec: &NetemSpec, n: u64, apart: u64) -> Vec<f64> {
        let mut q = netem(spec);
        let delay = |fate| match fate {
            Fate::Delay(d) => d.0 as f64,
            Fate::Pass => 0.0,
            other => panic!("{other:?}"),
        };
        (0..n).map(|i| delay(q.judge(i * apart, 1500))).collect()
    }

    fn moments(of: &[f64]) -> (f64, f64) {
        let n = of.len() as f64;
        let mean = of.iter().sum::<f64>() / n;
        (mean, libm::sqrt(of.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n))
    }

    #[test]
    fn jitter_is_uniform_around_the_delay_or_normal_with_that_deviation() {
        let mut s = spec(100, 10);
        let uniform = delays(&s, 40_000, 1000 * MS);
        assert!(uniform.iter().all(|d| (90e6..110e6).contains(d)));
        let (mean, deviation) = moments(&uniform);
        assert!(
            (mean - 100e6).abs() < 0.1e6 && (deviation - 10e6 / libm::sqrt(3.0)).abs() < 0.05e6,
            "{mean} {deviation}"
        );
        s.distribution = Distribution::Normal;
        let (mean, deviation) = moments(&delays(&s, 40_000, 1000 * MS));
        assert!((mean - 100e6).abs() < 0.2e6 && (deviation - 10e6).abs() < 0.1e6, "{mean} {deviation}");
    }

    #[test]
    fn a_gap_of_five_lets_every_fifth_packet_skip_the_delay() {
        let s = NetemSpec { reorder: 1.0, gap: 5, ..spec(10, 0) };
        let at_once: Vec<bool> = delays(&s, 15, MS).iter().map(|d| *d == 0.0).collect();
        let fifth: Vec<bool> = (1..=15).map(|i| i % 5 == 0).collect();
        assert_eq!(at_once, fifth);
    }

    #[test]
    fn reorder_is_the_share_of_packets_that_skip_the_delay() {
        let skip = |s: &NetemSpec| delays(s, 40_000, MS).iter().filter(|d| **d == 0.0).count() as f64 / 40_000.0;
        let s = NetemSpec { reorder: 0.25, gap: 1, ..spec(10, 0) };
        assert!((skip(&s) - 0.25).abs() < 0.01);
        // After one skips, two are delayed for certain, and then each skips with probability one half: one in four.
        assert!((skip(&NetemSpec { reorder: 0.5, gap: 3, ..s.clone() }) - 0.25).abs() < 0.01);
        // Correlated numbers stay near the middle: fewer than a quarter of them are below a quarter.
        assert!(skip(&NetemSpec { reorder_correlation: 0.5, ..s }) < 0.22);
    }

    #[test]
    fn correlated_numbers_have_the_correlation_that_the_source_gives_them() {
        let mut c = Correlated::new(0.5, Stream::new(1, "test"));
        let x: Vec<f64> = (0..50_000).map(|_| f64::from(c.next())).collect();
        let (mean, deviation) = moments(&x);
        let lag: f64 = x.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>() / x.len() as f64;
        assert!((lag / (deviation * deviation) - 0.5).abs() < 0.02);
    }

    #[test]
    fn at_a_rate_packets_follow_each_other_by_their_transmission_times() {
        let s = NetemSpec { rate: Some(Rate(12_000_000)), ..spec(0, 0) };
        assert_eq!(delays(&s, 4, 0), [1e6, 2e6, 3e6, 4e6]);
        // With a delay the first packet waits it out, and those behind it need not wait again.
        let s = NetemSpec { rate: Some(Rate(12_000_000)), ..spec(10, 0) };
        assert_eq!(delays(&s, 3, 0), [11e6, 12e6, 13e6]);
    }

    #[test]
    fn what_finds_as_many_as_the_limit_in_the_queue_is_dropped() {
        let mut q = netem(&NetemSpec { limit: Packets(3), ..spec(10, 0) });
        let fates: Vec<Fate> = (0..5).map(|i| q.judge(i, 1500)).collect();
        assert_eq!(fates[3..], [Fate::Drop(DropWhy::Queue); 2]);
        assert_eq!(q.judge(10 * MS, 1500), Fate::Delay(Nanos(10 * MS)));
    }
}
