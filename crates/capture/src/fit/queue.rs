//! The number of packets that may wait at the bottleneck.
//!
//! Idea: a full queue drops arrivals when waits are longest. If more losses occur there than chance would allow, the queue was
//! full, and the waits at those losses show its limit.

use super::estimate::{around_median, quantile, sorted, Estimate, Mark};
use super::log::Fate;
use super::points::Points;

/// Above this part of the limit, a loss may be due to the full queue.
const NEARLY: f64 = 0.8;
/// This many losses within a round trip indicate an overflow, if waits were longest then.
const OVERFLOW: usize = 5;
/// The probability below which losses near the limit are not due to chance.
const CHANCE: f64 = 0.01;
/// Without an upper bound on the limit, its interval ends at this multiple of the longest queue.
const BEYOND: f64 = 4.0;

/// The excess round-trip time above which the queue was nearly full, seconds; `None` if it never was.
pub(crate) struct Full(pub(crate) Option<f64>);

/// In packets; `transmission` is the transmission time of one packet, seconds.
pub(crate) fn fit(points: &Points, transmission: f64, spread: f64) -> (Estimate, Full) {
    let every: Vec<usize> = (0..points.all.len()).collect();
    let level = |i: usize| points.local_excess(i, spread);
    let levels = sorted(every.iter().filter(|i| points.all[**i].is_clean()).map(|i| level(*i)));
    let longest = quantile(&levels, 0.998);
    let events = events(points, &level);
    let is_near = |e: &&(f64, usize)| e.0 >= NEARLY * longest;
    let near = sorted(events.iter().filter(is_near).map(|e| e.0));
    let overflows = events.iter().filter(is_near).any(|e| e.1 >= OVERFLOW);
    let below = levels.partition_point(|l| *l < NEARLY * longest);
    let share = 1.0 - below as f64 / levels.len().max(1) as f64;
    let waited = longest / transmission;
    if (near.len() >= 3 || overflows) && waited >= 2.0 && tail(near.len(), events.len(), share) < CHANCE {
        // Half a packet more: when the last packet with room arrived, another was in transmission.
        let limit = quantile(&near, 0.5) / transmission + 0.5;
        let (low, high) = around_median(&near);
        let how = format!("waits at {} times of loss at a full queue", near.len());
        let range = (low / transmission, high / transmission + 1.0);
        let full = NEARLY * quantile(&near, 0.5);
        return (Estimate::measured(limit.round().max(1.0), range, how), Full(Some(full)));
    }
    let least = waited.floor().max(1.0);
    let pipe = points.base() as f64 / 1e9 / transmission;
    let high = (least * BEYOND).max(2.0 * pipe).ceil();
    let how = "losses do not cluster where waits were longest: the queue never overflowed, or too rarely to tell";
    let mark = if waited < 3.0 { Mark::Unknown } else { Mark::LowerBound };
    let full = overflows.then_some(NEARLY * longest);
    (Estimate { mark, ..Estimate::at_least(least, high, how) }, Full(full))
}

/// For each time of loss, the level then and the number of losses: losses within a round trip count as one time.
fn events(points: &Points, level: &impl Fn(usize) -> f64) -> Vec<(f64, usize)> {
    let mut found: Vec<(i64, Vec<f64>)> = Vec::new();
    for (i, p) in points.all.iter().enumerate().filter(|(_, p)| p.fate == Fate::Lost) {
        match found.last_mut() {
            Some((since, levels)) if p.at - *since < points.base() => levels.push(level(i)),
            _ => found.push((p.at, vec![level(i)])),
        }
    }
    found.into_iter().map(|(_, levels)| (quantile(&sorted(levels.iter().copied()), 0.5), levels.len())).collect()
}

/// The probability of at least `n` successes in `of` trials, each with probability `p`.
fn tail(n: usize, of: usize, p: f64) -> f64 {
    if p <= 0.0 {
        return if n == 0 { 1.0 } else { 0.0 };
    }
    if p >= 1.0 {
        return 1.0;
    }
    // The logarithm of one term, then the next by the ratio of two.
    let (mut log, mut sum) = (of as f64 * libm::log(1.0 - p), 0.0);
    for k in 0..=of {
        if k >= n {
            sum += libm::exp(log);
        }
        log += libm::log((of - k) as f64 / (k + 1) as f64 * p / (1.0 - p));
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_of_the_binomial_distribution_is_what_tables_say() {
        assert!((tail(5, 5, 0.3) - 0.00243).abs() < 1e-9);
        assert!((tail(8, 10, 0.5) - 56.0 / 1024.0).abs() < 1e-9);
        assert!((tail(0, 10, 0.5) - 1.0).abs() < 1e-9);
        assert!(tail(900, 10_000, 0.1) > 0.999 && tail(1_200, 10_000, 0.1) < 1e-9);
    }
}
