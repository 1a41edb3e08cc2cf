//! The one parameter of TCP-NCR (RFC 4653 §3): its threshold and its limited transmit share one mode.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which share of the flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NcrMode {
    /// Two thirds, and one new segment for every second duplicate.
    #[default]
    Careful,
    /// Half, and one new segment for every duplicate.
    Aggressive,
}
