//! Services of the sequencer that no named stack uses yet: verdicts by timer, held sending, probes, a detector's
//! own retransmission timer, mistakes found in Loss.

use super::*;
use crate::detect::{DetectSpec, Learner};
use crate::event::Cause;
use crate::facts::answer::Xmit;
use crate::facts::episode::Episode;
use crate::facts::episode::Mistake;
use crate::facts::scoreboard::Sent;
use crate::recovery::RecoverySpec;
use crate::slot::Factory;
use crate::timeout::Repair;
use crate::timeout::TimeoutSpec;
use crate::undo::{GiveBack, Standing, Undo, UndoSpec};
use std::sync::Arc;

pub(super) fn custom<T: ?Sized + 'static>(make: impl Fn() -> Box<T> + Send + Sync + 'static) -> Factory<T> {
    Factory { name: "test".into(), identity: 1, make: Arc::new(move |_| make()) }
}

/// Returns `verdict` once, at `deadline`; marks the head if the verdict is a loss.
#[derive(Clone, Copy)]
struct Judge {
    deadline: Option<Time>,
    verdict: Verdict,
    hold: Option<Time>,
    owns_rto: bool,
}

const QUIET: Judge = Judge { deadline: None, verdict: Verdict::Clear, hold: None, owns_rto: false };

impl Detector for Judge {
    fn on_ack(&mut self, _: &AckEvent, _: &Window, _: &mut Scoreboard, _: &Ctx) -> Verdict {
        Verdict::Clear
    }
}

impl Timekeeper for Judge {
    fn keeps_time(&self) -> bool {
        true
    }
    fn on_timer(&mut self, _: &Window, board: &mut Scoreboard, _: &Ctx) -> Verdict {
        self.deadline = None;
        match self.verdict {
            Verdict::Lost(_) => Verdict::Lost(board.mark_head_lost()),
            Verdict::More(_) => Verdict::More(board.mark_head_lost()),
            other => other,
        }
    }
    fn deadline(&self) -> Option<Time> {
        self.deadline
    }
    fn hold_until(&self) -> Option<Time> {
        self.hold
    }
    fn watches_sends(&self) -> bool {
        true
    }
    fn owns_rto(&self) -> bool {
        self.owns_rto
    }
}

impl Learner for Judge {}

/// `name` with that judge; of `data` bytes written, four segments are in flight.
fn judged(name: &str, judge: Judge, data: u64) -> Sender {
    let stack =
        Stack { detect: DetectSpec::Custom(custom::<dyn Detector>(move || Box::new(judge))), ..opened(named(name), 4) };
    let mut s = Sender::new(&stack, MSS, 100_000);
    s.write(data);
    s
}

#[test]
fn an_episode_that_a_timer_begins_resends_the_head_at_once_and_ends_with_its_ack() {
    let repairs = |s: Stack| !matches!(s.recovery, RecoverySpec::Tahoe | RecoverySpec::InOpen);
    for name in Stack::names().filter(|n| repairs(named(n))) {
        let judge = Judge { deadline: Some(ms(300)), verdict: Verdict::Lost(0), ..QUIET };
        let mut s = judged(name, judge, 4000);
        send(&mut s, ms(0));
        assert_eq!(s.next_timer(), Some(ms(300)), "{name}");
        s.on_timer(ms(300), &mut ());
        assert_eq!((s.phase(), s.episodes()), (Phase::Recovery, 1), "{name}");
        assert_eq!(send(&mut s, ms(300)), [(seg(0), 1000)], "{name}");
        ack(&mut s, ms(400), seg(4), 100_000, &[]);
        assert_eq!((s.phase(), s.next_timer()), (Phase::Open, None), "{name}");
    }
}

#[test]
fn more_is_marking_and_nothing_else_and_open_repairs_it() {
    // Rules 8 and 28.
    let judge = Judge { deadline: Some(ms(300)), verdict: Verdict::More(0), ..QUIET };
    let mut s = judged("rfc-6675", judge, 4000);
    send(&mut s, ms(0));
    let before = s.window();
    s.on_timer(ms(300), &mut ());
    assert_eq!((s.phase(), s.window(), s.episodes()), (Phase::Open, before, 0));
    assert_eq!(send(&mut s, ms(300)), [(seg(0), 1000)]);
}

