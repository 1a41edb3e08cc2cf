//! The cause of reordering: occasional swaps, delays that vary, or two paths.
//!
//! Idea: if packets are late in short spells with order between them, waiting packets change places. Otherwise packets are late
//! all the time, and their lateness shows the cause: on the longer of two paths it is nearly constant, after a varying delay it
//! is arbitrary.

use super::estimate::{around_median, around_share, quantile, sorted, Estimate, Mark};
use super::log::Fate;
use super::points::{seconds, Point, Points};

/// With fewer late packets no process can be inferred.
const FEWEST: usize = 3;
/// With fewer late packets or times, a process is assumed, and its numbers are not measured: intervals need as many values.
const MEASURED: usize = 6;
/// If spells of disorder fill more than this part of the time, they are not spells.
const SPELLS: f64 = 0.5;
/// Two times of disorder that are closer to each other than this, or than a round trip, count as one; nanoseconds.
const ONE: i64 = 200_000_000;
/// If half of the late packets are late by more than this part of the maximum, they took another path.
const HEAP: f64 = 0.75;

/// The cause of reordering.
#[derive(Clone, Debug, PartialEq)]
pub enum Disorder {
    /// Nothing does.
    None,
    /// At random times waiting packets change places.
    Swaps {
        /// The number of swaps at a time.
        count: Estimate,
        /// Average time between them, seconds.
        gap: Estimate,
    },
    /// The delay of each packet varies uniformly.
    Jitter {
        /// From the smallest to the largest, seconds.
        range: Estimate,
    },
    /// Each packet takes one of two paths.
    TwoPaths {
        /// The extra delay of the longer path, seconds.
        apart: Estimate,
        /// The share of packets on it.
        share: Estimate,
    },
}

impl Disorder {
    /// The largest difference between the delays of consecutive packets, seconds; swaps cause it only at times.
    pub(crate) fn spread(&self) -> f64 {
        match self {
            Disorder::None | Disorder::Swaps { .. } => 0.0,
            Disorder::Jitter { range } => range.value,
            Disorder::TwoPaths { apart, .. } => apart.value,
        }
    }
}

/// A stretch of packets that were reordered among themselves and with no others.
struct Block {
    at: i64,
    until: i64,
    /// Packets out of their place.
    displaced: f64,
    /// The lateness of each late packet, seconds.
    late: Vec<f64>,
    /// The length of the queue, seconds.
    waited: f64,
}

/// With `transmission` (the transmission time of a packet, seconds), the number of swaps takes into account how many packets
/// waited.
pub(crate) fn fit(points: &Points, transmission: Option<f64>) -> Disorder {
    let blocks = blocks(points);
    let late: usize = blocks.iter().map(|b| b.late.len()).sum();
    if late < FEWEST {
        return Disorder::None;
    }
    let apart = points.base().max(ONE);
    let mut spells: Vec<(i64, i64, f64, f64)> = Vec::new();
    for b in &blocks {
        match spells.last_mut() {
            Some(s) if b.at - s.1 < apart => {
                s.1 = b.until;
                s.2 += b.displaced;
                s.3 = s.3.max(b.waited);
            }
            _ => spells.push((b.at, b.until, b.displaced, b.waited)),
        }
    }
    let busy: f64 = spells.iter().map(|s| seconds(s.0, s.1) + apart as f64 / 1e9).sum();
    if busy < SPELLS * points.duration() {
        // Another spell during a spell, or directly after it, is not distinguished.
        return swaps(&spells, transmission, points.duration() - busy);
    }
    varying(&blocks, points, transmission.unwrap_or(0.0))
}

/// The segments of the main flow whose first copies arrived.
fn arrived(points: &Points) -> impl Iterator<Item = &Point> {
    let of_use = |p: &&Point| p.is_clean() || p.covered > 0 && p.fate == Fate::Needless;
    points.all.iter().filter(|p| p.flow == points.main).filter(of_use)
}

fn blocks(points: &Points) -> Vec<Block> {
    let main: Vec<_> = arrived(points).collect();
    // The first time at which any data from here on was acknowledged.
    let mut least: Vec<i64> = main.iter().map(|p| p.covered).collect();
    for i in (1..least.len()).rev() {
        least[i - 1] = least[i - 1].min(least[i]);
    }
    let (mut found, mut from, mut top) = (Vec::new(), 0, i64::MIN);
    for i in 0..main.len() {
        top = top.max(main[i].covered);
        if i + 1 < main.len() && top > least[i + 1] {
            continue;
        }
        if i > from {
            let own = &main[from..=i];
            let mut order: Vec<usize> = (0..own.len()).collect();
            order.sort_by_key(|k| own[*k].covered);
            let displaced = order.iter().enumerate().filter(|(place, k)| place != *k).count() as f64;
            let next = |k: usize| least.get(from + k + 1).copied().unwrap_or(i64::MAX);
            let late = (0..own.len()).filter(|k| own[*k].covered > next(*k)).map(|k| seconds(next(k), own[k].covered));
            let waited = own.iter().map(|p| p.excess.max(0.0)).sum::<f64>() / own.len() as f64;
            found.push(Block { at: own[0].at, until: main[i].at, displaced, late: late.collect(), waited });
        }
        (from, top) = (i + 1, i64::MIN);
    }
    found
}

