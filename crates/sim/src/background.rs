//! Background traffic, counted but not observed: arrivals of finite transfers, and unresponsive sources.
//!
//! *Idea.* Transfers begin at random times, last as long as their TCP needs, and are forgotten. Sources send at their own
//! rate and ignore loss.
//!
//! *Unsaid in the sources that use such traffic.* The number of concurrent transfers: arrivals beyond `most` are refused
//! and counted. A packet still in flight when its transfer ends disappears when it arrives.

use crate::error::{Fault, Impossible};
use crate::results::BackgroundResult;
use crate::rng::Stream;
use crate::scenario::{BackgroundKind, BackgroundSpec, Scenario, Size, LARGEST_TRANSFER};
use crate::transit::{Pace, Transmitter};
use ackclock_tcp::units::Bytes;

/// A packet's destination. For a flow it is the number of a host. Otherwise the bits above a host's number hold the
/// *round* of a reused host, counted from 1, or [`NOBODY`] with the number of a source below.
pub(crate) const ROUND_BITS: u32 = 17;
/// The round of packets for which no TCP waits.
pub(crate) const NOBODY: u32 = u32::MAX >> ROUND_BITS;

/// A pair of hosts that successive transfers use.
pub(crate) struct Slot {
    /// The position of the generator that starts its transfers.
    pub(crate) generator: u32,
    /// From 1 to `NOBODY` − 1, then 1 again. A packet would have to outlive 32,766 transfers to be mistaken for another
    /// transfer's.
    pub(crate) round: u32,
    /// When the current transfer began.
    pub(crate) began: u64,
}

impl Slot {
    pub(crate) fn next_round(&mut self) {
        self.round = self.round % (NOBODY - 1) + 1;
    }
}

/// A running generator of background traffic.
pub(crate) struct Generator {
    pub(crate) spec: BackgroundSpec,
    /// The first link of its packets' path.
    pub(crate) first_hop: u32,
    /// Its unused slots.
    pub(crate) free: Vec<u32>,
    pub(crate) result: BackgroundResult,
    /// For a source: decides when the next packet is sent.
    clock: Transmitter,
    pace: Pace,
    on_until: u64,
    gaps: Stream,
    sizes: Stream,
}

impl Generator {
    /// `name` seeds its random streams; `slots` are its own slots.
    pub(crate) fn new(
        spec: &BackgroundSpec,
        first_hop: u32,
        slots: std::ops::Range<u32>,
        seed: u64,
        name: &str,
    ) -> Self {
        let stream = |part| Stream::new(seed, &format!("{name}/{part}"));
        let rate = match &spec.kind {
            BackgroundKind::Source(s) => Some(s.rate.0),
            BackgroundKind::Transfers(_) => None,
        };
        Generator {
            spec: spec.clone(),
            first_hop,
            // The first one is used first.
            free: slots.rev().collect(),
            result: BackgroundResult::default(),
            clock: Transmitter::default(),
            pace: Pace::new(rate, 0),
            on_until: u64::MAX,
            gaps: stream("gap"),
            sizes: stream("size"),
        }
    }

    /// When it first acts.
    pub(crate) fn first(&mut self) -> Option<u64> {
        let start = self.spec.start.0;
        let at = match &self.spec.kind {
            BackgroundKind::Transfers(t) => start.saturating_add(self.gaps.gap(t.gap).0),
            BackgroundKind::Source(s) => {
                if let Some((on, _)) = s.on_off {
                    self.on_until = start.saturating_add(self.gaps.gap(on).0);
                }
                start
            }
        };
        self.before_stop(at)
    }

    /// When it acts next, after acting at `now`.
    pub(crate) fn next(&mut self, now: u64) -> Option<u64> {
        let at = match &self.spec.kind {
            BackgroundKind::Transfers(t) => now.saturating_add(self.gaps.gap(t.gap).0),
            BackgroundKind::Source(s) => {
                let mut at = self.clock.send(now, s.packet, &self.pace);
                if let (true, Some((on, off))) = (at >= self.on_until, s.on_off) {
                    at = self.on_until.saturating_add(self.gaps.gap(off).0).max(now);
                    self.on_until = at.saturating_add(self.gaps.gap(on).0);
                    self.clock = Transmitter::default();
                }
                at
            }
        };
        self.before_stop(at)
    }

    fn before_stop(&self, at: u64) -> Option<u64> {
        self.spec.stop.is_none_or(|s| at < s.0).then_some(at)
    }

    /// The size of the next transfer.
    pub(crate) fn size(&mut self, size: Size) -> Bytes {
        let bytes = match size {
            Size::Constant(n) => n as f64,
            Size::Exponential(mean) => -libm::log(1.0 - self.sizes.unit()) * mean as f64,
            // The inverse of the distribution function; its smallest value is mean (shape − 1) / shape.
            Size::Pareto { mean, shape } => {
                let least = mean as f64 * (shape - 1.0) / shape;
                least * libm::pow(1.0 - self.sizes.unit(), -1.0 / shape)
            }
        };
        (bytes as Bytes).clamp(1, LARGEST_TRANSFER)
    }
}

/// The names that seed the random streams of background traffic: its nodes, and its number among the sources between them.
pub(crate) fn names(s: &Scenario) -> Vec<String> {
    let name = |(i, b): (usize, &BackgroundSpec)| {
        let before = s.background[..i].iter().filter(|o| (o.from, o.to) == (b.from, b.to)).count();
        format!("{}>{}/background.{before}", s.nodes[b.from as usize], s.nodes[b.to as usize])
    };
    s.background.iter().enumerate().map(name).collect()
}

