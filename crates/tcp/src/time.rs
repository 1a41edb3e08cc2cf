//! Simulated or real time, counted in whole nanoseconds from the start of the run.
//!
//! `std::time::Instant` has no zero, takes 16 bytes and cannot be written down; floats drift. A `u64` of nanoseconds
//! lasts 584 years and adds exactly.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in time: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A span of time in nanoseconds. Printed with its unit for people (`"200 ms"`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);

    /// The span since `earlier`; zero if `earlier` is in fact later.
    #[inline]
    pub fn since(self, earlier: Time) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// Seconds as a float, for people and plots only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Nanos {
    /// Zero time.
    pub const ZERO: Nanos = Nanos(0);

    /// `n` microseconds.
    pub const fn from_micros(n: u64) -> Self {
        Nanos(n * 1_000)
    }

    /// `n` milliseconds.
    pub const fn from_millis(n: u64) -> Self {
        Nanos(n * 1_000_000)
    }

    /// `n` seconds.
    pub const fn from_secs(n: u64) -> Self {
        Nanos(n * 1_000_000_000)
    }

    /// Seconds as a float, for people and plots only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This span `n` times; saturates.
    #[inline]
    pub fn times(self, n: u64) -> Self {
        Nanos(self.0.saturating_mul(n))
    }

    /// The smallest whole number of `tick`s that is not shorter than this span.
    #[inline]
    pub fn round_up(self, tick: Nanos) -> Self {
        if tick.0 == 0 {
            self
        } else {
            Nanos(self.0.div_ceil(tick.0) * tick.0)
        }
    }
}

/// A kernel's tick clock: timers are set in whole ticks and fire on a tick.
///
/// Source: Linux, `usecs_to_jiffies` and `mod_timer`; `calc_wheel_index` and `calc_index` in `kernel/time/timer.c` (6.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jiffies {
    tick: Nanos,
}

impl Jiffies {
    /// A clock of `hz` ticks per second (`HZ`).
    pub const fn per_second(hz: u32) -> Self {
        Jiffies { tick: Nanos(1_000_000_000 / if hz == 0 { 1 } else { hz as u64 }) }
    }

    /// Whole ticks in `nanos` nanoseconds.
    #[inline]
    pub fn count(self, nanos: u64) -> u64 {
        nanos / self.tick.0
    }

    /// `span` in whole ticks, rounded up.
    #[inline]
    pub fn whole(self, span: Nanos) -> Nanos {
        span.round_up(self.tick)
    }

    /// Ticks in half a second.
    pub(crate) fn per_half_second(self) -> u64 {
        self.count(500_000_000)
    }

    /// When the wheel fires a timer set at `set` to expire at tick `expires`: on the next tick, so that none fires early. Beyond
    /// 63 ticks it fires on a multiple of eight, beyond 504 on a multiple of 64, and so on.
    pub(crate) fn fires(self, set: Time, expires: u64) -> Time {
        self.on_the_wheel(expires.saturating_sub(self.count(set.0)), expires)
    }

    /// When a timer set at `set` for `span` fires.
    #[inline(always)]
    pub fn deadline(self, set: Time, span: Nanos) -> Time {
        let ticks = span.0.div_ceil(self.tick.0);
        self.on_the_wheel(ticks, self.count(set.0) + ticks)
    }

    #[inline(always)]
    fn on_the_wheel(self, ahead: u64, expires: u64) -> Time {
        let shift = match ahead {
            ..63 => 0,
            63..504 => 3,
            _ => coarse(ahead),
        };
        Time((((expires >> shift) + 1) << shift) * self.tick.0)
    }
}

/// The grain of the wheel for timers of two seconds and more (`HZ` 250), as a power of two.
#[cold]
fn coarse(ahead: u64) -> u32 {
    (2..8).map(|level| 3 * level).find(|shift| ahead < 63 << shift).unwrap_or(24)
}

impl Add<Nanos> for Time {
    type Output = Time;
    #[inline]
    fn add(self, d: Nanos) -> Time {
        Time(self.0 + d.0)
    }
}

impl AddAssign<Nanos> for Time {
    #[inline]
    fn add_assign(&mut self, d: Nanos) {
        self.0 += d.0;
    }
}

impl Add for Nanos {
    type Output = Nanos;
    #[inline]
    fn add(self, d: Nanos) -> Nanos {
        Nanos(self.0 + d.0)
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    #[inline]
    fn sub(self, d: Nanos) -> Nanos {
        Nanos(self.0 - d.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

/// The earlier of two times, either of which may be absent.
#[inline]
pub(crate) fn earliest(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_fires_on_the_tick_after_its_own_and_far_ahead_on_a_multiple_of_eight() {
        let clock = Jiffies::per_second(250);
        let fires = |set_ms: u64, ticks| clock.fires(Time(set_ms * 1_000_000), set_ms / 4 + ticks).0 / 4_000_000;
        assert_eq!((fires(0, 10), fires(3, 10), fires(4, 10)), (11, 11, 12));
        assert_eq!((fires(0, 62), fires(0, 63), fires(8, 69)), (63, 64, 72));
        assert_eq!((fires(0, 503), fires(0, 504)), (504, 512));
    }
}
