//! How the sequencer acts on answers: growth held back at the start, a judge's RTT samples, mistakes in a running
//! episode, windows remembered by a timeout, stalls in Disorder, SACK marks at a timeout.

use super::seams::{custom, Restore};
use super::*;
use crate::detect::{DetectSpec, Learner};
use crate::disorder::DisorderSpec;
use crate::facts::episode::Mistake;
use crate::slot::Factory;
use crate::spurious::{Spurious, SpuriousSpec};
use crate::startup::{Advice, StartupSpec};
use crate::timeout::go_back_n::GoBackNSpec;
use crate::timeout::sack::SackSpec;
use crate::timeout::TimeoutSpec;
use crate::undo::{GiveBack, Prior, Standing, Undo, UndoSpec};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// A startup that opens the window by a quarter after the third ACK.
struct Careful(u32);

impl Startup for Careful {
    fn initial(&self, mss: u32, rwnd: Bytes) -> Window {
        Window { cwnd: 4.0 * f64::from(mss), ssthresh: rwnd as f64 }
    }
    fn on_ack(&mut self, _: &AckEvent, _: &Window, _: &Ctx) -> Advice {
        self.0 += 1;
        if self.0 == 3 {
            Advice::Growth(0.25)
        } else {
            Advice::Keep
        }
    }
}

#[test]
fn slow_start_opens_by_the_share_that_the_start_asks_for_until_the_first_loss() {
    let startup = StartupSpec::Custom(custom::<dyn Startup>(|| Box::new(Careful(0))));
    let mut s = Sender::new(&Stack { startup, ..named("newreno") }, MSS, 100_000);
    s.write(100_000);
    let mut windows = vec![];
    for n in 1..6 {
        send(&mut s, ms(n));
        ack(&mut s, ms(100 + n), seg(n), 100_000, &[]);
        windows.push(s.window().cwnd);
    }
    assert_eq!(windows, [5000.0, 6000.0, 6250.0, 6500.0, 6750.0]);
    s.on_timer(ms(5000), &mut ());
    ack(&mut s, ms(5100), seg(6), 100_000, &[]);
    assert_eq!(s.window().cwnd, 2000.0, "after a loss slow start opens by a segment an ACK");
}

/// Calls every episode a mistake at the first ACK that advances, and times it.
struct Accuse {
    episode: u32,
}

impl Spurious for Accuse {
    fn on_begin(&mut self, ledger: &mut Ledger, _: &Scoreboard, _: &Ctx) {
        self.episode = ledger.count();
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, _: &Scoreboard, _: &Ctx) -> Option<Mistake> {
        let ep = ledger.get(self.episode).filter(|_| ack.advances())?;
        self.episode = 0;
        Some(Mistake { episode: ep.id, cause: ep.cause, sample: None })
    }
    fn rtt(&mut self, _: &Ctx) -> Option<Nanos> {
        Some(Nanos::from_millis(700))
    }
}

fn accused(name: &str, undo: Factory<dyn Undo>) -> Sender {
    let spurious = SpuriousSpec::Custom(custom::<dyn Spurious>(|| Box::new(Accuse { episode: 0 })));
    let mut s = Sender::new(&opened(Stack { spurious, undo: UndoSpec::Custom(undo), ..named(name) }, 10), MSS, 100_000);
    s.write(100_000);
    send(&mut s, ms(0));
    s
}

fn restore() -> Factory<dyn Undo> {
    custom::<dyn Undo>(|| Box::new(Restore))
}

#[test]
fn a_running_recovery_found_to_be_a_mistake_ends_and_the_ack_that_showed_it_does_not_grow_the_window() {
    let mut s = accused("newreno", restore());
    for n in 0..3 {
        ack(&mut s, ms(100 + n), seg(0), 100_000, &[]);
    }
    assert_eq!((s.phase(), send(&mut s, ms(103))), (Phase::Recovery, vec![(seg(0), 1000)]));
    ack(&mut s, ms(110), seg(4), 100_000, &[]);
    assert_eq!((s.phase(), s.window().cwnd, s.board().lost()), (Phase::Open, 10_000.0, 0));
    ack(&mut s, ms(111), seg(5), 100_000, &[]);
    assert_eq!(s.window().cwnd, 11_000.0);
}

#[test]
fn a_timeout_found_to_be_a_mistake_by_the_judge_leaves_loss_and_sends_what_comes_next() {
    let mut s = accused("newreno", restore());
    s.on_timer(ms(1000), &mut ());
    assert_eq!((s.phase(), send(&mut s, ms(1000))), (Phase::Loss, vec![(seg(0), 1000)]));
    ack(&mut s, ms(1010), seg(2), 100_000, &[]);
    assert_eq!((s.phase(), s.positions().1 .0), (Phase::Open, seg(10)));
    assert_eq!(send(&mut s, ms(1010)), [(seg(10), 1000), (seg(11), 1000)]);
}

