//! Captures of simulated runs, as files.

#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the answer")]

use ackclock_lab::capturing::Capturing;
use ackclock_lab::many::{run_many, Job};
use ackclock_lab::run::{run, run_captured, RunError};
use ackclock_lab::scenario::{Overrides, Plan};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const GOOD: &str = include_str!("../scenarios/good.toml");
const DUMBBELL: &str = include_str!("../scenarios/dumbbell.toml");

/// A test's own folder, which is removed with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ackclock-captures-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// All files below a folder, with their contents.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            let below = files(&entry.path()).into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes));
            all.extend(below);
        } else {
            all.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    all
}

fn plan(text: &str, stack: Option<&str>, seeds: &[u64]) -> Plan {
    let overrides = Overrides { stack: stack.map(str::to_owned), ..Overrides::default() };
    Plan { seeds: seeds.to_vec(), ..Plan::parse("x.toml", text, &overrides).expect("a good scenario") }
}

fn captured(name: &str, plans: &[&Plan], threads: usize) -> BTreeMap<String, Vec<u8>> {
    let scratch = Scratch::new(name);
    let pcap = Capturing::new(&scratch.0.join("captures"), None, None).unwrap();
    let jobs = Job::all(plans, None, Some(&pcap));
    run_many(&jobs, threads, |_| ControlFlow::Continue(())).unwrap();
    files(&pcap.folder)
}

#[test]
fn a_run_fills_the_folder_and_each_of_several_runs_one_of_its_own() {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    let one = captured("one", &[&plan(GOOD, None, &[3])], 1);
    assert_eq!(names(&one), ["receiver.pcapng", "sender.pcapng", "truth.csv"]);
    assert!(one["sender.pcapng"].len() > 10_000);
    let two = captured("two", &[&plan(GOOD, None, &[3, 4])], 1);
    assert!(two.keys().all(|name| name.starts_with("seed-3/") || name.starts_with("seed-4/")) && two.len() == 6);
    assert_eq!(two["seed-3/sender.pcapng"], one["sender.pcapng"]);
    let (reno, sack) = (plan(GOOD, Some("newreno"), &[3]), plan(GOOD, Some("rfc-6675"), &[3]));
    let both = captured("both", &[&reno, &sack], 1);
    let folders: Vec<&str> = both.keys().filter_map(|name| name.strip_suffix("/truth.csv")).collect();
    assert_eq!(folders, ["newreno-seed-3", "rfc-6675-seed-3"]);
}

#[test]
fn threads_cannot_be_seen_in_a_capture() {
    let plan = plan(GOOD, None, &[1, 2, 3, 4]);
    let one = captured("threads-1", &[&plan], 1);
    assert_eq!(one.len(), 12);
    assert!(one == captured("threads-3", &[&plan], 3));
}

#[test]
fn a_capture_and_a_trace_change_nothing_and_each_retransmission_has_its_line() {
    let scratch = Scratch::new("same");
    let plan = plan(GOOD, None, &[3]);
    let plain = run(&plan, 3, None, &mut |_| ControlFlow::Continue(())).unwrap();
    for trace in [None, Some(scratch.0.join("run.parquet"))] {
        let folder = scratch.0.join("captures");
        let pcap = Capturing::new(&folder, None, None).unwrap();
        let summary = run_captured(&plan, 3, trace.as_deref(), &pcap, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(summary, plain);
        let truth = std::fs::read_to_string(folder.join("truth.csv")).unwrap();
        let again: u64 = plain.flows.iter().map(|f| f.retransmissions).sum();
        assert_eq!(truth.lines().count() as u64, again + 1);
        let needless: u64 = plain.flows.iter().map(|f| f.needless_retransmissions).sum();
        assert_eq!(truth.lines().filter(|line| line.ends_with(",needless")).count() as u64, needless);
        assert!(again > 0);
    }
}

#[test]
fn a_run_that_is_stopped_leaves_no_capture() {
    let scratch = Scratch::new("stopped");
    let pcap = Capturing::new(&scratch.0.join("captures"), None, None).unwrap();
    let stopped = run_captured(&plan(GOOD, None, &[1]), 1, None, &pcap, &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(RunError::Stopped)));
    assert!(files(&pcap.folder).is_empty());
}

#[test]
fn a_node_between_the_ends_is_captured_and_any_other_is_refused() {
    let scratch = Scratch::new("middle");
    let at = |node: &str, text| {
        let pcap = Capturing::new(&scratch.0, Some(node), None).unwrap();
        let ran = run_captured(&plan(text, None, &[1]), 1, None, &pcap, &mut |_| ControlFlow::Continue(()));
        ran.map(|_| files(&scratch.0).contains_key("middle.pcapng")).map_err(|e| e.to_string())
    };
    assert_eq!(at("R1", DUMBBELL), Ok(true));
    let refused = |node: &str, text| at(node, text).unwrap_err();
    assert_eq!(
        refused("r2", DUMBBELL),
        "command line: key `--pcap-at`: found \"r2\", allowed: a node between a flow's ends: R1, R2; did you mean R2?"
    );
    let one_link = "[run]\nduration = \"1 s\"\n[[link]]\nfrom = \"S\"\nto = \"D\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\nqueue = \"9 packets\"\n[[flow]]\nfrom = \"S\"\nto = \"D\"\nstack = \"newreno\"\n";
    assert!(refused("S", one_link)
        .ends_with("allowed: nothing, since no flow of this scenario passes a node between its ends"));
}

#[test]
fn a_snap_length_that_cuts_headers_is_refused() {
    for (snap, good) in [(79, false), (80, true), (65_535, true), (65_536, false)] {
        let made = Capturing::new(Path::new("x"), None, Some(snap));
        assert_eq!(made.is_ok(), good, "{made:?}");
    }
    let e = Capturing::new(Path::new("x"), None, Some(0)).unwrap_err().to_string();
    assert_eq!(e, "command line: key `--pcap-snap`: found 0, allowed: 80 (all headers) to 65535 bytes");
}
