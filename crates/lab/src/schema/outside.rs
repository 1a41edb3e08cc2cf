//! The alternative to a slot's built-in kinds: a class of the user's own. The lab page, where no Python runs, offers none.

use crate::file::set::SLOTS;
use serde_json::{json, Value};

/// Adds it to every slot below `set`, and to the elements of links.
pub(super) fn add(schema: &mut Value) {
    if let Some(part) = schema.pointer_mut("/$defs/Element") {
        allow(part, element());
    }
    let Some(set) = schema.pointer_mut("/$defs/Set/properties").and_then(Value::as_object_mut) else { return };
    for slot in SLOTS {
        if let Some(part) = set.get_mut(slot) {
            allow(part, class());
        }
    }
    if let Some(detect) = set.get_mut("detect") {
        thresholds(detect);
    }
}

const SOURCE: &str = "File and class, as in \"avg_dev.py:AvgDev\"; the file is relative to the scenario file.";

/// One more choice beside the kinds of a component, not among them, so that a form that offers the kinds does not change.
fn allow(part: &mut Value, choice: Value) {
    let Some(part) = part.as_object_mut() else { return };
    if let Some(kinds) = part.remove("oneOf") {
        part.insert("anyOf".to_owned(), json!([{ "oneOf": kinds }]));
    }
    if let Some(choices) = part.get_mut("anyOf").and_then(Value::as_array_mut) {
        choices.push(choice);
    }
}

/// A class for a slot.
fn class() -> Value {
    json!({
        "type": "object",
        "description": "A Python class; other keys are its parameters.",
        "properties": { "kind": { "const": "python" }, "source": { "type": "string", "description": SOURCE } },
        "required": ["kind", "source"],
    })
}

/// A class that is a path element.
pub(super) fn element() -> Value {
    let mut class = class();
    class["properties"]["at"] = json!({ "$ref": "#/$defs/Place", "description": "Where on the link." });
    class["properties"]["only"] =
        json!({ "$ref": "#/$defs/Only", "description": "The packets that the element acts on. Default: all packets." });
    class
}

/// The thresholds in the tables of detectors.
fn thresholds(part: &mut Value) {
    match part {
        Value::Object(keys) => {
            if let Some(threshold) = keys.get_mut("properties").and_then(|p| p.get_mut("threshold")) {
                allow(threshold, class());
            }
            keys.values_mut().for_each(thresholds);
        }
        Value::Array(items) => items.iter_mut().for_each(thresholds),
        _ => {}
    }
}