/// Asks for the window before an interrupted repair.
struct Older;

impl Undo for Older {
    fn on_mistake(&mut self, m: &Mistake, at: Standing, ledger: &mut Ledger, w: &mut Window, cx: &Ctx) -> GiveBack {
        Restore.on_mistake(m, at, ledger, w, cx)
    }
    fn prior_in_recovery(&self) -> Prior {
        Prior::BeforeInterrupted
    }
}

#[test]
fn a_timeout_in_recovery_remembers_the_window_that_its_undo_asks_for() {
    let older = || custom::<dyn Undo>(|| Box::new(Older));
    for (undo, cwnd) in [(restore(), 5000.0), (older(), 10_000.0)] {
        let mut s = accused("rfc-6675", undo);
        for n in 1..4 {
            ack(&mut s, ms(100 + n), seg(0), 100_000, &[(seg(1), seg(n + 1))]);
        }
        assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 5000.0));
        send(&mut s, ms(104));
        let at = s.next_timer().unwrap();
        s.on_timer(at, &mut ());
        assert_eq!(s.phase(), Phase::Loss);
        send(&mut s, at);
        ack(&mut s, at + Nanos::from_millis(10), seg(4), 100_000, &[]);
        assert_eq!((s.phase(), s.window().cwnd), (Phase::Open, cwnd));
    }
}

#[test]
fn a_judges_round_trip_reaches_the_timer_with_the_dsack() {
    let mut s = accused("rfc-6675", restore());
    ack(&mut s, ms(100), seg(1), 100_000, &[]);
    assert_eq!(s.slots.rto.srtt(), Some(Nanos::from_millis(100)));
    ack(&mut s, ms(101), seg(2), 100_000, &[(seg(0), seg(1))]);
    assert_eq!(s.slots.rto.srtt(), Some(Nanos::from_millis(175)), "7/8 · 100 + 1/8 · 700");
}

/// Suspects on every duplicate, and records the longest stall.
struct Clock(Arc<AtomicU64>);

impl Detector for Clock {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, _: &mut Scoreboard, _: &Ctx) -> Verdict {
        if ack.is_dup {
            Verdict::Suspect
        } else {
            Verdict::Clear
        }
    }
}

impl Timekeeper for Clock {}

impl Learner for Clock {
    fn on_stall(&mut self, idle: Nanos, _: &Window, _: &Ctx) {
        self.0.store(idle.0, Ordering::Relaxed);
    }
}

#[test]
fn a_stall_in_disorder_begins_with_the_first_duplicate_that_releases_nothing_and_ends_with_the_hole() {
    let longest = Arc::new(AtomicU64::new(0));
    let of_test = longest.clone();
    let detect = DetectSpec::Custom(custom::<dyn Detector>(move || Box::new(Clock(of_test.clone()))));
    let stack = Stack { detect, disorder: DisorderSpec::LimitedTransmit, ..opened(named("newreno"), 10) };
    let mut s = Sender::new(&stack, MSS, 100_000);
    s.write(100_000);
    send(&mut s, ms(0));
    for n in 1..6 {
        ack(&mut s, ms(100 * n), seg(0), 100_000, &[]);
        assert_eq!(send(&mut s, ms(100 * n)).len(), usize::from(n < 3), "RFC 3042: on two duplicates");
    }
    assert_eq!(longest.load(Ordering::Relaxed), 0);
    ack(&mut s, ms(650), seg(5), 100_000, &[]);
    assert_eq!(Nanos(longest.load(Ordering::Relaxed)), Nanos::from_millis(350));
}

#[test]
fn sack_marks_survive_a_timeout_where_the_stack_keeps_them() {
    let by_marks = |clear_sacks| TimeoutSpec::Sack(SackSpec { clear_sacks, ..SackSpec::default() });
    let back = |keep_sacks| TimeoutSpec::GoBackN(GoBackNSpec { skip_sacked: true, keep_sacks });
    for (timeout, kept) in [(by_marks(false), true), (by_marks(true), false), (back(true), true), (back(false), false)]
    {
        let mut s = Sender::new(&opened(Stack { timeout, ..named("rfc-6675") }, 4), MSS, 100_000);
        s.write(4000);
        send(&mut s, ms(0));
        ack(&mut s, ms(100), seg(0), 100_000, &[(seg(1), seg(2))]);
        s.on_timer(ms(1000), &mut ());
        assert_eq!(s.board().sacked() > 0, kept);
        assert_eq!(send(&mut s, ms(1000)), [(seg(0), 1000)]);
        ack(&mut s, ms(1100), seg(1), 100_000, &[]);
        let next = if kept { seg(2) } else { seg(1) };
        assert_eq!(send(&mut s, ms(1100))[0], (next, 1000));
    }
}
