//! Tables that an element reads from a text, which may be a file relative to the scenario file.

use crate::bounded;
use crate::error::ScenarioError;
use crate::form;
use crate::reader::Node;
use ackclock_sim::error::Fault;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The keys of an element, with the text of its file under `data` instead of `file`; and the place of that file.
pub(super) fn beside(node: &Node<'_>, mut keys: Value) -> Result<(Value, Option<PathBuf>), ScenarioError> {
    let Some(file) = node.get("file") else { return Ok((keys, None)) };
    let path = Path::new(file.src.file).with_file_name(file.str("the path of a file, relative to the scenario file")?);
    if let Some(keys) = keys.as_object_mut() {
        keys.remove("file");
        keys.insert("data".to_owned(), text(&file, &path)?.into());
    }
    Ok((keys, Some(path)))
}

fn text(node: &Node<'_>, path: &Path) -> Result<String, ScenarioError> {
    let allowed =
        "a text file of at most 16 MiB, its path relative to the scenario file; or the table itself in `data`";
    let refuse = |why: String| node.refuse_as(format!("{} ({why})", node.written()), allowed);
    let bytes = bounded::read(path).map_err(|e| refuse(format!("no readable file: {e}")))?;
    if bytes.len() as u64 > bounded::LARGEST {
        return Err(refuse("more than 16 MiB".to_owned()));
    }
    String::from_utf8(bytes).map_err(|_| refuse("no readable file: stream did not contain valid UTF-8".to_owned()))
}

/// A refusal of a table in a file does not quote it: the author of the scenario may not be allowed to read the file.
const UNQUOTED: &str = "something else (files that a scenario names are not quoted)";

/// Refuses the faulty part of an element; for a table in a file, names the line and column there.
pub(super) fn blame(node: &Node<'_>, file: Option<&Path>, fault: Fault) -> ScenarioError {
    let Some((line, column)) = row(&fault.key) else { return form::blame(node, fault) };
    let Fault { key: _, found, allowed } = fault;
    match file {
        Some(path) => {
            let (file, key) = (path.display().to_string(), column.map(str::to_owned));
            ScenarioError { file, line: Some(line), key, found: UNQUOTED.to_owned(), allowed, hint: None }
        }
        None => {
            let column = column.map(|c| format!(", {c}")).unwrap_or_default();
            node.refuse_key("data", format!("{found} in its line {line}{column}"), allowed)
        }
    }
}

/// The line and the column in `data[3].loss`.
fn row(key: &str) -> Option<(u32, Option<&str>)> {
    let (line, column) = key.strip_prefix("data[")?.split_once(']')?;
    Some((line.parse().ok()?, column.strip_prefix('.')))
}
