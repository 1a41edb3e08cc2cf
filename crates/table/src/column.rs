//! The description of a column.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// How a column of a part of a row is shown: its name in the part, title, unit, scale and digits.
pub type PartShown = (&'static str, &'static str, &'static str, f64, u8);

/// A column of a kind of row.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, the same in every format.
    pub name: Cow<'static, str>,
    /// What it says, in one or two sentences.
    pub meaning: Cow<'static, str>,
    /// The unit of its values, as `bytes/s`; empty if there is none.
    pub unit: &'static str,
    /// The type of its values.
    pub kind: Kind,
    /// Whether a row may lack the value.
    pub nullable: bool,
    /// Whether the columns of a [`Flat`](crate::Flat) row have its name before their own.
    pub prefixed: bool,
    /// How the columns of a part of the row are shown.
    pub parts: &'static [PartShown],
    /// Whether the JSON of a row omits a missing value, instead of `null`.
    pub sparse: bool,
    /// Whether summaries of several rows have its mean.
    pub averaged: bool,
    /// How several rows together have it.
    pub together: Together,
    /// How tables for people show it; `None` if they do not unless it is chosen.
    pub shown: Option<Shown>,
}

/// How tables for people show a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Its heading.
    pub title: &'static str,
    /// The displayed unit; empty for counts.
    pub unit: &'static str,
    /// The factor from the value to the displayed one.
    pub scale: f64,
    /// Digits after the decimal point.
    pub digits: u8,
    /// Whether tables with many rows show it, too.
    pub brief: bool,
    /// Whether it is shown only if a row has a value other than zero.
    pub seldom: bool,
    /// Whether more of it is better.
    pub more_is_better: bool,
}

/// A count without a title.
pub(crate) const PLAIN: Shown =
    Shown { title: "", unit: "", scale: 1.0, digits: 0, brief: false, seldom: false, more_is_better: false };

/// How a column of several rows together is made from those of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// The value of the first row.
    First,
    /// The sum.
    Sum,
    /// The largest value.
    Largest,
    /// The last row's value if every row has one.
    Last,
    /// It is only defined for a single row.
    Missing,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Arrow `int64`.
    Int,
    /// Arrow `float64`.
    Real,
    /// Arrow `bool`.
    Bool,
    /// Arrow `utf8`.
    Text,
    /// Only in JSON: several values.
    List(&'static Kind),
    /// Only in JSON: values by key.
    Map(&'static Kind),
    /// Only in JSON: a row of this name.
    Row(&'static str),
}

impl Kind {
    /// Whether tables have it; the others are only in JSON.
    pub const fn is_flat(self) -> bool {
        match self {
            Kind::Int | Kind::Real | Kind::Bool | Kind::Text => true,
            Kind::List(_) | Kind::Map(_) | Kind::Row(_) => false,
        }
    }

    /// The type's name in Arrow; for types that only JSON has, its name there.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Int => "int64",
            Kind::Real => "float64",
            Kind::Bool => "bool",
            Kind::Text => "utf8",
            Kind::List(_) => "list",
            Kind::Map(_) => "map",
            Kind::Row(_) => "object",
        }
    }
}

impl Column {
    /// A column without a unit that tables for people do not show. [`row!`](crate::row!) adds the type.
    pub const fn new(name: &'static str, meaning: &'static str) -> Self {
        Column {
            name: Cow::Borrowed(name),
            meaning: Cow::Borrowed(meaning.trim_ascii()),
            unit: "",
            kind: Kind::Text,
            nullable: false,
            prefixed: false,
            parts: &[],
            sparse: false,
            averaged: false,
            together: Together::First,
            shown: None,
        }
    }

    /// Its name in words, without the unit at its end: `goodput` for `goodput_bytes_per_s`.
    pub fn label(&self) -> String {
        let end = match self.unit {
            "s" => "_s",
            "bytes" => "_bytes",
            "bytes/s" => "_bytes_per_s",
            _ => "",
        };
        self.name.strip_suffix(end).unwrap_or(&self.name).replace('_', " ")
    }

