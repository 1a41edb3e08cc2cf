//! The declaration of rows.

use crate::cell::Cell;
use crate::column::Column;
use serde::ser::SerializeMap;

/// A kind of row, declared by [`row!`](crate::row!).
pub trait Row {
    /// The name of its type, in TypeScript, too.
    const NAME: &'static str;
    /// What a row is.
    const ABOUT: &'static str;

    /// Its columns in the order of tables, with the columns that only JSON has.
    fn columns() -> Vec<Column>;

    /// Its values, one for each column.
    fn cells(&self) -> Vec<Cell>;

    /// Adds its values to an object of JSON; `about` describes the field if it is [`Flat`](crate::Flat) within another row.
    ///
    /// # Errors
    /// Those of the serializer.
    fn entries<M: SerializeMap>(&self, about: &Column, to: &mut M) -> Result<(), M::Error>;
}

/// Declares a kind of row once.
///
/// Each column has a doc comment, which is its meaning, a name, a type and, in brackets, calls of methods of [`Column`]. The
/// first form declares a struct, and `of`, a function with a visibility of its own that computes all fields from one value; the second, a struct that is
/// filled elsewhere; the third, the columns of a type that exists.
///
/// ```
/// use ackclock_table::{row, Cell, Row};
///
/// struct Counts { acked: u64, lost: u64 }
///
/// row! {
///     /// A flow.
///     #[derive(Clone, Debug)]
///     pub struct Flow pub of counts: &Counts {
///         /// Payload acknowledged.
///         acked_bytes: u64 [unit("bytes"), averaged, summed, shown("acked"), scaled("kB", 1e-3, 1)] = counts.acked;
///         /// Packets lost.
///         lost: Option<u64> [sparse] = Some(counts.lost);
///     }
/// }
///
/// row! {
///     /// The same, without a struct of its own.
///     for Counts as "CountsRow", r {
///         /// Payload acknowledged.
///         acked_bytes: u64 [unit("bytes")] = r.acked;
///     }
/// }
///
/// let counts = Counts { acked: 3, lost: 1 };
/// assert_eq!(Flow::of(&counts).cells(), [Cell::Int(3), Cell::Int(1)]);
/// assert_eq!(Flow::columns()[0].unit, "bytes");
/// assert_eq!(serde_json::to_string(&counts).unwrap(), r#"{"acked_bytes":3}"#);
/// ```
#[macro_export]
macro_rules! row {
    (
        $(#[doc = $about:literal])+
        #[derive($($derive:ident),*)]
        $vis:vis struct $name:ident $make:vis of $r:tt: $from:ty {
            $($(#[doc = $doc:literal])+ $field:ident: $of:ty $([$($set:ident $(($($arg:expr),*))?),*])? = $how:expr;)*
        }
    ) => {
        $crate::row! {
            $(#[doc = $about])+
            #[derive($($derive),*)]
            $vis struct $name {
                $($(#[doc = $doc])+ $field: $of $([$($set $(($($arg),*))?),*])?;)*
            }
        }

        impl $name {
            /// Computes every field.
            $make fn of($r: $from) -> Self {
                $name { $($field: $how,)* }
            }
        }
    };
    (
        $(#[doc = $about:literal])+
        #[derive($($derive:ident),*)]
        $vis:vis struct $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $of:ty $([$($set:ident $(($($arg:expr),*))?),*])?;)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive($($derive),*)]
        $vis struct $name {
            $($(#[doc = $doc])+ $vis $field: $of,)*
        }

        $crate::row! {
            $(#[doc = $about])+
            for $name as stringify!($name), r {
                $($(#[doc = $doc])+ $field: $of $([$($set $(($($arg),*))?),*])? = r.$field;)*
            }
        }

        impl $crate::Value for $name {
            const KIND: $crate::Kind = $crate::Kind::Row(stringify!($name));

            fn add(&mut self, other: &Self) {
                $({
                    const ABOUT: $crate::Column = $crate::Column::new("", "")$($(.$set($($($arg),*)?))*)?;
                    $crate::Field::combine(&mut self.$field, &other.$field, ABOUT.together);
                })*
            }
        }
    };
    (
        $(#[doc = $about:literal])+
        for $row:ty as $name:expr, $r:ident {
            $($(#[doc = $doc:literal])+ $column:ident: $of:ty $([$($set:ident $(($($arg:expr),*))?),*])? = $how:expr;)*
        }
    ) => {
        impl $crate::Row for $row {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = concat!($($about),+).trim_ascii();

            fn columns() -> Vec<$crate::Column> {
                let mut to = Vec::new();
                $(<$of as $crate::Field>::columns(
                    $crate::Column::new(stringify!($column), concat!($($doc),+))$($(.$set($($($arg),*)?))*)?,
                    &mut to,
                );)*
                to
            }

            fn cells(&self) -> Vec<$crate::Cell> {
                let $r = self;
                let mut to = Vec::new();
                $(<$of as $crate::Field>::cells(&$how, &mut to);)*
                to
            }

            fn entries<M: $crate::serde::ser::SerializeMap>(
                &self, about: &$crate::Column, to: &mut M,
            ) -> Result<(), M::Error> {
                let $r = self;
                $({
                    const ABOUT: $crate::Column = $crate::Column::new(stringify!($column), "")$($(.$set($($($arg),*)?))*)?;
                    <$of as $crate::Field>::entries(&$how, &about.before(ABOUT), to)?;
                })*
                Ok(())
            }
        }

        impl $crate::serde::Serialize for $row {
            fn serialize<S: $crate::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let mut to = to.serialize_map(None)?;
                $crate::Row::entries(self, &const { $crate::Column::new("", "") }, &mut to)?;
                $crate::serde::ser::SerializeMap::end(to)
            }
        }
    };
}
