//! The schema as a page: `docs/scenario.md`.

use crate::file::set;
use serde_json::{Map, Value};
use std::fmt::Write;

/// The text around the tables: an example, and the definition of a run.
const INTRO: &str = include_str!("intro.md");
const STACKS: &str = "\
## Parameters of stacks

`[flow.set]` and `--set` change parameters of a named stack by path, as in `\"rto.tick\" = \"500 ms\"` and `--set rto.tick=500ms`. A new kind replaces
a component (`recovery = \"tahoe\"`, `--set recovery=tahoe`) and resets its parameters to their defaults. A named stack may start from other values
(`ackclock stacks --json`). A parameter exists only while its component has the kind under which it is listed here. Components that do not work
together are refused with a sentence.

Each of the slots `rto`, `detect`, `detect.threshold`, `disorder`, `recovery`, `timeout`, `congestion`, `startup`, `spurious` and
`undo` also accepts an algorithm in Python: `{ kind = \"python\", source = \"avg_dev.py:AvgDev\" }`, with the parameters of the
class beside it. The file is looked up relative to the scenario file, and loaded only with `--allow-python` (in Python:
`allow_python=True`). See [Algorithms in Python](python-algorithms.md). The lab page runs without Python and refuses them.

";

/// Above this number, words get a list of their own.
const MANY_WORDS: usize = 8;

/// The page, in Markdown.
pub fn page() -> String {
    let schema = super::schema();
    let mut out = format!("{INTRO}\n## The file\n\n{}\n\n", text(&schema));
    table(&mut out, &schema, "", &schema);
    let mut seen = vec!["Set".to_owned()];
    sections(&mut out, &schema, &schema, &mut seen);
    out.push_str(STACKS);
    let stack = set::stack();
    for (slot, described) in set::parameters(&stack) {
        component(&mut out, slot, described, 3);
    }
    out
}

/// A section for each definition that `part` refers to, in the order of their first references.
fn sections(out: &mut String, part: &Value, root: &Value, seen: &mut Vec<String>) {
    let mut found = Vec::new();
    references(part, &mut found);
    for name in found {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name.clone());
        let described = &root["$defs"][&name];
        if is_table(described) {
            let _ = writeln!(out, "## `{}`\n\n{}\n", title(&name, described), text(described));
            match shown(described, root, &seen[..seen.len() - 1]) {
                Some(text) => _ = writeln!(out, "{text}\n"),
                None => choices(out, described, "", root),
            }
        }
        sections(out, described, root, seen);
    }
}

/// If another table that has already been shown contains all keys of this one: that table, and its
/// additional keys.
fn shown(described: &Value, root: &Value, seen: &[String]) -> Option<String> {
    let keys = described["properties"].as_object()?;
    seen.iter().find_map(|name| {
        let larger = &root["$defs"][name];
        let all = larger["properties"].as_object()?;
        keys.iter().all(|(key, part)| all.get(key) == Some(part)).then(|| {
            let besides: Vec<String> =
                all.keys().filter(|k| !keys.contains_key(*k)).map(|k| format!("`{k}`")).collect();
            format!("Its keys are those of {} except {}.", link(name, larger), besides.join(", "))
        })
    })
}

