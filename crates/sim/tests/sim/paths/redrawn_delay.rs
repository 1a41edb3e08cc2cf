//! Leung & Ma's single path against ns-2.35 (data/ns2-redrawn-delay).

use ackclock_sim::engine::Sim;
use ackclock_sim::reordering::Order;
use ackclock_sim::results::FlowResult;
use ackclock_sim::scenario::*;
use ackclock_sim::topology::dumbbell::{flow, pipe};
use ackclock_sim::watch::Side;
use ackclock_tcp::congestion::aimd::AimdSpec;
use ackclock_tcp::congestion::CongestionSpec;
use ackclock_tcp::congestion::CutFrom;
use ackclock_tcp::disorder::DisorderSpec;
use ackclock_tcp::rto::rfc6298::Rfc6298Spec;
use ackclock_tcp::rto::RtoSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::fixed::FixedSpec;
use ackclock_tcp::startup::StartupSpec;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::timeout::go_back_n::GoBackNSpec;
use ackclock_tcp::timeout::TimeoutSpec;
use ackclock_tcp::units::Rate;

const RUNS: &str = include_str!("../../data/ns2-redrawn-delay/runs.csv");

fn scenario(f: f64, every: Nanos) -> Scenario {
    let pipe = |ms| pipe(Some(Rate(10_000_000)), Nanos::from_millis(ms));
    let link = |from, to, forward: DirectionSpec, back| LinkSpec { from, to, forward, back };
    let mean = Nanos((200e6 * f) as u64);
    let redrawn = ElementSpec::RedrawnDelay(RedrawnDelaySpec {
        mean,
        deviation: Nanos(mean.0 / 3),
        every,
        below_zero: BelowZero::Again,
        overtaking: true,
        draws: Draws::Own,
    });
    let forward = DirectionSpec { elements: vec![redrawn], ..pipe(0) };
    let back = DirectionSpec { delay: mean, ..pipe(0) };
    Scenario {
        name: "Leung & Ma 2005, Figure 2".to_owned(),
        duration: Nanos::from_secs(1000),
        nodes: ["S", "R1", "R2", "D"].map(String::from).into(),
        links: vec![link(0, 1, pipe(1), pipe(1)), link(1, 2, forward, back), link(2, 3, pipe(1), pipe(1))],
        flows: vec![FlowSpec { from: 0, to: 3, mss: 1000, window: 100_000, handshake: true, ..flow() }],
        background: Vec::new(),
    }
}

/// ns-2.35's Sack1 with its defaults.
fn sack1() -> Stack {
    let mut s = Stack::named("sack-ff96").expect("a named stack");
    s.congestion = CongestionSpec::Aimd(AimdSpec { cut_from: CutFrom::Window, ..AimdSpec::default() });
    let (tick, initial) = (Nanos::from_millis(10), Nanos::from_secs(3));
    s.rto = RtoSpec::Rfc6298(Rfc6298Spec { tick, initial, ..Rfc6298Spec::default() });
    s.timeout = TimeoutSpec::GoBackN(GoBackNSpec { skip_sacked: false, ..GoBackNSpec::default() });
    s.options.sack_blocks = 3;
    s.disorder = DisorderSpec::LimitedTransmit;
    s.startup = StartupSpec::Fixed(FixedSpec { initial_window_segs: 2, ssthresh_segs: None });
    s
}

fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, variance / n)
}

#[test]
fn throughput_under_redrawn_delays_is_ns_2s() {
    for (f, update) in [(1.0, 50), (1.0, 100), (1.8, 50), (2.6, 100), (3.8, 50), (3.8, 100)] {
        let rows = RUNS.lines().skip(1).map(|l| l.split(',').map(|v| v.parse().unwrap()).collect::<Vec<f64>>());
        let theirs: Vec<f64> = rows.filter(|r| r[0] == f && (r[1] * 1000.0) as u64 == update).map(|r| r[3]).collect();
        assert_eq!(theirs.len(), 15);
        let s = scenario(f, Nanos::from_millis(update));
        let run = |seed| -> FlowResult { Sim::new(&s, &[sack1()], seed, ()).unwrap().run().flows[0] };
        let ours: Vec<FlowResult> = (1..=15).map(run).collect();
        let ((m, v), (n, w)) = (mean(&theirs), mean(&ours.iter().map(|r| r.acked as f64 / 1e6).collect::<Vec<_>>()));
        assert!((m - n).abs() < 3.0 * libm::sqrt(v + w), "f {f}, {update} ms: packets/s: ns-2 {m}, ours {n}");
        assert!(ours.iter().all(|r| r.retransmitted > 0 && r.needless == r.retransmitted), "nothing is lost here");
    }
}

#[test]
fn packets_overtake_under_redrawn_delays_and_acks_under_a_constant_delay_do_not() {
    let s = scenario(1.0, Nanos::from_millis(50));
    let mut sim = Sim::new(&s, &[sack1()], 1, Order::default()).unwrap();
    sim.run();
    let order = sim.into_watch();
    let data = order.at(0, Side::Receiver).expect("data arrived");
    // ns-2 in 300 s of this path: 7926 arrivals, 711 of them (9.0 %) after a later packet, 551 of these by more than 3.
    assert!((0.07..0.11).contains(&data.ratio()), "{}", data.ratio());
    let far: u64 = data.late().extents.range(4..).map(|(_, n)| n).sum();
    let far = far as f64 / data.late().packets as f64;
    assert!((0.68..0.87).contains(&far), "{far}");
    // At most a window of packets can overtake: 100, and the segments that limited transmit adds.
    assert!(data.late().extents.keys().all(|e| *e <= 102));
    assert_eq!(order.at(0, Side::Sender).map(|acks| acks.ratio()), Some(0.0));
}
