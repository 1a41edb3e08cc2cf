//! The burst that an undo releases. An undo that restores the window may release a burst. RFC 4015 §3.1 (9) bounds it by
//! an initial window, undo by slow start changes no window, and for Linux `limits.maxburst_segs` replaces pacing.

use crate::net::{Do, Net, Path};
use crate::{secs, MSS};
use ackclock_tcp::connection::{Connection, Sides};
use ackclock_tcp::event::{Cause, Event, Slot};
use ackclock_tcp::spurious::SpuriousSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::{fixed::FixedSpec, StartupSpec};
use ackclock_tcp::time::Time;
use ackclock_tcp::timeout::{frto, TimeoutSpec};
use ackclock_tcp::undo::UndoSpec;

/// RFC 3390 with segments of 1000 bytes.
const INITIAL_WINDOW: u64 = 4000;
const MAXBURST: u32 = 3;

/// One undo.
#[derive(Clone, Copy, Debug)]
struct Undone {
    cause: Cause,
    /// Bytes reported as delivered by the ACK that proved the mistake.
    acked: u64,
    /// By how much the undo opened the window, bytes.
    opened: f64,
    /// Segments sent before the next input.
    burst: u32,
}

/// Every undo of a run.
fn undone(net: &Net) -> Vec<Undone> {
    let (mut all, mut opened): (Vec<Undone>, _) = (vec![], 0.0);
    // From the verdict on: whether its own ACK has been reported.
    let mut open = None;
    for (_, e) in &net.heard[0] {
        match *e {
            Event::Window { by: Slot::Undo, from, to, .. } => opened = to.cwnd - from.cwnd,
            Event::Mistake { cause, undone: true, .. } => {
                all.push(Undone { cause, acked: 0, opened, burst: 0 });
                (open, opened) = (Some(false), 0.0);
            }
            Event::Acked { delivered, .. } => {
                if let (Some(false), Some(u)) = (open, all.last_mut()) {
                    u.acked = delivered;
                }
                open = open.filter(|done| !done).map(|_| true);
            }
            Event::Timeout { .. } => open = None,
            Event::Sent { .. } if open.is_some() => all.last_mut().expect("open").burst += 1,
            _ => {}
        }
    }
    all
}

/// The undos of runs over paths that stall for seconds and reorder packets.
fn runs(stack: &Stack) -> Vec<Undone> {
    let mut all = vec![];
    for seed in 0..60 {
        let began = Time(200_000_000 + 50_000_000 * (seed % 10));
        let held = Some((began, began + ackclock_tcp::time::Nanos::from_millis(1000 + 400 * (seed % 7))));
        let path =
            Path { held, late: [0, 5, 20][seed as usize % 3], loss: [seed / 6 % 2, seed / 12 % 2], ..Path::default() };
        let ends = [Sides::Sender, Sides::Receiver].map(|side| Connection::established(stack, side, MSS, 60_000));
        let mut net = Net::new(ends, 60_000, path, seed);
        net.maxburst = stack.limits.maxburst_segs;
        net.at(secs(0), 0, Do::Write(400_000));
        net.run(secs(3_000));
        assert_eq!(net.received[1], 400_000, "{} seed {seed}: {}", stack.name, net.describe());
        all.extend(undone(&net));
    }
    all
}

fn opened(name: &str) -> Stack {
    let startup = StartupSpec::Fixed(FixedSpec { initial_window_segs: 10, ssthresh_segs: None });
    Stack { startup, ..Stack::named(name).expect("listed") }
}

/// Linux's judge and undo, by DSACK, timestamps and F-RTO.
fn linux(maxburst_segs: Option<u32>) -> Stack {
    let frto = frto::FrtoSpec { form: frto::Form::Linux, ..Default::default() };
    let mut stack = Stack {
        name: "linux restore".into(),
        spurious: SpuriousSpec::Linux(Default::default()),
        timeout: TimeoutSpec::Frto(frto),
        undo: UndoSpec::Restore(Default::default()),
        ..opened("rfc-6675")
    };
    (stack.options.timestamps, stack.limits.maxburst_segs) = (true, maxburst_segs);
    assert_eq!(stack.validate(), Ok(()));
    stack
}

#[test]
fn eifels_response_releases_at_most_the_data_that_the_ack_reports_and_an_initial_window() {
    for name in Stack::names() {
        let stack = opened(name);
        if !matches!(stack.undo, UndoSpec::EifelResponse(_)) {
            continue;
        }
        let all = runs(&stack);
        assert!(all.iter().filter(|u| u.cause == Cause::Rto).count() > 20, "{name}: too quiet: {all:?}");
        for u in all {
            let most = if u.cause == Cause::Rto { u.acked.min(INITIAL_WINDOW) } else { INITIAL_WINDOW };
            assert!(u64::from(u.burst) <= most.div_ceil(u64::from(MSS)), "{name}: {u:?}");
        }
    }
}

#[test]
fn undo_by_slow_start_opens_no_window() {
    for name in Stack::names() {
        let stack = opened(name);
        let UndoSpec::SlowStartBack(_) = &stack.undo else { continue };
        let all = runs(&stack);
        assert!(all.len() > 20, "{name}: too quiet: {all:?}");
        assert!(all.iter().all(|u| u.opened == 0.0), "{name}: {all:?}");
    }
}

#[test]
fn restoring_the_window_releases_no_more_than_the_limit_on_bursts_which_it_needs() {
    let most = |maxburst| runs(&linux(maxburst)).iter().map(|u| u.burst).max();
    assert_eq!(most(Some(MAXBURST)), Some(MAXBURST));
    let free = most(None).expect("some");
    println!("without a limit {free} segments");
    assert!(free > 2 * MAXBURST, "{free}");
}

#[test]
fn under_a_limit_no_undo_of_any_stack_releases_more_than_it_allows() {
    for name in Stack::names() {
        let mut stack = opened(name);
        if !matches!(stack.undo, UndoSpec::Nothing) {
            stack.limits.maxburst_segs = Some(MAXBURST);
            // `Net` checks every input.
            assert!(!runs(&stack).is_empty(), "{name}: too quiet");
        }
    }
}
