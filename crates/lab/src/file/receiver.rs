//! `receiver`: when a receiver answers.

use ackclock_tcp::ack::AckSpec;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{de, ser, Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The receiver's policy, as [`AckSpec`] describes it. Its kind stands under `ack`: `{ ack = "every" }`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Receiver(pub(crate) AckSpec);

/// The keys by which a kind is told in a description, and in a receiver's table.
const KEYS: (&str, &str) = ("kind", "ack");

/// The table with another name for the key that stands under `old`, in the same place.
fn renamed(table: Map<String, Value>, old: &str, new: &str) -> Map<String, Value> {
    table.into_iter().map(|(key, value)| (if key == old { new.to_owned() } else { key }, value)).collect()
}

impl Serialize for Receiver {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match serde_json::to_value(&self.0).map_err(ser::Error::custom)? {
            Value::Object(table) => renamed(table, KEYS.0, KEYS.1).serialize(s),
            other => other.serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for Receiver {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let table = renamed(Map::deserialize(d)?, KEYS.1, KEYS.0);
        serde_json::from_value(Value::Object(table)).map(Receiver).map_err(de::Error::custom)
    }
}

impl JsonSchema for Receiver {
    fn schema_name() -> Cow<'static, str> {
        "Receiver".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = AckSpec::json_schema(generator);
        schema.insert("title".to_owned(), "receiver".into());
        for kind in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            for key in ["properties", "required"] {
                match kind.get_mut(key) {
                    Some(Value::Object(all)) => *all = renamed(std::mem::take(all), KEYS.0, KEYS.1),
                    Some(Value::Array(all)) => all.iter_mut().filter(|k| *k == KEYS.0).for_each(|k| *k = KEYS.1.into()),
                    _ => {}
                }
            }
        }
        schema
    }
}
