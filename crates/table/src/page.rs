//! The description of rows for people and for other languages.

use crate::column::{Column, Kind, Shown, PLAIN};
use crate::row::Row;
use serde::Serialize;
use serde_json::json;
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

/// The rows as interfaces of TypeScript, each with the descriptions of its numbers.
pub fn typescript(rows: &[Described]) -> String {
    let mut p = TYPES.to_owned();
    for Described { name, about, columns } in rows {
        let _ = write!(p, "\n/** {about} */\nexport interface {name} {{\n");
        for c in columns {
            let unit = if c.unit.is_empty() { String::new() } else { format!(" Unit: {}.", c.unit) };
            let absent = if c.sparse { "?" } else { "" };
            let null = if c.nullable && !c.sparse { " | null" } else { "" };
            let _ = writeln!(p, "  /** {}{unit} */\n  readonly {}{absent}: {}{null};", c.meaning, c.name, of(c.kind));
        }
        let _ = write!(p, "}}\n\nexport const {name}Columns = {{\n");
        for c in columns.iter().filter(|c| matches!(c.kind, Kind::Int | Kind::Real)) {
            let Shown { unit, scale, digits, more_is_better, .. } =
                c.shown.unwrap_or(Shown { unit: c.unit, digits: if c.kind == Kind::Int { 0 } else { 3 }, ..PLAIN });
            let label = c.label();
            let _ = writeln!(
                p,
                "  {}: {{ label: {label:?}, unit: {unit:?}, scale: {scale:?}, digits: {digits}, moreIsBetter: {more_is_better} }},",
                c.name
            );
        }
        p.push_str("} as const satisfies Record<string, Column>;\n");
    }
    p
}

const TYPES: &str = "
/** How a number is shown. */
export interface Column {
  readonly label: string;
  /** The displayed unit; empty for counts and shares. */
  readonly unit: string;
  /** The factor from the value to the displayed one. */
  readonly scale: number;
  /** Digits after the decimal point. */
  readonly digits: number;
  readonly moreIsBetter: boolean;
}
";

/// What tables for people show of the rows, as a constant of TypeScript.
pub fn shown(rows: &[Described]) -> String {
    let mut p = String::from("\nexport const SHOWN = {\n");
    for row in rows {
        let columns = row.columns.iter().filter_map(|c| Some((c, c.shown?)));
        let of: Vec<_> = columns
            .map(|(c, Shown { title, unit, scale, digits, brief, seldom, .. })| {
                json!({ "name": c.name, "title": title, "unit": unit, "scale": scale, "digits": digits, "brief": brief, "seldom": seldom, "meaning": c.meaning })
            })
            .collect();
        if !of.is_empty() {
            let _ = writeln!(p, "  {}: {},", row.name, json!(of));
        }
    }
    p.push_str("} as const;\n");
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
