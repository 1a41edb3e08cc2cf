//! The time of a live run, and its lateness.
//!
//! Source: `man 2 clock_gettime`.

use ackclock_tcp::time::{Nanos, Time};
use nix::time::{clock_gettime, ClockId};
use std::time::Duration;

/// A source of time that never goes back.
pub trait Now {
    /// The current time.
    fn now(&self) -> Time;
}

/// A monotonic clock. A run begins at one second, so that times before it can be represented.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The machine's clock at time zero, ns.
    zero: u64,
    /// The time of day at time zero, ns since 1970.
    epoch: u64,
}

/// CPU time of the calling thread.
pub fn thread_time() -> Nanos {
    Nanos(read(ClockId::CLOCK_THREAD_CPUTIME_ID))
}

fn read(clock: ClockId) -> u64 {
    // These clocks exist on every Linux, and their times are positive.
    clock_gettime(clock).map_or(0, |t| t.tv_sec() as u64 * 1_000_000_000 + t.tv_nsec() as u64)
}

impl Clock {
    /// When a run begins.
    pub const START: Time = Time(1_000_000_000);

    /// A clock whose current time is [`Clock::START`].
    pub fn start() -> Self {
        let before = |clock| read(clock).saturating_sub(Clock::START.0);
        Clock { zero: before(ClockId::CLOCK_MONOTONIC), epoch: before(ClockId::CLOCK_REALTIME) }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        Time(read(ClockId::CLOCK_MONOTONIC).saturating_sub(self.zero))
    }

    /// The time of day, since 1970.
    pub fn time_of_day(&self, at: Time) -> Duration {
        Duration::from_nanos(self.epoch.saturating_add(at.0))
    }
}

impl Now for Clock {
    fn now(&self) -> Time {
        Clock::now(self)
    }
}

/// The distribution of lateness: how long after their due time events happened. Percentiles are
/// exact to an eighth.
#[derive(Clone, Debug)]
pub struct Lateness {
    /// By the position of the leading bit and the three bits after it.
    counts: Vec<u64>,
    worst: u64,
    total: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Lateness { counts: vec![0; 64 * 8], worst: 0, total: 0 }
    }
}

impl Lateness {
    /// An event was due at `due` and happened at `now`.
    pub fn record(&mut self, due: Time, now: Time) {
        let late = now.0.saturating_sub(due.0);
        self.counts[bucket(late)] += 1;
        self.worst = self.worst.max(late);
        self.total += 1;
    }

    /// Adds the records of another log.
    pub fn add(&mut self, other: &Lateness) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
        self.worst = self.worst.max(other.worst);
        self.total += other.total;
    }

    /// The lateness that a share `ratio` of all events does not exceed; `None` without events.
    pub fn percentile(&self, ratio: f64) -> Option<Nanos> {
        let rank = (libm::ceil(ratio * self.total as f64) as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        let found = self.counts.iter().position(|n| {
            seen += n;
            seen >= rank
        })?;
        Some(Nanos(upper(found).min(self.worst)))
    }

    /// The largest.
    pub fn worst(&self) -> Option<Nanos> {
        (self.total > 0).then_some(Nanos(self.worst))
    }

    /// The number of events.
    pub fn count(&self) -> u64 {
        self.total
    }
}

fn bucket(ns: u64) -> usize {
    let order = 63 - (ns | 8).leading_zeros() as usize;
    // Below 8, each value has its own bucket.
    if ns < 8 {
        ns as usize
    } else {
        (order - 2) * 8 + (ns >> (order - 3) & 7) as usize
    }
}

/// The largest value of a bucket.
fn upper(bucket: usize) -> u64 {
    if bucket < 8 {
        return bucket as u64;
    }
    let (order, eighth) = (bucket / 8 + 2, bucket as u64 % 8);
    let width = 1u64 << (order - 3);
    (1u64 << order).saturating_add(eighth * width).saturating_add(width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_exact_to_an_eighth() {
        let mut late = Lateness::default();
        assert_eq!(late.percentile(0.5), None);
        for ns in 1..=100_000u64 {
            late.record(Time(7), Time(7 + ns));
        }
        for ratio in [0.001, 0.5, 0.9, 0.99, 1.0] {
            let (found, exact) = (late.percentile(ratio).unwrap().0 as f64, ratio * 100_000.0);
            assert!(found >= exact && found <= exact * 1.126, "{ratio}: {found} for {exact}");
        }
        assert_eq!((late.worst(), late.count()), (Some(Nanos(100_000)), 100_000));
    }

    #[test]
    fn every_value_lies_in_a_bucket_that_ends_at_or_after_it() {
        for ns in (0..200).chain((3..64).flat_map(|o| [(1 << o) - 1, 1 << o, (1 << o) + 1])).chain([u64::MAX]) {
            let at = bucket(ns);
            assert!(upper(at) >= ns && (at == 0 || upper(at - 1) < ns), "{ns} in {at}");
        }
    }

    #[test]
    fn what_was_too_early_was_not_late() {
        let mut late = Lateness::default();
        late.record(Time(9), Time(5));
        assert_eq!(late.worst(), Some(Nanos(0)));
    }
}
