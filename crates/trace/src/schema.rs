//! The one table from which the Arrow schema, the CSV header and `docs/trace.md` come.
//!
//! A new column is one entry in [`COLUMNS`]; then `cargo run -p ackclock-trace --example trace_page > docs/trace.md`.

mod columns;
mod page;
mod words;

pub use columns::COLUMNS;
pub use page::page;
pub use words::{CAUSES, DROPS, EVENTS, PHASES, SIDES, SLOTS, WHYS};

use crate::row::Row;

/// A column of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in every format.
    pub name: &'static str,
    /// The unit of its values; empty where there is none.
    pub unit: &'static str,
    /// Whether some records leave it empty.
    pub nullable: bool,
    /// One sentence for those who load it.
    pub meaning: &'static str,
    /// Its type, and how its value comes out of a record.
    pub get: Get,
}

/// A column's type with its getter.
#[derive(Clone, Copy, Debug)]
pub enum Get {
    /// Arrow `int64`. Signed, so that differences of two columns work in every tool.
    Int(fn(&Row) -> Option<i64>),
    /// Arrow `int32`.
    Small(fn(&Row) -> Option<i32>),
    /// Arrow `float64`.
    Real(fn(&Row) -> Option<f64>),
    /// Arrow `bool`.
    Bool(fn(&Row) -> Option<bool>),
    /// Arrow `dictionary<int8, utf8>`: one of a few words, from these lists.
    Word(&'static [&'static [&'static str]], fn(&Row) -> Option<&'static str>),
    /// Arrow `utf8`.
    Text(fn(&Row) -> Option<String>),
}

impl Get {
    /// The type's name in Arrow.
    pub fn arrow(&self) -> &'static str {
        match self {
            Get::Int(_) => "int64",
            Get::Small(_) => "int32",
            Get::Real(_) => "float64",
            Get::Bool(_) => "bool",
            Get::Word(..) => "dictionary<int8, utf8>",
            Get::Text(_) => "utf8",
        }
    }
}
