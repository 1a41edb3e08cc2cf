//! The network as a path for packets from outside.

use ackclock_sim::engine::outside::{Entering, Path};
use ackclock_sim::engine::Sim;
use ackclock_sim::results::{FlowResult, Results};
use ackclock_sim::scenario::*;
use ackclock_sim::topology::dumbbell::{dumbbell, flow, pipe};
use ackclock_sim::watch::{Dropped, Side, Watch};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::units::Rate;

/// The packets that entered, and their fates.
#[derive(Default)]
struct Log {
    sent: Vec<(Time, u32, Side, Entering)>,
    fates: Vec<String>,
    copied: u32,
    lost: u32,
}

impl Watch for Log {
    const HEARS_QUEUES: bool = true;
    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, wire: u32, sends: u8) {
        self.sent.push((at, flow, from, Entering { seg: *seg, wire, sends, resend: None }));
    }
    fn dropped(&mut self, Dropped { at, flow, to, element, nth, why, seg, sends }: Dropped<'_>) {
        let number = self.lost;
        self.fates.push(format!("{at} {flow} {to:?} {number} dropped {element} {nth} {why:?} {} {sends}", seg.seq));
    }
    fn arrived(&mut self, at: Time, flow: u32, to: Side, number: u32, seg: &Segment) {
        self.fates.push(format!("{at} {flow} {to:?} {number} arrived {} {} {:x}", seg.seq, seg.ack, seg.opts));
    }
    fn lost(&mut self, _: u32, _: Side, number: u32) {
        self.lost = number;
    }
    fn copied(&mut self, _: u32, _: Side, number: u32) {
        self.copied = number;
    }
    fn doubled(&mut self, at: Time, flow: u32, to: Side, seg: &Segment, sends: u8) {
        let number = self.copied;
        self.fates.push(format!("{at} {flow} {to:?} {number} doubled {} {sends}", seg.seq));
    }
    fn queue(&mut self, at: Time, link: u32, packets: u32, bytes: u64) {
        // Access links have no rate: their contents at one instant depend on the order of the queries.
        if link < 2 {
            self.fates.push(format!("{at} queue {link} {packets} {bytes}"));
        }
    }
}

/// Two flows of an engine over a bottleneck of 5 Mb/s with these elements. Access has no rate, so that nothing departs at the
/// instant at which a timer sends.
fn scenario(elements: &str) -> Scenario {
    let mut elements: Vec<ElementSpec> = serde_json::from_str(elements).expect("elements");
    let queue = QueueSpec { limit: QueueLimit::Packets(40), limit_counts_service: true };
    let shared = DirectionSpec { queue, ..pipe(Some(Rate(5_000_017)), Nanos(20_000_003)) };
    let mut s = dumbbell(2, &pipe(None, Nanos(1_000_001)), &shared, &flow());
    s.links[0].forward.elements.append(&mut elements);
    s.links[3].forward.delay = Nanos(3_000_017);
    s.duration = Nanos::from_secs(20);
    for (i, f) in s.flows.iter_mut().enumerate() {
        (f.handshake, f.wire) = (true, WireSpec::Ipv4);
        (f.app.start, f.app.bytes) = (Nanos(i as u64 * 500_000_001), (i == 1).then_some(2_000_000));
    }
    let source = SourceSpec { rate: Rate(500_003), packet: 997, on_off: Some((exponential(500), exponential(300))) };
    let size = Size::Exponential(20_000);
    // Hosts inside act before hosts outside at the same instant; the ticks of two Linux hosts produce such instants.
    let transfers = TransfersSpec { gap: exponential(900), size, most: 5, flow: FlowSpec { stack: 1, ..flow() } };
    for kind in [BackgroundKind::Source(source), BackgroundKind::Transfers(transfers)] {
        s.background.push(BackgroundSpec { from: 2, to: 1, start: Nanos(7), stop: None, kind });
    }
    s
}

