//! Draws each case of a fuzz target by its number, and watches it: it must not panic, last longer than a second, or hold more
//! memory than its target states. A failure prints the number and the input.
//!
//! `ACKCLOCK_FUZZ` sets how many cases run, `ACKCLOCK_FUZZ_FROM` the number of the first.

use super::heap;
use std::cell::Cell;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// The longest that a case may last.
const LONGEST: Duration = Duration::from_secs(1);
/// Characters of an input that are printed.
const MOST_SHOWN: usize = 4000;
/// The process ends if a case does not end within this time.
const PATIENCE: Duration = Duration::from_secs(60);

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|n| n.parse().unwrap_or_else(|_| panic!("{name} is a number, not {n:?}")))
}

/// The number of cases: `ACKCLOCK_FUZZ`, or this default.
pub(crate) fn cases(default: u64) -> u64 {
    variable("ACKCLOCK_FUZZ").unwrap_or(default)
}

/// The number of the first case.
fn first() -> u64 {
    variable("ACKCLOCK_FUZZ_FROM").unwrap_or(0)
}

/// The seed of a case. Knuth's multiplier spreads neighbouring numbers.
pub(crate) fn seed(number: u64) -> u64 {
    number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)
}

/// The code under test and its bounds.
pub(crate) struct Target {
    name: &'static str,
    most_bytes: isize,
    held: Cell<isize>,
    longest: Cell<Duration>,
}

impl Target {
    /// A target of which no case may hold more than `most_bytes` of heap memory.
    pub(crate) fn new(name: &'static str, most_bytes: isize) -> Target {
        Target { name, most_bytes, held: Cell::new(0), longest: Cell::new(Duration::ZERO) }
    }

    /// Calls `case` with the number of each case, and a seed that belongs to it. Prints the most that any took.
    pub(crate) fn each(&self, cases: u64, mut case: impl FnMut(u64, u64)) {
        let now = Arc::new(AtomicU64::new(first()));
        watch(self.name, Arc::downgrade(&now));
        for number in first()..first() + cases {
            now.store(number, Ordering::Relaxed);
            case(number, seed(number));
        }
        eprintln!("{}: {cases} cases, at most {} bytes and {:?}", self.name, self.held.get(), self.longest.get());
    }

    /// Runs a case within the target's bounds.
    #[expect(clippy::disallowed_methods, reason = "the duration of a case is not part of its result")]
    pub(crate) fn run(&self, number: u64, input: &dyn Debug, mut case: impl FnMut()) {
        let on_panic = OnPanic { name: self.name, number, input };
        let began = Instant::now();
        let ((), held, _) = heap::measured(&mut case);
        let mut took = began.elapsed();
        if took > LONGEST {
            // The machine may have been busy with something else.
            let began = processor_time();
            case();
            took = processor_time().zip(began).map_or(took, |(end, began)| end - began);
        }
        self.held.set(self.held.get().max(held));
        self.longest.set(self.longest.get().max(took));
        assert!(held <= self.most_bytes, "{held} bytes are more than {}", self.most_bytes);
        assert!(took <= LONGEST, "{took:?} are more than {LONGEST:?}");
        drop(on_panic);
    }
}

/// The processor time of this thread, where the system tells it.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Prints the case if it panics, and the beginning of its input.
struct OnPanic<'a> {
    name: &'static str,
    number: u64,
    input: &'a dyn Debug,
}

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let OnPanic { name, number, input } = self;
            let input: String = format!("{input:?}").chars().take(MOST_SHOWN).collect();
            eprintln!("{name}: case {number} (ACKCLOCK_FUZZ_FROM={number} begins with it): {input}");
        }
    }
}

/// Ends the process if a case hangs.
fn watch(name: &'static str, now: Weak<AtomicU64>) {
    let pause = Duration::from_secs(1);
    thread::spawn(move || {
        let (mut before, mut waited) = (None, Duration::ZERO);
        while let Some(now) = now.upgrade().map(|now| now.load(Ordering::Relaxed)) {
            waited = if before == Some(now) { waited + pause } else { Duration::ZERO };
            before = Some(now);
            if waited > PATIENCE {
                eprintln!("{name}: case {now} hangs");
                std::process::abort();
            }
            thread::sleep(pause);
        }
    });
}
