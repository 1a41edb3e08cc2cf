//! Runs: the results of a plan and a seed, whatever runs them.

use ackclock_lab::many::{run_many, Job};
use ackclock_lab::report::{self, run_text};
use ackclock_lab::run::{run, RunError};
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_lab::summary::Summary;
use ackclock_sim::engine::Sim;
use std::ops::ControlFlow;
use std::path::PathBuf;

const GOOD: &str = include_str!("../scenarios/good.toml");
const DUMBBELL: &str = include_str!("../scenarios/dumbbell.toml");

fn plan(text: &str, seeds: &[u64]) -> Plan {
    Plan { seeds: seeds.to_vec(), ..Plan::parse("x.toml", text, &Overrides::default()).expect("a good scenario") }
}

fn on(threads: usize, plan: &Plan) -> Vec<Summary> {
    run_many(&Job::all(&[plan], None, None), threads, |_| ControlFlow::Continue(())).expect("nothing stops it")
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("ackclock-{}-{name}", std::process::id()))
}

#[test]
fn one_thread_and_two_give_the_same_bytes() {
    for text in [GOOD, DUMBBELL] {
        let plan = plan(text, &[1, 2, 3, 4, 5]);
        let one = on(1, &plan);
        assert_eq!(one.iter().map(|s| s.seed).collect::<Vec<_>>(), plan.seeds);
        assert_eq!(report::json(&plan, &one), report::json(&plan, &on(2, &plan)));
    }
}

#[test]
fn seeds_change_what_happens_only_where_there_is_luck() {
    let hashes = |text: &str| on(2, &plan(text, &[1, 2])).into_iter().map(|s| s.trace_hash).collect::<Vec<_>>();
    let (lucky, exact) = (hashes(GOOD), hashes(DUMBBELL));
    assert_ne!(lucky[0], lucky[1]);
    assert_eq!(exact[0], exact[1]);
}

#[test]
fn slices_threads_and_recorders_do_not_change_a_run() {
    let plan = plan(GOOD, &[3]);
    let sliced = run(&plan, 3, None, &mut |_| ControlFlow::Continue(())).unwrap();
    let flows = plan.scenario.flows.len() as u32;
    let mut whole = Sim::new(&plan.scenario, &plan.stacks, 3, ackclock_trace::Hasher::new(flows)).unwrap();
    whole.run();
    assert_eq!(sliced.trace_hash, whole.into_watch().hash().to_string());
    for name in ["same.csv", "same.parquet"] {
        let path = scratch(name);
        let traced = run(&plan, 3, Some(&path), &mut |_| ControlFlow::Continue(())).unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        std::fs::remove_file(&path).unwrap();
        // A CSV has its description next to it.
        _ = std::fs::remove_file(path.with_file_name(format!("{}-metadata.json", path.file_name().unwrap().display())));
        assert_eq!(traced, sliced);
        assert!(size > 10_000, "{name}: {size} B");
    }
    assert_eq!(run_text(GOOD, None, 3).unwrap(), report::json(&plan, &[sliced]));
}