fn references(part: &Value, found: &mut Vec<String>) {
    match part {
        Value::Object(keys) => {
            for (key, value) in keys.iter().filter(|(key, _)| *key != "$defs") {
                match value.as_str().and_then(|v| v.strip_prefix("#/$defs/")) {
                    Some(name) if key == "$ref" => found.push(name.to_owned()),
                    _ => references(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|i| references(i, found)),
        _ => {}
    }
}

/// A table of keys, or a choice of several tables.
fn is_table(schema: &Value) -> bool {
    schema["properties"].is_object() || schema["oneOf"][0]["properties"].is_object()
}

fn title<'a>(name: &'a str, schema: &'a Value) -> &'a str {
    schema["title"].as_str().unwrap_or(name)
}

/// A link to the section of a definition.
fn link(name: &str, schema: &Value) -> String {
    let title = title(name, schema);
    format!("[`{title}`](#{})", anchor(title))
}

/// One component of a stack, and the components in it.
fn component(out: &mut String, path: &str, schema: &Value, level: usize) {
    let _ = writeln!(out, "{} `{path}`\n\n{}\n", "#".repeat(level), text(schema));
    if !is_table(schema) {
        let _ = writeln!(out, "Value: {}.{}\n", value(schema, schema), meanings(schema, schema));
        return;
    }
    if let Some(kind) = schema["default"]["kind"].as_str() {
        let _ = writeln!(out, "Default kind: `{kind}`.\n");
    }
    choices(out, schema, &format!("{path}."), schema);
    let mut inner: Vec<(&String, &Value)> = Vec::new();
    let tables = set::kinds(schema).into_iter().map(|k| k.1);
    for (key, part) in tables.chain([schema]).flat_map(set::parameters) {
        if is_table(part) && inner.iter().all(|(known, _)| *known != key) {
            inner.push((key, part));
        }
    }
    for (key, part) in inner {
        component(out, &format!("{path}.{key}"), part, level + 1);
    }
}

/// The keys of a table, or of each table of a choice.
fn choices(out: &mut String, schema: &Value, prefix: &str, root: &Value) {
    if schema["properties"].is_object() {
        return table(out, schema, prefix, root);
    }
    if is_choice_of_keys(schema) {
        out.push_str("One of these keys.\n\n| key | value | meaning |\n| --- | --- | --- |\n");
        for choice in schema["oneOf"].as_array().into_iter().flatten() {
            for (key, part) in choice["properties"].as_object().into_iter().flatten() {
                let _ = writeln!(out, "| `{key}` | {} | {} |", value(part, root), text(choice));
            }
        }
        return out.push('\n');
    }
    for choice in schema["oneOf"].as_array().into_iter().flatten() {
        let keys = choice["properties"].as_object();
        let tag = keys.into_iter().flatten().find_map(|(k, v)| Some(format!("{k} = {}", v.get("const")?)));
        let _ = writeln!(out, "**`{}`** {}\n", tag.unwrap_or_default(), text(choice));
        table(out, choice, prefix, root);
    }
}

/// A choice of tables with one key each.
fn is_choice_of_keys(schema: &Value) -> bool {
    let tables = schema["oneOf"].as_array().into_iter().flatten();
    tables.flat_map(|t| t["properties"].as_object().into_iter().flatten()).all(|(_, v)| v.get("const").is_none())
}

fn table(out: &mut String, schema: &Value, prefix: &str, root: &Value) {
    let none = Map::new();
    let keys = schema["properties"].as_object().unwrap_or(&none);
    let rows: Vec<(&String, &Value)> = keys.iter().filter(|(_, v)| v.get("const").is_none()).collect();
    if rows.is_empty() {
        return;
    }
    out.push_str("| key | value | default | meaning |\n| --- | --- | --- | --- |\n");
    for (key, part) in rows {
        let needed = schema["required"].as_array().is_some_and(|r| r.iter().any(|k| k == key));
        let default = match part.get("default") {
            _ if needed => "needed".to_owned(),
            Some(Value::Object(table)) => table.get("kind").map_or_else(String::new, |k| format!("`{k}`")),
            Some(default) => format!("`{default}`"),
            None => String::new(),
        };
        let (value, meaning) = (value(part, root), format!("{}{}", text(part), meanings(part, root)));
        let _ = writeln!(out, "| `{prefix}{key}` | {value} | {default} | {} |", meaning.replace('|', "\\|"));
    }
    out.push('\n');
    for (key, part) in keys {
        let words = part["oneOf"].as_array().filter(|w| w.len() > MANY_WORDS && !is_table(part));
        if let Some(words) = words {
            let _ = writeln!(out, "`{prefix}{key}` is one of:\n");
            words.iter().for_each(|w| _ = writeln!(out, "- `{}`: {}", w["const"], text(w)));
            out.push('\n');
        }
    }
}

/// The allowed values of a key.
fn value(part: &Value, root: &Value) -> String {
    if let Some(name) = part["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
        let described = &root["$defs"][name];
        return match name {
            "Set" => "[parameters](#parameters-of-stacks)".to_owned(),
            _ if is_table(described) => format!("table {}", link(name, described)),
            _ => value(described, root),
        };
    }
    if let Some(one) = part.get("const") {
        return format!("`{one}`");
    }
    let list = |key: &str| part[key].as_array().filter(|_| !is_table(part));
    if let Some(words) = list("oneOf").or_else(|| list("anyOf")) {
        if words.len() > MANY_WORDS {
            return "see below".to_owned();
        }
        return words.iter().map(|w| value(w, root)).collect::<Vec<_>>().join(", ");
    }
    let range = match (&part["minimum"], &part["maximum"]) {
        (min @ Value::Number(_), max @ Value::Number(_)) if max.as_u64() < Some(1 << 62) => format!(", {min} to {max}"),
        (min, _) if min.as_u64() > Some(0) => format!(", {min} or more"),
        _ => match (&part["exclusiveMinimum"], &part["maximum"]) {
            (Value::Null, _) => String::new(),
            (min, Value::Null) => format!(", above {min}"),
            (min, max) => format!(", above {min}, at most {max}"),
        },
    };
    match part["type"].as_str() {
        Some("integer") => format!("whole number{range}"),
        Some("number") => format!("number{range}"),
        Some("boolean") => "`true`, `false`".to_owned(),
        Some("array") => format!("list, each: {}", value(&part["items"], root)),
        Some("string") => part["title"].as_str().unwrap_or("text").to_owned(),
        _ if set::kinds(part).is_empty() => "table".to_owned(),
        _ => "component, see below".to_owned(),
    }
}

/// The meaning of each of a key's words.
fn meanings(part: &Value, root: &Value) -> String {
    let described = match part["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
        Some(name) => &root["$defs"][name],
        None => part,
    };
    let words = described["oneOf"].as_array().filter(|w| w.len() <= MANY_WORDS).into_iter().flatten();
    let say = |w: &Value| Some(format!(" `{}`: {}", w.get("const")?, text(w)));
    words.filter_map(say).collect()
}

/// A description on one line.
fn text(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or("").replace('\n', " ")
}

/// The anchor that GitHub creates for a heading.
fn anchor(title: &str) -> String {
    let kept = title.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
    kept.replace(' ', "-")
}
