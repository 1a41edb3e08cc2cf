//! Every kind of every component is drawn, and every choice that a setting has, as the engine's schema enumerates them.

use super::draw;
use crate::paths::Rng;
use crate::second::UNWRITTEN;
use ackclock_tcp::stack::Stack;
use serde_json::Value;
use std::collections::BTreeSet;

/// A place in a description, and a word that may stand there.
type Choice = (String, String);

/// Parts of a description that are the sender's.
const PARTS: [&str; 12] = [
    "rto",
    "detect",
    "disorder",
    "recovery",
    "timeout",
    "congestion",
    "startup",
    "spurious",
    "undo",
    "dup_rule",
    "idle",
    "pacing",
];

/// Defaults that a description leaves out.
const LEFT_OUT: [(&str, &str, &str); 3] =
    [("", "idle", "keep"), ("", "pacing", "off"), (".detect rack-tlp", "rules", "rfc8985")];

/// All choices below a place of the schema.
fn offered(root: &Value, schema: &Value, place: &str, found: &mut BTreeSet<Choice>) {
    if let Some(name) = schema["$ref"].as_str() {
        let pointer = name.trim_start_matches('#');
        offered(root, root.pointer(pointer).expect("defined"), place, found);
    }
    for list in ["oneOf", "anyOf", "allOf"] {
        schema[list].as_array().into_iter().flatten().for_each(|one| offered(root, one, place, found));
    }
    let words = schema["enum"].as_array().into_iter().flatten().chain([&schema["const"]]);
    found.extend(words.filter_map(Value::as_str).map(|word| (place.into(), word.into())));
    let Some(fields) = schema["properties"].as_object() else { return };
    let kind = fields.get("kind").and_then(|k| k["const"].as_str());
    let inside = kind.map_or(place.to_string(), |kind| format!("{place} {kind}"));
    found.extend(kind.map(|kind| (place.to_string(), kind.to_string())));
    for (name, field) in fields.iter().filter(|f| f.0 != "kind") {
        offered(root, field, &format!("{inside}.{name}"), found);
    }
}

/// The choices that a description made.
fn made(value: &Value, place: &str, found: &mut BTreeSet<Choice>) {
    match value {
        Value::String(word) => _ = found.insert((place.into(), word.clone())),
        Value::Object(fields) => {
            let kind = fields.get("kind").and_then(Value::as_str);
            let inside = kind.map_or(place.to_string(), |kind| format!("{place} {kind}"));
            found.extend(kind.map(|kind| (place.to_string(), kind.to_string())));
            let left_out = LEFT_OUT.iter().filter(|l| l.0 == inside && !fields.contains_key(l.1));
            found.extend(left_out.map(|l| (format!("{inside}.{}", l.1), l.2.to_string())));
            fields.iter().filter(|f| f.0 != "kind").for_each(|(n, v)| made(v, &format!("{inside}.{n}"), found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
    }
}

#[test]
fn every_kind_of_every_component_and_every_choice_of_its_settings_is_drawn() {
    let root = schemars::schema_for!(Stack).to_value();
    let (mut all, mut drawn) = (BTreeSet::new(), BTreeSet::new());
    for part in PARTS {
        offered(&root, &root["properties"][part], &format!(".{part}"), &mut all);
    }
    let written = |place: &str, word: &str| {
        let alone = |(slot, kind): &(&str, &str)| {
            place == format!(".{slot}") && word == *kind || place.starts_with(&format!(".{slot} {kind}."))
        };
        !UNWRITTEN.iter().any(alone)
    };
    all.retain(|(place, word)| written(place, word));
    let mut number = 0;
    while !all.is_subset(&drawn) && number < 20_000 {
        let stack = serde_json::to_value(draw(&mut Rng::new(number ^ 0x0061_6e79))).expect("a description");
        made(&stack, "", &mut drawn);
        number += 1;
    }
    let missing: Vec<&Choice> = all.difference(&drawn).collect();
    assert!(all.len() > 150, "{}", all.len());
    assert!(missing.is_empty(), "not in {number} drawn stacks: {missing:?}");
}
