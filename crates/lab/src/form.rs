//! Checks whether a value in a document matches a schema. A value that does not is refused with its place, the value found
//! and the values allowed.
//!
//! The schema is generated from the type that the value becomes ([`crate::schema`]), so a key or a kind in a description
//! is accepted here without further code.

mod groups;
mod quantity;
mod shape;

use crate::error::{listed, nearest, ScenarioError};
use crate::reader::Node;
use ackclock_sim::error::Fault;
use serde::de::DeserializeOwned;
use serde_json::Value;
use shape::{keys, needed, whole_range, Shape};

/// A schema with the definitions that it references.
#[derive(Clone, Copy)]
pub(crate) struct Form<'s> {
    root: &'s Value,
}

impl<'s> Form<'s> {
    /// All of `root`.
    pub(crate) fn new(root: &'s Value) -> Self {
        Form { root }
    }

    /// Refuses a value that does not match the schema.
    fn check(self, node: &Node<'_>) -> Result<(), ScenarioError> {
        self.value(node, self.root)
    }

    /// Reads the document as the type of this schema.
    pub(crate) fn read<T: DeserializeOwned>(self, node: &Node<'_>) -> Result<T, ScenarioError> {
        self.check(node)?;
        made(node.json()).map_err(|fault| blame(node, fault))
    }

    fn value(self, node: &Node<'_>, schema: &'s Value) -> Result<(), ScenarioError> {
        self.shape(node, &Shape::of(schema, self.root))
    }

