//! The keys of a scenario file as types, from which schemars derives the schema. Nothing is ever read into them: the
//! readers in `scenario/` name the line of each mistake, which serde cannot. `tests/schema.rs` keeps the two together.

use super::receiver::Receiver;
use super::set::Set;
use ackclock_tcp::stack::profiles::PROFILES;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{bytes_schema, Rate};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};

/// One scenario: how long to run and with which seeds, which links there are, and which flows use them. Either
/// `[[link]]` and `[[flow]]`, or `[dumbbell]`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    { "required": ["link", "flow"], "properties": { "dumbbell": false } },
    { "required": ["dumbbell"], "properties": { "link": false, "flow": false } },
]))]
pub(super) struct Scenario {
    /// For people. Without it the file's name.
    name: Option<String>,
    /// How long, and with which seeds.
    run: Run,
    /// Links, each with two directions. Their order is part of the scenario: where two things happen at the same
    /// nanosecond, the one that stands first goes first. A packet takes the path with the fewest links; where two are
    /// equally short, over the link that stands first.
    #[schemars(length(min = 1))]
    link: Option<Vec<Link>>,
    /// Flows.
    #[schemars(length(min = 1))]
    flow: Option<Vec<Flow>>,
    /// In place of links and flows: senders S1, S2, … at router R1, receivers D1, D2, … at router R2.
    dumbbell: Option<Dumbbell>,
}

/// How long, and with which seeds.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("not" = { "required": ["seed", "seeds"] }))]
#[schemars(title = "[run]")]
pub(super) struct Run {
    /// Simulated time, above zero, at most 39 hours.
    duration: Nanos,
    /// The only seed.
    #[schemars(range(max = 9_223_372_036_854_775_807_u64), extend("default" = 1))]
    seed: Option<u64>,
    /// One run for each.
    seeds: Option<Seeds>,
}

/// Several seeds.
#[derive(JsonSchema)]
#[serde(untagged)]
pub(super) enum Seeds {
    /// These, each once.
    List(#[schemars(length(min = 1), extend("uniqueItems" = true))] Vec<u64>),
    /// Counted up.
    Range(SeedRange),
}

/// Seeds counted up, as in `{ first = 1, count = 30 }`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "seeds")]
pub(super) struct SeedRange {
    /// The first.
    #[schemars(extend("default" = 1))]
    first: Option<u64>,
    /// How many.
    #[schemars(range(min = 1, max = 1_000_000))]
    count: u64,
}

/// A link between two nodes. Both directions are alike but for the keys in `back`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "[[link]]")]
pub(super) struct Link {
    /// One end. A node is whatever a link names.
    #[schemars(length(min = 1))]
    from: String,
    /// The other end.
    #[schemars(length(min = 1))]
    to: String,
    #[serde(flatten)]
    direction: Direction,
    /// What differs in the other direction: any of `rate`, `delay`, `queue`, `elements`, `form`.
    #[schemars(schema_with = "back")]
    #[serde(default)]
    back: (),
}

/// One direction of a link.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Direction {
    /// Bits or bytes a second, or `"unlimited"`: transmission takes no time.
    #[schemars(schema_with = "rate")]
    rate: (),
    /// Propagation delay, at most an hour.
    delay: Nanos,
    /// What may wait: packets, or bytes on the wire; or a table with the limit and its convention.
    #[schemars(schema_with = "queue", extend("default" = "unlimited"))]
    #[serde(default)]
    queue: (),
    /// What acts on packets, in order.
    #[schemars(extend("default" = []))]
    #[serde(default)]
    elements: Vec<Element>,
    /// How the link is simulated; results are equal.
    #[schemars(extend("default" = "auto"))]
    form: Option<Form>,
}

/// A queue's limit and its convention.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "queue")]
pub(super) struct Queue {
    /// What may wait.
    #[schemars(schema_with = "limit")]
    limit: (),
    /// ns-2's convention: the packet in transmission counts against the limit.
    #[schemars(extend("default" = false))]
    limit_counts_service: Option<bool>,
}

/// How a link is simulated.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Form {
    /// Departure times computed where nothing acts on a waiting packet.
    Auto,
    /// Always an explicit queue.
    Queued,
}

/// Something that acts on the packets of one direction.
#[derive(JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "elements")]
pub(super) enum Element {
    /// At random times waiting packets change places (Blanton & Allman §2.2). Needs a rate.
    Swap {
        /// Which two change places.
        mode: SwapMode,
        /// Swaps at each event.
        #[schemars(range(min = 1, max = 100_000), extend("default" = 1))]
        count: Option<u32>,
        /// Time between events.
        gap: Gap,
    },
    /// Each packet is lost with the same probability.
    Bernoulli {
        /// That probability.
        #[schemars(range(min = 0.0, max = 1.0))]
        p: f64,
        /// Where on the link.
        #[schemars(extend("default" = "entry"))]
        at: Option<Place>,
    },
    /// The n-th arrivals, counted from 0, retransmissions included, are treated by hand; at least one is.
    #[schemars(extend("anyOf" = [{ "required": ["drop"] }, { "required": ["duplicate"] }, { "required": ["delay"] }]))]
    Script {
        /// Where on the link.
        #[schemars(extend("default" = "entry"))]
        at: Option<Place>,
        /// These disappear, as in `[14, 26]`.
        drop: Option<Vec<u64>>,
        /// These go on twice.
        duplicate: Option<Vec<u64>>,
        /// These go on later and are overtaken.
        delay: Option<Vec<Late>>,
    },
}

