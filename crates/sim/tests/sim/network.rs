//! The network as a whole, with a small TCP on it.

#[path = "../../benches/speed/bare.rs"]
mod bare;

use ackclock_sim::element::wobble::{Shape, WobbleSpec};
use ackclock_sim::engine::Network;
use ackclock_sim::error::Impossible;
use ackclock_sim::results::Results;
use ackclock_sim::scenario::*;
use ackclock_sim::topology::dumbbell::{dumbbell, flow, pipe};
use ackclock_sim::watch::{Dropped, Side, Watch};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::units::Rate;
use bare::Bare;
use proptest::prelude::*;

/// The calls to a listener, flow by flow; with `QUEUES` also queues, by link.
#[derive(Default, Debug, PartialEq)]
struct Log<const QUEUES: bool = true> {
    flows: Vec<Vec<String>>,
    queues: Vec<Vec<(Time, u32, u64)>>,
    last: Time,
}

impl<const QUEUES: bool> Log<QUEUES> {
    fn note(&mut self, at: Time, flow: u32, what: String) {
        assert!(at >= self.last, "times never go back");
        self.last = at;
        self.flows.resize_with(self.flows.len().max(flow as usize + 1), Vec::new);
        self.flows[flow as usize].push(format!("{} {what}", at.0));
    }
}

impl<const QUEUES: bool> Watch for Log<QUEUES> {
    const HEARS_QUEUES: bool = QUEUES;
    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, wire: u32, sends: u8) {
        self.note(at, flow, format!("sent {from:?} {} {} {wire} {sends}", seg.seq, seg.ack));
    }
    fn dropped(&mut self, Dropped { at, flow, to, element, nth, why, seg, .. }: Dropped<'_>) {
        self.note(at, flow, format!("dropped {to:?} {element} {nth} {why:?} {} {}", seg.seq, seg.ack));
    }
    fn delivered(&mut self, at: Time, flow: u32, to: Side, seg: &Segment, wire: u32, _: u8) {
        self.note(at, flow, format!("delivered {to:?} {} {} {wire}", seg.seq, seg.ack));
    }
    fn queue(&mut self, at: Time, link: u32, packets: u32, bytes: u64) {
        self.queues.resize_with(self.queues.len().max(link as usize + 1), Vec::new);
        self.queues[link as usize].push((at, packets, bytes));
    }
}

fn ends(every: u32) -> impl FnMut(&FlowSpec, Side) -> Bare {
    move |f, side| match side {
        Side::Sender => Bare::sender(f.mss, f.window),
        Side::Receiver => Bare::receiver(every),
    }
}

fn run(s: &Scenario, seed: u64) -> (Results, Log) {
    heard(s, seed)
}

fn heard<const QUEUES: bool>(s: &Scenario, seed: u64) -> (Results, Log<QUEUES>) {
    let mut n = Network::with_endpoints(s, seed, Log::default(), ends(2)).expect("a scenario that can be run");
    let r = n.run();
    (r, n.into_watch())
}

/// The same run without a listener, where more links are fused.
fn unwatched(s: &Scenario, seed: u64) -> Results {
    Network::with_endpoints(s, seed, (), ends(2)).expect("a scenario that can be run").run()
}

fn limited(rate: u64, delay: Nanos, packets: u32) -> DirectionSpec {
    let queue = QueueSpec { limit: QueueLimit::Packets(packets), limit_counts_service: true };
    DirectionSpec { queue, ..pipe(Some(Rate(rate)), delay) }
}

fn bernoulli(p: f64, at: Place) -> ElementSpec {
    ElementSpec::Bernoulli(BernoulliSpec { p, per: Per::Packet, at, only: Only::All })
}

/// Blanton & Allman's network.
fn ba() -> Scenario {
    let mut s = dumbbell(
        1,
        &pipe(Some(Rate(10_000_000)), Nanos::ZERO),
        &limited(5_000_000, Nanos::from_millis(50), 65),
        &flow(),
    );
    s.duration = Nanos::from_secs(60);
    s
}

fn queued(s: &Scenario, also: impl Fn(usize) -> bool) -> Scenario {
    let mut s = s.clone();
    for (i, l) in s.links.iter_mut().enumerate() {
        if also(2 * i) {
            l.forward.form = LinkForm::Queued;
        }
        if also(2 * i + 1) {
            l.back.form = LinkForm::Queued;
        }
    }
    s
}

