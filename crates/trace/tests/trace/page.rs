use ackclock_trace::schema::{page, COLUMNS, EVENTS};
use std::collections::BTreeSet;

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
