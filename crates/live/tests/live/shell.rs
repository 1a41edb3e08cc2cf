//! Programs behind a path: their observations agree with the path's ledger, and no process of
//! theirs remains.

use crate::programs::{command, line, on};
use crate::trial;
use crate::untouched::{difference, first_namespace};
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_live::error::LiveError;
use ackclock_live::shell::{Ended, Shell};
use ackclock_live::supervise::Answer;
use ackclock_sim::reordering::Reordering;
use ackclock_tcp::time::Time;
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const SEED: u64 = 7;
/// Datagrams of a test: fewer than a device's queue holds.
const COUNT: u64 = 1000;

const LOSSY: &str = r#"
[run]
duration = "5 s"
[[link]]
from = "S"
to = "D"
rate = "100 Mbps"
delay = "5 ms"
queue = "500 packets"
elements = [
    { kind = "bernoulli", p = 0.05 },
    { kind = "netem", delay = "2 ms", jitter = "2 ms" },
    { kind = "script", duplicate = [3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610] },
]
back = { elements = [{ kind = "bernoulli", p = 0.05 }] }
[[flow]]
from = "S"
to = "D"
stack = "linux-2025"
"#;

fn shell(text: &str, program: Vec<String>, peer: Option<String>) -> Shell {
    let plan = Plan::parse("test.toml", text, &Overrides::default()).unwrap();
    let (mtu, nodes) = (1500, [None, None]);
    Shell { plan, nodes, command: program, peer, seed: SEED, mtu, realtime: false, quiet: false }
}

fn sh(script: &str) -> Vec<String> {
    vec!["sh".into(), "-c".into(), script.into()]
}

fn run(shell: &Shell) -> Result<Ended, LiveError> {
    shell.run(&mut |_| (), &mut on)
}

/// Sends numbered datagrams; returns the numbers in order of arrival.
fn numbers(seed: u64) -> (Ended, Vec<u32>) {
    let file = std::env::temp_dir().join(format!("ackclock-numbers-{}-{seed}-{:?}", std::process::id(), thread()));
    let peer = line(&["listener-to-numbers", &file.display().to_string()]);
    let program = command(&["sender-of-numbers", &COUNT.to_string()]);
    let ended = run(&Shell { seed, ..shell(LOSSY, program, Some(peer)) }).unwrap();
    let heard = fs::read_to_string(&file).unwrap();
    fs::remove_file(&file).unwrap();
    assert_eq!((ended.code, ended.peer), (Some(0), Some(0)));
    (ended, heard.lines().map(|line| line.parse().unwrap()).collect())
}

fn thread() -> std::thread::ThreadId {
    std::thread::current().id()
}

fn the_ledger_is_what_the_programs_saw() {
    let (ended, heard) = numbers(SEED);
    let way = &ended.ways[0];
    let distinct: BTreeSet<u32> = heard.iter().copied().collect();
    assert_eq!((way.sent, way.under_way(), ended.device_drops), (COUNT, 0, [0, 0]));
    assert_eq!(way.arrived, heard.len() as u64);
    assert_eq!(way.arrived, COUNT + way.doubled - way.lost());
    assert!(way.loss_drops > 30 && way.doubled > 10, "{} lost, {} doubled", way.loss_drops, way.doubled);
    // The programs know the order, but not the times.
    let mut order = Reordering::default();
    heard.iter().for_each(|number| _ = order.arrive(Time(0), u64::from(*number), 0));
    let (seen, counted) = (order.late(), way.order.late());
    assert!(seen.packets > 100, "{seen:?}");
    assert_eq!((&seen.extents, &seen.n, seen.packets), (&counted.extents, &counted.n, counted.packets));
    assert_eq!((order.gaps(), order.runs()), (way.order.gaps(), way.order.runs()));
    assert_eq!(way.order.packets(), distinct.len() as u64);
    // No answer arrived.
    assert_eq!((ended.ways[1].sent, ended.ways[1].arrived), (0, 0));
}

