//! The parameters of stacks, from the derived schema of [`Stack`]: their paths, and the schema of `[flow.set]`.
//!
//! This module knows no algorithm: a component is any choice of tables with a `kind`.

use ackclock_tcp::stack::Stack;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{json, Map, Value};
use std::borrow::Cow;

/// The description of a stack without references.
pub(crate) fn stack() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    let mut stack = settings.into_generator().into_root_schema_for::<Stack>();
    without_null(&mut stack);
    stack.to_value()
}

/// The kinds of a component, if it is one: the name of each, and the table described.
pub(crate) fn kinds(schema: &Value) -> Vec<(&str, &Value)> {
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    choices.filter_map(|c| Some((c["properties"]["kind"]["const"].as_str()?, c))).collect()
}

/// The parameters in a table, without its `kind`.
pub(crate) fn parameters(table: &Value) -> impl Iterator<Item = (&String, &Value)> {
    table["properties"].as_object().into_iter().flatten().filter(|(key, _)| *key != "kind")
}

/// The slots that an external algorithm may have, by their paths in a stack.
pub const SLOTS: [&str; 10] = [
    "congestion",
    "detect",
    "detect.threshold",
    "disorder",
    "recovery",
    "rto",
    "spurious",
    "startup",
    "timeout",
    "undo",
];

/// The contents of `set`: any part of a stack, in nested tables or by quoted paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Set(pub(crate) Map<String, Value>);

impl JsonSchema for Set {
    fn schema_name() -> Cow<'static, str> {
        "Set".into()
    }
    /// Anything: [`schema`] describes the parameters, for those who need them.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::from(Map::new())
    }
}

/// The description of `set`.
pub(crate) fn schema() -> Schema {
    let stack = stack();
    let mut all = nested(&stack);
    for (key, value) in parameters(&stack) {
        by_path(value, key, &mut all);
    }
    let mut set = Map::new();
    set.insert("type".to_owned(), "object".into());
    set.insert("properties".to_owned(), any_of(all).into());
    set.insert("additionalProperties".to_owned(), false.into());
    Schema::from(set)
}

/// The choices for each key: kinds of one component may share a key.
type Choices = Map<String, Value>;

fn add(all: &mut Choices, key: String, choice: Value) {
    if let Value::Array(list) = all.entry(key).or_insert_with(|| json!([]))
        && !list.contains(&choice)
    {
        list.push(choice);
    }
}

fn any_of(all: Choices) -> Map<String, Value> {
    let one = |list: Value| match list.as_array().map(Vec::as_slice) {
        Some([only]) => only.clone(),
        _ => json!({ "anyOf": list }),
    };
    all.into_iter().map(|(key, list)| (key, one(list))).collect()
}

/// The table itself, or those of a component's kinds.
fn tables(schema: &Value) -> Vec<&Value> {
    let kinds: Vec<&Value> = kinds(schema).into_iter().map(|k| k.1).collect();
    if kinds.is_empty() {
        vec![schema]
    } else {
        kinds
    }
}

/// The keys of a table, or of all kinds of a component.
fn nested(schema: &Value) -> Choices {
    let mut all = Choices::new();
    for (key, value) in tables(schema).into_iter().flat_map(parameters) {
        add(&mut all, key.clone(), part(value));
    }
    all
}

/// `rto.kind`, `rto.min` and so on below `rto`, as keys of one table.
fn by_path(schema: &Value, path: &str, all: &mut Choices) {
    if !kinds(schema).is_empty() {
        add(all, format!("{path}.kind"), names(schema));
    }
    for (key, value) in tables(schema).into_iter().flat_map(parameters) {
        let path = format!("{path}.{key}");
        by_path(value, &path, all);
        add(all, path, part(value));
    }
}

/// A part of a stack: a value; a table whose keys may be omitted; or a component as its name, as a complete table with
/// a `kind`, or as a table of some parameters.
fn part(schema: &Value) -> Value {
    if schema["properties"].is_null() && kinds(schema).is_empty() {
        return schema.clone();
    }
    let some = json!({
        "type": "object",
        "properties": any_of(nested(schema)),
        "patternProperties": { "\\.": true },
        "additionalProperties": false,
    });
    if kinds(schema).is_empty() {
        return some;
    }
    json!({ "description": schema["description"], "anyOf": [names(schema), { "oneOf": schema["oneOf"] }, some] })
}

/// A component's name alone.
fn names(schema: &Value) -> Value {
    let named = kinds(schema).into_iter().map(|(k, s)| json!({ "const": k, "description": s["description"] }));
    json!({ "type": "string", "oneOf": named.collect::<Vec<_>>() })
}

/// TOML has no null: an optional value may not be null. The widths of numbers are not formats.
pub(crate) fn without_null(schema: &mut Schema) {
    RecursiveTransform(|s: &mut Schema| {
        let Some(s) = s.as_object_mut() else { return };
        s.remove("format");
        if s.get("default").is_some_and(Value::is_null) {
            s.remove("default");
        }
        if let Some(Value::Array(types)) = s.get_mut("type") {
            types.retain(|t| t != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                s.insert("type".to_owned(), only);
            }
        }
        let choices = s.get("anyOf").and_then(Value::as_array).cloned().unwrap_or_default();
        if let [Value::Object(only), null] = choices.as_slice()
            && null["type"] == "null"
        {
            s.remove("anyOf");
            for (key, value) in only {
                s.entry(key).or_insert_with(|| value.clone());
            }
        }
    })
    .transform(schema);
}
