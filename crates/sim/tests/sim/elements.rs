//! The effects of path elements on a complete TCP.

use ackclock_sim::engine::Sim;
use ackclock_sim::results::{FlowResult, Results};
use ackclock_sim::scenario::*;
use ackclock_sim::topology::dumbbell::{dumbbell, flow, pipe};
use ackclock_sim::watch::{Dropped, Side, Watch};
use ackclock_tcp::event::Event;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::units::Rate;

/// Times of timeouts, arrivals of first copies at the receiver, dropped packets with data and pure ACKs.
#[derive(Default)]
struct Log {
    timeouts: Vec<Time>,
    arrivals: Vec<(Time, u64)>,
    dropped: [u32; 2],
    /// Sum of the bottleneck's queue lengths that arrivals met, and their number.
    queue: (u64, u64),
    /// Packets that arrived marked, and the number of times a window's threshold was cut.
    marked: u64,
    cuts: u64,
}

impl Watch for Log {
    const HEARS_QUEUES: bool = true;
    fn tcp(&mut self, at: Time, _: u32, _: Side, e: Event) {
        match e {
            Event::Timeout { .. } => self.timeouts.push(at),
            Event::Window { from, to, .. } if to.ssthresh < from.ssthresh => self.cuts += 1,
            _ => {}
        }
    }
    fn dropped(&mut self, Dropped { seg, .. }: Dropped<'_>) {
        self.dropped[usize::from(seg.len == 0)] += 1;
    }
    fn delivered(&mut self, at: Time, _: u32, to: Side, seg: &Segment, _: u32, _: u8) {
        self.marked += u64::from(seg.opts & Segment::CE != 0);
        if to == Side::Receiver {
            self.arrivals.push((at, seg.seq.0));
        }
    }
    fn queue(&mut self, _: Time, link: u32, packets: u32, _: u64) {
        if link == 0 {
            self.queue = (self.queue.0 + u64::from(packets), self.queue.1 + 1);
        }
    }
}

/// `flows` bulk transfers over 5 Mb/s and 20 ms, 60 s long; no queue overflows.
fn path(flows: u32, elements: Vec<ElementSpec>) -> Scenario {
    let shared = pipe(Some(Rate(5_000_000)), Nanos::from_millis(20));
    let mut s = dumbbell(flows, &pipe(Some(Rate(10_000_000)), Nanos::ZERO), &shared, &flow());
    s.links[0].forward.elements = elements;
    s.flows.iter_mut().for_each(|f| f.window = 40 * 1460);
    s
}

fn run(s: &Scenario, stack: &str) -> (Results, Log) {
    run_stack(s, Stack::named(stack).expect("a known stack"))
}

fn run_stack(s: &Scenario, stack: Stack) -> (Results, Log) {
    let mut sim = Sim::new(s, &[stack], 1, Log::default()).expect("a possible scenario");
    let r = sim.run();
    (r, sim.into_watch())
}

fn spike(length: Nanos, at: Place) -> ElementSpec {
    let when = When::Times(vec![Nanos::from_secs(10)]);
    ElementSpec::DelaySpike(DelaySpikeSpec(InterruptionSpec { when, length, at, only: Only::All }))
}

#[test]
fn a_delay_spike_above_the_rto_makes_a_timeout_without_a_loss_and_everything_arrives_after_it() {
    for at in [Place::Entry, Place::Exit] {
        let (r, log) = run(&path(1, vec![spike(Nanos::from_secs(4), at)]), "sack-ff96");
        assert_eq!(r.links.iter().map(|l| l.drops.total()).sum::<u64>(), 0);
        assert!(!log.timeouts.is_empty() && log.timeouts.iter().all(|t| (10.0..20.0).contains(&t.as_secs_f64())));
        assert!(r.flows[0].needless > 0 && r.flows[0].needless == r.flows[0].retransmitted);
        // 20 ms and a transmission after its end; packets on the wire, or behind the gate, when it began still
        // arrived.
        let quiet = |t: f64| t > 10.15 && t < 14.02;
        assert!(!log.arrivals.iter().any(|(t, _)| quiet(t.as_secs_f64())), "{at:?}");
        let first: Vec<u64> =
            log.arrivals.iter().filter(|a| a.0.as_secs_f64() >= 14.02).map(|a| a.1).take(20).collect();
        assert!(first.windows(2).all(|w| w[0] < w[1]), "{at:?} {first:?}");
    }
}

