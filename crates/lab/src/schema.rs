//! The form of a scenario file as JSON Schema (draft 2020-12) and as a page to read, both derived from types: the file's own
//! keys from `schema/file.rs`, the parameters of stacks from the descriptions in `ackclock_tcp`. An algorithm that is
//! added there is here without another line.

#[expect(dead_code, reason = "described, never made")]
mod file;
mod outside;
mod page;
#[expect(dead_code, reason = "described, never made")]
mod receiver;
mod set;

pub use page::page;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::Schema;
use serde_json::Value;

/// The schema, as text.
pub fn json() -> String {
    let mut schema = schema();
    outside::add(&mut schema);
    let mut text = format!("{schema:#}");
    text.push('\n');
    text
}

fn schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<file::Scenario>();
    without_null(&mut schema);
    schema.to_value()
}

/// TOML has no null: what may be left out may not be null. Numbers' widths are no formats.
fn without_null(schema: &mut Schema) {
    RecursiveTransform(|s: &mut Schema| {
        let Some(s) = s.as_object_mut() else { return };
        s.remove("format");
        if s.get("default").is_some_and(Value::is_null) {
            s.remove("default");
        }
        if let Some(Value::Array(types)) = s.get_mut("type") {
            types.retain(|t| t != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                s.insert("type".to_owned(), only);
            }
        }
        let choices = s.get("anyOf").and_then(Value::as_array).cloned().unwrap_or_default();
        if let [Value::Object(only), null] = choices.as_slice() {
            if null["type"] == "null" {
                s.remove("anyOf");
                for (key, value) in only {
                    s.entry(key).or_insert_with(|| value.clone());
                }
            }
        }
    })
    .transform(schema);
}
