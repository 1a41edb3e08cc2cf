//! What may be the value of a column.

use crate::cell::Cell;
use crate::column::{Column, Kind, Together};
use crate::row::Row;
use serde::ser::SerializeMap;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Deref;

/// The type of a value. [`row!`](crate::row!) makes one of each row that it declares: an object of JSON.
pub trait Value: Serialize {
    /// Its type as a column.
    const KIND: Kind;

    /// Its value in a table.
    fn cell(&self) -> Cell {
        Cell::None
    }

    /// Adds another value: of numbers the sum, of rows each column as its description says.
    fn add(&mut self, _other: &Self) {}

    /// Takes the other value if that is a larger number.
    fn raise(&mut self, _other: &Self) {}

    /// Whether it is missing for JSON that omits missing values.
    fn is_missing(&self) -> bool {
        false
    }
}

/// The type of a field of a row: one column, or several.
pub trait Field {
    /// Adds its columns; `about` describes the field.
    fn columns(about: Column, to: &mut Vec<Column>);

    /// Adds its values, one for each column.
    fn cells(&self, to: &mut Vec<Cell>);

    /// Adds its values to the JSON of its row.
    ///
    /// # Errors
    /// Those of the serializer.
    fn entries<M: SerializeMap>(&self, about: &Column, to: &mut M) -> Result<(), M::Error>;

    /// Takes the value of both rows together.
    fn combine(&mut self, other: &Self, how: Together);
}

macro_rules! numbers {
    ($($of:ty: $kind:ident, $cell:expr;)*) => {
        $(impl Value for $of {
            const KIND: Kind = Kind::$kind;

            fn cell(&self) -> Cell {
                $cell(*self)
            }

            fn add(&mut self, other: &Self) {
                *self += *other;
            }

            fn raise(&mut self, other: &Self) {
                if *other > *self {
                    *self = *other;
                }
            }
        })*
    };
}

numbers! {
    u16: Int, Cell::int;
    u32: Int, Cell::int;
    u64: Int, Cell::int;
    usize: Int, Cell::int;
    i64: Int, Cell::Int;
    f64: Real, Cell::Real;
}

macro_rules! others {
    ($($of:ty: $kind:ident, $cell:expr;)*) => {
        $(impl Value for $of {
            const KIND: Kind = Kind::$kind;

            fn cell(&self) -> Cell {
                $cell(self.to_owned())
            }
        })*
    };
}

others! {
    bool: Bool, Cell::Bool;
    String: Text, Cell::Text;
}

impl Value for &str {
    const KIND: Kind = Kind::Text;

    fn cell(&self) -> Cell {
        Cell::Text((*self).to_owned())
    }
}

impl<T: Value> Value for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);

    fn is_missing(&self) -> bool {
        self.is_empty()
    }
}

impl<K: Serialize, T: Value> Value for BTreeMap<K, T> {
    const KIND: Kind = Kind::Map(&T::KIND);

    fn is_missing(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Value> Field for T {
    fn columns(about: Column, to: &mut Vec<Column>) {
        to.push(Column { kind: T::KIND, ..about });
    }

    fn cells(&self, to: &mut Vec<Cell>) {
        to.push(self.cell());
    }

    fn entries<M: SerializeMap>(&self, about: &Column, to: &mut M) -> Result<(), M::Error> {
        if about.sparse && self.is_missing() {
            return Ok(());
        }
        to.serialize_entry(&about.name, self)
    }

    fn combine(&mut self, other: &Self, how: Together) {
        match how {
            Together::First | Together::Last | Together::Missing => (),
            Together::Sum => self.add(other),
            Together::Largest => self.raise(other),
        }
    }
}

impl<T: Value + Clone> Field for Option<T> {
    fn columns(about: Column, to: &mut Vec<Column>) {
        to.push(Column { kind: T::KIND, nullable: true, ..about });
    }

    fn cells(&self, to: &mut Vec<Cell>) {
        to.push(self.as_ref().map_or(Cell::None, T::cell));
    }

    fn entries<M: SerializeMap>(&self, about: &Column, to: &mut M) -> Result<(), M::Error> {
        match self {
            None if about.sparse => Ok(()),
            found => to.serialize_entry(&about.name, found),
        }
    }

    /// A sum needs the value of each row; the largest of the known values is taken.
    fn combine(&mut self, other: &Self, how: Together) {
        match (how, self.as_mut(), other) {
            (Together::First, ..) => (),
            (Together::Sum, Some(own), Some(other)) => own.add(other),
            (Together::Largest, Some(own), Some(other)) => own.raise(other),
            (Together::Largest, None, Some(_)) => self.clone_from(other),
            (Together::Largest, _, None) => (),
            (Together::Last, Some(_), _) => self.clone_from(other),
            (Together::Missing, ..) | (Together::Last, None, _) | (Together::Sum, ..) => *self = None,
        }
    }
}

/// A row within a row: its columns are columns of the outer one, with the name of the field before theirs if that is `prefixed`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flat<R>(pub R);

impl<R: Row> Field for Flat<R> {
    fn columns(about: Column, to: &mut Vec<Column>) {
        to.extend(R::columns().into_iter().map(|column| about.before(column)));
    }

    fn cells(&self, to: &mut Vec<Cell>) {
        to.extend(self.0.cells());
    }

    fn entries<M: SerializeMap>(&self, about: &Column, to: &mut M) -> Result<(), M::Error> {
        self.0.entries(about, to)
    }

    /// Several rows have the first one's values.
    fn combine(&mut self, _: &Self, _: Together) {}
}

impl<R> Deref for Flat<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.0
    }
}