#[test]
fn a_bulk_flow_fills_the_bottleneck() {
    let (r, log) = run(&ba(), 1);
    let f = r.flows[0];
    let packets = f.delivered / 1460;
    // 5 Mb/s carry 416.67 packets of 1500 bytes a second.
    assert!((22_000..25_001).contains(&packets), "{packets}");
    assert_eq!(r.links[0].max_queue, Some(65));
    assert!(r.links[0].drops.queue > 0);
    assert!(f.retransmitted >= r.links[0].drops.queue);
    assert_eq!(r.links[0].drops.total(), r.links.iter().map(|l| l.drops.total()).sum::<u64>());
    let delivered = log.flows[0].iter().filter(|l| l.contains("delivered Receiver")).count() as u64;
    assert!(delivered + r.links[0].drops.total() <= f.data_sent);
    // Fused: S-R1 and R2-D, and half of that for the ACKs; there are few timers. Without a listener, the whole path.
    assert!(r.events < 31 * packets / 10, "{} events", r.events);
    let alone = unwatched(&ba(), 1);
    assert_eq!((&alone.flows, &alone.links), (&r.flows, &r.links));
    assert!(alone.events < 16 * packets / 10, "{} events", alone.events);
    // A listener without queues is told the same about everything else, and costs no event.
    let (deaf, heard): (Results, Log<false>) = heard(&ba(), 1);
    assert_eq!((&deaf.flows, &deaf.links, deaf.events), (&r.flows, &r.links, alone.events));
    assert_eq!(heard.flows, log.flows);
}

#[test]
fn behind_an_explicit_queue_packets_enter_the_next_link_without_an_event_and_nothing_else_changes() {
    let mut swapped = ba();
    let gap = Gap::Exponential(Nanos::from_secs(1));
    swapped.links[0].forward.elements.push(ElementSpec::Swap(SwapSpec { mode: SwapMode::Slots, count: 12, gap }));
    for s in [queued(&ba(), |link| link == 0), swapped] {
        let (r, log) = run(&s, 1);
        let packets = r.flows[0].delivered / 1460;
        // A packet at the queue and at the far end, and half an event for the ACKs.
        let deaf = unwatched(&s, 1);
        assert!(deaf.events < 27 * packets / 10, "{} events", deaf.events);
        assert_eq!((&deaf.flows, &deaf.links), (&r.flows, &r.links));
        // With a listener between the links no packet enters two of them at once.
        let mut n = Network::with_endpoints(&s, 1, Hops::default(), ends(2)).expect("a scenario that can be run");
        let apart = n.run();
        assert!(apart.events > r.events + packets / 2, "{} events, {} apart", r.events, apart.events);
        assert_eq!((&apart.flows, &apart.links), (&r.flows, &r.links));
        assert_eq!(n.into_watch().log, log);
    }
}

#[test]
fn where_elements_only_add_to_the_delay_a_packet_has_one_event_and_nothing_else_changes() {
    let delays = RedrawnDelaySpec {
        mean: Nanos::from_millis(60),
        deviation: Nanos::from_millis(20),
        every: Nanos::from_millis(50),
        below_zero: BelowZero::Again,
        overtaking: true,
        draws: Draws::Own,
    };
    let mut s = dumbbell(1, &pipe(Some(Rate(10_000_000)), Nanos::ZERO), &limited(5_000_000, Nanos::ZERO, 65), &flow());
    s.duration = Nanos::from_secs(60);
    s.links[0].forward.elements.push(ElementSpec::RedrawnDelay(delays));
    let (r, log) = run(&s, 1);
    assert!(r.flows[0].needless > 100, "some packets arrive late: {r:?}");
    let packets = log.flows[0].iter().filter(|l| l.contains("delivered Receiver")).count() as u64;
    let acks = log.flows[0].iter().filter(|l| l.contains("delivered Sender")).count() as u64;
    // The link with the element is fused with the access link before it. A packet arrives behind it and at the far end.
    let deaf = unwatched(&s, 1);
    assert!(deaf.events < 21 * packets / 10 + acks, "{} events, {packets} packets, {acks} ACKs", deaf.events);
    let explicit = unwatched(&queued(&s, |link| link == 0), 1);
    assert!(explicit.events > deaf.events + 19 * packets / 10, "{} and {} events", explicit.events, deaf.events);
    for other in [&deaf, &explicit] {
        assert_eq!((&other.flows, &other.links), (&r.flows, &r.links));
    }
    assert_eq!(run(&queued(&s, |link| link == 0), 1).1, log);
}

