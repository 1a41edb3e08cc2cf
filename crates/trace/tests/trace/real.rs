use ackclock_sim::engine::Sim;
use ackclock_sim::fate::Verdict;
use ackclock_sim::results::Results;
use ackclock_sim::scenario::{
    AppSpec, BernoulliSpec, ElementSpec, FlowSpec, Gap, Only, Per, Place, QueueLimit, QueueSpec, Scenario,
    ScriptAction, ScriptRule, ScriptSpec, SwapMode, SwapSpec,
};
use ackclock_sim::topology::dumbbell::{dumbbell, flow, pipe};
use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Rate;
use ackclock_trace::{Hasher, Recorder, Row, What};

/// Two transfers with handshake and FIN over 5 Mb/s and 50 ms that swap packets, with this loss of data and of ACKs.
pub(crate) fn scenario(data_loss: f64, ack_loss: f64) -> Scenario {
    let swap =
        ElementSpec::Swap(SwapSpec { mode: SwapMode::Literal, count: 12, gap: Gap::Exponential(Nanos::from_secs(1)) });
    let loss = |p, at| ElementSpec::Bernoulli(BernoulliSpec { p, per: Per::Packet, at, only: Only::All });
    let mut shared = pipe(Some(Rate(5_000_000)), Nanos::from_millis(50));
    shared.queue = QueueSpec { limit: QueueLimit::Packets(65), limit_counts_service: true };
    let app = AppSpec { start: Nanos::from_millis(10), jitter: Nanos::ZERO, bytes: Some(3_000_000), pieces: None };
    let mut s = dumbbell(2, &pipe(None, Nanos::ZERO), &shared, &FlowSpec { handshake: true, app, ..flow() });
    s.links[0].forward.elements = vec![loss(data_loss, Place::Entry), swap, loss(data_loss, Place::Exit)];
    s.links[0].back.elements = vec![loss(ack_loss, Place::Entry)];
    s.duration = Nanos::from_secs(30);
    s
}

/// As above; in addition, four of every ten packets that arrive at the queue are duplicated, and a fifth is late by two
/// round trips.
pub(crate) fn with_doubles(loss: f64) -> Scenario {
    let mut s = scenario(loss, 0.0);
    let action = |nth| match nth % 10 {
        0..4 => Some(ScriptAction::Duplicate),
        4 => Some(ScriptAction::Delay(Nanos::from_millis(200))),
        _ => None,
    };
    let rules = (100..20_000).filter_map(|nth| Some(ScriptRule { nth, action: action(nth)? })).collect();
    s.links[0]
        .forward
        .elements
        .insert(0, ElementSpec::Script(ScriptSpec { at: Place::Entry, only: Only::All, flow: None, rules }));
    s
}

pub(crate) fn run<W: Watch>(s: &Scenario, stack: &str, seed: u64, watch: W) -> (Results, W) {
    let mut sim = Sim::new(s, &[Stack::named(stack).unwrap()], seed, watch).unwrap();
    let results = sim.run();
    (results, sim.into_watch())
}

fn data_sent(rows: &[Row], flow: u32) -> impl Iterator<Item = &What> {
    let of_flow = rows.iter().filter(move |r| r.end == Some((flow, Side::Sender))).map(|r| &r.what);
    of_flow.filter(|w| matches!(w, What::Sent { seg, .. } if seg.len > 0))
}

fn verdict(w: &What) -> Option<Verdict> {
    match w {
        What::Sent { verdict, .. } => *verdict,
        _ => None,
    }
}

#[test]
fn the_columns_add_up_to_the_simulators_own_counts_for_every_stack() {
    let mut sums = [0; 3];
    let paths = [
        scenario(0.0, 0.0),
        scenario(0.005, 0.0),
        scenario(0.05, 0.3),
        with_doubles(0.1),
        scenario(0.05, 0.3),
        scenario(0.05, 0.3),
    ];
    for (s, seed) in paths.iter().zip(1..) {
        for stack in Stack::names() {
            let (results, recorder) = run(s, stack, seed, Recorder::new(Vec::new(), 2));
            let (_, rows) = recorder.close().unwrap();
            for (i, f) in results.flows.iter().enumerate() {
                let case = format!("{stack}, path {seed}, flow {i}");
                let count = |is: fn(&What) -> bool| data_sent(&rows, i as u32).filter(|w| is(w)).count() as u64;
                assert_eq!(count(|_| true), f.data_sent, "{case}");
                assert_eq!(count(|w| matches!(w, What::Sent { sends: 2.., .. })), f.retransmitted, "{case}");
                let judged = |v| data_sent(&rows, i as u32).filter(|w| verdict(w) == Some(v)).count() as u64;
                let [needed, refused, needless] = [Verdict::Needed, Verdict::Refused, Verdict::Needless].map(judged);
                assert_eq!([needed, refused, needless], [f.needed, f.refused, f.needless], "{case}");
                let all = needed + refused + needless;
                assert_eq!(all, f.retransmitted, "{case}: every retransmission has a verdict, nothing else has");
                assert_eq!(count(|w| matches!(w, What::Sent { by: None, .. })), 0, "{case}: somebody asked for each");
                for (sum, more) in sums.iter_mut().zip([needed, refused, needless]) {
                    *sum += more;
                }
            }
        }
    }
    assert!(sums.iter().all(|n| *n > 50), "only {sums:?} retransmissions of each kind to compare");
}

#[test]
fn the_hash_is_the_same_twice_and_whoever_else_listens_and_another_with_another_seed() {
    let s = scenario(0.005, 0.01);
    let hash = |seed| run(&s, "rfc-6675", seed, Hasher::new(2)).1.hash();
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
    let (_, recorder) = run(&s, "rfc-6675", 1, Recorder::new(Vec::new(), 2));
    assert_eq!(recorder.close().unwrap().0, hash(1));
}