#[test]
fn a_summary_adds_up() {
    for summary in on(2, &plan(GOOD, &[1, 2])) {
        assert_eq!(summary.duration_s, 60.0);
        let first = &summary.flows[0];
        assert_eq!((first.name.as_str(), first.stack.as_str(), first.start_s), ("first", "reno", 1.0));
        assert_eq!(first.acked_bytes, 10_000_000);
        let finish = first.finish_s.unwrap();
        assert!((16.0..60.0).contains(&finish), "10 MB at 5 Mb/s begin at 1 s and end at {finish}");
        assert_eq!(first.throughput_bytes_per_s, 10_000_000.0 / 60.0);
        assert_eq!(first.goodput_bytes_per_s, 10_000_000.0 / (finish - 1.0));
        let starts: Vec<f64> = summary.flows[1..].iter().map(|f| f.start_s).collect();
        assert_eq!(starts.iter().map(|s| (s * 3.0).round()).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
        for f in &summary.flows {
            let kinds = [f.needed_retransmissions, f.refused_retransmissions, f.needless_retransmissions];
            assert!(kinds.iter().sum::<u64>() == f.retransmissions && f.retransmissions < f.data_packets_sent);
            assert!(f.needless_fast_retransmissions <= f.needless_retransmissions.min(f.fast_recoveries));
            let by_cause = f.needless_fast_retransmissions
                + f.needless_recovery_retransmissions
                + f.needless_probe_retransmissions
                + f.needless_timeout_retransmissions;
            assert_eq!(by_cause, f.needless_retransmissions);
            assert!(f.fast_recoveries + f.timeouts > 0, "{f:?}");
        }
        let dropped: u64 =
            summary.links.iter().map(|l| l.queue_drops + l.loss_drops + l.early_drops + l.script_drops).sum();
        assert_eq!(dropped, summary.flows.iter().map(|f| f.data_drops + f.ack_drops).sum::<u64>());
        let bottleneck = &summary.links[2];
        assert_eq!((bottleneck.from.as_str(), bottleneck.to.as_str()), ("R1", "R2"));
        assert!(bottleneck.max_queue_packets.unwrap() <= 65 && bottleneck.swap_events > 20);
        assert_eq!(summary.links[3].script_drops, 2);
    }
}

#[test]
fn progress_covers_all_time_and_may_stop_the_run() {
    let plan = plan(DUMBBELL, &[1, 2]);
    let mut heard = 0;
    run(&plan, 1, None, &mut |slice| {
        heard += slice.0;
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(heard, plan.scenario.duration.0);
    let path = scratch("stopped.csv");
    let stopped = run(&plan, 1, Some(&path), &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(RunError::Stopped)));
    assert!(!path.exists(), "a stopped run leaves no trace file");
    let mut long = plan.clone();
    long.scenario.duration.0 *= 1000;
    let stopped = run_many(&Job::all(&[&long], None, None), 2, |share| {
        assert!((0.0..1.0).contains(&share));
        ControlFlow::Break(())
    });
    assert!(matches!(stopped, Err(RunError::Stopped)));
}

#[test]
fn a_job_that_fails_is_the_answer_whatever_the_others_come_to() {
    let plan = plan(GOOD, &[1, 2, 3, 4, 5, 6]);
    let nowhere = scratch("no-such-folder").join("trace.csv");
    for threads in [1, 2, 9] {
        let mut jobs = Job::all(&[&plan], None, None);
        assert_eq!(run_many(&jobs, threads, |_| ControlFlow::Continue(())).unwrap().len(), jobs.len());
        jobs[3].trace = Some(&nowhere);
        let failed = run_many(&jobs, threads, |_| ControlFlow::Continue(()));
        assert!(matches!(failed, Err(RunError::Trace(_))), "{threads} threads");
        assert!(run_many(&[], threads, |_| ControlFlow::Continue(())).unwrap().is_empty());
    }
}

#[test]
fn a_trace_of_unknown_form_or_in_no_folder_is_an_error() {
    let plan = plan(DUMBBELL, &[1]);
    let refuse =
        |path: PathBuf| run_many(&Job::all(&[&plan], Some(&path), None), 1, |_| ControlFlow::Continue(())).unwrap_err();
    match refuse(scratch("trace.txt")) {
        RunError::Scenario(e) => assert_eq!(e.key.as_deref(), Some("--trace")),
        other => panic!("{other}"),
    }
    let nowhere = scratch("no-such-folder").join("trace.csv");
    match refuse(nowhere.clone()) {
        RunError::Trace(e) => assert!(e.to_string().contains(nowhere.to_str().unwrap()), "{e}"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_run_that_is_too_long_for_its_elements_is_refused_by_name() {
    let text = DUMBBELL.replace("count = 2", "count = 60000").replace("duration = \"10 s\"", "duration = \"36000 s\"");
    let e = run(&plan(&text, &[1]), 1, None, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(
        e.starts_with("x.toml: found a scenario that cannot be run, allowed: the run's duration: 36000 s is too long"),
        "{e}"
    );
}

/// Swaps raise the threshold; a burst of losses ends in a timeout.
const SWAPS: &str = r#"
[run]
duration = "120 s"
[[link]]
from = "A"
to = "B"
rate = "5 Mbps"
delay = "50 ms"
queue = "65 packets"
elements = [
    { kind = "swap", mode = "slots", count = 8, gap = { exponential = "1 s" } },
    { kind = "script", drop = [LOST] },
]
back = { elements = [] }
[[flow]]
from = "A"
to = "B"
stack = "dsack-inc"
window = "100 packets"
"#;

#[test]
fn an_adaptive_threshold_grows_stays_under_its_ceiling_and_is_three_after_a_timeout() {
    let of = |stack: &str| {
        let lost: Vec<String> = (30_000..30_080).map(|n: u32| n.to_string()).collect();
        let text = SWAPS.replace("dsack-inc", stack).replace("LOST", &lost.join(", "));
        on(2, &plan(&text, &[1, 2])).into_iter().flat_map(|run| run.flows).collect::<Vec<_>>()
    };
    for stack in ["dsack-inc", "dsack-avg", "dsack-ewma"] {
        let flows = of(stack);
        assert!(flows.iter().any(|f| f.timeouts > 0), "{stack}: {flows:?}");
        for f in flows {
            assert!(f.dupthresh_max > Some(3) && f.dupthresh_mean > Some(3.0), "{f:?}");
            assert!(f.dupthresh_mean < f.dupthresh_max.map(f64::from), "{f:?}");
            assert_eq!(f.dupthresh_after_timeout_max, (f.timeouts > 0).then_some(3), "{f:?}");
            assert!(f.dupthresh_of_ceiling_max <= Some(1.0), "{f:?}");
        }
    }
    for f in of("rfc-6675").iter().chain(&of("dsack-del")) {
        assert_eq!((f.dupthresh_max, f.dupthresh_mean, f.dupthresh_of_ceiling_max), (Some(3), Some(3.0), Some(1.0)));
    }
}

/// Flows of three full segments over 12 Mb/s, where 1500 bytes take 1 ms, with a delay of 20 ms each way.
fn row(app: &str) -> Summary {
    let text = format!("[run]\nduration = \"10 s\"\n[[link]]\nfrom = \"A\"\nto = \"B\"\nrate = \"12 Mbps\"\ndelay = \"20 ms\"\n[[flow]]\nfrom = \"A\"\nto = \"B\"\nstack = \"newreno\"\nreceiver = {{ ack = \"every\" }}\napp = {{ kind = \"transfers\", size = \"3 packets\", {app} }}\n");
    on(1, &plan(&text, &[1])).remove(0)
}

#[test]
fn transfers_in_a_row_are_one_flow_with_the_times_that_they_took() {
    // A window of one segment, then one of two: two round trips of 40 ms; on the wire the first segment, the two others (the ACK
    // of the first of them overlaps with the second), and two ACKs of 40 bytes.
    let took = 2.0 * 0.040 + 3.0 * 0.001 + 2.0 * (40.0 * 8.0 / 12e6);
    let s = row("count = 4, think = { constant = \"10 ms\" }");
    let [f] = &s.flows[..] else { panic!("one flow") };
    assert_eq!((f.name.as_str(), f.transfers, f.acked_bytes, f.data_packets_sent), ("flow-1", Some(4), 4 * 4380, 12));
    assert!(f.transfer_times_s.iter().all(|t| (t - took).abs() < 1e-6), "{took} {:?}", f.transfer_times_s);
    assert_eq!((f.transfer_median_s, f.transfer_p95_s), (Some(f.transfer_times_s[0]), Some(f.transfer_times_s[3])));
    let finish = 4.0 * took + 3.0 * 0.010;
    assert!((f.finish_s.unwrap() - finish).abs() < 1e-6 && f.start_s == 0.0);
    assert!((f.goodput_bytes_per_s - 17_520.0 / finish).abs() < 0.1, "{}", f.goodput_bytes_per_s);
    // On one connection the window stays open: the later transfers need one round trip.
    let s = row("count = 4, connections = \"one\"");
    let f = &s.flows[0];
    assert_eq!((f.transfers, f.acked_bytes), (Some(4), 4 * 4380));
    assert!((f.transfer_times_s[0] - took).abs() < 1e-6, "{:?}", f.transfer_times_s);
    assert!(f.transfer_times_s[1..].iter().all(|t| *t < 0.045), "{:?}", f.transfer_times_s);
    // A run that ends before the row does counts the finished transfers.
    let s = row("count = 1000");
    let f = &s.flows[0];
    assert_eq!((f.transfers, f.finish_s), (Some((10.0 / took) as u32), None));
    assert!((f.goodput_bytes_per_s - f.acked_bytes as f64 / 10.0).abs() < 1e-9);
}