fn a_seed_repeats_what_is_lost() {
    let lost = |seed| {
        let heard: BTreeSet<u32> = numbers(seed).1.into_iter().collect();
        (0..COUNT as u32).filter(|number| !heard.contains(number)).collect::<Vec<_>>()
    };
    let (first, again, other) = (lost(3), lost(3), lost(4));
    assert!(!first.is_empty());
    assert_eq!(first, again);
    assert_ne!(first, other);
}

fn a_game_of_datagrams() {
    let ended = run(&shell(LOSSY, command(&["player", "50"]), Some(line(&["wall"])))).unwrap();
    let [out, back] = &ended.ways;
    // The peer never ends on its own.
    assert_eq!((ended.code, ended.peer), (Some(0), None));
    assert_eq!(back.sent, out.arrived);
    assert!(out.sent >= 50 && back.arrived >= 50 && out.lost() + back.lost() > 0, "{out:?} {back:?}");
}

fn bytes_through_a_lossy_path() {
    let program = command(&["tcp-client", "600000"]);
    let ended = run(&shell(LOSSY, program, Some(line(&["tcp-server"])))).unwrap();
    assert_eq!((ended.code, ended.peer), (Some(42), Some(0)));
    for way in &ended.ways {
        assert!(way.lost() > 5 && way.bytes > 600_000, "{way:?}");
    }
    assert!(ended.lateness.count() > 800);
}

fn exit_codes() {
    let code = |command| run(&shell(LOSSY, command, None)).map(|ended| ended.code);
    assert_eq!(code(sh("exit 7")).unwrap(), Some(7));
    assert_eq!(code(sh("kill -9 $$")).unwrap(), Some(137));
    let missing = code(vec!["/no/such/program".into()]).unwrap_err();
    assert_eq!(missing.exit_code(), 2);
    assert!(missing.to_string().contains("found the command \"/no/such/program\""), "{missing}");
    let late = run(&shell(LOSSY, sh("sleep 0.3"), Some("exit 9".into()))).unwrap();
    assert_eq!((late.code, late.peer), (Some(0), Some(9)));
}

fn what_cannot_be_is_refused() {
    let refused = |change: fn(&mut Shell)| {
        let mut shell = shell(LOSSY, sh("true"), None);
        change(&mut shell);
        let e = run(&shell).unwrap_err();
        assert_eq!(e.exit_code(), 2, "{e}");
        e.to_string()
    };
    let no_node = refused(|shell| shell.nodes = [None, Some("X".into())]);
    assert_eq!(no_node, "command line: key `--to`: found \"X\", allowed: one of S, D");
    assert!(refused(|shell| shell.nodes = [None, Some("S".into())]).contains("it needs two different nodes"));
    assert!(refused(|shell| shell.mtu = 60).contains("found an MTU of 60 bytes"));
    assert!(refused(|shell| shell.command.clear()).contains("found no command"));
}

/// Whether a process with this argument runs on the machine.
fn runs(argument: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|p| fs::read(p.path().join("cmdline")).ok());
    lines.any(|line| line.split(|b| *b == 0).any(|word| word == argument.as_bytes()))
}

