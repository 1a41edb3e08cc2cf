//! Smooth-start: the upper half of slow start opens the window in stages, each slower than the previous one.
//!
//! Source: Wang & Shin §1 name it (by Wang, Xin, Reeves and Shin, in 2000). Its text was not available: this is a reconstruction
//! from other sources (decision 0048).
//!
//! Idea: below half of the threshold, one more segment for each ACK; from there to the threshold, in `depth` equal stages, one
//! for every second ACK, then every third, and so on. This makes the burst that overruns the path smaller.
//!
//! Departures: used only at the start of a connection, before the threshold is first reached; after a loss, slow start is the
//! usual one.

use super::fixed::{Fixed, FixedSpec};
use super::{Advice, Startup};
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SmoothSpec {
    /// Initial window in segments. Default: 1.
    #[schemars(range(min = 1, max = 65_535))]
    pub initial_window_segs: u32,
    /// Initial slow start threshold in segments. Default: the peer's window.
    #[schemars(range(min = 2))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh_segs: Option<u32>,
    /// Stages between half of the threshold and the threshold, 1 to 100. Default: 2.
    #[schemars(range(min = 1, max = 100))]
    pub depth: u32,
}

impl Default for SmoothSpec {
    fn default() -> Self {
        SmoothSpec { initial_window_segs: 1, ssthresh_segs: None, depth: 2 }
    }
}

impl SmoothSpec {
    fn fixed(&self) -> FixedSpec {
        FixedSpec { initial_window_segs: self.initial_window_segs, ssthresh_segs: self.ssthresh_segs }
    }

    pub(super) fn validate(&self) -> Result<(), StackError> {
        let depth = self.depth;
        StackError::unless((1..=100).contains(&depth), "startup.depth", &depth, "1 to 100 stages")?;
        self.fixed().validate()
    }
}

/// Smooth-start at work.
pub struct Smooth {
    fixed: Fixed,
    depth: u32,
}

impl Smooth {
    pub(super) fn new(spec: &SmoothSpec) -> Self {
        Smooth { fixed: Fixed::new(&spec.fixed()), depth: spec.depth }
    }
}

impl Startup for Smooth {
    fn initial(&self, mss: u32, rwnd: Bytes) -> Window {
        self.fixed.initial(mss, rwnd)
    }
    fn on_ack(&mut self, _: &AckEvent, w: &Window, _: &Ctx) -> Advice {
        let half = w.ssthresh / 2.0;
        if w.cwnd < half {
            return Advice::Growth(1.0);
        }
        let stage = 1.0 + libm::floor((w.cwnd - half) / half * f64::from(self.depth));
        Advice::Growth((1.0 / (stage.min(f64::from(self.depth)) + 1.0)) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::blank;
    use crate::testing::context;

    #[test]
    fn above_half_of_the_threshold_each_stage_opens_the_window_more_slowly() {
        let mut start = Smooth::new(&SmoothSpec { depth: 4, ..SmoothSpec::default() });
        let mut at = |segs: f64| {
            let w = Window { cwnd: segs * 1000.0, ssthresh: 16_000.0 };
            match start.on_ack(&blank(), &w, &context()) {
                Advice::Growth(share) => (1.0 / share).round(),
                other => panic!("{other:?}"),
            }
        };
        let got = [1.0, 7.9, 8.0, 9.9, 10.0, 12.0, 14.0, 15.9, 16.0].map(&mut at);
        assert_eq!(got, [1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 5.0, 5.0]);
    }
}
