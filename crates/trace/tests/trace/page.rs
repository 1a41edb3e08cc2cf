use ackclock_trace::schema::{page, COLUMNS, EVENTS};
use std::collections::BTreeSet;

#[test]
fn the_committed_page_is_the_generated_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/trace.md");
    let committed = std::fs::read_to_string(path).unwrap();
    assert!(
        committed == page(),
        "docs/trace.md is not what the schema says: cargo run -p ackclock-trace --example trace_page > docs/trace.md"
    );
}

#[test]
fn every_column_and_event_is_named_once_and_explained() {
    let names: BTreeSet<&str> = COLUMNS.iter().map(|c| c.name).collect();
    assert_eq!(names.len(), COLUMNS.len());
    assert!(COLUMNS.iter().all(|c| c.meaning.ends_with('.') && !c.meaning.contains('|')));
    let page = page();
    for e in EVENTS {
        let line = page.lines().find(|l| l.starts_with(&format!("| `{e}` |"))).unwrap();
        assert!(line.len() > e.len() + 12, "{line}");
    }
}
