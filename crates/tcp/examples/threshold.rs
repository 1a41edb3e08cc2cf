//! The cost of a rule for the duplicate ACK threshold: feeds reordering events (their number is the second argument) to
//! the rule of a stack (the first argument), and prints the bytes that it then holds. `reference/cost.py` counts
//! instructions.
//!
//! Event lengths of 3 to 66 duplicates come from a linear congruential generator, so all rules get the same input.

use ackclock_tcp::detect::threshold::{AnyThreshold, DupThresh, ThresholdSpec};
use ackclock_tcp::detect::{DetectSpec, Learner};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::reorder::ReorderSample;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use std::alloc::{GlobalAlloc, Layout, System};
use std::process::ExitCode;
use std::sync::atomic::{AtomicIsize, Ordering};

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;
static HELD: AtomicIsize = AtomicIsize::new(0);

#[expect(unsafe_code, reason = "an allocator's interface is unsafe; this one forwards every call")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller keeps the conditions of the same function.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller keeps the conditions of the same function.
        unsafe { System.dealloc(at, layout) };
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let Some(DetectSpec::DupAck(detect)) = Stack::named(&name).map(|s| s.detect) else {
        eprintln!("found {name:?}, allowed: a stack that counts duplicate ACKs, then a number of events");
        return ExitCode::from(2);
    };
    let events = words.next().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let before = HELD.load(Ordering::Relaxed);
    let rule = fed(&detect.threshold, events);
    println!("{}", HELD.load(Ordering::Relaxed) - before);
    drop(rule);
    ExitCode::SUCCESS
}

/// A rule that has seen `events` needless fast retransmissions.
fn fed(spec: &ThresholdSpec, events: u32) -> AnyThreshold {
    let mut rule = spec.build(SMSS);
    let w = Window { cwnd: 100.0 * f64::from(SMSS), ssthresh: f64::MAX };
    let cx = Ctx { srtt: Some(Nanos::from_millis(400)), ..Ctx::at_start(SMSS) };
    let mut random: u32 = 1;
    for _ in 0..events {
        // Constants from Numerical Recipes; only the upper bits are random.
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let dupacks = 3 + (random >> 26);
        rule.on_disorder(&w, &cx);
        std::hint::black_box(rule.segments(&w, &cx));
        let resent = Some(cx.now);
        rule.on_reorder(
            &ReorderSample { dupacks, first_dup: cx.now, last_dup: cx.now, filled: cx.now, resent, segments: 1 },
            &w,
            &cx,
        );
    }
    rule
}

const SMSS: u32 = 1000;
