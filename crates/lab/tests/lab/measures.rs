//! The measures, compared with the same numbers computed from every event of the run.

mod log;

use ackclock_lab::measures::{LinkMeasures, Measures, Spread};
use ackclock_lab::run::{run, run_recorded};
use ackclock_lab::scenario::{Measuring, Overrides, Plan};
use ackclock_lab::summary::Summary;
use ackclock_sim::engine::Sim;
use ackclock_sim::scenario::LinkForm;
use ackclock_tcp::time::{Nanos, Time};
use log::Log;
use std::ops::ControlFlow;
use std::path::PathBuf;

const MEASURED: Option<Measuring> = Some(Measuring { bins: None });

/// One flow with delayed ACKs and swaps in the bottleneck's queue, and one whose ACKs may be lost.
const SWAPS: &str = r#"
[run]
duration = "20 s"
[[link]]
from = "S"
to = "R1"
rate = "10 Mbps"
delay = "1 ms"
[[link]]
from = "R1"
to = "R2"
rate = "5 Mbps"
delay = "50 ms"
queue = { limit = "65 packets", limit_counts_service = true }
elements = [{ kind = "swap", mode = "slots", count = 12, gap = { exponential = "0.3 s" } }]
back = { elements = [{ kind = "bernoulli", p = 0.05 }] }
[[link]]
from = "R2"
to = "D"
rate = "20 Mbps"
delay = "1 ms"
[[flow]]
from = "S"
to = "D"
stack = "sack-ff96"
window = "500 packets"
receiver = { ack = "delayed", delay = "200 ms" }
[[flow]]
name = "other"
from = "S"
to = "D"
stack = "rfc-6675"
window = "80 packets"
app = { kind = "bulk", start = "3 s" }
"#;

/// Only computed links: a bottleneck whose queue fills, fused with a faster link behind it, and two flows with handshakes.
const PLAIN: &str = r#"
[run]
duration = "15 s"
[[link]]
from = "S"
to = "R1"
rate = "100 Mbps"
delay = "2 ms"
[[link]]
from = "R1"
to = "R2"
rate = "4 Mbps"
delay = "20 ms"
queue = "40 packets"
[[link]]
from = "R2"
to = "D"
rate = "7 Mbps"
delay = "3 ms"
[[flow]]
name = "web.1"
from = "S"
to = "D"
stack = "newreno"
[[flow]]
name = "web.2"
from = "S"
to = "D"
stack = "cubic"
app = { kind = "bulk", start = "1 s" }
"#;

/// Packets, some of them duplicated, take parallel paths; one path has a queue in which they swap places.
const SPLIT: &str = r#"
[run]
duration = "12 s"
[[link]]
from = "S"
to = "R"
rate = "5 Mbps"
delay = "10 ms"
queue = "60 packets"
elements = [{ kind = "script", duplicate = [40, 41, 42, 90, 91, 200, 201, 350, 360, 370, 371, 380, 500] }, { kind = "split", choice = "turns", paths = [
    { weight = 2 },
    { weight = 1, delay = "25 ms", rate = "2 Mbps" },
    { weight = 1, elements = [{ kind = "swap", mode = "slots", count = 4, gap = { constant = "0.5 s" } }] },
] }]
back = { elements = [] }
[[link]]
from = "R"
to = "D"
rate = "50 Mbps"
delay = "1 ms"
[[flow]]
from = "S"
to = "D"
stack = "dsack-avg"
window = "100 packets"
"#;

