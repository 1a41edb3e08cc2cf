//! `[[flow]]`, and the properties of each connection.

use super::amount::Amount;
use super::receiver::Receiver;
use super::set::Set;
use ackclock_sim::scenario::Gap;
use ackclock_tcp::stack::profiles::PROFILES;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Size;
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// A flow between two nodes, or `count` equal ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "[[flow]]", deny_unknown_fields)]
pub(crate) struct Flow {
    /// The sender's node.
    #[schemars(length(min = 1), extend("examples" = ["R1"]))]
    pub(crate) from: String,
    /// The receiver's node.
    #[schemars(length(min = 1), extend("examples" = ["R1"]))]
    pub(crate) to: String,
    #[serde(flatten)]
    pub(crate) what: FlowKeys,
}

/// A flow, or `count` equal ones, each with a sender and a receiver of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "[[dumbbell.flow]]", deny_unknown_fields)]
pub(crate) struct FlowKeys {
    #[serde(flatten)]
    pub(crate) connection: Connection,
    /// A name for people. Default: `flow-1`, …
    #[schemars(length(min = 1))]
    pub(crate) name: Option<String>,
    /// How many equal flows there are. Two or more are called `name-1`, …
    #[schemars(range(min = 1, max = 65_536), extend("default" = 1))]
    pub(crate) count: Option<u32>,
    /// Over this time their starts are spread evenly.
    #[schemars(extend("default" = "0 s"))]
    pub(crate) spread: Option<Nanos>,
    /// What is sent. Default: data without end, from the start of the run.
    pub(crate) app: Option<App>,
}

/// What a connection is like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Connection {
    /// The sender's TCP; `ackclock stacks` lists them.
    #[schemars(schema_with = "stack")]
    pub(crate) stack: String,
    /// Parameters of the stack by path, as with `--set`: `"rto.tick" = "500 ms"`; `recovery = "tahoe"`, a component by
    /// its kind; `recovery = { kind = … }`, all of it.
    pub(crate) set: Option<Set>,
    /// Payload of a full segment, 1 B to 65495 B.
    #[schemars(extend("default" = "1460 B"))]
    pub(crate) segment: Option<Size>,
    /// The receiver's window, from one segment to 1 GiB (RFC 7323 §2.3).
    #[schemars(extend("default" = "65535 B"))]
    pub(crate) window: Option<Amount>,
    /// When the receiver answers, and what its TCP knows, as in `{ sack = false, timestamps = false }`. Default: as the stack
    /// says.
    pub(crate) receiver: Option<Receiver>,
    /// Whether the connection begins with a SYN, or is established at its start.
    #[schemars(extend("default" = false))]
    pub(crate) handshake: Option<bool>,
    /// Sizes on the wire. With `header` it is `"ns2"`.
    #[schemars(extend("default" = "ipv4"))]
    pub(crate) wire: Option<Wire>,
    /// The fixed header of `wire = "ns2"`.
    #[schemars(extend("default" = "40 B"))]
    pub(crate) header: Option<Size>,
}

/// Sizes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Wire {
    /// Real headers with the options that are carried.
    Ipv4,
    /// A fixed header; ACKs of 40 bytes and 8 for each SACK block.
    Ns2,
}

/// What is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "app")]
pub(crate) enum App {
    /// It never stops.
    #[schemars(title = "Bulk", extend("examples" = [{}]))]
    Bulk {
        /// When it begins.
        #[serde(default)]
        start: Nanos,
        /// It begins later by a random time below this, another in each seed.
        #[serde(default)]
        jitter: Nanos,
    },
    /// A fixed number of bytes.
    #[schemars(title = "Fixed size", extend("examples" = [{ "size": "100 packets" }]))]
    Fixed {
        /// How much: segments, as in `"100 packets"`, or bytes.
        size: Amount,
        /// When it begins.
        #[serde(default)]
        start: Nanos,
        /// It begins later by a random time below this, another in each seed.
        #[serde(default)]
        jitter: Nanos,
    },
    /// Transfers in a row, as of requests that are answered: the next one begins when the last byte of the one before is
    /// acknowledged and a think time has passed. How long each took, from its beginning (its SYN, where it has one) to that
    /// acknowledgment, is a result.
    #[schemars(title = "Transfers in a row", extend("examples" = [{ "size": "14 kB", "count": 100 }]))]
    Transfers {
        /// Payload of each: segments, as in `"10 packets"`, or bytes.
        size: Amount,
        /// How many.
        #[schemars(range(min = 1, max = 60_000))]
        count: u32,
        /// From the end of one to the beginning of the next. Default: none.
        think: Option<Gap>,
        /// On which connections.
        #[serde(default)]
        connections: Connections,
        /// When the first begins.
        #[serde(default)]
        start: Nanos,
        /// The first begins later by a random time below this, another in each seed.
        #[serde(default)]
        jitter: Nanos,
    },
    /// A piece of data now and then, whatever became of the one before: the sender is often idle.
    #[schemars(title = "Writes now and then", extend("examples" = [{ "size": "14 kB", "gap": { "constant": "1 s" } }]))]
    Writes {
        /// Payload of each: segments, as in `"10 packets"`, or bytes.
        size: Amount,
        /// From one to the next.
        gap: Gap,
        /// How many. Default: without end.
        #[schemars(range(min = 1, max = 1_000_000_000))]
        count: Option<u32>,
        /// When the first is written.
        #[serde(default)]
        start: Nanos,
        /// The first is written later by a random time below this, another in each seed.
        #[serde(default)]
        jitter: Nanos,
    },
}

/// On which connections transfers in a row are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Connections {
    /// Each on a new one, with a handshake of its own if the flow has one.
    #[default]
    New,
    /// All on one.
    One,
}

fn stack(_: &mut SchemaGenerator) -> Schema {
    let named: Vec<Schema> =
        PROFILES.iter().map(|p| json_schema!({ "const": p.name, "description": p.summary })).collect();
    json_schema!({ "type": "string", "oneOf": named })
}
