//! The value of one column in one row.

use serde::{Serialize, Serializer};

/// A value of a table. Counts are signed, so that differences of columns work in every tool.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value, or one that only JSON has: see [`Kind::is_flat`](crate::Kind::is_flat).
    None,
    /// A whole number.
    Int(i64),
    /// Any other number.
    Real(f64),
    /// Yes or no.
    Bool(bool),
    /// A text.
    Text(String),
}

impl Cell {
    /// The value if it is a number.
    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Int(n) => Some(*n as f64),
            Cell::Real(x) => Some(*x),
            Cell::None | Cell::Bool(_) | Cell::Text(_) => None,
        }
    }

    /// A count; none if it exceeds what an `i64` holds.
    pub(crate) fn int(n: impl TryInto<i64>) -> Self {
        n.try_into().map_or(Cell::None, Cell::Int)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::None => to.serialize_none(),
            Cell::Int(n) => n.serialize(to),
            Cell::Real(x) => x.serialize(to),
            Cell::Bool(yes) => yes.serialize(to),
            Cell::Text(text) => text.serialize(to),
        }
    }
}
