//! The time of a live run, and its lateness.
//!
//! Source: `man 2 clock_gettime`.

use ackclock_sim::histogram::Histogram;
use ackclock_tcp::time::{Nanos, Time};
use nix::sys::time::TimeSpec;
use nix::time::{clock_gettime, clock_nanosleep, ClockId, ClockNanosleepFlags};
use std::time::Duration;

/// The environment variable that a kernel in virtual time sets (`python/ackclock/kernels`).
const VIRTUAL: &str = "ACKCLOCK_VIRTUAL";

/// A source of time that never goes back.
pub trait Now {
    /// The current time.
    fn now(&self) -> Time;
}

/// A monotonic clock. A run begins at one second, so that times before it can be represented.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The machine's clock at [`Clock::START`], ns. It may be less than a second: a kernel in virtual time has just booted.
    begun: u64,
    /// The time of day at [`Clock::START`], ns since 1970.
    epoch: u64,
}

/// Whether this process runs in a kernel in virtual time.
pub fn is_virtual() -> bool {
    std::env::var_os(VIRTUAL).is_some()
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
    ///
    /// In virtual time it first waits for a whole second. There each reading of the clock takes 256 ns, so the number of earlier
    /// readings, by any program, would move the run against the kernel's ticks.
    pub fn start() -> Self {
        if is_virtual() {
            let next = i64::try_from(read(ClockId::CLOCK_MONOTONIC) / 1_000_000_000 + 1).unwrap_or(i64::MAX);
            // An interrupted sleep costs a repeatable start, and nothing else.
            let (until, flags) = (TimeSpec::new(next, 0), ClockNanosleepFlags::TIMER_ABSTIME);
            let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, flags, &until);
        }
        Clock { begun: read(ClockId::CLOCK_MONOTONIC), epoch: read(ClockId::CLOCK_REALTIME) }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.when(read(ClockId::CLOCK_MONOTONIC))
    }

    /// The time at a reading of the machine's clock, never before [`Clock::START`].
    fn when(&self, machine: u64) -> Time {
        Time(machine.saturating_sub(self.begun).saturating_add(Clock::START.0))
    }

    /// The time of day, since 1970.
    pub fn time_of_day(&self, at: Time) -> Duration {
        Duration::from_nanos(self.epoch.saturating_add(at.0).saturating_sub(Clock::START.0))
    }
}

impl Now for Clock {
    fn now(&self) -> Time {
        Clock::now(self)
    }
}

/// The distribution of lateness: how long after their due time events happened.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    all: Histogram,
    worst: u64,
}

impl Lateness {
    /// An event was due at `due` and happened at `now`.
    pub fn record(&mut self, due: Time, now: Time) {
        let late = now.0.saturating_sub(due.0);
        self.all.record(late);
        self.worst = self.worst.max(late);
    }

    /// Adds the records of another log.
    pub fn add(&mut self, other: &Lateness) {
        self.all.merge(&other.all);
        self.worst = self.worst.max(other.worst);
    }

    /// The lateness that `thousandths` of 1000 of all events do not exceed, with an error of at most 1/256; `None` without
    /// events.
    pub fn percentile(&self, thousandths: u32) -> Option<Nanos> {
        self.all.quantile(thousandths).map(Nanos)
    }

    /// The largest.
    pub fn worst(&self) -> Option<Nanos> {
        (!self.all.is_empty()).then_some(Nanos(self.worst))
    }

    /// The number of events.
    pub fn count(&self) -> u64 {
        self.all.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_begins_at_one_second_even_on_a_machine_that_has_just_booted() {
        for begun in [0, 3_000_000, 999_999_999, 1_000_000_000, 86_400_000_000_000] {
            let clock = Clock { begun, epoch: 1_000 };
            assert_eq!((clock.when(begun), clock.when(begun + 7)), (Clock::START, Time(Clock::START.0 + 7)));
            assert_eq!(clock.time_of_day(clock.when(begun + 7)), Duration::from_nanos(1_007));
        }
    }

    #[test]
    fn the_records_of_two_logs_are_counted_together() {
        let (mut late, mut other) = (Lateness::default(), Lateness::default());
        assert_eq!((late.percentile(500), late.worst()), (None, None));
        for ns in 1..=100 {
            let log = if ns % 2 == 0 { &mut late } else { &mut other };
            log.record(Time(7), Time(7 + ns));
        }
        late.add(&other);
        assert_eq!((late.percentile(500), late.worst(), late.count()), (Some(Nanos(50)), Some(Nanos(100)), 100));
    }

    #[test]
    fn what_was_too_early_was_not_late() {
        let mut late = Lateness::default();
        late.record(Time(9), Time(5));
        assert_eq!(late.worst(), Some(Nanos(0)));
    }
}
