//! `[[background]]`: traffic beside the flows.

use super::amount;
use super::element::Gap;
use super::flow::Connection;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{bytes_schema, Rate};
use schemars::JsonSchema;

/// Traffic beside the flows.
#[derive(JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "[[background]]")]
pub(super) enum Background {
    /// Transfers of finite size that arrive and end, each a new connection.
    Transfers {
        #[serde(flatten)]
        when: When,
        /// Time from one arrival to the next; exponential gives Poisson arrivals.
        gap: Gap,
        /// Payload of each.
        size: Size,
        /// So many at once; further ones are refused and counted.
        #[schemars(range(min = 1, max = 32_768), extend("default" = 100))]
        most: Option<u32>,
        #[serde(flatten)]
        connection: Connection,
    },
    /// Packets at a rate, whatever happens to them.
    #[schemars(extend("dependentRequired" = { "on": ["off"], "off": ["on"] }))]
    Source {
        #[serde(flatten)]
        when: When,
        /// Bits or bytes a second on the wire while it sends.
        rate: Rate,
        /// Bytes of each packet on the wire, 1 B to 65535 B.
        #[schemars(schema_with = "bytes_schema", extend("default" = "1000 B"))]
        #[serde(default)]
        packet: (),
        /// How long it sends at a time; it begins by sending. Without `on` and `off` it always sends.
        on: Option<Gap>,
        /// How long it is silent between.
        off: Option<Gap>,
    },
}

/// Between which nodes and times.
#[derive(JsonSchema)]
pub(super) struct When {
    /// The node that sends.
    #[schemars(length(min = 1))]
    from: String,
    /// The node to which it is sent.
    #[schemars(length(min = 1))]
    to: String,
    /// When it begins.
    #[schemars(extend("default" = "0 s"))]
    start: Option<Nanos>,
    /// From then on no packet of a source, and no new transfer. Without it never.
    stop: Option<Nanos>,
}

/// How large transfers are, each kind by its mean, at most 2^50 B.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "size", extend("oneOf" = [
    { "required": ["constant"], "maxProperties": 1 },
    { "required": ["exponential"], "maxProperties": 1 },
    { "required": ["pareto", "shape"], "maxProperties": 2 },
]))]
pub(super) struct Size {
    /// All alike.
    #[schemars(schema_with = "amount")]
    #[serde(default)]
    constant: (),
    /// Exponentially distributed.
    #[schemars(schema_with = "amount")]
    #[serde(default)]
    exponential: (),
    /// Pareto distributed: a few are very large.
    #[schemars(schema_with = "amount")]
    #[serde(default)]
    pareto: (),
    /// The exponent of `pareto`, above 1; with 2 or less the variance is infinite.
    #[schemars(extend("exclusiveMinimum" = 1))]
    shape: Option<f64>,
}
