//! Token bucket: a long-term rate, and a burst that may exceed it.
//!
//! Source: RFC 2697 §3 (one rate, one burst); for waiting packets tc-tbf(8).
//!
//! Idea: tokens, one for each byte, fall at a constant rate into a bucket that holds `burst`; a packet takes one token for each
//! of its bytes. Over any time t no more than `burst` + `rate` · t passes. The level is kept in fractions of a token that make
//! it exact at every nanosecond.
//!
//! | source | here |
//! | --- | --- |
//! | CIR, CBS; rate, burst | `rate`, `burst` |
//! | a packet without tokens is red (RFC 2697) | `excess = "drop"`: policing |
//! | a packet without tokens waits for them (tc-tbf) | `excess = "wait"`: shaping, in order |
//! | limit (tc-tbf) | `limit`: a packet that finds this many waiting is dropped |
//!
//! Departures: a packet larger than the bucket never conforms and is dropped, even where others would wait, as by tc-tbf.
//!
//! Unsaid in the source: the bucket is full at first.

use super::direction::DirectionSpec;
use super::packet::{Fate, Only, Place, Seen};
use super::properties::{Acts, Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, GateKind, Site};
use crate::error::Fault;
use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{Bytes, Packets, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A token bucket limits packets to a rate with bursts; packets that exceed both wait or are dropped (RFC 2697, tc-tbf(8)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Token bucket", extend("examples" = [{ "rate": "1 Mbps", "burst": "15 kB" }]))]
pub struct TokenBucketSpec {
    /// Rate at which tokens arrive: the long-term rate.
    pub rate: Rate,
    /// Size of the bucket: the largest burst, in bytes on the wire, at most 1 GB. Larger packets are dropped.
    #[serde(with = "ackclock_tcp::units::bytes")]
    #[schemars(schema_with = "ackclock_tcp::units::bytes_schema")]
    pub burst: Bytes,
    /// Handling of a packet that finds too few tokens.
    #[serde(default)]
    pub excess: Excess,
    /// Largest number of waiting packets. Further packets are dropped.
    #[serde(default = "limit")]
    pub limit: Packets,
    /// Where on the link.
    #[serde(default)]
    pub at: Place,
    /// The packets that the element acts on. Default: all packets. The others overtake waiting packets.
    #[serde(default, skip_serializing_if = "Only::is_all")]
    pub only: Only,
}

fn limit() -> Packets {
    Packets(1000)
}

/// Handling of packets that find too few tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Excess {
    /// Packets wait for tokens, in order (shaping).
    #[default]
    Wait,
    /// Packets are dropped (policing).
    Drop,
}

/// The largest bucket, bytes.
const LARGEST: u64 = 1_000_000_000;

impl Element for TokenBucketSpec {
    fn properties(&self) -> Properties {
        let (exit, waits) = (self.at == Place::Exit, self.excess == Excess::Wait);
        Properties {
            acts: Acts::of(exit, waits),
            bunches: exit && waits,
            rate: RateUse::None,
            beside_split: !exit,
            only_one: None,
            reorders: waits && self.only != Only::All,
            loses: true,
            duplicates: false,
            only: self.only,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        (self.rate == Rate(0))
            .then(|| Fault::of("rate", "0 bps", "at least 1 bps"))
            .or_else(|| Fault::bytes("burst", self.burst, 1..=LARGEST))
            .or_else(|| (self.limit == Packets(0)).then(|| Fault::of("limit", self.limit, "at least 1 packet")))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        site.gate(self.at, self.only, GateKind::TokenBucket(TokenBucket::new(self)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let spec = |excess, at, only| {
            let (rate, burst, limit) = (Rate(2_000_000), 9_000, Packets(20));
            ElementSpec::TokenBucket(TokenBucketSpec { rate, burst, excess, limit, at, only })
        };
        vec![
            spec(Excess::Wait, Place::Entry, Only::All),
            spec(Excess::Wait, Place::Exit, Only::Data),
            spec(Excess::Drop, Place::Entry, Only::All),
            spec(Excess::Drop, Place::Exit, Only::Acks),
        ]
    }
}

/// Tokens are counted in parts of 1 / 8,000,000,000: at one bit per second, a nanosecond adds one part.
const PARTS: u128 = 8_000_000_000;

pub(crate) struct TokenBucket {
    rate: u128,
    full: u128,
    excess: Excess,
    limit: usize,
    /// The bucket's level at `at`.
    level: u128,
    at: u64,
    /// When the waiting packets pass, ascending; may include some that have passed.
    waiting: VecDeque<u64>,
}

impl TokenBucket {
    pub(crate) fn new(spec: &TokenBucketSpec) -> Self {
        let TokenBucketSpec { rate, burst, excess, limit, at: _, only: _ } = *spec;
        let full = u128::from(burst) * PARTS;
        let (rate, limit) = (u128::from(rate.0), limit.0 as usize);
        TokenBucket { rate, full, excess, limit, level: full, at: 0, waiting: VecDeque::new() }
    }

    pub(crate) fn judge(&mut self, seen: &Seen) -> Fate {
        let needed = u128::from(seen.wire) * PARTS;
        // Packets that pass now may still be listed before this one.
        while self.waiting.front().is_some_and(|at| *at < seen.now) {
            self.waiting.pop_front();
        }
        if needed > self.full || self.waiting.len() >= self.limit {
            return Fate::Drop(DropWhy::Queue);
        }
        let begin = seen.now.max(self.at);
        let level = self.full.min(self.level + self.rate * u128::from(begin - self.at));
        let wait = needed.saturating_sub(level).div_ceil(self.rate);
        match self.excess {
            Excess::Drop if wait > 0 => return Fate::Drop(DropWhy::Queue),
            Excess::Drop | Excess::Wait => {}
        }
        self.at = begin.saturating_add(u64::try_from(wait).unwrap_or(u64::MAX));
        self.level = level + self.rate * wait - needed;
        if self.at == seen.now && self.waiting.is_empty() {
            return Fate::Pass;
        }
        self.waiting.push_back(self.at);
        Fate::Delay(Nanos(self.at - seen.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    const MS: u64 = 1_000_000;

    fn spec(rate: u64, burst: Bytes, excess: Excess) -> TokenBucketSpec {
        let (limit, at, only) = (Packets(1_000_000), Place::Entry, Only::All);
        TokenBucketSpec { rate: Rate(rate), burst, excess, limit, at, only }
    }

    /// When packets (arrival, bytes) pass; `None`: dropped.
    fn goes_on(spec: &TokenBucketSpec, packets: &[(u64, u32)]) -> Vec<Option<u64>> {
        let mut b = TokenBucket::new(spec);
        let judge = |(now, wire): &(u64, u32)| match b.judge(&Seen { now: *now, wire: *wire, ..Seen::DATA }) {
            Fate::Pass => Some(*now),
            Fate::Delay(by) => Some(now + by.0),
            Fate::Drop(DropWhy::Queue) => None,
            other => panic!("{other:?}"),
        };
        packets.iter().map(judge).collect()
    }

    /// Arrivals in bursts, of sizes from 40 to 1500 bytes.
    fn arrivals(n: usize) -> Vec<(u64, u32)> {
        let mut rng = Stream::new(5, "arrivals");
        let mut now = 0;
        let mut one = |_| {
            now += if rng.below(10) == 0 { rng.below(40 * MS) } else { rng.below(700_000) };
            (now, 40 + rng.below(1461) as u32)
        };
        (0..n).map(&mut one).collect()
    }

    /// Whether `bytes` from `from` to `to` keep to the bound, both ends included.
    fn within(spec: &TokenBucketSpec, bytes: u64, from: u64, to: u64) -> bool {
        let bits = u128::from(spec.burst) * 8 * 1_000_000_000 + u128::from(spec.rate.0) * u128::from(to - from);
        u128::from(bytes) * 8 * 1_000_000_000 <= bits
    }

    /// Whether this packet, passing at `at` after the packets in `before`, would exceed the bound over some time.
    fn exceeds(spec: &TokenBucketSpec, before: &[(u64, u32)], at: u64, wire: u32) -> bool {
        let mut bytes = u64::from(wire);
        !within(spec, bytes, at, at)
            || before.iter().rev().any(|(t, w)| {
                bytes += u64::from(*w);
                !within(spec, bytes, *t, at)
            })
    }

    #[test]
    fn over_any_time_no_more_than_the_burst_and_the_rate_goes_on_and_no_packet_waits_longer_than_that_takes() {
        // A rate without convenient divisors.
        let spec = spec(9_999_991, 3_100, Excess::Wait);
        let packets = arrivals(2_000);
        let (mut gone, mut waited) = (Vec::new(), 0);
        for (at, (arrival, wire)) in goes_on(&spec, &packets).into_iter().zip(&packets) {
            let at = at.expect("none is dropped");
            assert!(!exceeds(&spec, &gone, at, *wire), "too early: {at}");
            let before = gone.last().map_or(0, |(t, _)| *t);
            assert!(at >= before, "in order");
            if at > *arrival && at > before {
                waited += 1;
                assert!(exceeds(&spec, &gone, at - 1, *wire), "too late: {at}");
            }
            gone.push((at, *wire));
        }
        assert!((500..1_900).contains(&waited), "{waited}");
    }

    #[test]
    fn just_the_packets_that_exceed_the_bound_are_dropped() {
        let spec = spec(9_999_991, 3_100, Excess::Drop);
        let packets = arrivals(2_000);
        let (mut gone, mut dropped) = (Vec::new(), 0);
        for (at, (arrival, wire)) in goes_on(&spec, &packets).into_iter().zip(&packets) {
            assert_eq!(at.is_none(), exceeds(&spec, &gone, *arrival, *wire), "{arrival}");
            match at {
                Some(at) => gone.push((at, *wire)),
                None => dropped += 1,
            }
        }
        assert!((100..1_000).contains(&dropped), "{dropped}");
    }

    #[test]
    fn a_full_bucket_lets_a_burst_go_and_then_one_packet_for_each_of_its_times() {
        // 1000 bytes take 8 ms at 1 Mb/s.
        let packets = [(0, 1000); 6];
        let ms = |excess| {
            goes_on(&spec(1_000_000, 3000, excess), &packets).iter().map(|t| t.map(|t| t / MS)).collect::<Vec<_>>()
        };
        assert_eq!(ms(Excess::Wait), [0, 0, 0, 8, 16, 24].map(Some));
        assert_eq!(ms(Excess::Drop), [Some(0), Some(0), Some(0), None, None, None]);
    }

    #[test]
    fn nothing_is_lost_to_rounding_however_long_it_takes() {
        // 7 b/s and packets of 3 bytes: 24/7 s each; only every seventh ends on a whole nanosecond.
        let packets = vec![(0, 3); 7_001];
        let gone = goes_on(&spec(7, 3, Excess::Wait), &packets);
        assert_eq!(gone[7_000], Some(24_000 * 1_000_000_000));
        assert_eq!(gone[1], Some((24_000_000_000u64).div_ceil(7)));
    }

    #[test]
    fn what_finds_the_limit_waiting_is_dropped_and_what_no_bucket_holds_too() {
        let few = TokenBucketSpec { limit: Packets(2), ..spec(1_000_000, 1000, Excess::Wait) };
        let packets = [(0, 1000), (0, 1000), (0, 1000), (0, 1000), (8 * MS + 1, 1000), (9 * MS, 1001)];
        let gone = goes_on(&few, &packets);
        assert_eq!(gone, [Some(0), Some(8 * MS), Some(16 * MS), None, Some(24 * MS), None]);
    }
}