#[test]
fn repaired_cuts_the_window_without_a_phase() {
    let judge = Judge { deadline: Some(ms(300)), verdict: Verdict::Repaired, ..QUIET };
    let mut s = judged("rfc-6675", judge, 4000);
    send(&mut s, ms(0));
    s.on_timer(ms(300), &mut ());
    assert_eq!((s.phase(), s.window()), (Phase::Open, Window { cwnd: 2000.0, ssthresh: 2000.0 }));
    assert_eq!(send(&mut s, ms(300)), []);
}

#[test]
fn a_probe_goes_whatever_the_window_says_and_restarts_the_timer() {
    // RFC 8985 §7.3: new data if there is any, else the last segment again.
    for (data, want) in [(9000, (seg(4), 1000)), (4000, (seg(3), 1000))] {
        let judge = Judge { deadline: Some(ms(300)), verdict: Verdict::Probe, ..QUIET };
        let mut s = judged("rfc-6675", judge, data);
        assert_eq!(send(&mut s, ms(0)).len(), 4);
        s.on_timer(ms(300), &mut ());
        assert_eq!(send(&mut s, ms(300)), [want]);
        assert_eq!(s.next_timer(), Some(ms(1300)), "a second after the probe");
    }
}

#[test]
fn a_probe_with_nothing_outstanding_and_nothing_to_send_sends_nothing() {
    let judge = Judge { deadline: Some(ms(300)), verdict: Verdict::Probe, ..QUIET };
    let mut s = judged("rfc-6675", judge, 0);
    s.on_timer(ms(300), &mut ());
    assert_eq!(send(&mut s, ms(300)), []);
    s.write(500);
    assert_eq!(send(&mut s, ms(301)), [(seg(0), 500)]);
}

#[test]
fn nothing_is_sent_before_the_time_until_which_the_judge_holds_it() {
    // Rule 21.
    let mut s = judged("rfc-6675", Judge { hold: Some(ms(250)), ..QUIET }, 4000);
    assert_eq!((send(&mut s, ms(249)), s.next_timer()), (vec![], Some(ms(250))));
    assert_eq!(send(&mut s, ms(250)).len(), 4);
}

#[test]
fn a_judge_with_a_timer_of_its_own_takes_the_place_of_the_retransmission_timer() {
    let mut s = judged("rfc-6675", Judge { owns_rto: true, ..QUIET }, 9000);
    send(&mut s, ms(0));
    assert_eq!(s.next_timer(), None);
    ack(&mut s, ms(100), seg(1), 100_000, &[]);
    send(&mut s, ms(100));
    assert_eq!(s.next_timer(), None);
    // A closed window is still probed; when it opens beyond the probe, no timer of ours starts.
    let max = s.positions().2;
    ack(&mut s, ms(200), max.0, 0, &[]);
    assert_eq!(send(&mut s, ms(200)), []);
    let at = s.next_timer().unwrap();
    s.on_timer(at, &mut ());
    assert_eq!(send(&mut s, at).len(), 1);
    ack(&mut s, at + Nanos::from_millis(50), max.0, 5000, &[]);
    assert_eq!(s.next_timer(), None);
}

/// Goes back N and takes the first ACK that advances as proof that nothing was lost.
struct Doubt;

impl Timeout for Doubt {
    fn enter(&mut self, _: &mut Episode, w: &mut Window, _: &mut Scoreboard, cx: &Ctx) -> Repair {
        w.cwnd = cx.smss();
        Repair::Rewind { skip_sacked: true }
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        ep: &mut Episode,
        _: &mut Window,
        _: &mut Scoreboard,
        _: &Ctx,
    ) -> (Flow, Option<Mistake>) {
        if ack.advances() {
            return (Flow::Done { grow: false }, Some(Mistake { episode: ep.id, cause: ep.cause, sample: None }));
        }
        (Flow::Continue(Rearm::OnNewData), None)
    }
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        crate::facts::gate::window(w, 0, cx).then_some(Xmit::New)
    }
    fn on_sent(&mut self, _: Xmit, _: &Sent, _: &Ctx) {}
}

/// Restores the window before the cut.
pub(super) struct Restore;

impl Undo for Restore {
    fn on_mistake(&mut self, m: &Mistake, _: Standing, l: &mut Ledger, w: &mut Window, _: &Ctx) -> GiveBack {
        if let Some(ep) = l.get(m.episode) {
            *w = ep.prior;
        }
        GiveBack::default()
    }
}

