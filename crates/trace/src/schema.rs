//! The single table from which the Parquet schema, the CSV header and `docs/trace.md` are generated, and the columns that each
//! kind of record fills.
//!
//! To add a column, add an entry to [`COLUMNS`], its [`Id`], and a line in `fill.rs`; then run
//! `cargo run -p ackclock-trace --example trace_page > docs/trace.md`.

mod columns;
mod fill;
mod page;
pub(crate) mod words;

pub use columns::{Id, COLUMNS};
pub(crate) use fill::judge;
pub use fill::{fill, Cells, Flags, Sack};
pub use page::page;
pub use words::{CAUSES, DROPS, EVENTS, PHASES, REFUSALS, SIDES, SLOTS, WHYS};

/// A column of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its identifier.
    pub id: Id,
    /// Its name in every format.
    pub name: &'static str,
    /// The unit of its values; empty if there is none.
    pub unit: &'static str,
    /// Whether some records leave it empty.
    pub nullable: bool,
    /// One sentence for users who load it.
    pub meaning: &'static str,
    /// The type of its values.
    pub kind: Kind,
}

/// A column's type.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Arrow `int64`. Signed, so that differences of two columns work in every tool.
    Int,
    /// Arrow `int32`.
    Small,
    /// Arrow `float64`.
    Real,
    /// Arrow `bool`.
    Bool,
    /// Arrow `dictionary<int8, utf8>`: one of a few words, from these lists.
    Word(&'static [&'static [&'static str]]),
    /// Arrow `utf8`.
    Text,
}

impl Kind {
    /// The type's name in Arrow.
    pub fn arrow(&self) -> &'static str {
        match self {
            Kind::Int => "int64",
            Kind::Small => "int32",
            Kind::Real => "float64",
            Kind::Bool => "bool",
            Kind::Word(_) => "dictionary<int8, utf8>",
            Kind::Text => "utf8",
        }
    }
}

impl Column {
    /// The `nth` of the column's words; empty if there is none.
    pub fn word(&self, nth: usize) -> &'static str {
        let Kind::Word(lists) = self.kind else { return "" };
        lists.iter().copied().flatten().nth(nth).copied().unwrap_or_default()
    }
}