/// If each swap moves two of `n` packets at random, exp(−2k/n) of them keep their place after k swaps.
fn swaps(spells: &[(i64, i64, f64, f64)], transmission: Option<f64>, duration: f64) -> Disorder {
    let number = |s: &(i64, i64, f64, f64)| {
        let n = transmission.map_or(f64::INFINITY, |t| (s.3 / t).max(s.2 + 1.0));
        if n.is_finite() {
            -n / 2.0 * libm::log(1.0 - s.2 / n)
        } else {
            s.2 / 2.0
        }
    };
    let numbers = sorted(spells.iter().map(number));
    let times = spells.len() as f64;
    let spread = 1.96 * times.sqrt();
    let count = known(
        spells.len(),
        quantile(&numbers, 0.5).round().max(1.0),
        around_median(&numbers),
        format!("median of {times} times: packets that arrived out of place"),
    );
    let gap = duration / times;
    let range = (duration / (times + spread), duration / (times - spread).max(1.0));
    let how = format!("order changed at {times} times, with order in between; the interval is Poisson's");
    Disorder::Swaps { count, gap: known(spells.len(), gap, range, how) }
}

/// A number of a process that showed itself some times: measured, if these are enough.
fn known(times: usize, value: f64, range: (f64, f64), how: String) -> Estimate {
    if times >= MEASURED {
        return Estimate::measured(value, range, how);
    }
    let how = format!("{how}; too few to measure it");
    Estimate { mark: Mark::Unknown, ..Estimate::measured(value, range, how) }
}

/// A packet is late by at most the excess of its delay over the next packet's, less the time between the two.
fn varying(blocks: &[Block], points: &Points, transmission: f64) -> Disorder {
    let most = |late: &[f64]| quantile(late, 0.999) + transmission;
    let all: Vec<f64> = blocks.iter().flat_map(|b| b.late.iter().copied()).collect();
    let parts = sorted(all.chunks(all.len().div_ceil(20).max(1)).map(|part| most(&sorted(part.iter().copied()))));
    let late = sorted(all.into_iter());
    let (top, (low, high)) = (most(&late), around_median(&parts));
    let range = (low.min(top), high.max(top));
    let half = quantile(&late, 0.5) + transmission;
    let (n, of) = (late.len() as f64, arrived(points).count() as f64);
    if half < HEAP * top {
        let how =
            format!("{n} packets arrived late: their greatest lateness, plus the time of one packet at the bottleneck");
        return Disorder::Jitter { range: known(late.len(), top, range, how) };
    }
    // A packet on the longer path is late if another packet follows soon enough and takes the shorter path.
    let following = if transmission > 0.0 { (half / transmission).floor().clamp(1.0, 1000.0) } else { 1000.0 };
    let share = |late: f64| (0..50).fold(late, |s, _| (late / (1.0 - libm::pow(s, following)).max(late)).min(0.95));
    let (less, more) = around_share(n.min(of), of);
    let how = format!("{n} packets arrived late, most of them by the same time");
    Disorder::TwoPaths {
        apart: known(late.len(), half, (half.min(range.0), range.1), how.clone()),
        share: known(late.len(), share((n / of).min(0.95)), (share(less), share(more)), how),
    }
}

#[cfg(test)]
mod tests {
    use super::super::points::tests::{once, points};
    use super::*;

    #[test]
    fn pairs_that_change_places_once_a_second_are_swaps_of_one_at_a_time() {
        // A segment each 10 ms; each hundredth is covered after the next one.
        let late = |i: i64| if i % 100 == 50 { 15_000 } else { 0 };
        let all = (0..1000).map(|i| once(i * 10_000, i * 10_000 + 50_000 + late(i))).collect();
        let Disorder::Swaps { count, gap } = fit(&points(all, &[50_000]), None) else { panic!("swaps") };
        assert_eq!(count.value, 1.0);
        assert!((0.7..1.1).contains(&gap.value), "{gap:?}");
        assert_eq!((count.mark, gap.mark), (Mark::Measured, Mark::Measured));
    }

    #[test]
    fn one_spell_of_disorder_shows_neither_how_often_nor_how_much() {
        let late = |i: i64| if (500..503).contains(&i) { 35_000 } else { 0 };
        let all = (0..1000).map(|i| once(i * 10_000, i * 10_000 + 50_000 + late(i))).collect();
        let Disorder::Swaps { count, gap } = fit(&points(all, &[50_000]), None) else { panic!("swaps") };
        assert_eq!((count.mark, gap.mark), (Mark::Unknown, Mark::Unknown));
        assert!(gap.how.contains("at 1 time"), "{}", gap.how);
    }
}
