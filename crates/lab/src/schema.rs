//! The form of a scenario file as JSON Schema (draft 2020-12) and as a page. Both are derived from types: the file's own
//! keys from `file.rs`, the parameters of stacks from the descriptions in `ackclock_tcp`. An algorithm added there appears
//! here without further code.

mod outside;
mod page;

pub use page::page;

use crate::file;
use crate::file::set::{self, without_null};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::Schema;
use serde_json::Value;
use std::sync::OnceLock;

/// The schema, as text.
pub fn json() -> String {
    let mut schema = schema();
    outside::add(&mut schema);
    let mut text = format!("{schema:#}");
    text.push('\n');
    text
}

/// The form of a scenario file, used to check files.
pub(crate) fn form() -> &'static Value {
    static FORM: OnceLock<Value> = OnceLock::new();
    FORM.get_or_init(|| {
        let mut schema = without_parameters();
        if let Some(kinds) = schema.pointer_mut("/$defs/Element/oneOf").and_then(Value::as_array_mut) {
            kinds.push(outside::element());
        }
        schema
    })
}

fn schema() -> Value {
    let mut schema = without_parameters();
    schema["$defs"]["Set"] = finished(set::schema());
    schema
}

/// The schema without the parameters of stacks, which take nine tenths of the time. Files need it alone: parameters are checked one
/// by one, against the stack that they change.
fn without_parameters() -> Value {
    finished(SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<file::Scenario>())
}

fn finished(mut schema: Schema) -> Value {
    without_null(&mut schema);
    RecursiveTransform(finish).transform(&mut schema);
    schema.to_value()
}

/// Adds the distinguishing key to the example of one table of a choice. A time of zero needs no small unit.
fn finish(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut() else { return };
    if schema.get("default").is_some_and(|default| default == "0 ns") {
        schema.insert("default".to_owned(), "0 s".into());
    }
    let keys = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let tag = keys.filter_map(|(key, part)| Some((key.clone(), part.get("const")?.clone()))).next();
    let examples = schema.get_mut("examples").and_then(Value::as_array_mut).into_iter().flatten();
    for example in examples.filter_map(Value::as_object_mut) {
        if let Some((key, word)) = tag.clone() {
            example.shift_insert(0, key, word);
        }
    }
}
