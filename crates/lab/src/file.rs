//! The keys of a scenario file as types: a file is read into them, written from them, and described by them
//! ([`crate::schema`]). Parts with a description in the engine (links, elements, receivers' policies) use that description.

pub(crate) mod amount;
pub(crate) mod background;
pub(crate) mod flow;
pub(crate) mod receiver;
pub(crate) mod set;

use ackclock_sim::scenario::DirectionSpec;
use ackclock_tcp::time::Nanos;
use background::Background;
use flow::{Flow, FlowKeys};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// One scenario: the duration and seeds of its runs, its links, and the flows that use them. Either
/// `[[link]]` and `[[flow]]`, or `[dumbbell]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    { "required": ["link", "flow"], "properties": { "dumbbell": false } },
    { "required": ["dumbbell"], "properties": { "link": false, "flow": false } },
]))]
pub(crate) struct Scenario {
    /// A display name. Default: the file's name.
    pub(crate) name: Option<String>,
    /// The duration and the seeds.
    pub(crate) run: Run,
    /// Links, each with two directions. Their order is part of the scenario: of two events in the same nanosecond, the one on the earlier link comes
    /// first. A packet takes the path with the fewest links; of two equally short paths, the one over the earlier link.
    #[schemars(length(min = 1))]
    pub(crate) link: Option<Vec<Link>>,
    /// Flows.
    #[schemars(length(min = 1))]
    pub(crate) flow: Option<Vec<Flow>>,
    /// Background traffic beside the flows. It is counted separately and not traced, and command-line overrides do not apply to it.
    #[schemars(extend("default" = []))]
    #[serde(default)]
    pub(crate) background: Vec<Background>,
    /// Replaces links and flows: senders S1, S2, … at router R1, receivers D1, D2, … at router R2.
    pub(crate) dumbbell: Option<Dumbbell>,
}

/// The duration and the seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("not" = { "required": ["seed", "seeds"] }))]
#[schemars(title = "[run]")]
pub(crate) struct Run {
    /// Simulated time, more than zero and at most 39 hours.
    pub(crate) duration: Nanos,
    /// The only seed.
    #[schemars(range(max = 9_223_372_036_854_775_807_u64), extend("default" = 1))]
    pub(crate) seed: Option<u64>,
    /// The seeds; there is one run for each.
    pub(crate) seeds: Option<Seeds>,
    /// Whether to measure the reordering of each flow's packets (RFC 4737). Each transmission counts as its own packet. Measuring does not change the
    /// run.
    #[schemars(extend("default" = false))]
    pub(crate) reordering: Option<bool>,
    /// Whether to measure totals, round-trip times, delays, completion times, link loads and queueing delays; with `bins`, also for each interval of
    /// time. Measuring does not change the run.
    #[schemars(extend("default" = false))]
    pub(crate) measures: Option<Measures>,
}

/// Whether a run is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Measures {
    /// Whether the whole run is measured.
    Whole(bool),
    /// In bins, too.
    Binned(Bins),
}

/// Intervals of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "measures")]
pub(crate) struct Bins {
    /// Length of each interval; the last one may be shorter. A run has at most 10,000 intervals.
    pub(crate) bins: Nanos,
}

/// Several seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Seeds {
    /// These, each once.
    List(#[schemars(length(min = 1), extend("uniqueItems" = true))] Vec<u64>),
    /// Consecutive seeds.
    Range(SeedRange),
}

/// Consecutive seeds, as in `{ first = 1, count = 30 }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "seeds")]
pub(crate) struct SeedRange {
    /// The first.
    #[schemars(extend("default" = 1))]
    pub(crate) first: Option<u64>,
    /// How many.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) count: u64,
}

/// A link between two nodes. Both directions are the same except for the keys in `back`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "[[link]]", deny_unknown_fields)]
pub(crate) struct Link {
    /// One end. Any name that a link uses is a node.
    #[schemars(length(min = 1), extend("examples" = ["R1"]))]
    pub(crate) from: String,
    /// The other end.
    #[schemars(length(min = 1), extend("examples" = ["R1"]))]
    pub(crate) to: String,
    #[serde(flatten)]
    pub(crate) forward: Direction,
    /// Keys that differ in the other direction: any of `rate`, `delay`, `queue`, `elements`, `form`.
    #[schemars(schema_with = "back")]
    #[serde(default)]
    pub(crate) back: Option<Direction>,
}

/// The keys of one direction of a link ([`DirectionSpec`]) as written, since the defaults of omitted keys come from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Direction(pub(crate) Map<String, Value>);

impl JsonSchema for Direction {
    fn schema_name() -> Cow<'static, str> {
        "Direction".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        DirectionSpec::json_schema(generator)
    }
}

/// Senders S1, S2, … on one router, receivers D1, D2, … on another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "[dumbbell]")]
pub(crate) struct Dumbbell {
    /// The link from R1 to R2.
    pub(crate) bottleneck: Both,
    /// The access link of each sender and receiver, from left to right.
    pub(crate) access: Both,
    /// Flows, each with its own sender and receiver.
    #[schemars(length(min = 1))]
    pub(crate) flow: Vec<FlowKeys>,
}

/// A link whose ends are given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "bottleneck and access", deny_unknown_fields)]
pub(crate) struct Both {
    #[serde(flatten)]
    pub(crate) forward: Direction,
    /// Keys that differ in the other direction: any of `rate`, `delay`, `queue`, `elements`, `form`.
    #[schemars(schema_with = "back")]
    #[serde(default)]
    pub(crate) back: Option<Direction>,
}

/// Omitted keys are as in the other direction.
fn back(generator: &mut SchemaGenerator) -> Schema {
    let mut direction = Direction::json_schema(generator);
    direction.remove("required");
    let keys = direction.get_mut("properties").and_then(Value::as_object_mut);
    for key in keys.into_iter().flat_map(|p| p.values_mut()) {
        key.as_object_mut().map(|k| k.remove("default"));
    }
    direction
}
