//! Conversations: `tests/talk/<topic>/*.talk` scripts a peer and the application, and the `.snap` file beside it
//! records the engine's answers. `tests/talk/script.rs` explains the language.

#[path = "talk/play.rs"]
mod play;
#[path = "talk/script.rs"]
mod script;

use std::path::{Path, PathBuf};

fn talks(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            talks(&path, found);
        } else if path.extension().is_some_and(|e| e == "talk") {
            found.push(path);
        }
    }
}

#[test]
fn every_conversation_goes_as_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/talk");
    let mut found = Vec::new();
    talks(&root, &mut found);
    found.sort();
    assert!(found.len() >= 40, "only {} conversations found", found.len());
    for path in found {
        let text = std::fs::read_to_string(&path).expect("readable");
        let script = script::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let name = path.file_stem().and_then(|n| n.to_str()).expect("a name").to_owned();
        insta::with_settings!({
            snapshot_path => path.parent().expect("a folder"),
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name, play::play(&script));
        });
    }
}
