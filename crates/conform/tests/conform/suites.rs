//! Scripts of others, from the folders that `ACKCLOCK_PACKETDRILL` names (separated by `:`).

#![expect(clippy::unwrap_used, reason = "a test may stop")]

use ackclock_conform::engine::System;
use ackclock_conform::suite::{run_file, scripts, Setup};
use ackclock_conform::verdict::Verdict;
use ackclock_tcp::stack::Stack;
use std::path::{Path, PathBuf};

/// The number of scripts in FreeBSD's folders that pass, and their total.
const FREEBSD: &[(&str, usize, usize)] = &[("rcv-data-segments", 217, 217), ("state-event-engine", 552, 614)];

fn folders() -> Vec<PathBuf> {
    let named = std::env::var_os("ACKCLOCK_PACKETDRILL").unwrap_or_default();
    std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect()
}

fn setup() -> Setup {
    Setup { system: System::FreeBsd, stack: None, stack_of: Stack::named }
}

#[test]
fn freebsds_scripts_pass_as_often_as_they_did_and_say_the_same_each_time() {
    let folders = folders();
    if folders.is_empty() {
        eprintln!("SKIPPED: ACKCLOCK_PACKETDRILL names no folder");
    }
    for folder in &folders {
        assert!(!scripts(folder).unwrap().is_empty(), "{}: no script", folder.display());
        if FREEBSD.iter().all(|(name, ..)| !folder.join(name).is_dir()) {
            eprintln!("SKIPPED: {} has none of FreeBSD's folders", folder.display());
        }
    }
    for (name, pass, all) in FREEBSD {
        for folder in folders.iter().map(|folder| folder.join(name)).filter(|folder| folder.is_dir()) {
            let first = verdicts(&folder);
            let passed = first.iter().filter(|verdict| **verdict == Verdict::Pass).count();
            assert_eq!((passed, first.len()), (*pass, *all), "{name}");
            assert_eq!(first, verdicts(&folder), "{name}: another result the second time");
        }
    }
}

fn verdicts(folder: &Path) -> Vec<Verdict> {
    let files = scripts(folder).unwrap();
    files.iter().map(|path| run_file(path, &setup()).unwrap().verdict).collect()
}
