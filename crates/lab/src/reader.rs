//! Reads a TOML document key by key and remembers where each one stands, so that every refusal can name its line.

use crate::error::{listed, nearest, ScenarioError};
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// A text and the name under which errors speak of it.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

/// A value in the document: its path for errors, and where it stands.
#[derive(Clone)]
pub(crate) struct Node<'a> {
    pub(crate) src: Source<'a>,
    pub(crate) path: String,
    pub(crate) span: Range<usize>,
    pub(crate) value: &'a DeValue<'a>,
}

/// A table whose keys have been checked against the known ones.
#[derive(Clone)]
pub(crate) struct Keys<'a> {
    pub(crate) node: Node<'a>,
    table: &'a DeTable<'a>,
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
    /// A refusal of this value as it is written.
    pub(crate) fn refuse(&self, allowed: impl Into<String>) -> ScenarioError {
        self.refuse_as(self.written(), allowed)
    }

    /// A refusal of this value, with other words for what was found.
    pub(crate) fn refuse_as(&self, found: impl Into<String>, allowed: impl Into<String>) -> ScenarioError {
        self.src.error(self.span.start, Some(self.path.clone()), found, allowed)
    }

    /// The value as it is written, shortened.
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

    /// As a table, of which only these keys are allowed.
    pub(crate) fn keys(&self, allowed: &[&'static str]) -> Result<Keys<'a>, ScenarioError> {
        let DeValue::Table(table) = self.value else {
            return Err(self.refuse(format!("a table with the keys {}", listed(allowed))));
        };
        let keys = Keys { node: self.clone(), table };
        let unknown = table.keys().filter(|k| !allowed.contains(&k.get_ref().as_ref()));
        match unknown.min_by_key(|k| k.span().start) {
            None => Ok(keys),
            Some(k) => {
                let (path, name) = (self.child(k.get_ref()), k.get_ref().as_ref());
                let hint = nearest(name, allowed.iter().copied()).map(|n| format!("`{n}`"));
                let error = self.src.error(k.span().start, Some(path), "an unknown key", listed(allowed));
                Err(error.with_hint(hint))
            }
        }
    }

    /// As a table with any keys, in the order in which they are written.
    pub(crate) fn entries(&self, allowed: &str) -> Result<Vec<(String, Node<'a>)>, ScenarioError> {
        let DeValue::Table(table) = self.value else { return Err(self.refuse(allowed)) };
        let named = |(k, v): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let name: &std::borrow::Cow<'_, str> = k.get_ref();
            (name.to_string(), self.at(self.child(name), v))
        };
        let mut all: Vec<_> = table.iter().map(named).collect();
        all.sort_by_key(|(_, n)| n.span.start);
        Ok(all)
    }

    /// As a list.
    pub(crate) fn items(&self, allowed: &str) -> Result<Vec<Node<'a>>, ScenarioError> {
        let DeValue::Array(list) = self.value else { return Err(self.refuse(allowed)) };
        Ok(list.iter().enumerate().map(|(i, v)| self.at(format!("{}[{i}]", self.path), v)).collect())
    }

    /// As a string.
    pub(crate) fn str(&self, allowed: &str) -> Result<&'a str, ScenarioError> {
        self.value.as_str().ok_or_else(|| self.refuse(allowed))
    }

    fn at(&self, path: String, v: &'a Spanned<DeValue<'a>>) -> Node<'a> {
        Node { src: self.src, path, span: v.span(), value: v.get_ref() }
    }

    /// The path of a key in this table; quoted where its dots are no path.
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

impl<'a> Keys<'a> {
    /// The value of a key, if it is there.
    pub(crate) fn get(&self, key: &str) -> Option<Node<'a>> {
        let (_, v) = self.table.iter().find(|(k, _)| k.get_ref().as_ref() == key)?;
        Some(self.node.at(self.node.child(key), v))
    }

    /// The value of a key that must be there.
    pub(crate) fn need(&self, key: &str, allowed: &str) -> Result<Node<'a>, ScenarioError> {
        self.get(key).ok_or_else(|| {
            let at = self.node.span.start;
            self.node.src.error(at, Some(self.node.child(key)), "nothing", allowed)
        })
    }
}