/// One flow of an engine whose hosts are directly at the two ends of the impaired link.
fn direct(elements: &str) -> Scenario {
    let mut s = scenario(elements);
    let mut link = s.links.swap_remove(0);
    link.back = pipe(Some(Rate(3_000_003)), Nanos(20_000_017));
    (link.from, link.to) = (0, 1);
    (s.links, s.nodes, s.background) = (vec![link], vec!["S".into(), "D".into()], Vec::new());
    s.flows.truncate(1);
    (s.flows[0].from, s.flows[0].to) = (0, 1);
    s
}

fn exponential(ms: u64) -> Gap {
    Gap::Exponential(Nanos::from_millis(ms))
}

const PATHS: [&str; 9] = [
    "[]",
    r#"[{"kind": "bernoulli", "p": 0.01, "at": "exit"}]"#,
    r#"[{"kind": "swap", "mode": "literal", "count": 12, "gap": {"exponential": "300 ms"}}]"#,
    r#"[{"kind": "netem", "delay": "10 ms", "jitter": "3 ms", "reorder": 0.02, "gap": 5}]"#,
    r#"[{"kind": "redrawn-delay", "mean": "10 ms", "deviation": "5 ms", "every": "37 ms"}]"#,
    r#"[{"kind": "split", "paths": [
        {"weight": 2, "rate": "2 Mbps", "delay": "10 ms"}, {"weight": 3, "rate": "3 Mbps", "delay": "31 ms"}]}]"#,
    r#"[{"kind": "delay-spike", "gap": {"exponential": "2 s"}, "length": "200 ms"}]"#,
    r#"[{"kind": "gilbert-elliott", "p": 0.005, "r": 0.3}]"#,
    r#"[{"kind": "script", "drop": [41, 500, 501, 900], "duplicate": [77, 1200], "delay": [{"nth": 99, "by": "90 ms"}]}]"#,
];

/// The stacks of the flows and of the background.
fn stacks(flows: &str) -> [Stack; 2] {
    [flows, "rfc-today"].map(|name| Stack::named(name).expect("a stack"))
}

fn simulated(s: &Scenario, stacks: &[Stack], seed: u64) -> (Results, Log) {
    let mut sim = Sim::new(s, stacks, seed, Log::default()).expect("a scenario");
    (sim.run(), sim.into_watch())
}

/// The same packets at the same times, sent from outside.
fn replayed(s: &Scenario, stacks: &[Stack], seed: u64, sent: &[(Time, u32, Side, Entering)]) -> (Results, Log) {
    let mut path = Path::outside(s, stacks, seed, Log::default()).expect("a scenario");
    let mut numbers = [[0; 2]; 2];
    for (at, flow, from, packet) in sent {
        assert!(path.next_event().is_none_or(|next| next >= path.now()), "what is due has happened");
        let next = &mut numbers[*flow as usize][usize::from(*from == Side::Receiver)];
        assert_eq!(path.put(*at, *flow, *from, *packet), Some(*next));
        *next += 1;
    }
    (path.run(), path.into_watch())
}

#[test]
fn the_same_packets_at_the_same_times_have_the_fates_of_a_simulated_run() {
    let stacks = stacks("linux-2025");
    let mut harmed = 0;
    for elements in PATHS {
        // A link with a host at its end has no event of its own just before a packet arrives.
        for (s, seed) in [(scenario(elements), 1), (scenario(elements), 2), (direct(elements), 3)] {
            let (results, mut log) = simulated(&s, &stacks, seed);
            let (again, mut put) = replayed(&s, &stacks, seed, &log.sent);
            assert!(log.sent.len() > 2_000 && put.sent == log.sent, "{elements} {seed}");
            if s.links.len() == 1 {
                // If two packets reach a host at the same instant, a simulated host replies to the first before the second
                // arrives.
                log.fates.sort();
                put.fates.sort();
            }
            let differs = log.fates.iter().zip(&put.fates).find(|(a, b)| a != b);
            assert!(differs.is_none() && log.fates.len() == put.fates.len(), "{elements} {seed}: {differs:?}");
            assert_eq!((&results.links, &results.background), (&again.links, &again.background), "{elements} {seed}");
            for (a, b) in results.flows.iter().zip(&again.flows) {
                let figures = |f: &FlowResult| (f.delivered, f.acked, f.data_sent, f.retransmitted, f.finished);
                assert_eq!(figures(a), figures(b), "{elements} {seed}");
            }
            harmed += log.fates.iter().filter(|f| f.contains("dropped") || f.contains("doubled")).count();
        }
    }
    assert!(harmed > 1_000, "{harmed}");
}

