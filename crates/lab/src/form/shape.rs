//! The possible forms of a value, derived from a schema: a few shapes.

use crate::error::joined;
use serde_json::{Map, Value};

/// The shape of a value.
pub(super) enum Shape<'s> {
    /// One of these words, or numbers with a unit of one of these dimensions (as schemas).
    Text { words: Vec<&'s str>, dimensions: Vec<&'s Value> },
    /// Any text.
    Prose(&'s Value),
    /// A whole number in a range.
    Whole(&'s Value),
    /// A number in a range.
    Number(&'s Value),
    /// `true` or `false`.
    Truth,
    /// A list.
    List(&'s Value),
    /// A table with these keys.
    Table(&'s Value),
    /// One of several tables, distinguished by a key: the key's name, and each table with the key's
    /// word.
    Tagged(&'s str, Vec<(&'s str, &'s Value)>),
    /// A table with exactly one of several keys: each with its schema.
    OneKey(Vec<(&'s str, &'s Value)>),
    /// One of these forms, depending on the kind of value.
    Either(Vec<Shape<'s>>),
    /// Anything; it is checked elsewhere.
    Free,
}

/// The keys of a table.
pub(super) fn keys(table: &Value) -> impl Iterator<Item = (&str, &Value)> {
    table["properties"].as_object().into_iter().flatten().map(|(key, part)| (key.as_str(), part))
}

/// The strings in a list.
pub(super) fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a key is required.
pub(super) fn needed(table: &Value, key: &str) -> bool {
    strings(&table["required"]).any(|k| k == key)
}

impl<'s> Shape<'s> {
    /// The shape described by a schema; `root` has the definitions.
    pub(super) fn of(schema: &'s Value, root: &'s Value) -> Self {
        if let Some(name) = schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
            return Shape::of(&root["$defs"][name], root);
        }
        if schema["properties"].is_object() {
            return Shape::Table(schema);
        }
        if let Some(word) = schema["const"].as_str() {
            return Shape::Text { words: vec![word], dimensions: Vec::new() };
        }
        if let Some(choices) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
            return Shape::choice(choices, root);
        }
        match schema["type"].as_str() {
            Some("string") if schema["pattern"].is_string() => {
                Shape::Text { words: Vec::new(), dimensions: vec![schema] }
            }
            Some("string") => Shape::Prose(schema),
            Some("integer") => Shape::Whole(schema),
            Some("number") => Shape::Number(schema),
            Some("boolean") => Shape::Truth,
            Some("array") => Shape::List(schema),
            _ => Shape::Free,
        }
    }

    fn choice(choices: &'s [Value], root: &'s Value) -> Self {
        if let Some(tables) = choices.iter().map(|c| c["properties"].as_object()).collect::<Option<Vec<_>>>() {
            return Shape::tables(choices, &tables);
        }
        let (mut words, mut dimensions, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for choice in choices {
            match Shape::of(choice, root) {
                Shape::Text { words: w, dimensions: d } => {
                    words.extend(w);
                    dimensions.extend(d);
                }
                Shape::Either(more) => others.extend(more),
                other => others.push(other),
            }
        }
        let text = Shape::Text { words, dimensions };
        if others.is_empty() {
            return text;
        }
        others.insert(0, text);
        Shape::Either(others)
    }

    fn tables(choices: &'s [Value], tables: &[&'s Map<String, Value>]) -> Self {
        let tag = |table: &&'s Map<String, Value>| table.iter().find(|(_, part)| part.get("const").is_some());
        match tables.first().and_then(tag) {
            Some((key, _)) => {
                let word = |table: &'s Value| table["properties"][key]["const"].as_str().unwrap_or_default();
                Shape::Tagged(key, choices.iter().map(|table| (word(table), table)).collect())
            }
            None => Shape::OneKey(choices.iter().flat_map(keys).collect()),
        }
    }

    /// The allowed values, each separately.
    fn choices(&self, root: &Value) -> Vec<String> {
        match self {
            Shape::Text { words, dimensions } => super::quantity::allowed(dimensions, words),
            Shape::Either(shapes) => shapes.iter().flat_map(|s| s.choices(root)).collect(),
            other => vec![other.allowed(root)],
        }
    }

    /// The allowed values, for a refusal.
    pub(super) fn allowed(&self, root: &Value) -> String {
        match self {
            Shape::Text { words, dimensions } if dimensions.is_empty() => format!("one of {}", words.join(", ")),
            Shape::Text { .. } | Shape::Either(_) => joined(&self.choices(root), "or"),
            Shape::Prose(schema) => {
                let full = if schema["minLength"].is_u64() { ", not empty" } else { "" };
                format!("text in quotes{full}{}", example(schema))
            }
            Shape::Whole(schema) => {
                let (min, max) = whole_range(schema);
                format!("a whole number from {min} to {max}{}", example(schema))
            }
            Shape::Number(schema) => number(schema),
            Shape::Truth => "true or false".to_owned(),
            Shape::List(schema) => list(schema, root),
            Shape::Table(schema) => {
                format!("a table with the keys {}", keys(schema).map(|k| k.0).collect::<Vec<_>>().join(", "))
            }
            Shape::Tagged(tag, tables) => {
                let words: Vec<&str> = tables.iter().map(|t| t.0).collect();
                format!("a table whose key {tag} is one of {}", words.join(", "))
            }
            Shape::OneKey(choices) => {
                let each = choices.iter().map(|(key, part)| match &part["examples"][0] {
                    Value::Null => format!("{{ {key} = … }}"),
                    example => format!("{{ {key} = {} }}", inline(example)),
                });
                each.collect::<Vec<_>>().join(" or ")
            }
            Shape::Free => "a table".to_owned(),
        }
    }
}

/// The smallest and the largest whole number: TOML's, if the schema has no bounds.
pub(super) fn whole_range(schema: &Value) -> (u64, u64) {
    let most = schema["maximum"].as_u64().unwrap_or(u64::MAX).min(i64::MAX as u64);
    (schema["minimum"].as_u64().unwrap_or(0), most)
}

fn number(schema: &Value) -> String {
    let range = match (&schema["minimum"], &schema["exclusiveMinimum"], &schema["maximum"]) {
        (Value::Null, Value::Null, Value::Null) => String::new(),
        (Value::Null, Value::Null, max) => format!(" of at most {max}"),
        (Value::Null, min, Value::Null) => format!(" above {min}"),
        (Value::Null, min, max) => format!(" above {min}, at most {}", short(max)),
        (min, _, Value::Null) => format!(" of at least {}", short(min)),
        (min, _, max) => format!(" from {} to {}", short(min), short(max)),
    };
    format!("a number{range}{}", example(schema))
}

/// `1.0` as `1`.
fn short(number: &Value) -> String {
    let text = number.to_string();
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

fn list(schema: &Value, root: &Value) -> String {
    let items = Shape::of(&schema["items"], root);
    let title = schema["items"]["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/"));
    let title = title.and_then(|name| root["$defs"][name]["title"].as_str()).filter(|t| t.starts_with("[["));
    match (title, schema["minItems"].as_u64()) {
        (Some(title), _) => format!("one or more tables {title}"),
        (None, Some(n)) if schema["maxItems"] == n => {
            format!("a list of {n}{}, each of them {}", example(schema), items.allowed(root))
        }
        (None, Some(_)) => format!("a list of one or more, each of them {}", items.allowed(root)),
        (None, None) => format!("a list, each of them {}", items.allowed(root)),
    }
}

fn example(schema: &Value) -> String {
    match &schema["examples"][0] {
        Value::Null => String::new(),
        example => format!(", as in {}", inline(example)),
    }
}

/// A value in TOML syntax.
fn inline(example: &Value) -> String {
    match example.as_array() {
        Some(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        None => example.to_string(),
    }
}
