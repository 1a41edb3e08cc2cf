//! Keys of a table that require or exclude each other.

use super::shape::strings;
use crate::error::{joined, ScenarioError};
use crate::reader::Node;
use serde_json::Value;

/// Refuses keys that exclude each other.
pub(super) fn exclude(node: &Node<'_>, schema: &Value) -> Result<(), ScenarioError> {
    let apart: Vec<&str> = strings(&schema["not"]["required"]).collect();
    let there: Vec<Node<'_>> = apart.iter().filter_map(|key| node.get(key)).collect();
    if !apart.is_empty() && there.len() == apart.len() {
        let last = there.iter().max_by_key(|n| n.span.start).unwrap_or(node);
        return Err(last.refuse_as(together(apart.into_iter()), "one of them"));
    }
    let groups = groups(schema, "oneOf");
    let present = present(node, &groups);
    let Some((first, _)) = present.first() else { return Ok(()) };
    let group = groups.iter().find(|g| g.contains(first)).map_or(&[][..], Vec::as_slice);
    match present.iter().find(|(key, _)| !group.contains(key)) {
        Some((_, other)) => {
            let found = together(present.iter().map(|p| p.0));
            Err(other.refuse_as(found, format!("either {}", one_of(&groups))))
        }
        None => Ok(()),
    }
}

/// Refuses a table without keys that other keys need, or without any of the keys of which one is required. `missing`
/// creates the refusal for a missing key.
pub(super) fn complete(
    node: &Node<'_>,
    schema: &Value,
    missing: impl Fn(&str) -> ScenarioError,
) -> Result<(), ScenarioError> {
    let is_there = |key: &&str| node.get(key).is_some();
    for (key, others) in schema["dependentRequired"].as_object().into_iter().flatten() {
        if let (true, Some(absent)) = (is_there(&key.as_str()), strings(others).find(|other| !is_there(other))) {
            return Err(ScenarioError { found: format!("only `{key}`"), ..missing(absent) });
        }
    }
    let one = groups(schema, "oneOf");
    match present(node, &one).first() {
        Some((first, _)) => {
            let group = one.iter().find(|g| g.contains(first)).map_or(&[][..], Vec::as_slice);
            if let Some(absent) = group.iter().find(|key| !is_there(key)) {
                return Err(missing(absent));
            }
        }
        None if one.is_empty() => {}
        None => return Err(node.refuse_as(none(&one.concat()), one_of(&one))),
    }
    let any = groups(schema, "anyOf");
    if any.is_empty() || any.iter().any(|group| group.iter().all(is_there)) {
        return Ok(());
    }
    let keys = any.concat();
    Err(node.refuse_as(none(&keys), format!("at least one of the keys {}", keys.join(", "))))
}

/// The groups of keys of which exactly one, or at least one, is required.
fn groups<'s>(schema: &'s Value, which: &str) -> Vec<Vec<&'s str>> {
    let all = schema[which].as_array().into_iter().flatten();
    all.map(|group| strings(&group["required"]).collect()).collect()
}

/// The keys of groups that are present, in the order of the file.
fn present<'a, 's>(node: &Node<'a>, groups: &[Vec<&'s str>]) -> Vec<(&'s str, Node<'a>)> {
    let mut all: Vec<_> = groups.iter().flatten().filter_map(|key| Some((*key, node.get(key)?))).collect();
    all.sort_by_key(|(_, n)| n.span.start);
    all
}

/// `a and b, or c`
fn one_of(groups: &[Vec<&str>]) -> String {
    joined(&groups.iter().map(|g| g.join(" and ")).collect::<Vec<_>>(), "or")
}

fn none(keys: &[&str]) -> String {
    match keys {
        [a, b] => format!("neither `{a}` nor `{b}`"),
        _ => format!("none of the keys {}", keys.join(", ")),
    }
}

/// `both a and b`, `a, b and c together`.
pub(super) fn together<'k>(keys: impl Iterator<Item = &'k str>) -> String {
    let quoted: Vec<String> = keys.map(|k| format!("`{k}`")).collect();
    match quoted.as_slice() {
        [a, b] => format!("both {a} and {b}"),
        _ => format!("{} together", joined(&quoted, "and")),
    }
}
