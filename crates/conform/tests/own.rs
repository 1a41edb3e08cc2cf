//! The project's own scripts, in the folder `conformance`.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

use ackclock_conform::engine::System;
use ackclock_conform::suite::{run_file, run_text, scripts, Setup};
use ackclock_conform::verdict::Verdict;
use ackclock_tcp::stack::Stack;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

fn setup() -> Setup {
    Setup { system: System::Linux, stack: None, stack_of: Stack::named }
}

#[test]
fn every_script_of_ours_passes() {
    let failed: Vec<String> = scripts(&folder())
        .unwrap()
        .iter()
        .filter_map(|path| match run_file(path, &setup()).unwrap().verdict {
            Verdict::Pass => None,
            Verdict::Fail(fault) | Verdict::NotUnderstood(fault) => Some(format!("{}: {fault}", path.display())),
        })
        .collect();
    assert_eq!(failed, [] as [String; 0], "{}", failed.join("\n"));
}

/// The scripts of `broken.toml`, each with the setting under which it must fail. Its lines are `"script" = "setting"`.
fn broken() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder().join("broken.toml")).unwrap();
    let unquoted = |word: &str| word.trim().strip_prefix('"').unwrap().strip_suffix('"').unwrap().to_owned();
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(" = ").unwrap())
        .map(|(script, setting)| (unquoted(script), unquoted(setting)))
        .collect()
}

/// Puts a setting before the first event of a script.
fn with_setting(text: &str, setting: &str) -> String {
    let is_head = |line: &str| line.trim().is_empty() || line.starts_with("//") || line.starts_with("--");
    let head = text.lines().take_while(|line| is_head(line)).count();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.insert(head, format!("   0 `sysctl -q {setting}`"));
    lines.join("\n") + "\n"
}

#[test]
fn a_script_fails_when_the_rule_that_it_proves_is_switched_off() {
    let broken = broken();
    assert!(broken.len() >= 40, "{} scripts", broken.len());
    let wrong: Vec<String> = broken
        .iter()
        .filter_map(|(script, setting)| {
            let text = std::fs::read_to_string(folder().join(script).with_extension("pkt")).unwrap();
            match run_text(script, &with_setting(&text, setting), &setup(), &|_| None).verdict {
                Verdict::Fail(_) => None,
                Verdict::Pass => Some(format!("{script} passes with {setting}")),
                Verdict::NotUnderstood(fault) => Some(format!("{script}: {fault}")),
            }
        })
        .collect();
    assert_eq!(wrong, [] as [String; 0], "{}", wrong.join("\n"));
}