#[test]
fn times_are_those_that_one_computes_by_hand() {
    let mut s = ba();
    s.flows[0].app.bytes = Some(1460);
    let (r, log) = run(&s, 1);
    // 1.2 ms on 10 Mb/s, 2.4 ms on 5 Mb/s, 50 ms, 1.2 ms; a single segment waits 200 ms for its ACK; 40 B: 32, 64, 32 µs.
    let back = 54_800_000 + 200_000_000 + 32_000 + 64_000 + 50_000_000 + 32_000;
    assert_eq!(
        log.flows[0],
        [
            "0 sent Sender 1 0 1500 1".to_owned(),
            "54800000 delivered Receiver 1 0 1500".to_owned(),
            "254800000 sent Receiver 0 1461 40 0".to_owned(),
            format!("{back} delivered Sender 0 1461 40"),
        ]
    );
    assert_eq!(r.flows[0].finished, Some(Time(back)));
}

#[test]
fn going_in_steps_changes_nothing() {
    let (whole, log) = run(&ba(), 1);
    let mut n = Network::with_endpoints(&ba(), 1, Log::default(), ends(2)).unwrap();
    while n.now() < n.end() {
        let to = n.now() + Nanos::from_millis(777);
        n.run_until(to);
    }
    assert_eq!(n.results(), whole);
    assert_eq!(n.into_watch(), log);
}

#[test]
fn a_packet_dropped_at_the_exit_has_used_its_slot() {
    let script = |at| {
        let mut s = ba();
        s.duration = Nanos::from_millis(500);
        let rules = vec![ScriptRule { nth: 0, action: ScriptAction::Drop }];
        s.links[0].forward.elements = vec![ElementSpec::Script(ScriptSpec { at, only: Only::All, flow: None, rules })];
        let (r, log) = run(&s, 1);
        assert_eq!(r.links[0].drops.script, 1);
        log.flows[0].iter().find(|l| l.contains("delivered Receiver")).unwrap().clone()
    };
    assert_eq!(script(Place::Entry), "56000000 delivered Receiver 1461 0 1500");
    // The second arrives 1.2 ms after the first and waits for the end of its transmission.
    assert_eq!(script(Place::Exit), "57200000 delivered Receiver 1461 0 1500");
}

