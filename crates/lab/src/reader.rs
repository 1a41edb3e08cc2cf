//! Reads a TOML document key by key and remembers their places, so that every refusal can name its line.

use crate::error::ScenarioError;
use serde_json::{Map, Value};
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// A text and its name in errors.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

/// A value in the document: its path for errors, and its place.
#[derive(Clone)]
pub(crate) struct Node<'a> {
    pub(crate) src: Source<'a>,
    pub(crate) path: String,
    pub(crate) span: Range<usize>,
    pub(crate) value: &'a DeValue<'a>,
}

impl<'a> Source<'a> {
    /// Parses the text as TOML.
    pub(crate) fn parse(self) -> Result<Spanned<DeTable<'a>>, ScenarioError> {
        DeTable::parse(self.text).map_err(|e| {
            let found = e.message().lines().next().unwrap_or("a syntax error").to_owned();
            self.error(e.span().map_or(0, |s| s.start), None, found, "TOML, as in: rate = \"5 Mbps\"")
        })
    }

    /// A refusal at byte `at`.
    pub(crate) fn error(
        self,
        at: usize,
        key: Option<String>,
        found: impl Into<String>,
        allowed: impl Into<String>,
    ) -> ScenarioError {
        let (file, line) = (self.file.to_owned(), Some(self.line(at)));
        ScenarioError { file, line, key, found: found.into(), allowed: allowed.into(), hint: None }
    }

    /// The line of byte `at`, counted from 1.
    pub(crate) fn line(self, at: usize) -> u32 {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        1 + before.iter().filter(|b| **b == b'\n').count() as u32
    }
}

impl<'a> Node<'a> {
    /// A refusal of this value, shown as written.
    pub(crate) fn refuse(&self, allowed: impl Into<String>) -> ScenarioError {
        self.refuse_as(self.written(), allowed)
    }

    /// A refusal of this value, with another text for the value found.
    pub(crate) fn refuse_as(&self, found: impl Into<String>, allowed: impl Into<String>) -> ScenarioError {
        let key = Some(self.path.clone()).filter(|path| !path.is_empty());
        self.src.error(self.span.start, key, found, allowed)
    }

    /// The value as written, shortened.
    pub(crate) fn written(&self) -> String {
        match self.value {
            DeValue::Table(_) => return "a table".to_owned(),
            DeValue::Array(a) if a.is_empty() => return "an empty list".to_owned(),
            DeValue::Array(_) => return "a list".to_owned(),
            _ => {}
        }
        let text = self.src.text.get(self.span.clone()).unwrap_or("").trim();
        let line = text.lines().next().unwrap_or("");
        let short: String = line.chars().take(60).collect();
        if short.len() < text.len() {
            format!("{short}…")
        } else {
            short
        }
    }