/// Which two packets change places.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SwapMode {
    /// Two of the queue's slots, drawn uniformly; nothing happens if one is empty. The queue needs a limit in packets.
    Slots,
    /// Two waiting packets.
    Literal,
    /// A waiting packet and the one behind it.
    Neighbours,
}

/// Time between events, above zero.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(title = "gap")]
pub(super) enum Gap {
    /// Exponentially distributed with this mean, as in `{ exponential = "1 s" }`.
    Exponential(Nanos),
    /// Always this.
    Constant(Nanos),
}

/// Where on a link an element acts.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Place {
    /// Before the queue.
    Entry,
    /// After transmission.
    Exit,
}

/// One arrival that goes on later.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "delay")]
pub(super) struct Late {
    /// Which arrival, counted from 0.
    nth: u64,
    /// By how much.
    by: Nanos,
}

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
    /// The sender's TCP; `ackclock stacks` lists them.
    #[schemars(schema_with = "stack")]
    stack: (),
    /// Parameters of the stack by path, as with `--set`: `"rto.tick" = "500 ms"`; `recovery = "tahoe"`, a component by
    /// its kind; `recovery = { kind = … }`, all of it.
    set: Option<Set>,
    /// For people. Without it `flow-1`, …
    #[schemars(length(min = 1))]
    name: Option<String>,
    /// So many equal flows, called `name-1`, …
    #[schemars(range(min = 1, max = 65_536), extend("default" = 1))]
    count: Option<u32>,
    /// Over this time their starts are spread evenly.
    #[schemars(extend("default" = "0 s"))]
    spread: Option<Nanos>,
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
    /// What is sent. Without it all the time from the start of the run.
    app: Option<App>,
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
    },
    /// So much.
    Fixed {
        /// How much: segments, as in `"100 packets"`, or bytes.
        #[schemars(schema_with = "amount")]
        size: (),
        /// When it begins.
        #[schemars(extend("default" = "0 s"))]
        start: Option<Nanos>,
    },
}

/// Senders S1, S2, … on one router, receivers D1, D2, … on another.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "[dumbbell]")]
pub(super) struct Dumbbell {
    /// The link from R1 to R2.
    bottleneck: Both,
    /// Each sender's and each receiver's own link, from left to right.
    access: Both,
    /// Flows, each with its own sender and receiver.
    #[schemars(length(min = 1))]
    flow: Vec<FlowKeys>,
}

/// A link whose ends are known.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "bottleneck and access")]
pub(super) struct Both {
    #[serde(flatten)]
    direction: Direction,
    /// What differs in the other direction: any of `rate`, `delay`, `queue`, `elements`, `form`.
    #[schemars(schema_with = "back")]
    #[serde(default)]
    back: (),
}

const PACKETS: &str = r"^\s*[0-9][0-9_]*\s*packets?\s*$";

fn back(generator: &mut SchemaGenerator) -> Schema {
    let mut direction = Direction::json_schema(generator);
    direction.remove("required");
    // What is left out is as in the other direction.
    for key in direction.get_mut("properties").and_then(|p| p.as_object_mut()).into_iter().flat_map(|p| p.values_mut())
    {
        key.as_object_mut().map(|k| k.remove("default"));
    }
    direction
}

fn rate(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [Rate::json_schema(generator), { "const": "unlimited" }] })
}

fn amount(generator: &mut SchemaGenerator) -> Schema {
    let packets =
        json_schema!({ "type": "string", "title": "packets", "pattern": PACKETS, "examples": ["500 packets"] });
    json_schema!({ "anyOf": [packets, bytes_schema(generator)] })
}

fn limit(generator: &mut SchemaGenerator) -> Schema {
    let packets =
        json_schema!({ "type": "string", "title": "packets", "pattern": PACKETS, "examples": ["65 packets"] });
    json_schema!({ "anyOf": [packets, bytes_schema(generator), { "const": "unlimited" }] })
}

fn queue(generator: &mut SchemaGenerator) -> Schema {
    let simple = limit(generator);
    json_schema!({ "anyOf": [simple, generator.subschema_for::<Queue>()] })
}

fn stack(_: &mut SchemaGenerator) -> Schema {
    let named: Vec<Schema> =
        PROFILES.iter().map(|p| json_schema!({ "const": p.name, "description": p.summary })).collect();
    json_schema!({ "type": "string", "oneOf": named })
}