/// Waits for it, on a busy machine too.
fn eventually(what: impl Fn() -> bool) -> bool {
    #[expect(clippy::disallowed_methods, reason = "a live test")]
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(30) {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// A number of seconds that no other process uses for sleeping.
fn nap(which: u32) -> String {
    (1_000_000 + 10 * std::process::id() + which).to_string()
}

/// Leaves behind a process without a parent, in a session of its own.
fn leaving(nap: &str, then: &str) -> String {
    format!("(setsid sleep {nap} &) ; {then}")
}

fn processes_end_with_their_run() {
    let [of_program, of_peer, waits] = [nap(1), nap(2), nap(3)];
    let program = sh(&leaving(&of_program, "sleep 0.3; exit 3"));
    let ended = run(&shell(LOSSY, program, Some(leaving(&of_peer, &format!("exec sleep {waits}"))))).unwrap();
    assert_eq!((ended.code, ended.peer), (Some(3), None));
    for nap in [&of_program, &of_peer, &waits] {
        assert!(eventually(|| !runs(nap)), "sleep {nap} is left");
    }
}

fn a_run_that_is_stopped() {
    let naps = [nap(4), nap(5)];
    let shell = shell(LOSSY, sh(&leaving(&naps[0], &format!("exec sleep {}", naps[1]))), None);
    let mut stop = || if naps.iter().all(|nap| runs(nap)) { Answer::Stop } else { Answer::GoOn };
    let ended = shell.run(&mut |_| (), &mut stop).unwrap();
    assert_eq!(ended.code, None);
    for nap in &naps {
        assert!(eventually(|| !runs(nap)), "sleep {nap} is left");
    }
}

/// An endless run, which prints its place; its parent's arguments are the sleep times.
pub(crate) fn endless() -> ExitCode {
    let naps = std::env::var("NAPS").unwrap();
    let naps: Vec<&str> = naps.split(' ').collect();
    let program = sh(&leaving(naps[0], &format!("exec sleep {}", naps[1])));
    let peer = leaving(naps[2], &format!("exec sleep {}", naps[3]));
    let ended = shell(LOSSY, program, Some(peer)).run(&mut |line| println!("{line}"), &mut on);
    println!("ended: {:?}", ended.map(|e| e.code));
    ExitCode::FAILURE
}

fn a_killed_shell() {
    let before = first_namespace();
    let naps = [6, 7, 8, 9].map(nap);
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["as", "endless"]).env("NAPS", naps.join(" ")).stdin(Stdio::null());
    let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let began = eventually(|| naps.iter().all(|nap| runs(nap)));
    let during = first_namespace();
    // SIGKILL
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(began && !status.success(), "{line}");
    assert_eq!(difference(&before, &during), "", "while it ran");
    for nap in &naps {
        assert!(eventually(|| !runs(nap)), "sleep {nap} is left");
    }
    // No process is in its namespaces any more, and no file keeps them.
    let names: Vec<&str> = line.split(' ').filter(|word| word.starts_with("net:[")).collect();
    assert_eq!(names.len(), 2, "{line}");
    assert!(eventually(|| !names.iter().any(|name| used(name))), "{line}");
    assert_eq!(difference(&before, &first_namespace()), "", "after it was killed");
}

/// Whether a thread of any process is in the network namespace of this name.
fn used(name: &str) -> bool {
    let threads = |process: PathBuf| fs::read_dir(process.join("task")).into_iter().flatten().flatten();
    let all = fs::read_dir("/proc").unwrap().flatten().flat_map(|process| threads(process.path()));
    all.filter_map(|thread| fs::read_link(thread.path().join("ns/net")).ok()).any(|link| link.to_string_lossy() == name)
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("the_ledger_of_a_shell_is_what_its_programs_saw", the_ledger_is_what_the_programs_saw),
        trial("a_seed_repeats_what_a_shell_loses", a_seed_repeats_what_is_lost),
        trial("datagrams_go_there_and_back_behind_a_path", a_game_of_datagrams),
        trial("a_kernels_tcp_carries_unchanged_bytes_behind_a_lossy_path", bytes_through_a_lossy_path),
        trial("a_shell_passes_on_the_exit_code_of_its_program", exit_codes),
        trial("a_shell_refuses_what_cannot_be", what_cannot_be_is_refused),
        trial("processes_end_with_the_shell_that_started_them", processes_end_with_their_run),
        trial("a_shell_that_is_stopped_leaves_no_process", a_run_that_is_stopped),
        trial("a_killed_shell_leaves_no_process_no_namespace_and_no_change", a_killed_shell),
    ]
}