/// Whether all values are in range.
pub(crate) fn check(spec: &BackgroundSpec, what: &str) -> Result<(), Impossible> {
    spec.fault().map_or(Ok(()), |Fault { key, found, allowed }| {
        Err(Impossible::Value { what: format!("{what}: {key}"), found, allowed })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Gap;
    use crate::scenario::{SourceSpec, TransfersSpec};
    use crate::topology::dumbbell::flow;
    use ackclock_tcp::time::Nanos;
    use ackclock_tcp::units::Rate;

    fn generator(kind: BackgroundKind) -> Generator {
        let spec = BackgroundSpec { from: 0, to: 1, start: Nanos(0), stop: None, kind };
        assert_eq!(spec.fault(), None);
        Generator::new(&spec, 0, 0..0, 1, "test")
    }

    fn transfers(gap: Gap, size: Size) -> BackgroundKind {
        BackgroundKind::Transfers(TransfersSpec { gap, size, most: 1, flow: flow() })
    }

    /// The times at which it acts, up to `end`.
    fn times(mut g: Generator, end: u64) -> Vec<u64> {
        let first = g.first();
        std::iter::successors(first, |now| g.next(*now)).take_while(|t| *t < end).collect()
    }

    const S: u64 = 1_000_000_000;

    #[test]
    fn poisson_arrivals_come_at_their_rate_with_a_variance_equal_to_the_mean() {
        let all = times(generator(transfers(Gap::Exponential(Nanos(S / 10)), Size::Constant(1))), 10_000 * S);
        assert!((all.len() as f64 / 100_000.0 - 1.0).abs() < 0.01, "{}", all.len());
        let mut in_second = vec![0.0f64; 10_000];
        all.iter().for_each(|t| in_second[(t / S) as usize] += 1.0);
        let mean = in_second.iter().sum::<f64>() / 10_000.0;
        let variance = in_second.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / 10_000.0;
        assert!((variance / mean - 1.0).abs() < 0.05, "{variance} {mean}");
    }

    #[test]
    fn sizes_have_their_mean_and_pareto_its_tail() {
        let draw = |size| {
            let mut g = generator(transfers(Gap::Constant(Nanos(1)), size));
            (0..400_000).map(|_| g.size(size)).collect::<Vec<Bytes>>()
        };
        let mean = |all: &[Bytes]| all.iter().sum::<u64>() as f64 / all.len() as f64;
        assert!(draw(Size::Constant(7)).iter().all(|n| *n == 7));
        assert!((mean(&draw(Size::Exponential(100_000))) / 1e5 - 1.0).abs() < 0.01);
        let pareto = draw(Size::Pareto { mean: 100_000, shape: 2.5 });
        assert!((mean(&pareto) / 1e5 - 1.0).abs() < 0.03, "{}", mean(&pareto));
        // The smallest is 60 kB; a share of 2^-2.5 exceeds twice that.
        let above = pareto.iter().filter(|n| **n > 120_000).count() as f64 / 400_000.0;
        assert!(pareto.iter().all(|n| *n >= 60_000) && (above - 0.17678).abs() < 0.003, "{above}");
    }

    #[test]
    fn a_source_sends_exactly_at_its_rate_and_only_while_it_is_on() {
        let source = |on_off| BackgroundKind::Source(SourceSpec { rate: Rate(3_000_000), packet: 1000, on_off });
        // 375 packets a second, of 2 666 666.67 ns each.
        let all = times(generator(source(None)), 1000 * S);
        assert_eq!((all.len(), all[3]), (375_000, 8_000_000));
        let constant = (Gap::Constant(Nanos(S)), Gap::Constant(Nanos(3 * S)));
        let all = times(generator(source(Some(constant))), 1000 * S);
        assert_eq!(all.len(), 250 * 375);
        assert!(all.iter().all(|t| t % (4 * S) < S));
        let random = (Gap::Exponential(Nanos(S / 10)), Gap::Exponential(Nanos(3 * S / 10)));
        let share = times(generator(source(Some(random))), 2000 * S).len() as f64 / 750_000.0;
        // One in four, and a packet at the beginning of each on-time, which adds half a packet on average.
        assert!((share - 0.2533).abs() < 0.012, "{share}");
    }

    #[test]
    fn nothing_comes_before_the_start_or_from_the_stop_on() {
        let mut g = generator(transfers(Gap::Constant(Nanos(S)), Size::Constant(1)));
        (g.spec.start, g.spec.stop) = (Nanos(5 * S), Some(Nanos(9 * S)));
        assert_eq!(times(g, 100 * S), [6 * S, 7 * S, 8 * S]);
    }

    #[test]
    fn rounds_never_reach_that_of_nobody() {
        let mut slot = Slot { generator: 0, round: 1, began: 0 };
        let seen: Vec<u32> = (0..NOBODY)
            .map(|_| {
                slot.next_round();
                slot.round
            })
            .collect();
        assert!(seen.iter().all(|r| (1..NOBODY).contains(r)) && seen.windows(2).all(|w| w[0] != w[1]));
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let fault = |kind| BackgroundSpec { from: 0, to: 1, start: Nanos(0), stop: None, kind }.fault().unwrap().key;
        let gap = Gap::Constant(Nanos(S));
        assert_eq!(fault(transfers(Gap::Constant(Nanos(0)), Size::Constant(1))), "gap");
        assert_eq!(fault(transfers(gap, Size::Constant(0))), "size");
        assert_eq!(fault(transfers(gap, Size::Pareto { mean: 9, shape: 1.0 })), "shape");
        let source = |packet, off| SourceSpec { rate: Rate(1), packet, on_off: Some((gap, off)) };
        assert_eq!(fault(BackgroundKind::Source(source(0, gap))), "packet");
        assert_eq!(fault(BackgroundKind::Source(source(9, Gap::Constant(Nanos(0))))), "off");
    }
}
