//! All scripts below the folders that `ACKCLOCK_PACKETDRILL` names.

use ackclock_conform::script::parse;
use std::path::{Path, PathBuf};

/// All scripts below a folder, in the order of their paths.
pub(super) fn scripts_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
        for entry in entries {
            let path = entry.expect("an entry of a folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "pkt") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// All scripts below the folders of `ACKCLOCK_PACKETDRILL`, which `:` separates; `None` if it is unset.
pub(super) fn scripts() -> Option<Vec<PathBuf>> {
    let folders = std::env::var_os("ACKCLOCK_PACKETDRILL")?;
    Some(std::env::split_paths(&folders).flat_map(|folder| scripts_below(&folder)).collect())
}

#[test]
fn every_script_of_the_named_folders_is_read_under_both_names_for_its_conditions() {
    let Some(scripts) = scripts() else {
        eprintln!("SKIPPED: ACKCLOCK_PACKETDRILL names no folder of scripts");
        return;
    };
    assert!(!scripts.is_empty(), "ACKCLOCK_PACKETDRILL names folders without scripts");
    for path in scripts {
        let text = std::fs::read_to_string(&path).unwrap();
        for defined in ["STANDARD", "FreeBSD"] {
            let script = parse(&path.display().to_string(), &text, &[defined]).unwrap_or_else(|why| panic!("{why}"));
            assert!(script.events.len() > 3, "{}: {} events", path.display(), script.events.len());
        }
    }
}
