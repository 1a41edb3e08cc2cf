//! TCP-NCR: the threshold is a share of the outstanding segments, so about a round trip's worth.
//!
//! Source: RFC 4653 §3.1 (I.3), §3.2 (E.6).
//!
//! Idea: a hole that is still open after a whole round trip is a loss; new data is sent meanwhile (`disorder/ncr.rs`), and
//! the threshold grows with it.
//!
//! | source | here |
//! | --- | --- |
//! | LT_F = 2/3 (Careful), 1/2 (Aggressive) | `mode` |
//! | DupThresh = max (LT_F · FlightSize / SMSS, 3) | `segments`, rounded up: the first count that is not below it |
//! | frozen in recovery | the detector then stops reading it |
//!
//! Unsaid: the rounding; 9 SACKed segments reach 8.67, and 8 do not.

use super::{DupThresh, Learner};
use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::ncr::NcrMode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NcrSpec {
    /// Which share of the flight. Default: "careful".
    pub mode: NcrMode,
}

/// The rule at work.
pub struct Ncr(NcrMode);

impl Ncr {
    pub(super) fn new(spec: &NcrSpec) -> Self {
        Ncr(spec.mode)
    }
}

impl DupThresh for Ncr {
    fn segments(&self, _: &Window, cx: &Ctx) -> u32 {
        let (part, of) = match self.0 {
            NcrMode::Careful => (2, 3),
            NcrMode::Aggressive => (1, 2),
        };
        let segs = (part * cx.flight()).div_ceil(of * u64::from(cx.mss));
        u32::try_from(segs).unwrap_or(u32::MAX).max(3)
    }
    fn follows_flight(&self) -> bool {
        true
    }
}

impl Learner for Ncr {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, wide};

    #[test]
    fn the_threshold_is_a_part_of_the_flight_rounded_up_and_at_least_three() {
        let of = |mode, flight: u64| {
            let cx = context();
            Ncr(mode).segments(&wide(), &Ctx { snd_max: cx.snd_una + flight * 1000, ..cx })
        };
        // 8, 8.67, 9.33, 10, 10.67, 11.33, 12.
        let careful: Vec<u32> = (12..=18).map(|f| of(NcrMode::Careful, f)).collect();
        assert_eq!(careful, [8, 9, 10, 10, 11, 12, 12]);
        // 6, 6.5, 7 … 11.
        let aggressive: Vec<u32> = (12..=22).map(|f| of(NcrMode::Aggressive, f)).collect();
        assert_eq!(aggressive, [6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11]);
        assert_eq!((of(NcrMode::Careful, 2), of(NcrMode::Aggressive, 4)), (3, 3));
    }
}