#[test]
fn another_seed_has_another_fate_for_the_same_packets() {
    let (stacks, s) = (stacks("linux-2025"), scenario(PATHS[1]));
    let (_, log) = simulated(&s, &stacks, 1);
    assert_ne!(replayed(&s, &stacks, 2, &log.sent).1.fates, log.fates);
}

#[test]
fn nothing_enters_after_the_end_or_for_a_flow_that_is_not_there() {
    let (stacks, s) = (stacks("newreno"), scenario("[]"));
    let mut path = Path::outside(&s, &stacks, 1, Log::default()).expect("a scenario");
    let packet = Entering { seg: Segment { len: 100, ..Segment::EMPTY }, wire: 140, sends: 1, resend: None };
    assert_eq!(path.put(Time(5), 2, Side::Sender, packet), None);
    assert_eq!(path.put(path.end() + Nanos(1), 0, Side::Sender, packet), None);
    assert_eq!(path.put(path.end(), 0, Side::Sender, packet), Some(0));
}

#[test]
fn a_fin_that_the_window_cuts_off_is_refused_and_its_data_is_not() {
    let (stacks, s) = (stacks("newreno"), scenario("[]"));
    let mut path = Path::outside(&s, &stacks, 1, Log::default()).expect("a scenario");
    let flags = Segment::ACK | Segment::FIN;
    let seg = Segment { seq: Offset(1), len: 100, flags, ..Segment::EMPTY };
    for (ms, sends) in [(1, 1), (400, 2)] {
        path.put(Time(ms * 1_000_000), 0, Side::Sender, Entering { seg, wire: 140, sends, resend: None });
        path.run_until(Time((ms + 150) * 1_000_000));
        if sends == 1 {
            path.refused(0, Side::Receiver, Refusal::Window, &seg, sends, &[(Offset(101), Offset(102))]);
        }
    }
    let flow = path.results().flows[0];
    assert_eq!((flow.needed, flow.refused, flow.needless), (0, 1, 0), "it was sent again for its FIN");
}

#[test]
fn what_the_tcp_outside_refuses_makes_its_retransmission_refused() {
    let (stacks, s) = (stacks("newreno"), scenario("[]"));
    let mut path = Path::outside(&s, &stacks, 1, Log::default()).expect("a scenario");
    let packet = |first: u64, sends| {
        let seg = Segment { seq: Offset(first), len: 100, flags: Segment::ACK, ..Segment::EMPTY };
        Entering { seg, wire: 140, sends, resend: None }
    };
    // The second of two segments is refused, and both are retransmitted; the second time, the end of the first is refused.
    for (ms, first, sends) in [(1, 1, 1), (2, 101, 1), (200, 1, 2), (201, 101, 2), (400, 1, 3)] {
        path.put(Time(ms * 1_000_000), 0, Side::Sender, packet(first, sends));
        path.run_until(Time((ms + 150) * 1_000_000));
        let missing = match (first, sends) {
            (101, 1) => (Offset(101), Offset(201)),
            (1, 2) => (Offset(51), Offset(101)),
            _ => continue,
        };
        path.refused(0, Side::Receiver, Refusal::Paws, &packet(first, sends).seg, sends, &[missing]);
    }
    let flow = path.results().flows[0];
    assert_eq!((flow.retransmitted, flow.needed, flow.refused, flow.needless), (3, 0, 1, 2), "{flow:?}");
}
