//! Errors in a scenario, each reported once: the place, the value found, the values allowed.

use serde::Serialize;
use std::fmt;

/// A refusal of user input: a scenario file, or an option that changes one.
///
/// It prints as one line, `FILE:LINE: key `KEY`: found X, allowed: Y; did you mean Z?`; unknown parts are left out, and long ones
/// are cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScenarioError {
    /// The file's name as given, or `command line`.
    pub file: String,
    /// Line in the file, counted from 1.
    pub line: Option<u32>,
    /// Path of the key, as in `link[0].rate`.
    pub key: Option<String>,
    /// The value found.
    pub found: String,
    /// The allowed values.
    pub allowed: String,
    /// The probably intended value.
    pub hint: Option<String>,
}

impl ScenarioError {
    /// A refusal of an option of the command line or an argument of a call.
    pub fn option(option: &str, found: impl Into<String>, allowed: impl Into<String>) -> Self {
        let (file, key) = ("command line".to_owned(), Some(option.to_owned()));
        ScenarioError { file, line: None, key, found: found.into(), allowed: allowed.into(), hint: None }
    }

    /// The same, with the probably intended value.
    pub(crate) fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// The fields and the printed line as a JSON object, for programs.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "file": self.file, "line": self.line, "key": self.key, "found": self.found, "allowed": self.allowed,
            "hint": self.hint, "message": self.to_string(),
        })
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Short(&self.file))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(key) = &self.key {
            write!(f, ": key `{}`", Short(key))?;
        }
        write!(f, ": found {}, allowed: {}", Short(&self.found), Short(&self.allowed))?;
        match &self.hint {
            Some(hint) => write!(f, "; did you mean {}?", Short(hint)),
            None => Ok(()),
        }
    }
}

/// A part of a message on one line, cut after [`LONGEST`] characters: names in a file may hold line breaks, be long, and many.
struct Short<'a>(&'a str);

/// The list of all stacks is shorter.
const LONGEST: usize = 1000;

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, rest) = match self.0.char_indices().nth(LONGEST) {
            Some((end, _)) => (&self.0[..end], "…"),
            None => (self.0, ""),
        };
        let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        for part in text.split_inclusive(breaks) {
            let plain = part.trim_end_matches(breaks);
            write!(f, "{plain}{}", part[plain.len()..].escape_default())?;
        }
        f.write_str(rest)
    }
}

impl std::error::Error for ScenarioError {}

/// The candidate that differs from `word` by the fewest typing errors, if it is close enough.
pub(crate) fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let plain = |s: &str| s.to_lowercase().replace(['_', '-', ' '], "");
    let slips = |c: &str| strsim::damerau_levenshtein(&plain(word), &plain(c));
    let near = |c: &str| (slips(c), !c.starts_with(word));
    let best = candidates.into_iter().map(|c| (near(c), c)).min_by_key(|&(n, _)| n)?;
    let short = word.chars().count().min(best.1.chars().count());
    let begins = short >= 3 && (best.1.starts_with(word) || word.starts_with(best.1));
    (best.0 .0 <= short.div_ceil(3).min(3) && best.0 .0 < short.max(2) || begins).then_some(best.1)
}

/// `a, b and c`, for lists in messages.
pub(crate) fn listed<S: AsRef<str>>(words: &[S]) -> String {
    words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

/// `a`, `a or b`, or `a, b, or c`; with a comma if one of them contains an "and", a comma or a colon.
pub(crate) fn joined(words: &[String], last: &str) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [a, b] if ![a, b].iter().any(|w| w.contains(" and ") || w.contains([',', ':'])) => format!("{a} {last} {b}"),
        [head @ .., tail] => format!("{}, {last} {tail}", head.join(", ")),
    }
}
