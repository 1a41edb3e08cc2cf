//! Conformance scripts against a TCP in another process: smoltcp on a TUN device, and this kernel's sockets.

use crate::trial;
use ackclock_conform::engine::System;
use ackclock_conform::suite::{run_files, run_text};
use ackclock_conform::verdict::{Reason, Verdict};
use ackclock_live::conform::Programs;
use ackclock_live::LiveError;
use libtest_mimic::Trial;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// Scripts of the project that smoltcp passes, and one that it fails.
const SMOLTCP: &[(&str, &str)] = &[
    ("states/closed-ack", "pass"),
    ("states/established-fin", "pass"),
    ("states/established-rst-old", "pass"),
    ("handshake/client-without-timestamps", "pass"),
    ("ipv6/rst", "pass"),
    ("close/blocking-read", "pass"),
    ("states/established-rst-in-window", "fail"),
    ("congestion/cubic-beta", "fail"),
    ("recovery/deflated", "not understood"),
];
/// Scripts that Linux 6.18 passes.
const LINUX: &[&str] = &[
    "states/closed-ack",
    "states/closed-data",
    "states/established-fin",
    "states/established-rst-in-window",
    "states/established-syn-in-window",
    "close/blocking-read",
    "ipv6/rst",
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("smoltcp_on_a_device_has_the_verdicts_that_it_has_in_memory", smoltcp),
        trial("the_kernels_own_sockets_pass_the_scripts_of_its_rules", kernel),
        trial("a_command_that_is_no_such_program_is_refused_in_one_sentence", refused),
        trial("a_program_that_breaks_the_rules_fails_its_scripts_with_one_sentence", broken),
        trial("a_program_that_ends_before_it_answers_about_a_setting_fails_its_script", ended),
        trial("a_script_of_hours_is_not_understood_on_real_time", hours),
    ]
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| repository().join("conformance").join(format!("{name}.pkt"))).collect()
}

fn programs(words: &[&str]) -> Result<Programs, LiveError> {
    Programs::new("tun0", words.iter().map(|word| (*word).to_owned()).collect(), System::Linux)
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail(_) => "fail",
        Verdict::NotUnderstood(_) => "not understood",
    }
}

/// How often a script is run whose only fault is an event at another time.
const TRIES: u32 = 10;
/// The pause before it runs again: other work may last longer than all tries.
const PAUSE: Duration = Duration::from_millis(500);

/// The verdicts on these scripts. Where other work takes the processor for some milliseconds, an event comes too late though both
/// sides keep the rules; such a script runs again, by itself. A TCP that keeps another time does so in each of [`TRIES`] runs.
fn on_real_time(names: &[&str], subject: &Programs, jobs: usize) -> Vec<Verdict> {
    let late = |verdict: &Verdict| matches!(verdict, Verdict::Fail(fault) if fault.reason == Reason::Time);
    let run = |names: &[&str], jobs| run_files(&files(names), subject, jobs).unwrap().into_iter().map(|r| r.verdict);
    let mut verdicts: Vec<Verdict> = run(names, jobs).collect();
    for (name, verdict) in names.iter().zip(&mut verdicts) {
        for _ in 1..TRIES {
            if late(verdict) {
                sleep(PAUSE);
                *verdict = run(&[name], 1).next().unwrap();
            }
        }
    }
    verdicts
}

fn smoltcp() {
    let folder = env::current_exe().unwrap().parent().unwrap().join("../examples");
    let program = folder.join("conform_smoltcp");
    assert!(program.is_file(), "{}: `cargo test -p ackclock-live` without --test builds it", program.display());
    let subject = programs(&[program.to_str().unwrap()]).unwrap();
    let (names, wanted): (Vec<&str>, Vec<&str>) = SMOLTCP.iter().copied().unzip();
    let verdicts = on_real_time(&names, &subject, 3);
    assert_eq!(verdicts.iter().map(word).collect::<Vec<_>>(), wanted, "{verdicts:?}");
}

