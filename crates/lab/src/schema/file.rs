//! The keys of a scenario file as types, from which schemars derives the schema. Nothing is ever read into them: the
//! readers in `scenario/` name the line of each mistake, which serde cannot. `tests/schema.rs` keeps the two together.

mod background;
mod element;
mod flow;

use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{bytes_schema, Rate};
use background::Background;
use element::Element;
use flow::{Flow, FlowKeys};
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
    /// Traffic beside the flows: counted apart, in no trace, and untouched by what the command line overrides.
    #[schemars(extend("default" = []))]
    #[serde(default)]
    background: Vec<Background>,
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
    /// Whether to measure how the packets of each flow are reordered, each transmission as a packet of its own (RFC 4737); runs
    /// stay the same.
    #[schemars(extend("default" = false))]
    reordering: Option<bool>,
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

fn back(generator: &mut SchemaGenerator) -> Schema {
    let mut direction = Direction::json_schema(generator);
    direction.remove("required");
    without_defaults(&mut direction);
    direction
}

/// What is left out is as elsewhere.
fn without_defaults(direction: &mut Schema) {
    let keys = direction.get_mut("properties").and_then(|p| p.as_object_mut());
    for key in keys.into_iter().flat_map(|p| p.values_mut()) {
        key.as_object_mut().map(|k| k.remove("default"));
    }
}

fn rate(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [Rate::json_schema(generator), { "const": "unlimited" }] })
}

fn packets(_: &mut SchemaGenerator) -> Schema {
    let pattern = r"^\s*[0-9][0-9_]*\s*packets?\s*$";
    json_schema!({ "type": "string", "title": "packets", "pattern": pattern, "examples": ["65 packets"] })
}

fn amount(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [packets(generator), bytes_schema(generator)] })
}

fn limit(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [packets(generator), bytes_schema(generator), { "const": "unlimited" }] })
}

fn queue(generator: &mut SchemaGenerator) -> Schema {
    let simple = limit(generator);
    json_schema!({ "anyOf": [simple, generator.subschema_for::<Queue>()] })
}