#[test]
fn a_probability_of_zero_does_what_one_does_that_never_strikes() {
    let loss = |p, at| ElementSpec::Bernoulli(BernoulliSpec { p, per: Per::Packet, at, only: Only::All });
    for at in [Place::Entry, Place::Exit] {
        let never = |p| run(&path(2, vec![loss(p, at), loss(0.01, Place::Entry)]), "newreno").0;
        let (found, asked) = (never(0.0), never(f64::MIN_POSITIVE));
        assert!(found.links[0].drops.loss > 100);
        // Nothing acts behind the transmitter, so departures need no events of the engine.
        assert!(found.events <= asked.events);
        assert_eq!(format!("{found:?}"), format!("{:?}", Results { events: found.events, ..asked }), "{at:?}");
    }
}

#[test]
fn a_delay_spike_below_the_rto_costs_nothing_but_time() {
    let (r, log) = run(&path(1, vec![spike(Nanos::from_millis(300), Place::Exit)]), "newreno");
    assert_eq!((log.timeouts.len(), r.flows[0].retransmitted), (0, 0));
}

#[test]
fn an_outage_drops_arrivals_and_the_flow_continues_after_it() {
    let when = When::Times(vec![Nanos::from_secs(10)]);
    let outage = OutageSpec(InterruptionSpec { when, length: Nanos::from_secs(2), at: Place::Entry, only: Only::All });
    let (r, log) = run(&path(1, vec![ElementSpec::Outage(outage)]), "newreno");
    assert!(r.links[0].drops.loss > 10 && !log.timeouts.is_empty());
    assert!(!log.arrivals.iter().any(|(t, _)| (10.2..12.0).contains(&t.as_secs_f64())));
    assert!(log.arrivals.iter().filter(|(t, _)| t.as_secs_f64() > 20.0).count() > 10_000);
}

#[test]
fn loss_of_acks_only_or_of_data_only_meets_no_others() {
    let loss = |only| ElementSpec::Bernoulli(BernoulliSpec { p: 0.1, per: Per::Packet, at: Place::Entry, only });
    // The path back carries only ACKs; with flows both ways, each link carries both kinds.
    let mut s = path(2, vec![]);
    (s.flows[1].from, s.flows[1].to) = (s.flows[1].to, s.flows[1].from);
    for (only, kind) in [(Only::Data, 0), (Only::Acks, 1)] {
        s.links[0].back.elements = vec![loss(only)];
        let (r, log) = run(&s, "sack-ff96");
        assert!(r.links[1].drops.loss > 50 && log.dropped[1 - kind] == 0, "{only:?} {:?}", log.dropped);
    }
    // One ACK in ten lost: cumulative ACKs repair nearly all of it.
    s.flows.truncate(1);
    s.links[0].back.elements = vec![loss(Only::Acks)];
    let (lossy, whole) = (run(&s, "sack-ff96").0, run(&path(1, vec![]), "sack-ff96").0);
    assert!(lossy.links[1].drops.loss > 1_000 && lossy.flows[0].delivered * 100 > whole.flows[0].delivered * 95);
}

#[test]
fn a_script_that_sees_acks_only_counts_acks_only() {
    let mut s = path(2, vec![]);
    (s.flows[1].from, s.flows[1].to) = (s.flows[1].to, s.flows[1].from);
    let rules = [3, 5].map(|nth| ScriptRule { nth, action: ScriptAction::Drop }).to_vec();
    s.links[0].back.elements =
        vec![ElementSpec::Script(ScriptSpec { at: Place::Entry, only: Only::Acks, flow: None, rules })];
    assert_eq!(run(&s, "newreno").1.dropped, [0, 2]);
}

/// Which flows' packets were dropped, and as which arrivals.
#[derive(Default)]
struct Arrivals(Vec<(u32, u64)>);

impl Watch for Arrivals {
    fn dropped(&mut self, Dropped { flow, nth, .. }: Dropped<'_>) {
        self.0.push((flow, nth));
    }
}

#[test]
fn a_script_for_one_flow_counts_and_drops_its_packets_alone() {
    let rules = [3, 5].map(|nth| ScriptRule { nth, action: ScriptAction::Drop }).to_vec();
    let script = |flow| {
        ElementSpec::Script(ScriptSpec { at: Place::Entry, only: Only::Data, flow: Some(flow), rules: rules.clone() })
    };
    for flow in [0, 1] {
        let stack = Stack::named("newreno").expect("a known stack");
        let mut sim = Sim::new(&path(2, vec![script(flow)]), &[stack], 1, Arrivals::default()).expect("possible");
        sim.run();
        assert_eq!(sim.into_watch().0, [(flow, 3), (flow, 5)]);
    }
    let stack = Stack::named("newreno").expect("a known stack");
    let none = Sim::new(&path(2, vec![script(2)]), &[stack], 1, Arrivals::default()).err().map(|e| e.to_string());
    assert!(
        none.is_some_and(|e| e.ends_with("a script: there is no flow number 2; the scenario has 2, counted from 0"))
    );
}

