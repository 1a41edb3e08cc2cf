//! Background traffic on a network.

use ackclock_sim::engine::Sim;
use ackclock_sim::results::Results;
use ackclock_sim::scenario::*;
use ackclock_sim::topology::dumbbell::{dumbbell, flow, pipe};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Rate;

/// One bulk flow over 5 Mb/s, 20 ms and a queue of 20; background between the routers.
fn path(background: Vec<BackgroundSpec>) -> Scenario {
    let queue = QueueSpec { limit: QueueLimit::Packets(20), limit_counts_service: true };
    let shared = DirectionSpec { queue, ..pipe(Some(Rate(5_000_000)), Nanos::from_millis(20)) };
    let mut s = dumbbell(1, &pipe(Some(Rate(10_000_000)), Nanos::ZERO), &shared, &flow());
    s.background = background;
    s
}

fn between(kind: BackgroundKind) -> BackgroundSpec {
    BackgroundSpec { from: 0, to: 1, start: Nanos::ZERO, stop: None, kind }
}

fn source(rate: u64) -> BackgroundSpec {
    between(BackgroundKind::Source(SourceSpec { rate: Rate(rate), packet: 1000, on_off: None }))
}

fn transfers(every_ms: u64, size: Size, most: u32) -> BackgroundSpec {
    let gap = Gap::Exponential(Nanos::from_millis(every_ms));
    between(BackgroundKind::Transfers(TransfersSpec { gap, size, most, flow: flow() }))
}

fn run(s: &Scenario) -> Results {
    let stack = Stack::named("newreno").expect("a known stack");
    Sim::new(s, &[stack], 1, ()).expect("a possible scenario").run()
}

#[test]
fn an_unresponsive_source_takes_its_rate_and_the_flow_gets_the_rest() {
    let mut s = path(vec![]);
    s.flows[0].window = 30 * 1460;
    let alone = run(&s);
    s.background = vec![source(2_000_000)];
    let beside = run(&s);
    let b = beside.background[0];
    // 250 packets a second; undelivered packets were dropped, or are in flight.
    assert_eq!(b.packets_sent, 15_001);
    let lost = b.packets_sent - b.packets_delivered;
    assert!(lost < 1_000 && lost <= beside.links[0].drops.queue + 30, "{b:?}");
    assert_eq!(b.delivered, 1000 * b.packets_delivered);
    let share = beside.flows[0].delivered as f64 / alone.flows[0].delivered as f64;
    assert!((0.45..0.62).contains(&share), "{share}");
}

#[test]
fn background_changes_nothing_where_it_shares_no_link() {
    let mut s = path(vec![]);
    s.nodes.extend(["X".to_owned(), "Y".to_owned()]);
    s.links.push(LinkSpec { from: 4, to: 5, ..s.links[0].clone() });
    let alone = run(&s);
    s.background = [source(4_800_000), transfers(50, Size::Constant(20_000), 10)]
        .map(|b| BackgroundSpec { from: 4, to: 5, ..b })
        .to_vec();
    let beside = run(&s);
    assert_eq!(alone.flows, beside.flows);
    assert_eq!(alone.links[..6], beside.links[..6]);
    assert!(beside.links[6].drops.queue > 100 && beside.background[1].finished > 50);
}

#[test]
fn transfers_come_and_go_and_each_is_whole() {
    let mut s = path(vec![transfers(100, Size::Constant(30_000), 20)]);
    s.duration = Nanos::from_secs(600);
    for handshake in [false, true] {
        if let BackgroundKind::Transfers(t) = &mut s.background[0].kind {
            t.flow.handshake = handshake;
        }
        let b = run(&s).background[0];
        // Six thousand on average; 2.4 Mb/s next to a greedy flow.
        assert!(b.started.abs_diff(6_000 - b.turned_away) < 300 && b.turned_away < 100, "{b:?}");
        assert!(b.started - b.finished <= 20 && b.delivered.abs_diff(30_000 * b.finished) < 600_000, "{b:?}");
        let mean = b.time.as_secs_f64() / b.finished as f64;
        assert!((0.1..3.0).contains(&mean), "{mean}");
        // 21 segments each, and the retransmissions.
        assert!((b.packets_sent - b.retransmitted).abs_diff(21 * b.started) < 500, "{b:?}");
        assert!(b.needless < b.retransmitted && b.retransmitted > 100, "{b:?}");
    }
}

#[test]
fn an_arrival_beyond_the_most_is_refused() {
    let b = run(&path(vec![transfers(10, Size::Constant(1_000_000), 3)])).background[0];
    assert!(b.turned_away > 5_000 && b.started - b.finished == 3 && b.finished > 3, "{b:?}");
}

#[test]
fn a_packet_that_outlives_its_transfer_meets_no_other() {
    // Duplicated ACKs and an occasional delay spike: copies of one transfer arrive during the next one on the same
    // hosts.
    let mut s = path(vec![transfers(20, Size::Constant(6_000), 2)]);
    s.duration = Nanos::from_secs(300);
    let (gap, length) = (Gap::Exponential(Nanos::from_secs(3)), Nanos::from_millis(1500));
    let spike = DelaySpikeSpec(InterruptionSpec { when: When::Gap(gap), length, at: Place::Exit, only: Only::All });
    s.links[0].forward.elements = vec![ElementSpec::DelaySpike(spike)];
    s.links[0].forward.queue.limit = QueueLimit::Unlimited;
    let b = run(&s).background[0];
    assert!(b.finished > 1_000 && b.delivered.abs_diff(6_000 * b.finished) <= 12_000, "{b:?}");
    // Nothing is lost here, so all retransmissions are needless, and all of them arrive late.
    assert!(b.retransmitted > 100 && b.needless <= b.retransmitted, "{b:?}");
}

#[test]
fn the_same_seed_gives_the_same_background_and_another_seed_another() {
    let s = path(vec![transfers(50, Size::Pareto { mean: 30_000, shape: 1.2 }, 50), source(500_000)]);
    let stack = || Stack::named("sack-ff96").expect("a known stack");
    let run = |seed| Sim::new(&s, &[stack()], seed, ()).expect("a possible scenario").run();
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).background, run(2).background);
}

#[test]
fn impossible_background_is_refused_with_a_sentence() {
    let refusal = |b: BackgroundSpec| {
        let stack = Stack::named("newreno").expect("a known stack");
        Sim::new(&path(vec![b]), &[stack], 1, ()).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert!(refusal(BackgroundSpec { to: 9, ..source(1) }).contains("background 1: there is no node number 9"));
    assert!(refusal(source(0)).contains("background 1: rate: found 0 bps; allowed: at least 1 bps"));
    assert!(refusal(transfers(1, Size::Constant(9), 1 << 17)).contains("at most 131072"));
}
