//! smoltcp under this project's scripts: the results that it is known to have, and the table of the guide.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

#[path = "../examples/smoltcp/device.rs"]
mod device;
#[path = "../examples/smoltcp/sockets.rs"]
mod sockets;
#[path = "../examples/smoltcp/stack.rs"]
mod stack;
#[path = "../examples/smoltcp/subject.rs"]
mod subject;

use ackclock_conform::engine::System;
use ackclock_conform::suite::{run_files, run_text, scripts, Setup, Subject};
use ackclock_conform::verdict::{Reason, Verdict};
use ackclock_tcp::stack::Stack;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const LINUX: subject::Smoltcp = subject::Smoltcp { system: System::Linux };

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The verdicts of the scripts below a folder, by their names in it.
fn verdicts(folder: &Path, subject: &dyn Subject) -> Vec<(String, Verdict)> {
    let files = scripts(folder).unwrap();
    let reports = run_files(&files, subject, 2).unwrap();
    let name = |file: &PathBuf| file.strip_prefix(folder).unwrap().display().to_string();
    files.iter().map(name).zip(reports.into_iter().map(|report| report.verdict)).collect()
}

/// The verdicts of this project's scripts, which run once for all tests.
fn own() -> &'static [(String, Verdict)] {
    static OWN: OnceLock<Vec<(String, Verdict)>> = OnceLock::new();
    OWN.get_or_init(|| verdicts(&repository().join("conformance"), &LINUX))
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail(_) => "fail",
        Verdict::NotUnderstood(_) => "not-understood",
    }
}

/// Passed, failed and not understood, in the form of the guide's tables.
fn row(name: &str, verdicts: &[&Verdict]) -> String {
    let count = |wanted: &str| verdicts.iter().filter(|verdict| word(verdict) == wanted).count();
    format!("| `{name}` | {} | {} | {} |", count("pass"), count("fail"), count("not-understood"))
}

/// Renew the list with `INSTA_UPDATE=always cargo test -p ackclock-conform --test smoltcp`.
#[test]
fn each_script_has_the_result_that_is_kept_for_it() {
    let mut list = String::new();
    for (name, verdict) in own() {
        let why = match verdict {
            Verdict::Pass => String::new(),
            Verdict::Fail(fault) | Verdict::NotUnderstood(fault) => {
                format!("  # {:?}, line {}", fault.reason, fault.line)
            }
        };
        writeln!(list, "{} {name}{why}", word(verdict)).unwrap();
    }
    insta::with_settings!({ snapshot_path => "smoltcp", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("results", list);
    });
}

#[test]
fn the_table_of_the_guide_counts_the_scripts_of_each_folder() {
    let all = own();
    let mut folders: BTreeMap<&str, Vec<&Verdict>> = BTreeMap::new();
    for (name, verdict) in all {
        folders.entry(name.split('/').next().unwrap()).or_default().push(verdict);
    }
    let mut rows: Vec<String> = folders.iter().map(|(folder, verdicts)| row(folder, verdicts)).collect();
    rows.push(row("conformance", &all.iter().map(|(_, verdict)| verdict).collect::<Vec<_>>()));
    let guide = std::fs::read_to_string(repository().join("docs/conformance.md")).unwrap();
    let missing: Vec<_> = rows.iter().filter(|row| !guide.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "docs/conformance.md has not these rows:\n{}", rows.join("\n"));
}

#[test]
fn freebsds_folders_have_the_results_that_the_guide_counts() {
    let named = std::env::var_os("ACKCLOCK_PACKETDRILL").unwrap_or_default();
    let guide = std::fs::read_to_string(repository().join("docs/conformance.md")).unwrap();
    let mut seen = false;
    for folder in std::env::split_paths(&named) {
        for name in ["rcv-data-segments", "state-event-engine"] {
            let folder = folder.join(name);
            if folder.is_dir() {
                let all = verdicts(&folder, &subject::Smoltcp { system: System::FreeBsd });
                let row = row(name, &all.iter().map(|(_, verdict)| verdict).collect::<Vec<_>>());
                assert!(guide.contains(&row), "docs/conformance.md has not this row: {row}");
                seen = true;
            }
        }
    }
    if !seen {
        eprintln!("SKIPPED: ACKCLOCK_PACKETDRILL names no folder with FreeBSD's scripts");
    }
}

const OPEN: &str = "
 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 1000 <mss 1000,sackOK,nop,nop>
+0 > S. 0:0(0) ack 1 <nop,nop,sackOK,mss 1460>
+0 < . 1:1(0) ack 1 win 1000
+0 accept(3, ..., ...) = 4
";

#[test]
fn what_smoltcp_does_not_have_is_not_understood() {
    for (lacking, text) in [
        ("+0 `sysctl -q net.ipv4.tcp_sack=1`", "the setting net.ipv4.tcp_sack=1 is not understood"),
        ("+0 `sysctl -q ackclock.stack=sack`", "the setting ackclock.stack=sack is not understood"),
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0", "the TCP under test does not have this setsockopt"),
        ("+0 shutdown(4, SHUT_RD) = 0", "the TCP under test does not have this shutdown"),
        ("+0 send(4, ..., 100, MSG_MORE) = 100", "the TCP under test does not have this send"),
        ("+0 %{ assert tcpi_snd_cwnd == 2 }%", "the name `tcpi_snd_cwnd` is not known"),
    ] {
        let report = run_text("lacking.pkt", &format!("{OPEN}{lacking}\n"), &LINUX, &|_| None);
        let Verdict::NotUnderstood(fault) = report.verdict else { panic!("{lacking}: {:?}", report.verdict) };
        assert_eq!((fault.reason, fault.text.as_str()), (Reason::Unknown, text));
    }
}

#[test]
fn options_may_come_in_any_order_but_all_of_them() {
    let passes = |options: &str| {
        let script = OPEN.replace("<nop,nop,sackOK,mss 1460>", options);
        run_text("options.pkt", &script, &LINUX, &|_| None).verdict == Verdict::Pass
    };
    assert!(passes("<nop,nop,sackOK,mss 1460>"));
    assert!(passes("<mss 1460,sackOK>"));
    assert!(!passes("<mss 1460>"));
    assert!(!passes("<mss 1460,mss 1460,sackOK>"));
    assert!(!passes("<mss 1461,sackOK>"));
}

/// The blocks of a page behind fences that begin with `kind`.
fn blocks<'a>(page: &'a str, kind: &str) -> Vec<&'a str> {
    let fence = format!("\n```{kind}");
    page.split(fence.as_str())
        .skip(1)
        .filter_map(|rest| rest.split_once('\n')?.1.split_once("```").map(|(block, _)| block))
        .collect()
}

#[test]
fn each_difference_that_is_written_up_shows_with_smoltcp_and_not_with_the_engine() {
    let page = std::fs::read_to_string(repository().join("docs/conformance-findings.md")).unwrap();
    let (found, texts) = (blocks(&page, "pkt"), blocks(&page, "text"));
    assert_eq!((found.len(), texts.len()), (9, 9));
    let engine = Setup { system: System::Linux, stack: None, stack_of: Stack::named };
    for (script, text) in found.into_iter().zip(texts) {
        let run = |subject: &dyn Subject| run_text("found.pkt", script, subject, &|_| None).verdict;
        assert_eq!(run(&engine), Verdict::Pass, "{script}");
        let Verdict::Fail(fault) = run(&LINUX) else { panic!("smoltcp does not fail: {script}") };
        assert_eq!(fault.to_string(), text.trim_end());
    }
}