    /// How it is shown, changed by `scaled` and the like.
    const fn look(&self) -> Shown {
        match self.shown {
            Some(shown) => shown,
            None => PLAIN,
        }
    }

    /// A column of the [`Flat`](crate::Flat) row that this describes.
    #[must_use]
    pub fn before(&self, column: Column) -> Self {
        if !self.prefixed {
            return column;
        }
        let name = format!("{}_{}", self.name, column.name).into();
        let part = self.parts.iter().find(|part| part.0 == column.name);
        let shown = part.map(|&(_, title, unit, scale, digits)| Shown { title, unit, scale, digits, ..PLAIN });
        Column { shown, name, meaning: format!("{} {}", self.meaning, column.meaning).into(), ..column }
    }
}

/// Declares methods that return the column with some fields changed.
macro_rules! setters {
    ($($(#[$doc:meta])+ $name:ident($column:ident $(, $arg:ident: $of:ty)*) { $($field:ident: $value:expr),* })*) => {
        impl Column {
            $($(#[$doc])+
            #[must_use]
            pub const fn $name(self $(, $arg: $of)*) -> Self {
                let mut $column = self;
                $($column.$field = $value;)*
                $column
            })*
        }
    };
}

setters! {
    /// Its values are in this unit.
    unit(column, unit: &'static str) { unit: unit }
    /// The columns of this [`Flat`](crate::Flat) row have its name before their own.
    prefixed(column) { prefixed: true }
    /// The JSON of a row omits a missing value.
    sparse(column) { sparse: true }
    /// These columns of the part are shown.
    parts(column, parts: &'static [PartShown]) { parts: parts }
    /// Summaries of several rows have its mean.
    averaged(column) { averaged: true }
    /// Several rows together have the sum.
    summed(column) { together: Together::Sum }
    /// Several rows together have the largest value.
    largest(column) { together: Together::Largest }
    /// Several rows together have the last one's value, if each has one.
    last(column) { together: Together::Last }
    /// Several rows together do not have it.
    single(column) { together: Together::Missing }
    /// Tables for people show it with this heading, as it is, without digits after the point.
    shown(column, title: &'static str) { shown: Some(Shown { title, ..PLAIN }) }
    /// It is shown in another unit, times `scale`, with `digits` after the decimal point.
    scaled(column, unit: &'static str, scale: f64, digits: u8) {
        shown: Some(Shown { unit, scale, digits, ..column.look() })
    }
    /// Tables with many rows show it, too.
    brief(column) { shown: Some(Shown { brief: true, ..column.look() }) }
    /// It is shown only if a row has a value other than zero.
    seldom(column) { shown: Some(Shown { seldom: true, ..column.look() }) }
    /// More of it is better.
    more_is_better(column) { shown: Some(Shown { more_is_better: true, ..column.look() }) }
}

/// Its description for other languages.
impl Serialize for Column {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Column {
            name,
            meaning,
            unit,
            kind,
            nullable,
            prefixed: _,
            parts: _,
            sparse: _,
            averaged,
            together: _,
            shown,
        } = self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", name)?;
        map.serialize_entry("kind", kind.name())?;
        map.serialize_entry("nullable", nullable)?;
        map.serialize_entry("unit", unit)?;
        map.serialize_entry("meaning", meaning)?;
        map.serialize_entry("averaged", averaged)?;
        map.serialize_entry("shown", shown)?;
        map.end()
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Shown { title, unit, scale, digits, brief, seldom, more_is_better } = self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("title", title)?;
        map.serialize_entry("unit", unit)?;
        map.serialize_entry("scale", scale)?;
        map.serialize_entry("digits", digits)?;
        map.serialize_entry("brief", brief)?;
        map.serialize_entry("seldom", seldom)?;
        map.serialize_entry("more_is_better", more_is_better)?;
        map.end()
    }
}
