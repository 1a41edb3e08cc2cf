//! The project's own scripts, in the folder `conformance`.

use ackclock_conform::engine::System;
use ackclock_conform::suite::{run_file, scripts, Setup};
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