#[test]
fn a_timeout_found_to_be_a_mistake_continues_where_sending_had_stopped() {
    // Rule 17.
    let stack = Stack {
        timeout: TimeoutSpec::Custom(custom::<dyn Timeout>(|| Box::new(Doubt))),
        undo: UndoSpec::Custom(custom::<dyn Undo>(|| Box::new(Restore))),
        ..opened(named("newreno"), 10)
    };
    let mut s = Sender::new(&stack, MSS, 100_000);
    s.write(100_000);
    send(&mut s, ms(0));
    let before = s.window();
    s.on_timer(ms(1000), &mut ());
    assert_eq!(send(&mut s, ms(1000)), [(seg(0), 1000)]);
    assert_eq!((s.board().lost(), s.window().cwnd), (10_000, 1000.0));
    let mut heard: Vec<(Time, Event)> = vec![];
    let late = Segment { ack: Offset(seg(3)), wnd: 60_000, flags: Segment::ACK, ..Segment::EMPTY };
    s.on_ack(ms(1100), &late, &mut heard);
    let (una, nxt, max) = s.positions();
    assert_eq!((una.0, nxt, s.board().lost(), s.board().lost_to_send()), (seg(3), max, 0, 0));
    assert_eq!((s.phase(), s.window()), (Phase::Open, before));
    let count = |f: fn(&Event) -> bool| heard.iter().filter(|h| f(&h.1)).count();
    assert_eq!(count(|e| matches!(e, Event::Mistake { episode: 1, cause: Cause::Rto, undone: true })), 1);
    assert_eq!(count(|e| matches!(e, Event::Window { by: Slot::Undo, .. })), 1);
    assert_eq!(send(&mut s, ms(1100)), [(seg(10), 1000), (seg(11), 1000), (seg(12), 1000)]);
}

#[test]
fn a_recovery_without_a_phase_of_its_own_ends_where_it_began() {
    // Rule 8: `enter` may return Done at once; rule 28 then repairs in Open.
    struct Plain;
    impl Recovery for Plain {
        fn enter(
            &mut self,
            _: Option<&AckEvent>,
            ep: &mut Episode,
            w: &mut Window,
            _: &mut Scoreboard,
            _: &Ctx,
        ) -> Flow {
            w.cwnd = ep.target;
            Flow::Done { grow: false }
        }
        fn on_ack(
            &mut self,
            _: &AckEvent,
            _: Bytes,
            _: &mut Episode,
            _: &mut Window,
            _: &mut Scoreboard,
            _: &Ctx,
        ) -> Flow {
            unreachable!("it has no phase")
        }
        fn next(&self, _: &Window, _: &Scoreboard, _: &Ctx) -> Option<Xmit> {
            unreachable!("it has no phase")
        }
        fn open_gate(&self) -> Gate {
            Gate::Pipe
        }
    }
    let judge = Judge { deadline: Some(ms(300)), verdict: Verdict::Lost(0), ..QUIET };
    let stack = Stack {
        detect: DetectSpec::Custom(custom::<dyn Detector>(move || Box::new(judge))),
        recovery: RecoverySpec::Custom(custom::<dyn Recovery>(|| Box::new(Plain))),
        ..opened(named("rfc-6675"), 10)
    };
    let mut s = Sender::new(&stack, MSS, 100_000);
    s.write(10_000);
    send(&mut s, ms(0));
    (1..=6).for_each(|n| ack(&mut s, ms(100 + n), seg(0), 100_000, &[(seg(1), seg(n + 1))]));
    s.on_timer(ms(300), &mut ());
    assert_eq!((s.phase(), s.episodes(), s.window().cwnd), (Phase::Open, 1, 5000.0));
    assert_eq!(send(&mut s, ms(300)), [(seg(0), 1000)]);
}

/// Has a deadline but claims to keep no time.
struct Forgetful;

impl Detector for Forgetful {
    fn on_ack(&mut self, _: &AckEvent, _: &Window, _: &mut Scoreboard, _: &Ctx) -> Verdict {
        Verdict::Clear
    }
}

impl Timekeeper for Forgetful {
    fn deadline(&self) -> Option<Time> {
        Some(ms(150))
    }
}

impl Learner for Forgetful {}

#[test]
#[should_panic(expected = "a deadline of a detector that keeps no time")]
fn a_deadline_that_no_code_queries_is_detected_in_every_test_build() {
    let detect = DetectSpec::Custom(custom::<dyn Detector>(|| Box::new(Forgetful)));
    let mut s = Sender::new(&Stack { detect, ..opened(named("newreno"), 4) }, MSS, 100_000);
    s.write(4000);
    send(&mut s, ms(0));
    ack(&mut s, ms(100), seg(1), 100_000, &[]);
}