#[test]
fn a_script_delays_and_duplicates_the_packets_that_it_names() {
    let script = |at, action| {
        let mut s = ba();
        s.duration = Nanos::from_millis(300);
        s.links[0].forward.elements = vec![ElementSpec::Script(ScriptSpec {
            at,
            only: Only::All,
            flow: None,
            rules: vec![ScriptRule { nth: 0, action }],
        })];
        let (r, log) = run(&s, 1);
        assert_eq!(r.flows[0].needless, 0);
        let rx = |l: &&String| l.contains("delivered Receiver");
        log.flows[0]
            .iter()
            .filter(rx)
            .take(3)
            .map(|l| l.split(" 0 1500").next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let held = ScriptAction::Delay(Nanos::from_millis(10));
    for at in [Place::Entry, Place::Exit] {
        let two = script(at, ScriptAction::Duplicate);
        assert!(
            two[0].ends_with("Receiver 1") && two[1].ends_with("Receiver 1") && two[2].ends_with(" 1461"),
            "{two:?}"
        );
        let late = script(at, held);
        assert!(late[0].ends_with(" 1461") && late[1] == "64800000 delivered Receiver 1", "{late:?}");
    }
}

/// The places that packets passed, besides the events that every listener sees.
#[derive(Default)]
struct Hops {
    log: Log,
    passed: Vec<(Time, u32, Side, u32)>,
}

impl Watch for Hops {
    const HEARS_HOPS: bool = true;
    const HEARS_QUEUES: bool = true;
    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, wire: u32, sends: u8) {
        self.log.sent(at, flow, from, seg, wire, sends);
    }
    fn dropped(&mut self, packet: Dropped<'_>) {
        self.log.dropped(packet);
    }
    fn delivered(&mut self, at: Time, flow: u32, to: Side, seg: &Segment, wire: u32, sends: u8) {
        self.log.delivered(at, flow, to, seg, wire, sends);
    }
    fn queue(&mut self, at: Time, link: u32, packets: u32, bytes: u64) {
        self.log.queue(at, link, packets, bytes);
    }
    fn passed(&mut self, at: Time, link: u32, _: u32, to: Side, number: u32, _: &Segment) {
        assert!(at >= self.log.last, "times never go back");
        self.passed.push((at, link, to, number));
    }
}

#[test]
fn a_packet_is_reported_at_each_link_but_its_first_and_listening_changes_nothing() {
    let s = ba();
    let mut n = Network::with_endpoints(&s, 1, Hops::default(), ends(2)).unwrap();
    let results = n.run();
    let Hops { log, passed } = n.into_watch();
    let (plain, heard) = run(&s, 1);
    assert_eq!((results.flows, log.flows), (plain.flows, heard.flows));
    // Data takes links 2, 0 and 4, and ACKs return over 5, 1 and 3; without loss before the bottleneck every packet reaches it.
    let links = |to| passed.iter().filter(|p| p.2 == to).map(|p| p.1).collect::<std::collections::BTreeSet<_>>();
    assert_eq!((links(Side::Receiver), links(Side::Sender)), ([0, 4].into(), [1, 3].into()));
    let at = |link| passed.iter().filter(|p| p.1 == link).map(|p| p.3).collect::<Vec<_>>();
    assert!(at(0).iter().copied().eq(0..at(0).len() as u32), "in order, each once");
    assert!(at(4).len() > 1000 && at(4).iter().all(|number| at(0).binary_search(number).is_ok()));
    let middle = passed.iter().find(|p| (p.1, p.3) == (4, 0)).unwrap();
    assert!(middle.0 >= Time(50_000_000), "the bottleneck takes 50 ms: {middle:?}");
}

#[test]
fn loss_at_the_entry_and_at_the_exit_meets_the_same_packets() {
    let lossy = |at| {
        let mut s = ba();
        s.links[0].forward.elements = vec![bernoulli(0.02, at)];
        run(&s, 9).0
    };
    let (entry, exit) = (lossy(Place::Entry), lossy(Place::Exit));
    assert!(entry.links[0].drops.loss > 20 && exit.links[0].drops.loss > 20);
    // Every drop is repaired by a needed retransmission, except perhaps the last ones.
    for r in [entry, exit] {
        let needed = r.flows[0].retransmitted - r.flows[0].needless;
        assert!(r.links[0].drops.total().abs_diff(needed) < 10, "{r:?}");
    }
}

#[test]
fn swaps_reorder_without_losing_anything() {
    for mode in [SwapMode::Slots, SwapMode::Literal, SwapMode::Neighbours] {
        let mut s = ba();
        s.links[0].forward.queue.limit = QueueLimit::Packets(600);
        s.flows[0].window = 100 * 1460;
        let gap = Gap::Exponential(Nanos::from_millis(500));
        s.links[0].forward.elements = vec![ElementSpec::Swap(SwapSpec { mode, count: 300, gap })];
        let (r, log) = run(&s, 3);
        assert!(r.links[0].swap_events > 80 && r.links[0].swap_skipped < 100, "{r:?}");
        assert_eq!(r.links[0].drops.total(), 0);
        assert_eq!(r.flows[0].needless, r.flows[0].retransmitted, "{mode:?}");
        assert!(r.flows[0].retransmitted > 0);
        assert!(log.flows[0].len() > 10_000);
    }
}

#[test]
fn adding_an_element_never_disturbs_the_luck_of_another() {
    let drops = |s: &Scenario| {
        let (_, log) = run(s, 5);
        let dropped: Vec<String> = log.flows.into_iter().flatten().filter(|l| l.contains(" Loss ")).collect();
        dropped.iter().map(|l| l.split(' ').nth(4).unwrap().to_owned()).take(20).collect::<Vec<_>>()
    };
    let mut s = ba();
    s.links[0].forward.elements = vec![bernoulli(0.02, Place::Entry)];
    let alone = drops(&s);
    assert!(alone.len() == 20);
    s.links[2].back.elements = vec![bernoulli(0.0, Place::Entry)];
    let rule = ScriptRule { nth: 1_000_000, action: ScriptAction::Drop };
    s.links[0]
        .forward
        .elements
        .insert(0, ElementSpec::Script(ScriptSpec { at: Place::Exit, only: Only::All, flow: None, rules: vec![rule] }));
    assert_eq!(drops(&s), alone);
}

#[test]
fn an_impossible_scenario_is_refused_with_a_sentence() {
    let refused = |change: &dyn Fn(&mut Scenario)| {
        let mut s = ba();
        change(&mut s);
        match Network::with_endpoints(&s, 1, (), ends(2)) {
            Ok(_) => panic!("accepted"),
            Err(e) => e,
        }
    };
    let text = |change: &dyn Fn(&mut Scenario)| refused(change).to_string();
    assert!(matches!(refused(&|s| s.links.truncate(2)), Impossible::NoRoute { .. }));
    assert!(text(&|s| s.flows[0].to = 2).contains("begins and ends at node \"S0\""));
    assert!(text(&|s| s.links[1].to = 9).contains("no node number 9"));
    assert!(text(&|s| s.duration = Nanos(1 << 47)).contains("too long; times up to 140737488355.326 us"));
    assert!(text(&|s| s.links[0].forward.delay = Nanos(1 << 47)).contains("link 0 from \"R1\" to \"R2\": delay"));
    assert!(text(&|s| s.flows = vec![s.flows[0].clone(); 1 << 23]).contains("at most 16777216"));
    // The more elements, the shorter a run may be: half as long with up to twice as many.
    assert!(text(&|s| {
        s.flows = vec![s.flows[0].clone(); 1 << 16];
        s.duration = Nanos(1 << 46);
    })
    .contains("too long; times up to 70368744177.662 us"));
    assert!(text(&|s| s.links[0].back.rate = Some(Rate(0))).contains("at least 1 bps"));
    assert!(text(&|s| s.links[0].back.queue.limit = QueueLimit::Packets(0)).contains("at least 1 packet"));
    assert!(text(&|s| s.flows[0].mss = 0).contains("1 B to 1048576 B"));
    assert!(text(&|s| s.nodes[1] = "R1".into()).contains("\"R1\" twice"));
    let e = |e: ElementSpec| text(&|s| s.links[0].forward.elements = vec![e.clone()]);
    assert!(e(bernoulli(f64::NAN, Place::Entry)).contains("0 to 1"));
    let twice = vec![ScriptRule { nth: 3, action: ScriptAction::Drop }; 2];
    assert!(e(ElementSpec::Script(ScriptSpec { at: Place::Entry, only: Only::All, flow: None, rules: twice }))
        .contains("two rules for arrival 3"));
    let swap = |gap| ElementSpec::Swap(SwapSpec { mode: SwapMode::Slots, count: 1, gap });
    assert!(e(swap(Gap::Constant(Nanos(0)))).contains("a time above zero"));
    assert!(text(&|s| {
        s.links[0].forward.queue.limit = QueueLimit::Unlimited;
        s.links[0].forward.elements = vec![swap(Gap::Constant(Nanos(5)))];
    })
    .contains("slots"));
}

#[test]
fn a_run_of_more_than_2_17_elements_gives_the_same_events() {
    let few = {
        let mut s = dumbbell(3, &pipe(None, Nanos::ZERO), &limited(5_000_000, Nanos::from_millis(20), 20), &flow());
        s.duration = Nanos::from_secs(20);
        s
    };
    // These flows come first, so the others have the largest numbers; they would begin after the end.
    let late = AppSpec { start: few.duration + Nanos(1), ..flow().app };
    let idle = 70_000;
    let mut many = Scenario { flows: vec![FlowSpec { from: 0, to: 1, app: late, ..flow() }; idle], ..few.clone() };
    many.flows.extend(few.flows.clone());
    let ((r, log), (other, heard)) = (run(&few, 1), run(&many, 1));
    assert!(r.links[0].drops.queue > 10);
    assert_eq!((&other.links, &heard.queues), (&r.links, &log.queues));
    assert_eq!((&other.flows[idle..], &heard.flows[idle..]), (&r.flows[..], &log.flows[..]));
}

#[test]
fn ten_thousand_flows_are_built_in_well_under_a_second() {
    let s = dumbbell(
        10_000,
        &pipe(Some(Rate(100_000_000)), Nanos::from_millis(5)),
        &limited(10_000_000_000, Nanos::from_millis(20), 20_000),
        &flow(),
    );
    let n = Network::with_endpoints(&s, 1, (), ends(2)).unwrap();
    assert_eq!(n.results().flows.len(), 10_000);
}

/// An element that adds to the delay, often by a time that leads to ties.
fn any_delay() -> impl Strategy<Value = ElementSpec> {
    let period = prop_oneof![Just(2_400_000), Just(12_000_000), 1_000_000u64..100_000_000];
    (period, prop_oneof![Just(1_200_000), 0u64..20_000_000], any::<bool>(), any::<bool>()).prop_map(
        |(period, size, overtaking, drawn)| {
            if drawn {
                let (mean, deviation) = (Nanos(size + 1), Nanos(size / 2));
                let (below_zero, draws) = (BelowZero::Zero, Draws::Own);
                let every = Nanos(period);
                return ElementSpec::RedrawnDelay(RedrawnDelaySpec {
                    mean,
                    deviation,
                    every,
                    below_zero,
                    overtaking,
                    draws,
                });
            }
            let (amplitude, period) = (Nanos(size), Nanos(period));
            ElementSpec::Wobble(WobbleSpec { shape: Shape::Square, amplitude, period, overtaking })
        },
    )
}

fn any_direction() -> impl Strategy<Value = DirectionSpec> {
    let rate = prop_oneof![Just(Some(5_000_000)), Just(Some(10_000_000)), Just(Some(3_000_000)), Just(None)];
    let delay = prop_oneof![Just(0), Just(1_200_000), Just(2_400_000), 0u64..5_000_000];
    let limit = prop_oneof![
        Just(QueueLimit::Unlimited),
        (1u32..12).prop_map(QueueLimit::Packets),
        Just(QueueLimit::Packets(1000)),
        (1u64..10).prop_map(|n| QueueLimit::Bytes(1500 * n)),
    ];
    let loss = prop_oneof![3 => Just(None), 1 => (0u64..60).prop_map(Some)];
    let more = prop_oneof![2 => Just(None), 1 => any_delay().prop_map(Some)];
    (rate, delay, limit, any::<bool>(), loss, more).prop_map(
        |(rate, delay, limit, limit_counts_service, loss, more)| {
            let rules = loss.map(|n| {
                vec![
                    ScriptRule { nth: n, action: ScriptAction::Drop },
                    ScriptRule { nth: n + 3, action: ScriptAction::Duplicate },
                    ScriptRule { nth: n + 5, action: ScriptAction::Delay(Nanos(2_400_000)) },
                    ScriptRule { nth: n + 6, action: ScriptAction::Delay(Nanos((n + 1) * 400_000)) },
                ]
            });
            let script = rules
                .map(|rules| ElementSpec::Script(ScriptSpec { at: Place::Entry, only: Only::All, flow: None, rules }));
            let queue = QueueSpec { limit, limit_counts_service };
            let elements = script.into_iter().chain(more).collect();
            DirectionSpec { queue, elements, ..pipe(rate.map(Rate), Nanos(delay)) }
        },
    )
}

/// Random trees of nodes with flows over them: many links, many ties.
fn any_scenario() -> impl Strategy<Value = Scenario> {
    (2u32..8).prop_flat_map(|nodes| {
        let links =
            prop::collection::vec((any::<prop::sample::Index>(), any_direction(), any_direction()), nodes as usize - 1);
        let flows = prop::collection::vec((0..nodes, 1..nodes, 0u64..3, 1u64..60), 1..5);
        (links, flows).prop_map(move |(links, flows)| {
            let mut s = ba();
            s.duration = Nanos::from_secs(8);
            s.nodes = (0..nodes).map(|n| format!("N{n}")).collect();
            let tree = |(i, (at, forward, back)): (usize, (prop::sample::Index, _, _))| LinkSpec {
                from: at.index(i + 1) as u32,
                to: i as u32 + 1,
                forward,
                back,
            };
            s.links = links.into_iter().enumerate().map(tree).collect();
            let one = |(from, step, start, packets): (u32, u32, u64, u64)| FlowSpec {
                from,
                to: (from + step) % nodes,
                app: AppSpec {
                    start: Nanos(start * 1_200_000),
                    jitter: Nanos::ZERO,
                    bytes: Some(packets * 1460 + start),
                    pieces: None,
                },
                ..flow()
            };
            s.flows = flows.into_iter().map(one).collect();
            s
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn computed_and_queued_links_give_the_same_events_at_ties_too(s in any_scenario(), which in any::<u16>()) {
        let (r, log) = run(&s, 1);
        let alone = unwatched(&s, 1);
        prop_assert_eq!(&alone.flows, &r.flows);
        prop_assert_eq!(&alone.links, &r.links);
        let (deaf, heard): (Results, Log<false>) = heard(&s, 1);
        prop_assert_eq!(&heard.flows, &log.flows);
        prop_assert_eq!(&deaf.links, &r.links);
        for also in [0xffff, which] {
            let (q, queued_log) = run(&queued(&s, |link| also >> (link % 16) & 1 == 1), 1);
            prop_assert_eq!(&q.flows, &r.flows);
            prop_assert_eq!(&q.links, &r.links);
            prop_assert_eq!(&queued_log, &log);
        }
    }
}
