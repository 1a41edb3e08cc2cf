//! Any TOML document as JSON, with the line of every value: for files that are read outside [`crate::scenario`] but refused in
//! the same words.

use crate::error::ScenarioError;
use crate::reader::{Node, Source};
use serde_json::{json, Map, Value};
use toml::de::DeValue;

/// `{"value": …, "lines": {"grid.stack": 3, …}}`: the document, and the line of each value, by its path. A key that contains dots
/// is quoted in a path.
///
/// # Errors
/// The place where the text is not TOML.
pub fn read(file: &str, text: &str) -> Result<Value, ScenarioError> {
    let src = Source { file, text };
    let root = src.parse()?;
    let value = DeValue::Table(root.into_inner());
    let breaks = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut lines = Lines { breaks, found: Map::new() };
    let value = walk(&Node { src, path: String::new(), span: 0..0, value: &value }, &mut lines)?;
    Ok(json!({ "value": value, "lines": lines.found }))
}

/// The lines of values.
struct Lines {
    /// Places of the line breaks, so that a file is not counted again for each value.
    breaks: Vec<usize>,
    found: Map<String, Value>,
}

fn walk(node: &Node<'_>, lines: &mut Lines) -> Result<Value, ScenarioError> {
    if !node.path.is_empty() {
        let line = 1 + lines.breaks.partition_point(|at| *at < node.span.start);
        lines.found.insert(node.path.clone(), json!(line));
    }
    Ok(match node.value {
        DeValue::Table(_) => {
            let mut table = Map::new();
            for (key, child) in node.entries(|| "a table")? {
                table.insert(key, walk(&child, lines)?);
            }
            Value::Object(table)
        }
        DeValue::Array(_) => node.items(|| "a list")?.iter().map(|n| walk(n, lines)).collect::<Result<_, _>>()?,
        DeValue::String(s) => json!(s),
        DeValue::Boolean(b) => json!(b),
        DeValue::Integer(i) => {
            let whole = i64::from_str_radix(i.as_str(), i.radix());
            json!(whole.map_err(|_| node.refuse("a whole number of at most 63 bits"))?)
        }
        DeValue::Float(f) => f
            .as_str()
            .parse::<f64>()
            .ok()
            .filter(|x| x.is_finite())
            .map(Value::from)
            .ok_or_else(|| node.refuse("a finite number"))?,
        DeValue::Datetime(d) => json!(d.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_given_with_the_line_of_each_value() {
        let document = read("x", "a = 1\n[b]\n\"c.d\" = [0.5,\n true]\n").unwrap();
        assert_eq!(document["value"], json!({ "a": 1, "b": { "c.d": [0.5, true] } }));
        let lines = json!({ "a": 1, "b": 2, "b.\"c.d\"": 3, "b.\"c.d\"[0]": 3, "b.\"c.d\"[1]": 4 });
        assert_eq!(document["lines"], lines);
    }

    #[test]
    fn what_is_no_toml_is_refused_with_its_place() {
        let error = read("x.toml", "a = 1\nb = = 2\n").unwrap_err();
        assert!(error.to_string().starts_with("x.toml:2: "), "{error}");
        assert!(read("x", "a = nan").is_err());
    }
}
