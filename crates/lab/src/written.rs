//! A document as readable TOML: a section for each table at the top, everything below it on one line.

use serde_json::{Map, Value};

/// Tables within a section that get their own section, after the other keys.
const SECTIONS: [&str; 1] = ["set"];

/// The document as text. Null values are left out.
pub(crate) fn document(tables: &Map<String, Value>) -> String {
    let mut out = String::new();
    for (key, value) in tables {
        match value {
            Value::Object(table) => section(&mut out, key, &format!("[{key}]"), table),
            Value::Array(list) if list.iter().all(Value::is_object) => {
                for table in list.iter().filter_map(Value::as_object) {
                    section(&mut out, key, &format!("[[{key}]]"), table);
                }
            }
            Value::Null => {}
            other => out.push_str(&format!("{key} = {}\n", inline(other))),
        }
    }
    out
}

fn section(out: &mut String, name: &str, head: &str, table: &Map<String, Value>) {
    out.push_str(&format!("\n{head}\n"));
    let (later, now): (Vec<_>, Vec<_>) = table.iter().partition(|(key, _)| SECTIONS.contains(&key.as_str()));
    for (key, value) in now.into_iter().filter(|(_, value)| !value.is_null()) {
        out.push_str(&format!("{key} = {}\n", inline(value)));
    }
    for (key, value) in later {
        out.push_str(&format!("[{name}.{key}]\n"));
        for (key, value) in value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
            out.push_str(&format!("{key} = {}\n", inline(value)));
        }
    }
}

/// A value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let members = map.iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| format!("{k} = {}", inline(v)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        // JSON's escapes are valid in TOML, except that TOML also requires DEL to be escaped.
        Value::String(text) => Value::from(text.as_str()).to_string().replace('\u{7f}', "\\u007f"),
        other => other.to_string(),
    }
}
