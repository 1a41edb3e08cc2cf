//! Flows that wait for one another: a row of transfers on separate connections, which users see as one flow.

use ackclock_sim::scenario::FlowSpec;
use std::ops::Range;

/// The flows of a scenario in rows: a flow that waits for the previous one belongs to its row.
pub(crate) fn chains(flows: &[FlowSpec]) -> Vec<Range<usize>> {
    let mut rows: Vec<Range<usize>> = Vec::new();
    for (i, f) in flows.iter().enumerate() {
        let follows = f.after.is_some_and(|after| after.flow as usize + 1 == i);
        match rows.last_mut().filter(|_| follows) {
            Some(row) => row.end = i + 1,
            None => rows.push(i..i + 1),
        }
    }
    rows
}

/// The name of a flow in a row, by its number from 0.
pub(crate) fn member(row: &str, number: u32) -> String {
    format!("{row}.{}", number + 1)
}

/// The name of a row whose first flow has this name.
pub(crate) fn name(first: &str) -> &str {
    first.strip_suffix(".1").unwrap_or(first)
}
