//! Explanations of strange cells, checked against the tables.

use crate::table::{Table, COLUMNS};

/// One line of `notes.txt`.
pub(crate) struct Note {
    pub(crate) path: &'static str,
    pub(crate) stacks: Vec<&'static str>,
    pub(crate) column: &'static str,
    pub(crate) value: &'static str,
    pub(crate) why: &'static str,
}

/// All notes: `path | stack, stack | column | value | why`; `#` begins a comment.
pub(crate) fn read() -> Vec<Note> {
    let lines = include_str!("notes.txt").lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines
        .map(|line| {
            let parts: Vec<&str> = line.splitn(5, " | ").collect();
            let &[path, stacks, column, value, why] = parts.as_slice() else {
                panic!("notes.txt: not of the form path | stacks | column | value | why: {line}")
            };
            Note { path, stacks: stacks.split(", ").collect(), column, value, why }
        })
        .collect()
}

/// Checks that a note refers to existing cells with the value that it explains.
pub(crate) fn check(notes: &[Note], tables: &[Table]) {
    for n in notes {
        let what = format!("notes.txt: {} | {} | {}", n.path, n.stacks.join(", "), n.column);
        let table = tables.iter().find(|t| t.path.name == n.path).unwrap_or_else(|| panic!("{what}: no such path"));
        let column = COLUMNS.iter().position(|c| *c == n.column).unwrap_or_else(|| panic!("{what}: no such column"));
        for stack in &n.stacks {
            let row = table.rows.iter().find(|r| r.0 == *stack).unwrap_or_else(|| panic!("{what}: no stack {stack}"));
            assert_eq!(n.value, row.1[column], "{what}: the note explains the left value, {stack} has the right");
        }
    }
}