    /// As a table with any keys, in the order of the document. `allowed` is asked for the sentence of a refusal.
    pub(crate) fn entries<S: Into<String>>(
        &self,
        allowed: impl FnOnce() -> S,
    ) -> Result<Vec<(String, Node<'a>)>, ScenarioError> {
        let DeValue::Table(table) = self.value else { return Err(self.refuse(allowed())) };
        let named = |(k, v): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let name: &std::borrow::Cow<'_, str> = k.get_ref();
            (name.to_string(), self.at(self.child(name), v))
        };
        let mut all: Vec<_> = table.iter().map(named).collect();
        all.sort_by_key(|(_, n)| n.span.start);
        Ok(all)
    }

    /// As a list. `allowed` is asked for the sentence of a refusal.
    pub(crate) fn items<S: Into<String>>(&self, allowed: impl FnOnce() -> S) -> Result<Vec<Node<'a>>, ScenarioError> {
        let DeValue::Array(list) = self.value else { return Err(self.refuse(allowed())) };
        Ok(list.iter().enumerate().map(|(i, v)| self.at(format!("{}[{i}]", self.path), v)).collect())
    }

    /// The value of a key, if this is a table that has it.
    pub(crate) fn get(&self, key: &str) -> Option<Node<'a>> {
        let (_, v) = self.value.as_table()?.iter().find(|(k, _)| k.get_ref().as_ref() == key)?;
        Some(self.at(self.child(key), v))
    }

    /// The value at a path below this table, as in `times[1]`.
    pub(crate) fn find(&self, path: &str) -> Option<Node<'a>> {
        path.split('.').try_fold(self.clone(), |at, step| {
            let (key, index) = step.split_once('[').unwrap_or((step, ""));
            let under = at.get(key)?;
            match index.strip_suffix(']') {
                Some(index) => under.items(|| "").ok()?.into_iter().nth(index.parse().ok()?),
                None => Some(under),
            }
        })
    }

    /// A refusal of the value of a key of this table, or of its absence.
    pub(crate) fn refuse_key(&self, key: &str, found: impl Into<String>, allowed: impl Into<String>) -> ScenarioError {
        let at = self.get(key).map_or(self.span.start, |n| n.span.start);
        self.src.error(at, Some(self.child(key)), found, allowed)
    }

    /// A refusal of the value of a key of this table, shown as written.
    pub(crate) fn refuse_in(&self, key: &str, allowed: impl Into<String>) -> ScenarioError {
        let found = self.get(key).map_or_else(|| "nothing".to_owned(), |n| n.written());
        self.refuse_key(key, found, allowed)
    }

    /// The items of the list under a key; empty if it is missing.
    pub(crate) fn list(&self, key: &str) -> Vec<Node<'a>> {
        self.get(key).and_then(|n| n.items(|| "").ok()).unwrap_or_default()
    }

    /// The first key of this table that is not a known one, and a refusal of it.
    pub(crate) fn unknown_key(&self, known: &[&str]) -> Option<(String, ScenarioError)> {
        let unknown = self.value.as_table()?.keys().filter(|k| !known.contains(&k.get_ref().as_ref()));
        let key = unknown.min_by_key(|k| k.span().start)?;
        let name = key.get_ref().to_string();
        let refusal = self.src.error(key.span().start, Some(self.child(&name)), "", "");
        Some((name, refusal))
    }

    /// As a whole number.
    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self.value {
            DeValue::Integer(i) => u64::from_str_radix(i.as_str(), i.radix()).ok(),
            _ => None,
        }
    }

    /// As a number.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self.value {
            DeValue::Float(f) => f.as_str().parse().ok(),
            DeValue::Integer(i) => i.as_str().parse().ok(),
            _ => None,
        }
    }

    /// As JSON, without its place. Values that JSON cannot represent become null.
    pub(crate) fn json(&self) -> Value {
        json(self.value)
    }

    /// As a string.
    pub(crate) fn str(&self, allowed: &str) -> Result<&'a str, ScenarioError> {
        self.value.as_str().ok_or_else(|| self.refuse(allowed))
    }

    fn at(&self, path: String, v: &'a Spanned<DeValue<'a>>) -> Node<'a> {
        Node { src: self.src, path, span: v.span(), value: v.get_ref() }
    }

    /// The path of a key in this table; quoted if the key contains dots.
    fn child(&self, key: &str) -> String {
        let bare = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        let key = if bare { key.to_owned() } else { format!("{key:?}") };
        if self.path.is_empty() {
            key
        } else {
            format!("{}.{key}", self.path)
        }
    }
}

/// A TOML value as JSON.
pub(crate) fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(s) => Value::String(s.to_string()),
        DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).map_or(Value::Null, Value::from),
        DeValue::Float(f) => f.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Datetime(d) => Value::String(d.to_string()),
        DeValue::Array(list) => list.iter().map(|v| json(v.get_ref())).collect(),
        DeValue::Table(t) => {
            t.iter().map(|(k, v)| (k.get_ref().to_string(), json(v.get_ref()))).collect::<Map<_, _>>().into()
        }
    }
}
