//! The guide's page about settings.

use ackclock_conform::engine::page;
use std::path::Path;

#[test]
fn the_guide_lists_the_settings_that_are_understood() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance-settings.md");
    assert!(std::fs::read_to_string(file).unwrap() == page(), "make generated");
}