fn plan(text: &str) -> Plan {
    Plan::parse("x.toml", text, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn ran(plan: &Plan) -> Summary {
    run(plan, plan.seeds[0], None, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|e| panic!("{e}"))
}

fn measured(plan: &Plan) -> Measures {
    ran(&Plan { measures: MEASURED, ..plan.clone() }).measures.expect("it was asked for")
}

/// The events of the run and of the second after it: a packet that leaves a link before the end may arrive after it.
fn logged(plan: &Plan) -> Log {
    let mut longer = plan.scenario.clone();
    longer.duration = longer.duration + Nanos::from_secs(1);
    let mut sim = Sim::new(&longer, &plan.stacks, plan.seeds[0], Log::default()).expect("a scenario that can be run");
    sim.run();
    sim.into_watch()
}

/// Checks that the measures found match these values, ns: each number within 1/256, and the count exactly.
fn assert_spread(found: Spread, mut values: Vec<u64>, slack: u64, what: &str) {
    values.sort_unstable();
    assert_eq!(found.count, values.len() as u64, "{what}");
    assert!(!values.is_empty(), "{what}: nothing to compare");
    let rank = |share: f64| values[((values.len() as f64 * share).ceil() as usize).max(1) - 1];
    let mean = values.iter().sum::<u64>() / values.len() as u64;
    let pairs = [
        (found.min_s, values[0]),
        (found.p50_s, rank(0.5)),
        (found.p95_s, rank(0.95)),
        (found.p99_s, rank(0.99)),
        (found.max_s, values[values.len() - 1]),
        (found.mean_s, mean),
    ];
    for (found, right) in pairs {
        let found = (found.expect("there are values") * 1e9).round() as u64;
        assert!(found.abs_diff(right) <= right / 256 + slack, "{what}: {found} ns found, {right} ns is right");
    }
}

#[test]
fn delays_and_round_trips_are_those_of_the_events() {
    for text in [SWAPS, PLAIN, SPLIT] {
        let plan = plan(text);
        let (measures, log) = (measured(&plan), logged(&plan));
        let end = Time::ZERO + plan.scenario.duration;
        for (i, flow) in measures.flows.iter().enumerate() {
            assert_spread(*flow.delay, log.delays(i as u32, end), 1, &format!("delay of {}", flow.name));
            assert_spread(*flow.rtt, log.round_trips(i as u32, end), 1, &format!("rtt of {}", flow.name));
        }
        let all = &measures.groups[0];
        let every = |of: &dyn Fn(u32) -> Vec<u64>| (0..measures.flows.len() as u32).flat_map(of).collect::<Vec<_>>();
        assert_spread(*all.delay, every(&|flow| log.delays(flow, end)), 1, "delay of all");
        assert_spread(*all.rtt, every(&|flow| log.round_trips(flow, end)), 1, "rtt of all");
    }
}

#[test]
fn what_links_carry_and_how_long_packets_wait_there_are_those_of_the_events() {
    for text in [SWAPS, PLAIN] {
        let plan = plan(text);
        let (measures, log) = (measured(&plan), logged(&plan));
        let end = Time::ZERO + plan.scenario.duration;
        assert_eq!(measures.links.len(), 6);
        for link in &measures.links {
            let spec = &plan.scenario.links[link.link / 2];
            let d = if link.link % 2 == 1 { &spec.back } else { &spec.forward };
            let rate = d.rate.unwrap().0;
            let left: Vec<_> =
                log.left(link.link as u32, rate, d.delay).into_iter().filter(|l| l.at <= end.0).collect();
            let bytes: u64 = left.iter().map(|l| u64::from(l.wire)).sum();
            let what = format!("{} to {}", link.from, link.to);
            assert_eq!((link.packets, link.bytes), (left.len() as u64, bytes), "{what}");
            let share = 8.0 * bytes as f64 / (rate as f64 * plan.scenario.duration.as_secs_f64());
            assert_eq!(link.utilisation, Some(share), "{what}");
            assert!(share > 0.0 && share <= 1.0, "{what}: {share}");
            // Fractions of a nanosecond, which a transmitter keeps and the log lacks.
            assert_spread(*link.queue_delay, left.iter().map(|l| l.wait).collect(), 2, &what);
        }
        let bottleneck = &measures.links[2];
        assert!(
            bottleneck.utilisation.unwrap() > 0.7 && bottleneck.queue_delay.p95_s.unwrap() > 0.01,
            "{bottleneck:?}"
        );
    }
}

/// With and without an explicit queue, and with and without a listener.
#[test]
fn both_forms_of_a_link_measure_the_same() {
    let (computed, mut queued) = (plan(PLAIN), plan(PLAIN));
    for l in &mut queued.scenario.links {
        (l.forward.form, l.back.form) = (LinkForm::Queued, LinkForm::Queued);
    }
    assert_eq!(measured(&computed), measured(&queued));
}

#[test]
fn the_paths_of_a_split_carry_what_the_link_carries_in_their_shares() {
    let measures = measured(&plan(SPLIT));
    let (link, paths) = (&measures.links[0], &measures.links[1..4]);
    assert_eq!((link.link, link.path), (0, None));
    assert_eq!(paths.iter().map(|p| (p.link, p.path)).collect::<Vec<_>>(), [(4, Some(0)), (5, Some(1)), (6, Some(2))]);
    let of = |number: fn(&LinkMeasures) -> u64| (number(link), paths.iter().map(number).sum::<u64>());
    let (bytes, sum) = of(|l| l.bytes);
    assert_eq!(bytes, sum);
    let (packets, sum) = of(|l| l.packets);
    assert_eq!(packets, sum);
    assert!(paths[0].packets.abs_diff(packets / 2) <= 70 && paths[1].packets.abs_diff(packets / 4) <= 70, "{paths:?}");
    assert_eq!(link.queue_delay.count, packets);
    // Its rate is the sum of those of its paths: 5, 2 and 5 Mb/s.
    let rates = [5e6, 2e6, 5e6].into_iter().zip(paths).map(|(rate, p)| rate * p.utilisation.unwrap()).sum::<f64>();
    assert!((link.utilisation.unwrap() - rates / 12e6).abs() < 1e-12);
}

#[test]
fn loss_and_reordering_are_those_that_packets_met() {
    let mut plan = plan(SPLIT);
    plan.reordering = true;
    plan.measures = MEASURED;
    let summary = ran(&plan);
    let (flow, seen) = (&summary.flows[0], &summary.measures.as_ref().unwrap().flows[0]);
    let order = flow.reordering.as_ref().unwrap();
    assert!(order.reordered > 100 && order.duplicates > 9, "{order:?}");
    assert_eq!(seen.packets.data_packets_arrived, order.packets);
    assert_eq!(seen.packets.reordered_ratio, Some(order.reordered_ratio));
    assert_eq!(seen.packets.loss_ratio, Some(flow.data_drops as f64 / flow.data_packets_sent as f64));
    assert_eq!(seen.packets.needless_ratio, Some(flow.needless_retransmissions as f64 / flow.data_packets_sent as f64));
}

#[test]
fn groups_are_all_flows_then_those_of_a_stack_then_those_of_a_name() {
    let summary = ran(&Plan { measures: MEASURED, ..plan(PLAIN) });
    let measures = summary.measures.as_ref().unwrap();
    let named: Vec<_> = measures.groups.iter().map(|g| (g.by, g.group.as_str(), g.flows)).collect();
    assert_eq!(named, [("all", "", 2), ("stack", "newreno", 1), ("stack", "cubic", 1), ("name", "web", 2)]);
    let all = &measures.groups[0];
    let acked = summary.flows.iter().map(|f| f.acked_bytes).sum::<u64>();
    assert_eq!((all.acked_bytes, all.share), (acked, Some(1.0)));
    assert_eq!((all.throughput_bytes_per_s, all.goodput_bytes_per_s), (acked as f64 / 15.0, Some(acked as f64 / 15.0)));
    let [x, y] = [0, 1].map(|i| summary.flows[i].goodput_bytes_per_s);
    assert_eq!(all.jain, Some((x + y) * (x + y) / (2.0 * (x * x + y * y))));
    assert!(all.jain.unwrap() < 0.999 && measures.groups[1].jain == Some(1.0));
    let share = summary.flows[0].acked_bytes as f64 / acked as f64;
    assert_eq!((measures.flows[0].share, measures.groups[1].share), (Some(share), Some(share)));
}

#[test]
fn completion_times_are_those_of_each_transfer() {
    let text = r#"
[run]
duration = "30 s"
[[link]]
from = "S"
to = "D"
rate = "3 Mbps"
delay = "15 ms"
queue = "30 packets"
[[flow]]
name = "ask"
from = "S"
to = "D"
stack = "newreno"
app = { kind = "transfers", size = "20 kB", count = 40, think = { constant = "100 ms" }, connections = "one" }
[[flow]]
name = "file"
from = "S"
to = "D"
stack = "newreno"
app = { kind = "fixed", size = "300 kB" }
[[background]]
from = "S"
to = "D"
kind = "transfers"
size = { exponential = "10 kB" }
gap = { exponential = "200 ms" }
stack = "newreno"
"#;
    let summary = ran(&Plan { measures: MEASURED, ..plan(text) });
    let measures = summary.measures.as_ref().unwrap();
    let (ask, file) = (&summary.flows[0], &summary.flows[1]);
    assert_eq!(ask.transfer_times_s.len(), 40);
    let times = [ask.transfer_times_s.clone(), vec![file.finish_s.unwrap() - file.start_s]];
    for (flow, times) in measures.flows.iter().zip(&times) {
        assert_eq!(*flow.completion, Spread::exact(times.clone()));
    }
    assert_eq!(measures.flows[0].completion.p95_s, ask.transfer_p95_s);
    assert_eq!(*measures.groups[0].completion, Spread::exact(times.concat()));
    let (counted, seen) = (&summary.background[0], &measures.background[0]);
    assert!(counted.finished > 100);
    assert_eq!(seen.completion.count, counted.finished);
    let mean = counted.mean_time_s.unwrap();
    assert!((seen.completion.mean_s.unwrap() - mean).abs() <= mean / 256.0, "{seen:?} {mean}");
    assert_eq!(seen.throughput_bytes_per_s, counted.delivered_bytes as f64 / 30.0);
}

#[test]
fn bins_add_up_to_the_whole() {
    let bins = Some(Nanos::from_millis(700));
    for text in [SWAPS, PLAIN, SPLIT] {
        let plan = plan(text);
        let whole = measured(&plan);
        let binned = ran(&Plan { measures: Some(Measuring { bins }), ..plan.clone() }).measures.unwrap();
        assert_eq!(binned.bin_s, Some(0.7));
        assert_eq!(Measures { bin_s: None, bins: Vec::new(), ..binned.clone() }, whole);
        let duration_s = plan.scenario.duration.as_secs_f64();
        assert_eq!(binned.bins.len(), (duration_s / 0.7).ceil() as usize);
        assert!(binned.bins.windows(2).all(|w| w[0].end_s == w[1].start_s));
        assert_eq!((binned.bins[0].start_s, binned.bins.last().unwrap().end_s), (0.0, duration_s));
        for (i, link) in whole.links.iter().enumerate() {
            assert_eq!(binned.bins.iter().map(|b| b.links[i].bytes).sum::<u64>(), link.bytes);
            assert!(binned.bins.iter().all(|b| b.links[i].utilisation.is_some_and(|u| u < 1.01)), "{link:?}");
        }
        let log = logged(&plan);
        for (i, flow) in whole.flows.iter().enumerate() {
            let acked: f64 = binned.bins.iter().map(|b| b.flows[i].goodput_bytes_per_s * (b.end_s - b.start_s)).sum();
            assert!((acked / duration_s - ran(&plan).flows[i].throughput_bytes_per_s).abs() < 1e-3);
            assert_eq!(binned.bins.iter().map(|b| b.flows[i].rtt.count).sum::<u64>(), flow.rtt.count);
            let upto = |n: u64| log.delays(i as u32, Time(n * 700_000_000));
            let (before, tenth) = (upto(9).len(), upto(10));
            assert_spread(*binned.bins[9].flows[i].delay, tenth[before..].to_vec(), 1, "delays of the tenth bin");
        }
    }
}

#[test]
fn measuring_changes_neither_trace_hash_nor_identity_nor_any_other_number() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let shipped = files.filter(|path| path.extension().is_some_and(|e| e == "toml"));
    let mut plans: Vec<Plan> = shipped.map(|path| Plan::load(&path, &Overrides::default()).unwrap()).collect();
    plans.extend([SWAPS, PLAIN, SPLIT].map(plan));
    for mut plan in plans {
        plan.scenario.duration = plan.scenario.duration.min(Nanos::from_secs(12));
        let bins = Some(Nanos::from_millis(333));
        let with = Plan { measures: Some(Measuring { bins }), ..plan.clone() };
        let (asked, silent) = (ran(&with), ran(&plan));
        assert!(asked.measures.is_some() && silent.measures.is_none());
        assert_eq!(Summary { measures: None, ..asked.clone() }, silent, "{}", plan.file);
        // A recorded run is also measured, by the same counters.
        let (recorded, _) = run_recorded(&with, plan.seeds[0], &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(recorded, asked, "{}", plan.file);
    }
}

#[test]
fn bins_that_make_no_sense_are_refused() {
    let measuring = |measures: &str| {
        let text = PLAIN.replace("duration = \"15 s\"", &format!("duration = \"15 s\"\nmeasures = {measures}"));
        Plan::parse("x.toml", &text, &Overrides::default()).map(|plan| plan.measures).map_err(|e| e.to_string())
    };
    assert_eq!(measuring("false"), Ok(None));
    assert_eq!(measuring("true"), Ok(MEASURED));
    assert_eq!(measuring("{ bins = \"1 s\" }"), Ok(Some(Measuring { bins: Some(Nanos::from_secs(1)) })));
    for (wrong, named) in
        [("{ bins = \"1 ms\" }", "1.5 ms"), ("{ bins = \"0 s\" }", "10000 bins"), ("3", "true or false")]
    {
        let error = measuring(wrong).unwrap_err();
        assert!(error.contains("run.measures") && error.contains(named), "{wrong}: {error}");
    }
    let again = Plan::parse("x.toml", &plan(PLAIN).to_toml(), &Overrides::default()).unwrap();
    assert_eq!(again.measures, None);
    for measures in [MEASURED, Some(Measuring { bins: Some(Nanos::from_millis(1700)) })] {
        let text = Plan { measures, ..plan(PLAIN) }.to_toml();
        assert_eq!(Plan::parse("x.toml", &text, &Overrides::default()).unwrap().measures, measures, "{text}");
    }
}
