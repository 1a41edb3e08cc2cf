//! Nothing outside the created namespaces is changed, not even by a process that is killed.

use crate::matrix::transfer;
use crate::trial;
use ackclock_live::bench::{Direction, Family, Transfer};
use ackclock_live::supervise::{supervise, Answer};
use libtest_mimic::Trial;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Marks the test's program as the process to be killed.
const CHILD: &str = "ACKCLOCK_LIVE_CHILD";

/// The settings of the first namespace, by the name of the file that contains them.
pub(crate) type Everything = BTreeMap<String, String>;

/// Its sysctls, devices, addresses, routes and rules.
pub(crate) fn first_namespace() -> Everything {
    let mut all = Everything::new();
    collect(Path::new("/proc/sys/net"), &mut all);
    for device in fs::read_dir("/sys/class/net").into_iter().flatten().flatten() {
        for what in ["address", "flags", "mtu", "tx_queue_len", "ifindex"] {
            let path = device.path().join(what);
            all.insert(path.display().to_string(), fs::read_to_string(&path).unwrap_or_default());
        }
    }
    for file in ["route", "ipv6_route", "if_inet6", "fib_trie"] {
        let path = format!("/proc/net/{file}");
        let text = fs::read_to_string(&path).unwrap_or_default();
        // Two columns of IPv6's routes count their uses.
        let counted = if file == "ipv6_route" {
            vec![6, 7]
        } else if file == "route" {
            vec![4, 5]
        } else {
            vec![]
        };
        let line = |line: &str| {
            let kept = line.split_whitespace().enumerate().filter(|(i, _)| !counted.contains(i));
            kept.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
        };
        all.insert(path, text.lines().map(line).collect::<Vec<_>>().join("\n"));
    }
    let named = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    all.insert("/run/netns".into(), named.map(|e| e.file_name().to_string_lossy().into_owned()).collect());
    all
}

fn collect(path: &Path, all: &mut Everything) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, all);
        } else {
            // A setting that cannot be read cannot be written either.
            all.insert(path.display().to_string(), fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

/// The differences, in words.
pub(crate) fn difference(before: &Everything, after: &Everything) -> String {
    let names = before.keys().chain(after.keys()).collect::<std::collections::BTreeSet<_>>();
    let changed = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    changed.map(|name| format!("{name}: {:?}, then {:?}\n", before.get(name), after.get(name))).collect()
}

pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// An endless transfer, which reports when it has started.
pub(crate) fn child() -> ExitCode {
    let transfer = Transfer { bytes: u64::MAX / 2, ..transfer("linux-2025", Direction::Send, Family::V4) };
    let (bench, link) = transfer.prepare().unwrap();
    let mut is_started = false;
    let mut report = |p: ackclock_live::supervise::Progress| {
        if p.done > 1_000_000 && !is_started {
            println!("under way");
            is_started = true;
        }
        Answer::GoOn
    };
    let ran = supervise(&mut report, |shared| transfer.run(&bench, link, shared));
    println!("ended: {:?}", ran.map(|o| o.bytes));
    ExitCode::FAILURE
}

fn a_killed_process() {
    let before = first_namespace();
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new(program).env(CHILD, "1").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let during = first_namespace();
    // SIGKILL
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(line, "under way\n");
    assert!(!status.success());
    assert_eq!(difference(&before, &during), "", "while it ran");
    assert_eq!(difference(&before, &first_namespace()), "", "after it was killed");
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("a_killed_process_leaves_the_first_namespace_as_it_was", a_killed_process)]
}
