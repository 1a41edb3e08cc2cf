//! Paths that lose nothing, but stop for longer than the retransmission timeout or hold back every tenth packet: the
//! retransmissions of each stack, and which stacks detect that nothing had been lost.

use ackclock_sim::engine::Sim;
use ackclock_sim::results::FlowResult;
use ackclock_sim::scenario::*;
use ackclock_sim::topology::dumbbell::{dumbbell, flow, pipe};
use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::detect::{sack::SackSpec, threshold::ThresholdSpec, DetectSpec};
use ackclock_tcp::event::{Cause, Event};
use ackclock_tcp::spurious::{linux::LinuxSpec, SpuriousSpec};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::timeout::frto::{Form, FrtoSpec};
use ackclock_tcp::timeout::TimeoutSpec;
use ackclock_tcp::undo::UndoSpec;
use ackclock_tcp::units::Rate;

/// Segments that the window holds: all in flight when the path stops.
const WINDOW: u64 = 10;

/// Timeouts, and for each detected mistake its trigger and whether the reduction was undone.
#[derive(Default)]
struct Heard {
    timeouts: u32,
    mistakes: Vec<(Cause, bool)>,
}

impl Watch for Heard {
    fn tcp(&mut self, _: Time, _: u32, _: Side, e: Event) {
        match e {
            Event::Timeout { .. } => self.timeouts += 1,
            Event::Mistake { cause, undone, .. } => self.mistakes.push((cause, undone)),
            _ => {}
        }
    }
}

/// 300 segments with a round trip of 100 ms. The window in flight after 200 segments arrives 1.2 s late, and so does the
/// retransmission that the timer sends meanwhile: first in, first out.
fn through_a_spike(stack: Stack) -> (FlowResult, Heard) {
    let app = AppSpec { start: Nanos::ZERO, bytes: Some(300 * 1460), jitter: Nanos::ZERO, pieces: None };
    let f = FlowSpec { window: WINDOW * 1460, app, ..flow() };
    let access = pipe(Some(Rate(100_000_000)), Nanos::ZERO);
    let mut s = dumbbell(1, &access, &pipe(Some(Rate(10_000_000)), Nanos::from_millis(50)), &f);
    let late = |nth| ScriptRule { nth, action: ScriptAction::Delay(Nanos::from_millis(1200)) };
    let rules = (200..=200 + WINDOW).map(late).collect();
    s.links[0].forward.elements.push(ElementSpec::Script(ScriptSpec {
        at: Place::Entry,
        only: ackclock_sim::scenario::Only::default(),
        flow: None,
        rules,
    }));
    let mut sim = Sim::new(&s, &[stack], 1, Heard::default()).expect("a possible scenario");
    let f = sim.run().flows[0];
    (f, sim.into_watch())
}

fn named(name: &str) -> Stack {
    Stack::named(name).expect("listed")
}

fn frto(name: &str, form: Form) -> Stack {
    Stack { timeout: TimeoutSpec::Frto(FrtoSpec { form, ..Default::default() }), ..named(name) }
}

/// RFC 6675 with Linux's judge, by timestamps alone, and its undo.
fn linux() -> Stack {
    let mut stack = named("rfc-6675");
    stack.spurious = SpuriousSpec::Linux(LinuxSpec { dsack: false, timestamps: true });
    stack.undo = UndoSpec::Restore(Default::default());
    stack.options.timestamps = true;
    stack
}

#[test]
fn without_a_judge_a_spike_makes_the_sender_resend_what_had_arrived() {
    for name in ["newreno", "rfc-6675"] {
        let (f, heard) = through_a_spike(named(name));
        assert_eq!((heard.timeouts, heard.mistakes), (1, vec![]), "{name}");
        assert!(f.retransmitted > 1 && f.needless == f.retransmitted, "{name}: {f:?}");
    }
}

#[test]
fn timestamps_f_rto_and_linux_find_the_timeout_needless_and_nothing_but_its_first_segment_is_resent() {
    let stacks = [
        named("eifel"),
        named("frto"),
        Stack { spurious: SpuriousSpec::Nothing, ..frto("eifel", Form::Basic) },
        frto("frto", Form::Basic),
        frto("frto", Form::Linux),
        linux(),
    ];
    for stack in stacks {
        let who = format!("{} with {:?} and {:?}", stack.name, stack.timeout, stack.spurious);
        let (f, heard) = through_a_spike(stack);
        assert_eq!((heard.timeouts, heard.mistakes), (1, vec![(Cause::Rto, true)]), "{who}");
        assert_eq!((f.retransmitted, f.needless, f.delivered), (1, 1, 300 * 1460), "{who}");
    }
}

/// 2000 segments; every tenth is overtaken for 20 ms (the time of 17 packets).
fn overtaken(stack: Stack) -> FlowResult {
    let app = AppSpec { start: Nanos::ZERO, bytes: Some(2000 * 1460), jitter: Nanos::ZERO, pieces: None };
    let f = FlowSpec { window: 50 * 1460, app, ..flow() };
    let access = pipe(Some(Rate(100_000_000)), Nanos::ZERO);
    let mut s = dumbbell(1, &access, &pipe(Some(Rate(10_000_000)), Nanos::from_millis(50)), &f);
    let late = |k: u64| ScriptRule { nth: 10 * k, action: ScriptAction::Delay(Nanos::from_millis(20)) };
    s.links[0].forward.elements.push(ElementSpec::Script(ScriptSpec {
        at: Place::Entry,
        only: ackclock_sim::scenario::Only::default(),
        flow: None,
        rules: (1..1000).map(late).collect(),
    }));
    let mut sim = Sim::new(&s, &[stack], 1, ()).expect("a possible scenario");
    sim.run().flows[0]
}

#[test]
fn where_every_tenth_packet_is_overtaken_tcp_pr_resends_nothing() {
    let (by_time, by_count) = (overtaken(named("tcp-pr")), overtaken(named("rfc-6675")));
    assert_eq!((by_time.retransmitted, by_time.delivered), (0, 2000 * 1460));
    assert!(by_count.needless > 20, "{by_count:?}");
    // One of the transfers ends before the minute is over.
    assert!(by_time.finished.is_some() && by_count.finished.is_none(), "{by_time:?} {by_count:?}");
}

#[test]
fn linux_learns_how_far_packets_are_overtaken_and_takes_the_first_cuts_back() {
    let mut stack = linux();
    stack.detect = DetectSpec::Sack(SackSpec { threshold: ThresholdSpec::Linux(Default::default()) });
    let (learning, plain) = (overtaken(stack), overtaken(named("rfc-6675")));
    assert!(learning.finished.is_some() && 3 * learning.needless < plain.needless, "{learning:?} {plain:?}");
}