/// The words of the command for the kernel's sockets; `None` without Python.
fn sockets() -> Option<[String; 2]> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no python3");
        return None;
    }
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kernel_sockets.py");
    Some(["python3".to_owned(), program.display().to_string()])
}

fn kernel() {
    let Some([python, program]) = sockets() else { return };
    let subject = programs(&[&python, &program]).unwrap();
    for (name, verdict) in LINUX.iter().zip(on_real_time(LINUX, &subject, 2)) {
        assert_eq!(verdict, Verdict::Pass, "{name}");
    }
}

fn refused() {
    let refuse = |words: &[&str]| programs(words).err().map(|why| (why.exit_code(), why.to_string())).unwrap();
    let says = |line: &str| refuse(&["sh", "-c", &format!("echo '{line}'; sleep 5")]);
    let starts = |found: (u8, String), text: &str| assert!(found.0 == 2 && found.1.starts_with(text), "{found:?}");
    starts(refuse(&[]), "found no command after --, allowed");
    starts(refuse(&["/no/such/program"]), "cannot start /no/such/program: No such file");
    starts(refuse(&["true"]), "true has ended: exit status: 0");
    starts(refuse(&["sh", "-c", "exit 3"]), "sh has ended: exit status: 3");
    starts(says("hello"), "the first line of sh: found \"hello\", allowed: {\"ackclock_conform\": 1");
    starts(says("{\"ackclock_conform\": 9, \"side\": \"kernel\"}"), "the first line of sh: found");
    starts(
        says("{\"ackclock_conform\": 1, \"side\": \"device\"}"),
        "the command said that it has opened the device tun0",
    );
    let named = |device: &str| Programs::new(device, vec!["true".into()], System::Linux).err().unwrap().to_string();
    assert!(named("a name").starts_with("found a device name \"a name\", allowed: 1 to 15 bytes"));
}

const HELLO: &str = "echo '{\"ackclock_conform\": 1, \"side\": \"kernel\"}'; read line; ";
const SOCKET: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n";

fn broken() {
    for (after, why) in [
        ("echo nonsense; sleep 5", "a line of sh: found \"nonsense\", allowed: an object with \"id\""),
        ("exit 4", "sh has ended: exit status: 4"),
        ("sleep 5", "sh has not answered a question within 2 s"),
        ("echo '{\"id\": 1, \"states\": []}'; sleep 5", "it answered a call with states"),
        ("head -c 70000 /dev/zero; sleep 5", "sh wrote a line of more than 65536 bytes"),
    ] {
        let subject = programs(&["sh", "-c", &format!("{HELLO}{after}")]).unwrap();
        let Verdict::Fail(fault) = run_text("broken.pkt", SOCKET, &subject, &|_| None).verdict else {
            panic!("{after}")
        };
        assert_eq!(fault.reason, Reason::Broken, "{fault}");
        assert!(fault.text.starts_with(why), "{fault}");
    }
}

/// A setting that was never answered is no setting that the TCP lacks.
fn ended() {
    let subject = programs(&["sh", "-c", &format!("{HELLO}exit 4")]).unwrap();
    let script = "0 `sysctl -q net.ipv4.tcp_sack=0`\n";
    let Verdict::Fail(fault) = run_text("ended.pkt", script, &subject, &|_| None).verdict else { panic!() };
    assert_eq!((fault.reason, fault.text.as_str()), (Reason::Broken, "sh has ended: exit status: 4"));
}

fn hours() {
    let Some([python, program]) = sockets() else { return };
    let subject = programs(&[&python, &program]).unwrap();
    let script = format!("{SOCKET}+7200 close(3) = 0\n");
    let Verdict::NotUnderstood(fault) = run_text("hours.pkt", &script, &subject, &|_| None).verdict else { panic!() };
    assert_eq!(fault.text, "this is more than 120 s after the start, the latest time of an event");
}