#[test]
fn a_bursty_channel_loses_its_share_of_the_packets() {
    let chain = Chain::Packets { p: 0.002, r: 0.2 };
    let channel = GilbertElliottSpec { chain, good_loss: 0.0, bad_loss: 1.0, at: Place::Exit, only: Only::All };
    let (r, _) = run(&path(1, vec![ElementSpec::GilbertElliott(channel)]), "sack-ff96");
    let share = r.links[0].drops.loss as f64 / r.flows[0].data_sent as f64;
    assert!((share - 0.0099).abs() < 0.005, "{share}");
}

#[test]
fn red_keeps_the_queue_short_where_drop_tail_fills_it() {
    let limit = QueueSpec { limit: QueueLimit::Packets(100), limit_counts_service: false };
    let mean = |elements| {
        let mut s = path(10, elements);
        s.links[0].forward.queue = limit;
        let (r, log) = run(&s, "sack-ff96");
        assert!(r.flows.iter().map(|f| f.delivered).sum::<u64>() > 30_000_000);
        (log.queue.0 as f64 / log.queue.1 as f64, r.links[0].drops)
    };
    let red = RedSpec { mean_packet: 1500, ..RedSpec::new(Thresholds::Packets { min: 10, max: 30 }) };
    let ((long, full), (short, early)) = (mean(vec![]), mean(vec![ElementSpec::Red(red)]));
    assert!(full.early == 0 && full.queue > 0 && early.early > 5 * early.queue, "{full:?} {early:?}");
    assert!(long > 60.0 && (10.0..35.0).contains(&short), "{long} {short}");
}

#[test]
fn red_marks_what_may_be_marked_and_the_window_is_cut_without_a_loss() {
    let red = RedSpec { mean_packet: 1500, ..RedSpec::new(Thresholds::Packets { min: 5, max: 80 }) };
    for name in ["newreno", "rfc-6675"] {
        let run = |ecn, asked| {
            let mut stack = Stack::named(name).expect("a known stack");
            stack.options.ecn = asked;
            let (r, log) = run_stack(&path(4, vec![ElementSpec::Red(RedSpec { ecn, ..red })]), stack);
            let of = |f: fn(&FlowResult) -> u64| r.flows.iter().map(f).sum::<u64>();
            (r.links[0], log, of(|f| f.retransmitted), of(|f| f.delivered))
        };
        let (marking, log, retransmitted, delivered) = run(true, true);
        assert_eq!((marking.drops.total(), retransmitted, log.timeouts.len()), (0, 0, 0), "{name}");
        // Marked packets still in flight at the end have not arrived.
        assert!(marking.marks > 100 && (marking.marks - 5..=marking.marks).contains(&log.marked), "{name}");
        // At most once in a window (RFC 3168 §6.1.2).
        assert!(log.cuts > 50 && log.cuts <= marking.marks, "{name}: {} cuts", log.cuts);
        for (ecn, asked) in [(true, false), (false, true)] {
            let (dropping, log, again, without) = run(ecn, asked);
            assert_eq!((dropping.marks, log.marked), (0, 0), "{name}");
            assert!(dropping.drops.early > 100 && again >= dropping.drops.early, "{name}: {dropping:?}");
            assert!(delivered as f64 > 0.98 * without as f64, "{name}: {delivered} {without}");
        }
    }
}

#[test]
fn a_jittered_start_lies_within_its_jitter_and_differs_from_seed_to_seed() {
    let mut s = path(3, vec![]);
    s.duration = Nanos::from_secs(1);
    s.flows.iter_mut().for_each(|f| {
        (f.app.start, f.app.jitter) = (Nanos::from_millis(100), Nanos::from_millis(50));
    });
    let starts = |seed| -> Vec<u64> {
        let stack = Stack::named("newreno").expect("a known stack");
        let r = Sim::new(&s, &[stack], seed, ()).expect("a possible scenario").run();
        assert!(r.flows.iter().all(|f| f.delivered > 0));
        r.flows.iter().filter_map(|f| Some(f.started?.0)).collect()
    };
    let mut all: Vec<u64> = (1..=400).flat_map(starts).collect();
    assert_eq!(starts(1), starts(1));
    assert!(all.iter().all(|t| (100_000_000..150_000_000).contains(t)));
    let mean = all.iter().sum::<u64>() as f64 / all.len() as f64;
    assert!((mean / 1e6 - 125.0).abs() < 1.5, "{mean}");
    all.sort_unstable();
    all.dedup();
    assert!(all.len() > 1190);
}
