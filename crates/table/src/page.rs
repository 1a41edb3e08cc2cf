//! The description of rows for people and for other languages.

use crate::column::{Column, Kind};
use crate::row::Row;
use serde::Serialize;
use std::fmt::Write;

/// A kind of row, described.
#[derive(Clone, Debug, Serialize)]
pub struct Described {
    /// The name of its type.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
}

impl Described {
    /// The description of this kind of row.
    pub fn of<R: Row>() -> Self {
        Described { name: R::NAME, about: R::ABOUT, columns: R::columns() }
    }
}

/// The descriptions as JSON: an object with each under its key.
pub fn description(rows: &[(&str, Described)]) -> String {
    let all = rows.iter().map(|(key, row)| ((*key).to_owned(), serde_json::to_value(row).unwrap_or_default()));
    serde_json::Value::Object(all.collect()).to_string()
}

/// A row as a table of Markdown.
pub fn markdown(row: &Described) -> String {
    let mut p = format!("{}\n\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n", row.about);
    for c in &row.columns {
        let empty = if c.nullable { "" } else { ", never empty" };
        let kind = if c.kind.is_flat() { c.kind.name().to_owned() } else { format!("{}, only in JSON", c.kind.name()) };
        let _ = writeln!(p, "| `{}` | {kind}{empty} | {} | {} |", c.name, c.unit, c.meaning);
    }
    p
}

/// The rows as interfaces of TypeScript.
pub fn typescript(rows: &[Described]) -> String {
    let mut p = String::new();
    for row in rows {
        let _ = write!(p, "\n/** {} */\nexport interface {} {{\n", row.about, row.name);
        for c in &row.columns {
            let unit = if c.unit.is_empty() { String::new() } else { format!(" Unit: {}.", c.unit) };
            let absent = if c.sparse { "?" } else { "" };
            let null = if c.nullable && !c.sparse { " | null" } else { "" };
            let _ = writeln!(p, "  /** {}{unit} */\n  readonly {}{absent}: {}{null};", c.meaning, c.name, of(c.kind));
        }
        p.push_str("}\n");
    }
    p
}

fn of(kind: Kind) -> String {
    match kind {
        Kind::Int | Kind::Real => "number".to_owned(),
        Kind::Bool => "boolean".to_owned(),
        Kind::Text => "string".to_owned(),
        Kind::List(kind) => format!("readonly {}[]", of(*kind)),
        Kind::Map(kind) => format!("Readonly<Record<string, {}>>", of(*kind)),
        Kind::Row(name) => name.to_owned(),
    }
}
