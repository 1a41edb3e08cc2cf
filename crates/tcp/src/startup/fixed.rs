//! Initial window and threshold as fixed values.
//!
//! Source: RFC 5681 §3.1 (initial window, ssthresh "arbitrarily high"); RFC 3390; RFC 6928; ns-2 (`ssthresh` = `window_`).
//!
//! Idea: start with a fixed number of segments; slow start ends at the first loss or at a threshold known beforehand.
//!
//! | source | here |
//! | --- | --- |
//! | IW | `initial_window_segs` |
//! | initial ssthresh | `ssthresh_segs`; without it the peer's window |

use super::{Startup, UNBOUNDED};
use crate::error::StackError;
use crate::event::Window;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The `ssthresh_segs` of stacks that begin without a threshold: Linux's `TCP_INFINITE_SSTHRESH`, RFC 9002 §B.3's infinity.
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FixedSpec {
    /// Initial window in segments. Default: 1 (the papers; RFC 6928 says up to 10).
    #[schemars(range(min = 1, max = 65_535))]
    pub initial_window_segs: u32,
    /// Initial slow start threshold in segments. Default: the peer's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub ssthresh_segs: Option<u32>,
}

impl Default for FixedSpec {
    fn default() -> Self {
        FixedSpec { initial_window_segs: 1, ssthresh_segs: None }
    }
}

impl FixedSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let iw = self.initial_window_segs;
        StackError::unless((1..=65535).contains(&iw), "startup.initial_window_segs", &iw, "1 to 65535 segments")?;
        let ssthresh = self.ssthresh_segs.unwrap_or(u32::MAX);
        StackError::unless(ssthresh >= 2, "startup.ssthresh_segs", &ssthresh, "2 segments or more (RFC 5681 §3.1)")
    }
}

/// Fixed values at work.
pub struct Fixed(FixedSpec);

impl Fixed {
    pub(super) fn new(spec: &FixedSpec) -> Self {
        Fixed(spec.clone())
    }
}

impl Startup for Fixed {
    fn initial(&self, mss: u32, rwnd: Bytes) -> Window {
        let smss = f64::from(mss);
        let ssthresh = self.0.ssthresh_segs.map_or(rwnd as f64, |n| f64::from(n) * smss);
        Window { cwnd: f64::from(self.0.initial_window_segs) * smss, ssthresh: ssthresh.min(UNBOUNDED).max(2.0 * smss) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_the_peers_window_and_two_segments_at_least() {
        // RFC 5681 §3.1.
        let initial = |rwnd| Fixed::new(&FixedSpec { initial_window_segs: 3, ssthresh_segs: None }).initial(1000, rwnd);
        assert_eq!(initial(64_000), Window { cwnd: 3000.0, ssthresh: 64_000.0 });
        assert_eq!(initial(500).ssthresh, 2000.0);
        let four = Fixed::new(&FixedSpec { initial_window_segs: 1, ssthresh_segs: Some(4) });
        assert_eq!(four.initial(1000, 64_000).ssthresh, 4000.0);
    }
}
