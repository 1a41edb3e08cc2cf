//! Multipath: the threshold grows with the logarithm of the number of paths.
//!
//! Source: Lee, Park & Choi 2002, as Leung & Ma 2005 §II describe it: "set to increase logarithmically on the number of paths used".
//!
//! Idea: a sender that spreads its segments over n paths knows that it causes reordering; the more paths, the more duplicates it
//! waits for. The receiver also delays ACKs of segments out of order (`ack = "delayed-reordered"`).
//!
//! | source | here |
//! | --- | --- |
//! | number of paths | `paths` |
//! | dupthresh | 3 + ⌈log₂ n⌉ |
//!
//! Departures: none known; the paper's text was not available. Unsaid: base and factor of the logarithm (decision 0059).

use super::{DupThresh, Learner};
use crate::event::Window;
use crate::facts::ctx::Ctx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MultipathSpec {
    /// Number of paths that the sender's segments take. Default: 2.
    #[schemars(range(min = 1, max = 65_536))]
    pub paths: u32,
}

impl Default for MultipathSpec {
    fn default() -> Self {
        MultipathSpec { paths: 2 }
    }
}

/// The rule at work.
pub struct Multipath(u32);

impl Multipath {
    pub(super) fn new(spec: &MultipathSpec) -> Self {
        Multipath(3 + spec.paths.max(1).next_power_of_two().trailing_zeros())
    }
}

impl DupThresh for Multipath {
    fn segments(&self, _: &Window, _: &Ctx) -> u32 {
        self.0
    }
}

impl Learner for Multipath {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, wide};

    #[test]
    fn the_threshold_is_three_and_the_logarithm_of_the_number_of_paths() {
        let of = |paths| Multipath::new(&MultipathSpec { paths }).segments(&wide(), &context());
        assert_eq!([1, 2, 3, 4, 5, 8, 9].map(of), [3, 4, 5, 5, 6, 6, 7]);
    }
}
