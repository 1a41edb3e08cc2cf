//! `receiver`: when a receiver acknowledges, and the options of its TCP.

use ackclock_sim::scenario::PeerSpec;
use ackclock_tcp::ack::AckSpec;
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{de, ser, Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{json, Map, Value};
use std::borrow::Cow;

/// The receiver's policy, as described by [`AckSpec`], and its options. The policy's kind is under `ack`:
/// `{ ack = "every" }`. Without it, or with `ack = "stack"`, the policy is the stack's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Receiver {
    pub(crate) ack: Option<AckSpec>,
    pub(crate) peer: PeerSpec,
}

/// The keys of the policy's kind in a description, and in a receiver's table.
const KEYS: (&str, &str) = ("kind", "ack");
/// The kind of a policy that is the stack's own.
const OF_STACK: &str = "stack";
/// The options, each with its meaning.
const OPTIONS: [(&str, &str); 3] = [
    ("sack", "Whether it supports selective acknowledgments (RFC 2018). Default: the stack's value."),
    ("dsack", "Whether it reports duplicates by DSACK (RFC 2883). Default: the stack's value; no without SACK."),
    ("timestamps", "Whether it supports timestamps (RFC 7323). Default: the stack's value."),
];

/// The table with the key `old` renamed, in the same place.
fn renamed(table: Map<String, Value>, old: &str, new: &str) -> Map<String, Value> {
    table.into_iter().map(|(key, value)| (if key == old { new.to_owned() } else { key }, value)).collect()
}

impl Serialize for Receiver {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let Receiver { ack, peer: PeerSpec { sack, dsack, timestamps } } = self;
        let mut table = match ack.as_ref().map(serde_json::to_value).transpose().map_err(ser::Error::custom)? {
            Some(Value::Object(table)) => renamed(table, KEYS.0, KEYS.1),
            Some(other) => return other.serialize(s),
            None => Map::new(),
        };
        for ((key, _), value) in OPTIONS.iter().zip([sack, dsack, timestamps]) {
            table.extend(value.map(|value| ((*key).to_owned(), value.into())));
        }
        table.serialize(s)
    }
}

impl<'de> Deserialize<'de> for Receiver {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let mut table = renamed(Map::deserialize(d)?, KEYS.1, KEYS.0);
        let [sack, dsack, timestamps] = OPTIONS.map(|(key, _)| table.remove(key).and_then(|value| value.as_bool()));
        let peer = PeerSpec { sack, dsack, timestamps };
        if table.get(KEYS.0).is_none_or(|kind| kind == OF_STACK) {
            return Ok(Receiver { ack: None, peer });
        }
        let ack = serde_json::from_value(Value::Object(table)).map_err(de::Error::custom)?;
        Ok(Receiver { ack: Some(ack), peer })
    }
}

impl JsonSchema for Receiver {
    fn schema_name() -> Cow<'static, str> {
        "Receiver".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = AckSpec::json_schema(generator);
        schema.insert("title".to_owned(), "receiver".into());
        let about = "When a receiver sends ACKs, and which options its TCP supports. An option is used if both ends support it.";
        schema.insert("description".to_owned(), about.into());
        let Some(Value::Array(kinds)) = schema.get_mut("oneOf") else { return schema };
        for kind in &mut *kinds {
            for key in ["properties", "required"] {
                match kind.get_mut(key) {
                    Some(Value::Object(all)) => *all = renamed(std::mem::take(all), KEYS.0, KEYS.1),
                    Some(Value::Array(all)) => all.iter_mut().filter(|k| *k == KEYS.0).for_each(|k| *k = KEYS.1.into()),
                    _ => {}
                }
            }
        }
        let of_stack = json_schema!({
            "type": "object",
            "description": "The stack's own rule.",
            "properties": { KEYS.1: { "type": "string", "const": OF_STACK } },
            "additionalProperties": false,
        });
        kinds.insert(0, of_stack.into());
        for keys in kinds.iter_mut().filter_map(|kind| kind["properties"].as_object_mut()) {
            for (key, about) in OPTIONS {
                keys.insert(key.to_owned(), json!({ "type": "boolean", "description": about }));
            }
        }
        schema
    }
}