    fn shape(self, node: &Node<'_>, shape: &Shape<'s>) -> Result<(), ScenarioError> {
        let refuse = || Err(node.refuse(shape.allowed(self.root)));
        match shape {
            Shape::Text { words, .. } if node.value.as_str().is_some_and(|text| words.contains(&text)) => Ok(()),
            Shape::Text { words, dimensions } if dimensions.is_empty() => {
                let hint = node.value.as_str().and_then(|word| nearest(word, words.iter().copied()));
                refuse().map_err(|e| e.with_hint(hint.map(|n| format!("\"{n}\""))))
            }
            Shape::Text { words, dimensions } => quantity::check(node, dimensions, words),
            Shape::Prose(schema) => match node.value.as_str() {
                Some("") if schema["minLength"].is_u64() => refuse(),
                Some(_) => Ok(()),
                None => refuse(),
            },
            Shape::Whole(schema) => {
                let (min, max) = whole_range(schema);
                if node.as_u64().is_some_and(|n| (min..=max).contains(&n)) {
                    Ok(())
                } else {
                    refuse()
                }
            }
            Shape::Number(schema) => match node.as_f64() {
                Some(n) if in_range(n, schema) => Ok(()),
                _ => refuse()
                    .map_err(|e| e.with_hint(comma(node).filter(|n| in_range(*n, schema)).map(|n| n.to_string()))),
            },
            Shape::Truth => {
                if node.value.is_bool() {
                    Ok(())
                } else {
                    refuse()
                }
            }
            Shape::List(schema) => self.list(node, schema, || shape.allowed(self.root)),
            Shape::Table(schema) => self.table(node, schema, None),
            Shape::Tagged(tag, tables) => self.tagged(node, tag, tables),
            Shape::OneKey(choices) => self.one_key(node, choices, || shape.allowed(self.root)),
            Shape::Either(shapes) => {
                let fits = |s: &&Shape<'s>| match s {
                    Shape::List(_) => node.value.is_array(),
                    Shape::Table(_) | Shape::Tagged(..) | Shape::OneKey(_) | Shape::Free => node.value.is_table(),
                    Shape::Text { .. } | Shape::Prose(_) => node.value.is_str(),
                    Shape::Whole(_) | Shape::Number(_) => node.as_f64().is_some(),
                    Shape::Truth => node.value.is_bool(),
                    Shape::Either(_) => false,
                };
                shapes.iter().find(fits).map_or_else(refuse, |s| self.shape(node, s))
            }
            Shape::Free => Ok(()),
        }
    }

    fn list(self, node: &Node<'_>, schema: &'s Value, allowed: impl Fn() -> String) -> Result<(), ScenarioError> {
        let items = node.items(&allowed)?;
        let most = schema["maxItems"].as_u64().unwrap_or(u64::MAX);
        if !(schema["minItems"].as_u64().unwrap_or(0)..=most).contains(&(items.len() as u64)) {
            return Err(node.refuse(allowed()));
        }
        let mut seen = Vec::new();
        for item in &items {
            self.value(item, &schema["items"])?;
            if schema["uniqueItems"] == true {
                if seen.contains(&item.json()) {
                    return Err(item.refuse("each value once"));
                }
                seen.push(item.json());
            }
        }
        Ok(())
    }

    /// A table with these keys. `tag` is a key that has already been checked: its name and its value.
    fn table(self, node: &Node<'_>, schema: &'s Value, tag: Option<(&str, &Tagged<'s>)>) -> Result<(), ScenarioError> {
        let known: Vec<&str> = keys(schema).map(|k| k.0).collect();
        let entries = node.entries(|| Shape::Table(schema).allowed(self.root))?;
        if schema["additionalProperties"] == false {
            unknown(node, &known, tag)?;
        }
        groups::exclude(node, schema)?;
        for (key, part) in keys(schema).filter(|(key, _)| tag.is_none_or(|t| t.0 != *key)) {
            match entries.iter().find(|(name, _)| name == key) {
                Some((_, value)) => self.value(value, part)?,
                None if needed(schema, key) => return Err(self.missing(node, schema, key)),
                None => {}
            }
        }
        groups::complete(node, schema, |key| self.missing(node, schema, key))
    }

    /// A refusal of a table that lacks this key.
    fn missing(self, node: &Node<'_>, schema: &'s Value, key: &str) -> ScenarioError {
        node.refuse_key(key, "nothing", Shape::of(&schema["properties"][key], self.root).allowed(self.root))
    }

    fn tagged(self, node: &Node<'_>, tag: &'s str, tables: &Tagged<'s>) -> Result<(), ScenarioError> {
        let words: Vec<&str> = tables.iter().map(|t| t.0).collect();
        let allowed = || format!("one of {}", listed(&words));
        if !node.value.is_table() {
            return Err(node.refuse(Shape::Tagged(tag, tables.clone()).allowed(self.root)));
        }
        let Some(at) = node.get(tag) else {
            // One of them may omit the key.
            return match tables.iter().find(|t| !needed(t.1, tag)) {
                Some((_, table)) => self.table(node, table, Some((tag, tables))),
                None => Err(node.refuse_key(tag, "nothing", allowed())),
            };
        };
        let word = at.value.as_str().ok_or_else(|| at.refuse(allowed()))?;
        match tables.iter().find(|t| t.0 == word) {
            Some((_, table)) => self.table(node, table, Some((tag, tables))),
            None => {
                let hint = nearest(word, words.iter().copied()).map(|n| format!("\"{n}\""));
                Err(at.refuse(allowed()).with_hint(hint))
            }
        }
    }

    fn one_key(
        self,
        node: &Node<'_>,
        choices: &[(&str, &'s Value)],
        allowed: impl Fn() -> String,
    ) -> Result<(), ScenarioError> {
        let known: Vec<&str> = choices.iter().map(|c| c.0).collect();
        let entries = node.entries(&allowed)?;
        unknown(node, &known, None)?;
        match entries.as_slice() {
            [(name, value)] => {
                let part = choices.iter().find(|c| c.0 == name).map(|c| c.1);
                part.map_or(Ok(()), |part| self.value(value, part))
            }
            [] => Err(node.refuse_as("neither key", allowed())),
            several => Err(node.refuse_as(groups::together(several.iter().map(|e| e.0.as_str())), allowed())),
        }
    }
}

/// Builds the value's type; the value has been checked against its schema.
pub(crate) fn made<T: DeserializeOwned>(value: Value) -> Result<T, Fault> {
    serde_json::from_value(value).map_err(|e| {
        let (found, allowed) = (e.to_string(), "a value that fits its description".to_owned());
        Fault::parse(&found).unwrap_or(Fault { key: String::new(), found, allowed })
    })
}

/// A refusal of the part of a table with the fault.
pub(crate) fn blame(node: &Node<'_>, fault: Fault) -> ScenarioError {
    let Fault { key, found, allowed } = fault;
    if key.is_empty() {
        return node.refuse_as(found, allowed);
    }
    let Some(at) = node.find(&key) else {
        let (above, last) = key.rsplit_once('.').unwrap_or(("", &key));
        let above = if above.is_empty() { Some(node.clone()) } else { node.find(above) };
        // If none of these tables has the value, it comes from elsewhere.
        return match above.filter(|_| !last.contains('[')) {
            Some(above) => above.refuse_key(last, found, allowed),
            None => node.refuse_as(found, allowed),
        };
    };
    let only = at.value.as_table().filter(|table| table.len() == 1).and_then(|table| table.keys().next());
    let at = only.and_then(|key| at.get(key.get_ref())).unwrap_or(at);
    // A value is shown as written, with its own unit.
    match found.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        true => at.refuse(allowed),
        false => at.refuse_as(found, allowed),
    }
}

/// The tables of a choice, each with the word that names it.
type Tagged<'s> = Vec<(&'s str, &'s Value)>;

/// Refuses an unknown key of the table; another table of the choice may have it.
fn unknown(node: &Node<'_>, known: &[&str], tag: Option<(&str, &Tagged<'_>)>) -> Result<(), ScenarioError> {
    let Some((name, refusal)) = node.unknown_key(known) else { return Ok(()) };
    let elsewhere = tag.filter(|(_, tables)| tables.iter().any(|(_, table)| keys(table).any(|k| k.0 == name)));
    let found = elsewhere.map(|(tag, _)| match node.get(tag) {
        Some(at) => format!("`{name}` with {tag} = {}", at.written()),
        None => format!("`{name}` without `{tag}`"),
    });
    let found = found.unwrap_or_else(|| "an unknown key".to_owned());
    let hint = nearest(&name, known.iter().copied()).map(|n| format!("`{n}`"));
    Err(ScenarioError { found, allowed: listed(known), hint, ..refusal })
}

/// The number that a text with a decimal comma means.
fn comma(node: &Node<'_>) -> Option<f64> {
    quantity::point(node.value.as_str()?).parse().ok()
}

fn in_range(n: f64, schema: &Value) -> bool {
    let bound = |key: &str| schema[key].as_f64();
    n.is_finite()
        && bound("minimum").is_none_or(|min| n >= min)
        && bound("exclusiveMinimum").is_none_or(|min| n > min)
        && bound("maximum").is_none_or(|max| n <= max)
}
