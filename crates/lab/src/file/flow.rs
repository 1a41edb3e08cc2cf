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

/// A flow between two nodes, or `count` identical flows.
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

/// A flow, or `count` identical flows, each with its own sender and receiver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "[[dumbbell.flow]]", deny_unknown_fields)]
pub(crate) struct FlowKeys {
    #[serde(flatten)]
    pub(crate) connection: Connection,
    /// A display name. Default: `flow-1`, …
    #[schemars(length(min = 1))]
    pub(crate) name: Option<String>,
    /// Number of identical flows. Two or more are called `name-1`, …
    #[schemars(range(min = 1, max = 65_536), extend("default" = 1))]
    pub(crate) count: Option<u32>,
    /// The starts of the flows are spread evenly over this time.
    #[schemars(extend("default" = "0 s"))]
    pub(crate) spread: Option<Nanos>,
    /// The data to send. Default: an endless stream from the start of the run.
    pub(crate) app: Option<App>,
}

/// The properties of a connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Connection {
    /// The sender's TCP; `ackclock stacks` lists them.
    #[schemars(schema_with = "stack")]
    pub(crate) stack: String,
    /// Parameters of the stack by path, as with `--set`: one parameter, `"rto.tick" = "500 ms"`; a component by its kind, `recovery = "tahoe"`; or a
    /// whole component, `recovery = { kind = … }`.
    pub(crate) set: Option<Set>,
    /// Payload of a full segment, 1 B to 65495 B.
    #[schemars(extend("default" = "1460 B"))]
    pub(crate) segment: Option<Size>,
    /// The receiver's window, one segment to 1 GiB (RFC 7323 §2.3).
    #[schemars(extend("default" = "65535 B"))]
    pub(crate) window: Option<Amount>,
    /// When the receiver sends ACKs, and which options its TCP supports, as in `{ sack = false, timestamps = false }`. Default: the stack's own
    /// receiver.
    pub(crate) receiver: Option<Receiver>,
    /// Whether the connection begins with a handshake. Without it the connection is established from the start.
    #[schemars(extend("default" = false))]
    pub(crate) handshake: Option<bool>,
    /// How sizes on the wire are computed. With `header`, it is `"ns2"`.
    #[schemars(extend("default" = "ipv4"))]
    pub(crate) wire: Option<Wire>,
    /// The fixed header of `wire = "ns2"`.
    #[schemars(extend("default" = "40 B"))]
    pub(crate) header: Option<Size>,
}

/// How sizes on the wire are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Wire {
    /// Real headers with the options that a packet carries.
    Ipv4,
    /// A fixed header; ACKs have 40 bytes, plus 8 for each SACK block.
    Ns2,
}

/// What is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "app")]
pub(crate) enum App {
    /// An endless stream.
    #[schemars(title = "Bulk", extend("examples" = [{}]))]
    Bulk {
        /// When it begins.
        #[serde(default)]
        start: Nanos,
        /// Adds a random time below this to the start, different for each seed.
        #[serde(default)]
        jitter: Nanos,
    },
    /// A fixed number of bytes.
    #[schemars(title = "Fixed size", extend("examples" = [{ "size": "100 packets" }]))]
    Fixed {
        /// Amount of data: segments, as in `"100 packets"`, or bytes.
        size: Amount,
        /// When it begins.
        #[serde(default)]
        start: Nanos,
        /// Adds a random time below this to the start, different for each seed.
        #[serde(default)]
        jitter: Nanos,
    },
    /// Consecutive transfers, like replies to requests: the next begins when the last byte of the previous one is acknowledged
    /// and a think time has passed. The result has the duration of each transfer, from its start (its SYN, if it has one) to
    /// that acknowledgment.
    #[schemars(title = "Transfers in a row", extend("examples" = [{ "size": "14 kB", "count": 100 }]))]
    Transfers {
        /// Payload of each: segments, as in `"10 packets"`, or bytes.
        size: Amount,
        /// How many.
        #[schemars(range(min = 1, max = 60_000))]
        count: u32,
        /// Time from the end of one to the start of the next. Default: none.
        think: Option<Gap>,
        /// How transfers use connections.
        #[serde(default)]
        connections: Connections,
        /// When the first begins.
        #[serde(default)]
        start: Nanos,
        /// Adds a random time below this to the first start, different for each seed.
        #[serde(default)]
        jitter: Nanos,
    },
    /// Writes of data at intervals, whether or not earlier ones were delivered; the sender is often idle.
    #[schemars(title = "Writes now and then", extend("examples" = [{ "size": "14 kB", "gap": { "constant": "1 s" } }]))]
    Writes {
        /// Payload of each: segments, as in `"10 packets"`, or bytes.
        size: Amount,
        /// Time from one write to the next.
        gap: Gap,
        /// Number of writes. Default: no limit.
        #[schemars(range(min = 1, max = 1_000_000_000))]
        count: Option<u32>,
        /// When the first is written.
        #[serde(default)]
        start: Nanos,
        /// Adds a random time below this to the first write, different for each seed.
        #[serde(default)]
        jitter: Nanos,
    },
}

/// How transfers in a row use connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Connections {
    /// Each transfer on a new connection, with its own handshake if the flow has one.
    #[default]
    New,
    /// All transfers on one connection.
    One,
}

fn stack(_: &mut SchemaGenerator) -> Schema {
    let named: Vec<Schema> =
        PROFILES.iter().map(|p| json_schema!({ "const": p.name, "description": p.summary })).collect();
    json_schema!({ "type": "string", "oneOf": named })
}
