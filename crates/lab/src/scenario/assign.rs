//! Sets one parameter of a stack by its path: `rto.tick`, `detect`, `options.sack`.

use crate::error::{listed, nearest};
use ackclock_tcp::stack::Stack;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Why a parameter was refused.
pub(super) struct Refusal {
    pub(super) allowed: String,
    pub(super) hint: Option<String>,
    /// The stack has no such parameter.
    pub(super) lacks: bool,
}

/// Lists the parts of a stack once. A parameter is read and written as part of its own part; the rest of the stack stays as it is.
macro_rules! parts {
    ($($part:ident)+) => {
        const PARTS: &[&str] = &[$(stringify!($part)),+];

        /// A part as a value; none if stacks have no such part.
        fn written(stack: &Stack, part: &str) -> Option<serde_json::Result<Value>> {
            let Stack { $($part),+ } = stack;
            match part {
                $(stringify!($part) => Some(serde_json::to_value($part)),)+
                _ => None,
            }
        }

        /// Replaces a part, and returns how it is written now. An error changes nothing.
        fn replace(stack: &mut Stack, part: &str, value: Value) -> serde_json::Result<Value> {
            fn read<T: Serialize + for<'de> Deserialize<'de>>(part: &mut T, value: Value) -> serde_json::Result<Value> {
                let new: T = serde_json::from_value(value)?;
                let written = serde_json::to_value(&new)?;
                *part = new;
                Ok(written)
            }
            let Stack { $($part),+ } = stack;
            match part {
                $(stringify!($part) => read($part, value),)+
                _ => Ok(value),
            }
        }
    };
}
parts! {
    name rto detect disorder recovery timeout congestion startup spurious undo ack receive_window dup_rule idle pacing options limits
}

/// Sets one parameter: writes its part as a table, changes the table, and reads it again. A refusal changes nothing.
pub(super) fn assign(stack: &mut Stack, path: &str, value: Value) -> Result<(), Refusal> {
    let part = path.split('.').next().unwrap_or_default();
    let old = written(stack, part).ok_or_else(|| unknown(part, PARTS.iter().map(|&p| p.to_owned()).collect()))?;
    let mut root = Value::Object(Map::from_iter([(part.to_owned(), old.map_err(|e| refusal(&e.to_string()))?)]));
    let (known, walked) = put(&mut root, path, value)?;
    let last = path.rsplit_once('.').map_or(path, |p| p.1);
    let now = replace(stack, part, root[part].take()).map_err(|e| match e.to_string() {
        text if text.starts_with(&format!("unknown field `{last}`")) => {
            unknown(path, text.split('`').skip(3).step_by(2).map(|k| format!("{walked}{k}")).collect())
        }
        text => refusal(&text),
    })?;
    match path.split('.').skip(1).try_fold(&now, |v, step| v.get(step)) {
        Some(_) => Ok(()),
        None => Err(unknown(path, known)),
    }
}

/// Changes one value of a part's table. Returns the parameters beside it, and the path to them.
fn put(root: &mut Value, path: &str, value: Value) -> Result<(Vec<String>, String), Refusal> {
    let (above, last) = path.rsplit_once('.').unwrap_or(("", path));
    let (mut at, mut walked) = (root, String::new());
    for step in above.split('.').filter(|s| !s.is_empty()) {
        let known = parameters(at, &walked);
        at = at.get_mut(step).ok_or_else(|| unknown(&format!("{walked}{step}"), known))?;
        walked = format!("{walked}{step}.");
    }
    let known = parameters(at, &walked);
    let Value::Object(map) = at else {
        return Err(Refusal { allowed: format!("`{above}`, which takes no parameters"), hint: None, lacks: false });
    };
    if last == "kind" {
        map.retain(|k, _| k == "kind"); // a different kind has different parameters
    }
    let value = match (map.get(last).and_then(|old| old.get("kind")), value) {
        (Some(_), Value::String(kind)) => serde_json::json!({ "kind": kind }),
        (_, value) => value,
    };
    map.insert(last.to_owned(), value);
    Ok((known, walked))
}

/// The paths of the entries in a table of parameters.
fn parameters(table: &Value, prefix: &str) -> Vec<String> {
    let keys = table.as_object().into_iter().flat_map(Map::keys);
    keys.map(|k| format!("{prefix}{k}")).collect()
}

/// There is no such parameter.
fn unknown(path: &str, known: Vec<String>) -> Refusal {
    let hint = nearest(path, known.iter().map(String::as_str)).map(|n| format!("`{n}`"));
    let allowed = match known.is_empty() {
        true => format!("no parameter below `{}`", path.rsplit_once('.').map_or("", |p| p.0)),
        false => format!("one of the parameters {}", listed(&known)),
    };
    Refusal { allowed, hint, lacks: true }
}

/// Turns serde's message about a fault into the allowed values: `unknown variant `x`, expected one of `a`, `b``, or our own sentence.
fn refusal(message: &str) -> Refusal {
    let allowed = match (message.split_once("expected "), message.rsplit_once("; ")) {
        (Some((_, "u16")), _) => "a whole number from 0 to 65535".to_owned(),
        (Some((_, "u32")), _) => "a whole number from 0 to 4294967295".to_owned(),
        (Some((_, "u64")), _) => "a whole number from 0".to_owned(),
        (Some((_, "f64")), _) => "a number".to_owned(),
        (Some((_, "a boolean")), _) => "true or false".to_owned(),
        (Some((_, expected)), _) => expected.replace('`', ""),
        (None, _) if message.ends_with("there are no fields") => "a kind without parameters".to_owned(),
        (None, Some((_, tail))) => tail.to_owned(),
        (None, None) => message.to_owned(),
    };
    let mut quoted = message.split('`').skip(1).step_by(2);
    let hint = quoted.next().and_then(|word| nearest(word, quoted)).map(|n| format!("\"{n}\""));
    Refusal { allowed, hint: hint.filter(|_| message.starts_with("unknown")), lacks: false }
}
