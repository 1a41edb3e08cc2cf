//! `[[flow]]`, and what each connection is like.

use super::amount;
use crate::schema::receiver::Receiver;
use crate::schema::set::Set;
use ackclock_tcp::stack::profiles::PROFILES;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::bytes_schema;
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};

/// A flow between two nodes, or `count` equal ones.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "[[flow]]")]
pub(super) struct Flow {
    /// The sender's node.
    #[schemars(length(min = 1))]
    from: String,
    /// The receiver's node.
    #[schemars(length(min = 1))]
    to: String,
    #[serde(flatten)]
    what: FlowKeys,
}

/// A flow, or `count` equal ones, each with a sender and a receiver of its own.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "[[dumbbell.flow]]")]
pub(super) struct FlowKeys {
    #[serde(flatten)]
    connection: Connection,
    /// For people. Without it `flow-1`, …
    #[schemars(length(min = 1))]
    name: Option<String>,
    /// So many equal flows, called `name-1`, …
    #[schemars(range(min = 1, max = 65_536), extend("default" = 1))]
    count: Option<u32>,
    /// Over this time their starts are spread evenly.
    #[schemars(extend("default" = "0 s"))]
    spread: Option<Nanos>,
    /// What is sent. Without it all the time from the start of the run.
    app: Option<App>,
}

/// What a connection is like.
#[derive(JsonSchema)]
pub(super) struct Connection {
    /// The sender's TCP; `ackclock stacks` lists them.
    #[schemars(schema_with = "stack")]
    stack: (),
    /// Parameters of the stack by path, as with `--set`: `"rto.tick" = "500 ms"`; `recovery = "tahoe"`, a component by
    /// its kind; `recovery = { kind = … }`, all of it.
    set: Option<Set>,
    /// Payload of a full segment, 1 B to 65495 B.
    #[schemars(schema_with = "bytes_schema", extend("default" = "1460 B"))]
    #[serde(default)]
    segment: (),
    /// The receiver's window, from one segment to 1 GiB (RFC 7323 §2.3).
    #[schemars(schema_with = "amount", extend("default" = "65535 B"))]
    #[serde(default)]
    window: (),
    /// When the receiver answers. Without it as the stack says.
    receiver: Option<Receiver>,
    /// Whether the connection begins with a SYN, or is established at its start.
    #[schemars(extend("default" = false))]
    handshake: Option<bool>,
    /// Sizes on the wire. With `header` it is `"ns2"`.
    #[schemars(extend("default" = "ipv4"))]
    wire: Option<Wire>,
    /// The fixed header of `wire = "ns2"`.
    #[schemars(schema_with = "bytes_schema", extend("default" = "40 B"))]
    #[serde(default)]
    header: (),
}

/// Sizes on the wire.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Wire {
    /// Real headers with the options that are carried.
    Ipv4,
    /// A fixed header; ACKs of 40 bytes and 8 for each SACK block.
    Ns2,
}

/// What is sent.
#[derive(JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "app")]
pub(super) enum App {
    /// It never stops.
    Bulk {
        /// When it begins.
        #[schemars(extend("default" = "0 s"))]
        start: Option<Nanos>,
        /// It begins later by a random time below this, another in each seed.
        #[schemars(extend("default" = "0 s"))]
        jitter: Option<Nanos>,
    },
    /// So much.
    Fixed {
        /// How much: segments, as in `"100 packets"`, or bytes.
        #[schemars(schema_with = "amount")]
        size: (),
        /// When it begins.
        #[schemars(extend("default" = "0 s"))]
        start: Option<Nanos>,
        /// It begins later by a random time below this, another in each seed.
        #[schemars(extend("default" = "0 s"))]
        jitter: Option<Nanos>,
    },
}

fn stack(_: &mut SchemaGenerator) -> Schema {
    let named: Vec<Schema> =
        PROFILES.iter().map(|p| json_schema!({ "const": p.name, "description": p.summary })).collect();
    json_schema!({ "type": "string", "oneOf": named })
}
