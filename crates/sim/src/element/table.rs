//! Tables that an element reads from a text.

use super::Fault;
use std::fmt::{self, Debug};
use std::ops::Deref;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// The rows of a table, shown and compared by their hash.
#[derive(Clone)]
pub struct Rows<T> {
    rows: Arc<[T]>,
    hash: u128,
}

impl<T: Debug> Rows<T> {
    pub(super) fn new(rows: Vec<T>) -> Self {
        let hash = xxh3_128(format!("{rows:?}").as_bytes());
        Rows { rows: rows.into(), hash }
    }
}

impl<T> Debug for Rows<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows, xxh3-128:{:032x}", self.rows.len(), self.hash)
    }
}

impl<T> PartialEq for Rows<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.rows.len(), self.hash) == (other.rows.len(), other.hash)
    }
}

impl<T> Deref for Rows<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.rows
    }
}

/// An invalid entry in a table's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Line in the text, counted from 1.
    pub line: u32,
    /// The column, if the fault is in one.
    pub column: Option<&'static str>,
    /// The entry found.
    pub found: String,
    /// The allowed entries.
    pub allowed: &'static str,
}

impl BadRow {
    /// As a fault of the key that holds the text: `data[3].loss` is column `loss` in line 3.
    pub(super) fn fault(self, key: &'static str) -> Fault {
        let column = self.column.map(|c| format!(".{c}")).unwrap_or_default();
        Fault::of(format!("{key}[{}]{column}", self.line), self.found, self.allowed)
    }
}

/// The text of a table. The reader of the scenario reads the file that the key `file` names.
pub(super) fn text(file: Option<String>, data: Option<String>) -> Result<String, Fault> {
    match (file, data) {
        (None, Some(data)) => Ok(data),
        (Some(file), None) => {
            Err(Fault::of("file", file, "the table itself in `data`, since files cannot be read here"))
        }
        (both, _) => {
            let found = if both.is_some() { "both `file` and `data`" } else { "neither `file` nor `data`" };
            Err(Fault::of("", found, "one of them: the path of a file, or the table itself"))
        }
    }
}

/// Lines with content, with their numbers.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let all = text.lines().zip(1..).map(|(text, line)| (line, text.trim()));
    all.filter(|(_, text)| !text.is_empty() && !text.starts_with('#'))
}
