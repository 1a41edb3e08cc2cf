//! `[[background]]`: background traffic.

use super::amount::Amount;
use super::flow::Connection;
use ackclock_sim::scenario::Gap;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{Rate, Size as Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Background traffic beside the flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(title = "[[background]]", deny_unknown_fields)]
pub(crate) enum Background {
    /// Transfers of finite size that arrive and end, each a new connection.
    #[schemars(title = "Transfers", extend("examples" = [{
        "from": "S", "to": "D", "gap": { "exponential": "1 s" }, "size": { "exponential": "10 kB" }, "stack": "reno"
    }]))]
    Transfers {
        #[serde(flatten)]
        when: When,
        /// Time from one arrival to the next; exponential gives Poisson arrivals.
        gap: Gap,
        /// Payload of each.
        size: Size,
        /// Largest number of simultaneous transfers. Further transfers are refused and counted.
        #[schemars(range(min = 1, max = 32_768))]
        #[serde(default = "most")]
        most: u32,
        #[serde(flatten)]
        connection: Box<Connection>,
    },
    /// Packets at a fixed rate, regardless of loss.
    #[schemars(title = "Source", extend(
        "examples" = [{ "from": "S", "to": "D", "rate": "500 kbps" }],
        "dependentRequired" = { "on": ["off"], "off": ["on"] },
    ))]
    Source {
        #[serde(flatten)]
        when: When,
        /// Bits or bytes per second on the wire while it sends.
        rate: Rate,
        /// Size of each packet on the wire, 1 B to 65535 B.
        #[serde(default = "packet")]
        packet: Bytes,
        /// Length of a sending period; it begins by sending. Default, without `on` and `off`: it always sends.
        on: Option<Gap>,
        /// Length of a silent period.
        off: Option<Gap>,
    },
}

/// The nodes and times of the traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct When {
    /// The node that sends.
    #[schemars(length(min = 1), extend("examples" = ["R1"]))]
    pub(crate) from: String,
    /// The node that receives.
    #[schemars(length(min = 1), extend("examples" = ["R1"]))]
    pub(crate) to: String,
    /// When it begins.
    #[serde(default)]
    pub(crate) start: Nanos,
    /// Time at which sources stop and no new transfer begins. Default: never.
    pub(crate) stop: Option<Nanos>,
}

/// Size of transfers; each kind is given by its mean, at most 2^50 B.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "size", deny_unknown_fields, extend("oneOf" = [
    { "required": ["constant"], "maxProperties": 1 },
    { "required": ["exponential"], "maxProperties": 1 },
    { "required": ["pareto", "shape"], "maxProperties": 2 },
]))]
pub(crate) struct Size {
    /// All the same size.
    pub(crate) constant: Option<Amount>,
    /// Exponentially distributed.
    pub(crate) exponential: Option<Amount>,
    /// Pareto distributed: a few are very large.
    pub(crate) pareto: Option<Amount>,
    /// The exponent of `pareto`, above 1; with 2 or less the variance is infinite.
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub(crate) shape: Option<f64>,
}

fn most() -> u32 {
    100
}

fn packet() -> Bytes {
    Bytes(1000)
}
