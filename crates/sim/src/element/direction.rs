//! One direction of a link, and its queue.

use super::ElementSpec;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{parse_length, show_bytes, Bytes, Length, Packets, Rate};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{de, Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// One direction of a link: elements at its entry, a queue, a transmitter, elements at its exit, a delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirectionSpec {
    /// Bits or bytes per second, or `"unlimited"`: transmission takes no time.
    #[serde(with = "ackclock_tcp::units::rate_or_unlimited")]
    #[schemars(schema_with = "ackclock_tcp::units::rate_or_unlimited::schema")]
    pub rate: Option<Rate>,
    /// Propagation delay, at most an hour.
    pub delay: Nanos,
    /// Capacity of the queue, in packets or in bytes on the wire; or a table with the limit and its convention.
    #[serde(default)]
    #[schemars(extend("default" = "unlimited"))]
    pub queue: QueueSpec,
    /// The elements that act on packets, in order.
    #[serde(default)]
    pub elements: Vec<ElementSpec>,
    /// How the link is simulated. Both forms give the same results.
    #[serde(default)]
    pub form: LinkForm,
}

/// A queue's limit and its convention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueSpec {
    /// The most that may wait.
    pub limit: QueueLimit,
    /// ns-2's convention: the packet in transmission counts against the limit (limit B: B − 1 waiting and 1 in service).
    pub limit_counts_service: bool,
}

/// The unit of a queue limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueLimit {
    /// Nothing is ever dropped here.
    #[default]
    Unlimited,
    /// At most this many packets.
    Packets(u32),
    /// At most this many bytes on the wire.
    Bytes(Bytes),
}

/// How a link is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Form")]
pub enum LinkForm {
    /// Computes departure times directly where no element acts on waiting packets.
    #[default]
    Auto,
    /// Always simulates an explicit queue.
    Queued,
}

/// A queue's limit and its convention.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "queue")]
struct Queue {
    /// What may wait.
    limit: QueueLimit,
    /// ns-2's convention: the packet in transmission counts against the limit.
    #[serde(default)]
    limit_counts_service: bool,
}

const LIMIT: &str = "\"65 packets\", a size in bytes as in \"64 KiB\", or \"unlimited\"";

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueLimit::Unlimited => f.write_str("unlimited"),
            QueueLimit::Packets(n) => Packets(*n).fmt(f),
            QueueLimit::Bytes(n) => f.write_str(&show_bytes(*n)),
        }
    }
}

impl Serialize for QueueLimit {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl Serialize for QueueSpec {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let QueueSpec { limit, limit_counts_service } = *self;
        Queue { limit, limit_counts_service }.serialize(s)
    }
}

/// Reads a limit, or a limit's table where `table` allows one.
struct Reader {
    table: bool,
}

impl<'de> de::Visitor<'de> for Reader {
    type Value = QueueSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(LIMIT)?;
        f.write_str(if self.table { "; or a table with the keys limit, limit_counts_service" } else { "" })
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<QueueSpec, E> {
        let limit = match text.trim() {
            "unlimited" => QueueLimit::Unlimited,
            length => match parse_length(length).map_err(E::custom)? {
                Length::Packets(Packets(n)) => QueueLimit::Packets(n),
                Length::Bytes(n) => QueueLimit::Bytes(n),
            },
        };
        Ok(QueueSpec { limit, limit_counts_service: false })
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<QueueSpec, A::Error> {
        if !self.table {
            return Err(de::Error::invalid_type(de::Unexpected::Map, &self));
        }
        let Queue { limit, limit_counts_service } = Queue::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(QueueSpec { limit, limit_counts_service })
    }
}

impl<'de> Deserialize<'de> for QueueLimit {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_str(Reader { table: false }).map(|q| q.limit)
    }
}

impl<'de> Deserialize<'de> for QueueSpec {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Reader { table: true })
    }
}

impl JsonSchema for QueueLimit {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "limit".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let lengths = [Packets::json_schema(generator), ackclock_tcp::units::bytes_schema(generator)];
        json_schema!({ "anyOf": [lengths[0], lengths[1], { "const": "unlimited" }] })
    }
}

impl JsonSchema for QueueSpec {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "queue".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let limit = QueueLimit::json_schema(generator);
        json_schema!({ "anyOf": [limit, generator.subschema_for::<Queue>()] })
    }
}
